"""Roles, and what leaves."""

import pyarrow as pa
import pytest

from distanon.data.schema import Attribute, AttributeType, Role, Schema, infer_type

NOMINAL = AttributeType.NOMINAL


def attribute(name, role, **settings):
    return Attribute(name, role, NOMINAL, pa.string(), **settings)


SCHEMA = Schema(
    (
        attribute("id", Role.IDENTIFIER),
        attribute("who", Role.SUBJECT),
        attribute("ssn", Role.IDENTIFIER, pseudonym_key=b"secret key"),
        attribute("age", Role.QUASI_IDENTIFIER),
        attribute("job", Role.SENSITIVE),
        attribute("note", Role.INSENSITIVE),
    )
)


def test_identifiers_and_subjects_never_leave_but_as_pseudonyms():
    assert [a.name for a in SCHEMA.published] == ["ssn", "age", "job", "note"]


def test_attributes_are_found_by_name_and_role():
    assert SCHEMA["age"].role == Role.QUASI_IDENTIFIER
    assert "age" in SCHEMA
    assert "AGE" not in SCHEMA
    assert [a.name for a in SCHEMA.quasi_identifiers] == ["age"]
    assert [a.name for a in SCHEMA.sensitive] == ["job"]
    assert [a.name for a in SCHEMA] == ["id", "who", "ssn", "age", "job", "note"]
    with pytest.raises(KeyError):
        SCHEMA["AGE"]


def test_a_key_is_not_shown():
    assert "secret" not in repr(SCHEMA)
    assert "secret" not in str(SCHEMA["ssn"])


def test_a_type_counts_as_declared_unless_said_otherwise():
    assert SCHEMA["age"].declared
    assert not attribute("x", Role.QUASI_IDENTIFIER, declared=False).declared


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.int8(), AttributeType.NUMERIC),
        (pa.float16(), AttributeType.NUMERIC),
        (pa.decimal128(5, 2), AttributeType.NUMERIC),
        (pa.timestamp("ns"), AttributeType.NUMERIC),
        (pa.time32("s"), AttributeType.NUMERIC),
        (pa.bool_(), AttributeType.BINARY),
        (pa.string(), AttributeType.NOMINAL),
        (pa.null(), AttributeType.NOMINAL),
        (pa.dictionary(pa.int8(), pa.int64()), AttributeType.NOMINAL),
        (pa.dictionary(pa.int8(), pa.string(), ordered=True), AttributeType.ORDINAL),
    ],
)
def test_types_are_inferred_from_the_file(kind, expected):
    assert infer_type(kind) == expected
