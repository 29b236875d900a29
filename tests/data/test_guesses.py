from dataclasses import replace

import pyarrow as pa
import pytest

from distanon.data.domain import scan
from distanon.data.guesses import risky_guesses
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, cut

KNOWN = Role.QUASI_IDENTIFIER


def guesses(column, kind, role=KNOWN, **settings):
    array = pa.array(column)
    schema = Schema((Attribute("a", role, AttributeType(kind), array.type, **settings),))
    dataset = Dataset(schema, cut(pa.table({"a": array}), 3))
    return risky_guesses(replace(dataset, domain=scan(dataset)))


@pytest.mark.parametrize("role", [KNOWN, Role.SENSITIVE, Role.INSENSITIVE])
def test_a_column_without_a_value_is_told(role):
    assert guesses([None] * 12, "nominal", role) == ["column 'a' has no value in any row"]


def test_a_typed_column_without_a_value_is_told():
    told = guesses(pa.array([None] * 12, pa.int64()), "numeric")
    assert told == ["column 'a' has no value in any row"]


@pytest.mark.parametrize(
    ("values", "how"),
    [(["low", "high"], "by the alphabet"), (["97", "198"], "by size"), ([91, 92], "by size")],
)
def test_an_order_that_was_guessed_is_told_without_its_values(values, how):
    (line,) = guesses(values * 10, "ordinal")
    assert f"its values are ranked {how}; state `order`" in line
    assert not any(str(value) in line for value in values)


def test_an_order_that_is_given_is_no_guess():
    assert guesses(["low", "high"] * 10, "ordinal", order=("low", "high")) == []


def test_a_nominal_column_that_names_people_is_told():
    names = [f"person {number}" for number in range(11)]
    (line,) = guesses([*names, *names[:9]], "nominal")
    assert "11 different values in 20 rows" in line
    assert guesses([*names, *names], "nominal") == []
    assert guesses(names[:9], "nominal") == []
    assert guesses(names, "nominal", Role.SENSITIVE) == []
