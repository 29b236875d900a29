"""Audits, validation and reports without a run."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon import job as jobs
from distanon.errors import InputError, ResumeError, SpecError
from distanon.promises import PROMISES
from distanon.spec import parse


@pytest.fixture
def table():
    return pa.table({"age": [30, 30, 30, 40, 40, 40], "job": list("abacca"), "pay": range(6)})


@pytest.mark.parametrize("kind", ["pandas", "arrow", "parquet", "csv"])
def test_any_table_can_be_audited(table, kind, tmp_path):
    if kind == "pandas":
        release = table.to_pandas()
    elif kind == "arrow":
        release = table
    else:
        release = tmp_path / f"table.{kind}"
        if kind == "parquet":
            pq.write_table(table, release)
        else:
            table.to_pandas().to_csv(release, index=False)
    promises = {
        "k_anonymity": PROMISES["k_anonymity"](k=3),
        "l_diversity": PROMISES["l_diversity"](l=3),
    }
    found = jobs.audit(release, quasi_identifiers=["age"], sensitive=["job"], promises=promises)
    assert [(verdict.promise, verdict.kept) for verdict in found.verdicts] == [
        ("k_anonymity", True),
        ("l_diversity", False),
    ]


def test_an_index_of_pandas_is_no_column(table):
    frame = table.to_pandas().set_index(pd.Index(list("uvwxyz"), name="secret"))
    assert jobs.audit(frame, quasi_identifiers=["age"]).measurements


def test_columns_that_are_not_there_are_named(table):
    with pytest.raises(InputError, match="no column 'agee'"):
        jobs.audit(table, quasi_identifiers=["agee"])
    with pytest.raises(InputError, match="at once: 'age'"):
        jobs.audit(table, quasi_identifiers=["age"], sensitive=["age"])


def test_a_table_without_rows_is_refused(table):
    with pytest.raises(InputError, match="no rows"):
        jobs.audit(table.slice(0, 0), quasi_identifiers=["age"])


@pytest.fixture
def finished(tmp_path):
    """A run on built-in data that kept its mapping."""
    spec = parse(f"""
spec: 1
name: fires
seed: 5
input:
  table:
    path: builtin:forest-fires
    default_role: quasi_identifier
    columns: {{area: sensitive}}
method: {{name: dptpe, k: 5}}
measure: {{draws: 2}}
keep_mapping: true
output: {tmp_path / "release"}
private: {tmp_path / "private"}
""")
    return spec, jobs.run_job(spec, serial=True)


def test_a_release_is_audited_by_its_spec_and_the_mapping_it_kept(finished):
    spec, run = finished
    found = jobs.audit(run.output, spec=spec)
    assert [verdict.verified_from for verdict in found.verdicts] == ["release+private"]
    assert all(verdict.kept for verdict in found.verdicts)
    linked = {figure.name: figure.value for figure in found.measurements}
    told = {figure.name: figure.value for figure in run.measurements}
    assert linked["identity.release_to_original"] == told["identity.release_to_original"]


def test_rows_that_are_not_the_runs_own_are_not_matched_by_its_mapping(finished, tmp_path):
    spec, run = finished
    rows = pq.read_table(f"{run.output}/data")
    for name, other in (
        ("fewer", rows.slice(0, 100)),
        ("turned", rows.take(pa.array(range(516, -1, -1)))),
    ):
        pq.write_table(other, tmp_path / f"{name}.parquet")
        found = jobs.audit(tmp_path / f"{name}.parquet", spec=spec)
        assert [verdict.verified_from for verdict in found.verdicts] == ["asserted"]
        assert not any(figure.name == "identity.highest" for figure in found.measurements)


def test_an_output_that_does_not_fit_its_mapping_is_refused(finished):
    spec, run = finished
    (part,) = Path(run.output, "data").iterdir()
    pq.write_table(pq.read_table(part).slice(0, 100), part)
    with pytest.raises(InputError, match=r"100 rows, but the mapping in .* is of 517"):
        jobs.audit(run.output, spec=spec)


def test_a_quasi_identifier_that_the_original_lacks_is_named(finished, table):
    spec, run = finished
    (part,) = Path(run.output, "data").iterdir()
    rows = pq.read_table(part)
    pq.write_table(rows.append_column("extra", rows["X"]), part)
    with pytest.raises(InputError, match="builtin:forest-fires: no column 'extra'"):
        jobs.audit(run.output, spec=spec)
    with pytest.raises(InputError, match="no column 'age'"):
        jobs.audit(table, original=table.drop_columns(["age"]), quasi_identifiers=["age"])


def test_an_audit_must_know_what_an_intruder_may_know(table):
    with pytest.raises(SpecError, match="quasi_identifiers: name at least one column"):
        jobs.audit(table)


def test_without_the_mapping_unchanged_is_not_verified(finished, tmp_path):
    spec, run = finished
    for file in (tmp_path / "private" / "mapping").iterdir():
        file.unlink()
    verdict = jobs.audit(run.output, spec=spec).verdicts[0]
    assert verdict.verified_from == "asserted"


def test_the_report_is_written_again_to_the_same_bytes(finished, tmp_path):
    _, run = finished
    report = tmp_path / "private" / "report.html"
    before = report.read_bytes()
    report.unlink()
    assert jobs.rewrite_report(run.private) == str(report)
    assert report.read_bytes() == before


def test_a_report_needs_a_run(tmp_path):
    with pytest.raises(ResumeError):
        jobs.rewrite_report(str(tmp_path))


def test_validating_writes_nothing(tmp_path):
    spec = parse(f"""
spec: 1
name: fires
input: {{table: {{path: builtin:forest-fires, default_role: quasi_identifier}}}}
method: {{name: dptpe, k: 5}}
output: {tmp_path / "release"}
private: {tmp_path / "private"}
""")
    notes = jobs.validate(spec)
    assert notes[0] == "517 records, 13 columns"
    assert "nominal: month, day" in notes[1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [{"a": [1, "planted", 3]}, [1, 2], "frame"])
def test_what_is_no_table_is_refused_in_words_that_quote_nothing(data):
    release = pd.DataFrame({"a": [1, "planted", 3]}) if data == "frame" else data
    with pytest.raises(InputError) as caught:
        jobs.audit(release, quasi_identifiers=["a"])
    assert "planted" not in str(caught.value)
