"""Settings of a column as Python callers write them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from distanon.data.column_settings import ColumnSettings
from distanon.data.schema import Attribute, AttributeType, Role
from distanon.errors import SpecError
from distanon.spec.table_input import Column


def attribute(kind=AttributeType.NUMERIC, role=Role.QUASI_IDENTIFIER):
    return Attribute("x", role, kind, pa.float64())


def test_settings_stand_under_the_names_of_the_spec():
    given = {"decimals": 0, "domain_bounds": [0, 9], "top_code": 7.5}
    ours = ColumnSettings.read("x", given).applied(attribute())
    theirs = Column.model_validate({"role": "quasi_identifier", **given})
    assert all(getattr(ours, name) == getattr(theirs, name) for name in given)
    assert ColumnSettings.read("x", {}).applied(attribute()) == attribute()
    ordinal = attribute(AttributeType.ORDINAL)
    assert ColumnSettings.read("x", {"order": ["b", "a"]}).applied(ordinal).order == ("b", "a")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"decimal": 1}, r"columns\['x'\]: no setting 'decimal'; did you mean 'decimals'"),
        ({"zzz": 1}, "there are order, decimals"),
        ({"decimals": 16}, "decimals: expected a whole number from 0 to 15"),
        ({"decimals": True}, "decimals: expected"),
        ({"decimals": 1.0}, "decimals: expected"),
        ({"domain_bounds": (3, 3)}, "domain_bounds: expected"),
        ({"domain_bounds": (3,)}, "domain_bounds: expected"),
        ({"domain_bounds": (0, float("inf"))}, "domain_bounds: expected"),
        ({"domain_bounds": 3}, "domain_bounds: expected"),
        ({"top_code": float("nan")}, "top_code: expected"),
        ({"top_code": "9"}, "top_code: expected"),
        ({"order": ["a"]}, "order: expected"),
        ({"order": ["a", "a"]}, "order: expected"),
        ({"order": "ab"}, "order: expected"),
    ],
)
def test_wrong_settings_are_refused_where_they_stand(given, message):
    with pytest.raises(SpecError, match=message):
        ColumnSettings.read("x", given)


@pytest.mark.parametrize(
    ("given", "column", "message"),
    [
        ({"order": ["a", "b"]}, attribute(), "order: for an ordinal column"),
        ({"top_code": 3}, attribute(AttributeType.NOMINAL), "top_code: for a numeric column"),
        ({"decimals": 0}, attribute(role=Role.SENSITIVE), "decimals: for a quasi-identifier"),
        ({"domain_bounds": (0, 1)}, attribute(role=Role.INSENSITIVE), "domain_bounds: for a quas"),
    ],
)
def test_settings_that_a_column_can_not_have_are_refused(given, column, message):
    with pytest.raises(SpecError, match=message):
        ColumnSettings.read("x", given).applied(column)


def test_a_cap_works_for_every_role():
    kept = attribute(role=Role.SENSITIVE)
    assert ColumnSettings.read("x", {"top_code": 3}).applied(kept).top_code == 3
