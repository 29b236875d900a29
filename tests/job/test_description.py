"""What `describe` says of a table, worked out by hand, and that its draft is a spec."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon import job as jobs
from distanon.cli import app
from distanon.data.schema import Role
from distanon.errors import InputError
from distanon.job import describe, validate
from distanon.methods.baselines.mondrian import Mondrian
from distanon.spec import parse

PEOPLE = pa.table(
    {
        "person_id": [11, 12, 13, 14],
        "note: free": ["marigold", "thistle", "clover", None],
        "age": pa.array([30, 30, 41, 41], pa.int16()),
        "zip": ["1305", "1305", "1306", "1306"],
        "ill": [True, False, True, True],
    }
)


@pytest.fixture
def people(tmp_path):
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    return str(tmp_path / "people.parquet")


def test_columns_are_counted_and_roles_suggested(people):
    found = describe(people)
    by_name = {one.name: one for one in found.columns}
    assert found.records == found.examined == 4
    assert by_name["person_id"].role is Role.IDENTIFIER
    assert by_name["note: free"].role is Role.IDENTIFIER
    assert by_name["note: free"].missing == 0.25
    assert by_name["note: free"].unique == 0.75
    assert by_name["age"].role is Role.QUASI_IDENTIFIER
    assert by_name["age"].distinct == 2


def test_records_that_are_alone_are_counted_without_the_identifiers(people):
    found = describe(people)  # (30, 1305, True), (30, 1305, False), twice (41, 1306, True)
    assert found.unique == 0.5
    assert found.few[:2] == ("ill", "age")
    assert found.unique_by_few == 0.5


def test_few_columns_are_those_that_single_out_the_most(tmp_path):
    rows = np.arange(60)
    table = pa.table(
        {"constant": rows * 0, "parity": rows % 2, "tens": rows // 10, "ten": rows % 10}
    )
    pq.write_table(table, tmp_path / "t.parquet")
    found = describe(str(tmp_path / "t.parquet"))
    assert set(found.few) >= {"tens", "ten"}
    assert found.unique_by_few == 1.0


def test_the_draft_is_a_spec_that_can_be_checked(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = parse(describe(people).draft(), ["method={name: dptpe, k: 2}"])
    assert spec.name == "people"
    assert spec.table.columns["note: free"].role is Role.IDENTIFIER
    assert any("4 records" in note for note in validate(spec))


def test_no_value_of_the_data_is_shown(people, runner):
    for option in ([], ["--json"], ["--draft"]):
        answer = runner.invoke(app, ["describe", people, *option])
        assert answer.exit_code == 0, answer.output
        shown = answer.output.replace(people, "")
        assert not any(value in shown for value in ("marigold", "thistle", "1305", "41"))
    assert json.loads(runner.invoke(app, ["describe", people, "--json"]).stdout)["records"] == 4


def test_what_is_no_table_is_refused(tmp_path):
    (tmp_path / "empty.csv").write_text("a,b\n")
    with pytest.raises(InputError, match=r"empty\.csv"):
        describe(str(tmp_path / "empty.csv"))


@pytest.fixture
def runner():
    from typer.testing import CliRunner

    return CliRunner()


def test_text_in_views_is_described_and_released_like_any_text(tmp_path):
    text = pa.array([f"v{one % 3}" for one in range(40)])
    plain = pa.table({"a": range(40), "b": text, "s": text, "kept": text, "who": text})
    views = pa.table(
        {
            n: c.cast(pa.string_view()) if n != "a" else c
            for n, c in zip(plain.column_names, plain, strict=True)
        }
    )
    places = []
    for name, table in (("plain", plain), ("views", views)):
        places.append(tmp_path / f"{name}.parquet")
        pq.write_table(table, places[-1])
    told = [jobs.describe(str(place)).columns for place in places]
    assert [one.distinct for one in told[0]] == [one.distinct for one in told[1]]
    roles = {"quasi_identifiers": ["a", "b"], "sensitive": ["s"], "insensitive": ["kept", "who"]}
    released = [Mondrian(k=4).anonymize(one, **roles, seed=1).data for one in (plain, views)]
    assert released[0].to_pylist() == released[1].to_pylist()
    found = jobs.audit(
        released[1], quasi_identifiers=["a", "b"], sensitive=["s"], original=str(places[1])
    )
    assert all("not_measured" not in one.name for one in found.measurements)
