import json

import pyarrow as pa
import pytest

from distanon.data.schema import AttributeType, Role
from distanon.errors import InputError
from distanon.job.stated import stated_by
from distanon.promises.k_anonymity import KAnonymity
from distanon.storage.store import StorageSettings

DOCUMENT = {
    "attributes": [
        {"name": "age", "role": "quasi_identifier", "type": "ordinal"},
        {"name": "job", "role": "sensitive", "type": "nominal"},
    ],
    "promises": [{"promise": "k_anonymity", "asked": {"k": 3}, "kept": True}],
}


@pytest.fixture
def stated(tmp_path):
    def state(**changes):
        (tmp_path / "release.json").write_text(json.dumps({**DOCUMENT, **changes}))
        return stated_by(tmp_path, StorageSettings())

    return state


def test_roles_types_and_promises_are_those_of_the_document(stated):
    found = stated()
    assert found.promises == {"k_anonymity": KAnonymity(k=3)}
    schema = found.schema(pa.schema({"job": pa.string(), "age": pa.int64()}))
    assert [(one.name, one.role, one.type) for one in schema] == [
        ("job", Role.SENSITIVE, AttributeType.NOMINAL),
        ("age", Role.QUASI_IDENTIFIER, AttributeType.ORDINAL),
    ]
    with pytest.raises(InputError, match="only one of them has: age"):
        found.schema(pa.schema({"job": pa.string()}))


def test_what_states_no_quasi_identifier_states_nothing(stated, tmp_path):
    assert stated_by(pa.table({}), StorageSettings()) is None
    assert stated_by(tmp_path, StorageSettings()) is None
    assert stated(attributes=[]) is None
    assert stated(attributes=DOCUMENT["attributes"][1:]) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"attributes": [{"name": "age", "role": "king", "type": "nominal"}]},
        {"attributes": [{"name": "age"}]},
        {"promises": [{"promise": "later", "asked": {}}]},
    ],
)
def test_what_this_version_does_not_know_is_refused(stated, changes):
    with pytest.raises(InputError, match="not one that this version can read"):
        stated(**changes)


@pytest.mark.parametrize(
    ("method", "knowledge"),
    [
        ({"name": "kmfc_gwo", "k": 3, "knowledge": "degree"}, "degree"),
        ({"name": "kmfc_gwo", "k": 3, "publish": "sample"}, "cluster"),
        ({"name": "degree_anonymization", "k": 3}, "degree"),
        ({"name": "random_edits", "loss": 0.5}, "attributes+degree"),
    ],
)
def test_a_graph_states_what_is_known_even_without_attributes(stated, method, knowledge):
    found = stated(attributes=[], release={"ids": {"node": "n"}}, method=method)
    assert found.knowledge == knowledge
    assert found.schema(pa.schema([])).attributes == ()
