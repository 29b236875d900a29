"""Roles, and what leaves."""

import pyarrow as pa
import pytest

from distanon.data.schema import Attribute, AttributeType, Role, Schema

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
