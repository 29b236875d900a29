"""Audits of finished releases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
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


@pytest.mark.parametrize("data", [{"a": [1, "planted", 3]}, [1, 2], "frame"])
def test_what_is_no_table_is_refused_in_words_that_quote_nothing(data):
    release = pd.DataFrame({"a": [1, "planted", 3]}) if data == "frame" else data
    with pytest.raises(InputError) as caught:
        jobs.audit(release, quasi_identifiers=["a"])
    assert "planted" not in str(caught.value)


@pytest.fixture
def held_out(tmp_path):
    """A run under an id of its own, a fifth of its records held out, that kept its mapping."""
    rows = np.random.default_rng(3).normal(size=(90, 3)).round(2)
    table = pa.table({**dict(zip("abc", rows.T, strict=True)), "ill": list("uvw") * 30})
    pq.write_table(table, tmp_path / "t.parquet")
    spec = parse(f"""
spec: 1
name: held
input:
  table:
    path: {tmp_path / "t.parquet"}
    default_role: quasi_identifier
    columns: {{ill: sensitive}}
  control: {{fraction: 0.2}}
method: {{name: noise, rms: 0.1}}
measure: {{draws: 2}}
keep_mapping: true
output: {tmp_path / "release"}
private: {tmp_path}/private/${{RUN_ID}}
""")
    return spec, jobs.run_job(spec, run_id="mine", serial=True)


def figures(found):
    return {figure.name: figure.value for figure in found.measurements}


def test_a_run_of_its_own_id_is_audited_with_its_private_prefix(held_out, tmp_path):
    spec, run = held_out
    told = figures(run)
    assert "identity.highest" not in figures(jobs.audit(run.output, spec=spec))
    names = {"quasi_identifiers": ["a", "b", "c"], "sensitive": ["ill"]}
    for known in (
        {"spec": spec},
        {},
        names,
        {"original": str(tmp_path / "t.parquet")},
        {"original": pq.read_table(tmp_path / "t.parquet"), **names},
    ):
        found = figures(jobs.audit(run.output, private=run.private, **known))
        # Who was held out was decided by the run's seed, which no spec names.
        for name in ("identity.release_to_original", "membership.auc", "change.rms"):
            assert found[name] == pytest.approx(told[name])


def test_a_fraction_that_was_held_out_is_redone_where_the_spec_leads_to_the_run(held_out):
    spec, run = held_out
    usual = jobs.run_job(spec, overwrite=True, serial=True)
    found = figures(jobs.audit(usual.output, spec=spec))
    assert found["membership.auc"] == pytest.approx(figures(usual)["membership.auc"])
    assert found["change.rms"] == pytest.approx(figures(usual)["change.rms"])
    assert run.private != usual.private


def test_a_private_prefix_must_be_of_the_run_that_made_the_release(held_out, tmp_path, table):
    _, run = held_out
    with pytest.raises(SpecError, match="is of the run that published to"):
        jobs.audit(table, private=run.private)
    short = pq.read_table(tmp_path / "t.parquet").slice(0, 40)
    with pytest.raises(InputError, match="fewer records than the run"):
        jobs.audit(run.output, private=run.private, original=short)
    with pytest.raises(ResumeError, match="no run was begun here"):
        jobs.audit(run.output, private=str(tmp_path / "nowhere"))
    for file in Path(run.private, "mapping").iterdir():
        file.unlink()
    with pytest.raises(InputError, match="kept no mapping"):
        jobs.audit(run.output, private=run.private)


def test_another_release_of_the_same_people_is_measured_beside(held_out, tmp_path):
    spec, run = held_out
    other = jobs.run_job(
        spec.model_copy(update={"output": str(tmp_path / "other")}), run_id="other", serial=True
    )
    found = figures(jobs.audit(run.output, private=run.private, also=other.output))
    assert 0.0 < found["composition.linked_averaged"] <= 1.0
    assert found["composition.k"] == 1.0
    alone = jobs.audit(run.output, quasi_identifiers=["a"], also=other.output)
    assert "composition.matched" in figures(alone)
    assert "composition.k" not in figures(alone)
    with pytest.raises(InputError, match="no column 'a'"):
        jobs.audit(run.output, quasi_identifiers=["a"], also=pa.table({"b": [1.0]}))


def test_generalized_columns_are_matched_by_what_is_kept_and_not_by_distance(table):
    text = table.set_column(0, "age", pa.array(["30s"] * 3 + ["40s"] * 3))
    found = jobs.audit(text, original=table, also=text, quasi_identifiers=["age"])
    assert np.isnan(figures(found)["composition.not_measured"])


def test_a_release_states_its_roles_and_promises_itself(finished):
    spec, run = finished
    found = jobs.audit(run.output)
    assert {verdict.promise for verdict in found.verdicts} == set(spec.effective_promises()[0])
    assert all(verdict.verified_from == "asserted" for verdict in found.verdicts)
    by_spec = jobs.audit(run.output, spec=spec)
    known = {"classes.k", "classes.l_distinct.area", "classes.t.area"}
    first, second = (
        {one.name: one.value for one in each.measurements if one.name in known}
        for each in (found, by_spec)
    )
    assert first == second
    assert set(first) == known


def test_promises_are_taken_as_parameters_too(table):
    found = jobs.audit(table, quasi_identifiers=["age"], promises={"k_anonymity": {"k": 3}})
    assert [verdict.kept for verdict in found.verdicts] == [True]
    with pytest.raises(SpecError, match=r"promises\.k_anonymity\.kk: no such setting"):
        jobs.audit(table, quasi_identifiers=["age"], promises={"k_anonymity": {"kk": 3}})


def test_one_name_is_no_list_of_columns(table):
    with pytest.raises(SpecError, match="quasi_identifiers: expected a list of columns"):
        jobs.audit(table, quasi_identifiers="age")


def test_generalized_numbers_of_any_origin_are_judged_beside_their_originals():
    original = pa.table({"age": [20, 24, 30, 40], "job": list("abab")})
    release = pa.table({"age": ["[20, 24]"] * 2 + ["[30, 40]"] * 2, "job": list("abab")})
    found = jobs.audit(release, original=original, quasi_identifiers=["age"], sensitive=["job"])
    value = {one.name: one.value for one in found.measurements}
    assert value["generalization.ncp"] == pytest.approx((4 / 20 + 10 / 20) / 2)
    assert value["attribute.inference.job"] == 0.5  # a and b tie in both ranges
