import pyarrow as pa
import pytest

from distanon.data.schema import AttributeType, Role
from distanon.errors import InputError
from distanon.job.roles import named_roles

COLUMNS = pa.schema({"age": pa.int64(), "job": pa.string(), "note": pa.string()})


def test_columns_that_are_not_named_are_kept_and_known_to_nobody():
    schema = named_roles(COLUMNS, "it", ["age"], ["job"])
    assert [one.role for one in schema] == [
        Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE,
    ]  # fmt: skip
    assert schema["age"].type is AttributeType.NUMERIC


def test_names_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="it: no column 'agee'; it has 'age', 'job', 'note'"):
        named_roles(COLUMNS, "it", ["agee"], [])
    with pytest.raises(InputError, match="at once: 'job'"):
        named_roles(COLUMNS, "it", ["job"], ["job"])
    with pytest.raises(InputError, match="it has none"):
        named_roles(pa.schema([]), "it", ["job"], [])
