"""New records under a fitted transformation, with real files."""

from __future__ import annotations

import json
import stat
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon import job as jobs
from distanon.data.streams import Streams
from distanon.errors import (
    InfeasibleError,
    InputError,
    OutputExistsError,
    PromiseBrokenError,
    ResumeError,
    SpecError,
)
from distanon.job.inputs import open_inputs
from distanon.spec import parse
from distanon.storage.store import Store

QUASI = ["age", "job"]
METHODS = {
    "mondrian": "{name: mondrian, k: 4}",
    "values": "{name: mondrian, k: 4, recoding: value}",
    "mdav": "{name: mdav, k: 4}",
    "ranges": "{name: mdav, k: 4, recoding: range}",
    "leaves": "{name: decision_tree_leaves, k: 4, l: 2}",
    "reconstruction": "{name: reconstruction, k: 4, generations: 2}",
}


def people(seed, n):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n)
    job = rng.choice(["cook", "clerk", "smith"], n)
    ill = np.where(age + 20 * (job == "cook") + rng.normal(0, 15, n) > 45, "yes", "no")
    return pd.DataFrame({"age": age, "job": job, "ill": ill, "kept": rng.integers(0, 4, n)})


def spec_of(folder, name, *settings):
    people(1, 120).to_csv(folder / "fit.csv", index=False)
    return parse(
        f"""
spec: 1
name: x
seed: 20240229000000000000000000000000000001
input:
  table:
    path: {folder / "fit.csv"}
    columns: {{age: quasi_identifier, job: quasi_identifier, ill: sensitive, kept: insensitive}}
method: {METHODS.get(name, "{name: nends}")}
measure: {{budget_s: 0.001}}
output: {folder / name / "out"}
private: {folder / name / "private"}
""",
        settings,
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Finished runs of every method, made when they are first asked for."""
    folder, made = tmp_path_factory.mktemp("runs"), {}

    def make(name):
        if name not in made:
            made[name] = jobs.run_job(spec_of(folder, name), serial=True)
        return made[name]

    return make


@pytest.fixture
def new(tmp_path):
    """Writes new records, and says where."""

    def write(frame, name="new.csv"):
        frame.to_csv(tmp_path / name, index=False)
        return str(tmp_path / name)

    return write


def table_of(place):
    return pq.read_table(Path(place) / "data" / "part-00000.parquet")


@pytest.mark.parametrize("method", ["mondrian", "values", "leaves", "reconstruction"])
def test_the_fitted_records_themselves_come_out_as_they_were_released(method, runs, new, tmp_path):
    run = runs(method)
    done = jobs.apply(run.private, new(people(1, 120)), output=str(tmp_path / "out"))
    assert done.counts["suppressed"] == 0
    assert table_of(done.output).equals(table_of(run.output))
    document = json.loads((tmp_path / "out" / "release.json").read_text())
    assert document["made_by"] == "apply"
    assert document["method"]["k"] == 4
    assert (tmp_path / "out" / "_SUCCESS").exists()


@pytest.mark.parametrize("method", METHODS)
def test_new_records_get_published_cells_and_what_breaks_is_suppressed(method, runs, new, tmp_path):
    run, frame = runs(method), people(2, 300)
    done = jobs.apply(run.private, new(frame), output=str(tmp_path / "out"), on_breach="suppress")
    released = table_of(done.output).to_pandas()
    assert len(released) + done.counts["suppressed"] == 300
    assert released.groupby(QUASI, dropna=False).size().min() >= 4
    if method == "leaves":
        assert released.groupby(QUASI)["ill"].nunique().min() == 2
    cells = table_of(run.output).select(QUASI).to_pandas()
    assert set(map(tuple, released[QUASI].values)) <= set(map(tuple, cells.values))
    assert all(verdict.kept for verdict in done.verdicts)
    audited = jobs.audit(done.output)
    assert all(verdict.kept for verdict in audited.verdicts)


def test_a_class_that_is_too_small_is_refused_by_number_and_nothing_is_left(runs, new, tmp_path):
    one = people(1, 1).assign(age=59, job="smith")
    few = pd.concat([people(1, 1).assign(age=20, job="cook")] * 4 + [one])
    output = tmp_path / "out"
    with pytest.raises(PromiseBrokenError, match=r"1 of 5 records can't be released"):
        jobs.apply(runs("mondrian").private, new(few), output=str(output))
    assert not output.exists()


def test_records_that_break_l_alone_are_found(runs, new, tmp_path):
    # All groups have enough records, but nobody is ill.
    frame = pd.concat([people(1, 120)] * 2).assign(ill="no")
    with pytest.raises(PromiseBrokenError, match="240 of 240 records"):
        jobs.apply(runs("leaves").private, new(frame), output=str(tmp_path / "out"))
    with pytest.raises(InfeasibleError, match="not one of 240 records"):
        jobs.apply(
            runs("leaves").private, new(frame), output=str(tmp_path / "out"), on_breach="suppress"
        )


def test_categories_that_the_fit_has_never_seen_are_told_by_column_and_count(runs, new, tmp_path):
    frame = people(1, 120)
    frame.loc[[3, 7], "job"] = "astronaut"
    place = new(frame)
    with pytest.raises(InputError, match="column 'job': 2 values") as told:
        jobs.apply(runs("mondrian").private, place, output=str(tmp_path / "out"))
    assert "astronaut" not in str(told.value)
    done = jobs.apply(
        runs("mondrian").private, place, output=str(tmp_path / "out"), on_breach="suppress"
    )
    assert done.counts["unseen_values"] == 2
    assert done.counts["suppressed"] >= 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda frame: frame.drop(columns="job"), "no column 'job'"),
        (lambda frame: frame.assign(town="x"), "column 'town': the fitted table had none"),
        (lambda frame: frame.assign(age="old"), "column 'age' is .*string, in the fitted table"),
        (lambda frame: frame.iloc[:0], "no records|no rows|no column"),
    ],
)
def test_another_schema_is_refused(change, told, runs, new, tmp_path):
    place = new(change(people(1, 120)))
    with pytest.raises(InputError, match=told):
        jobs.apply(runs("mondrian").private, place, output=str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_missing_value_where_the_fit_had_none_is_one_that_it_has_never_seen(runs, new, tmp_path):
    frame = people(1, 120).astype({"age": "Int64"})
    frame.loc[4, "age"] = None
    with pytest.raises(InputError, match="column 'age': 1 value"):
        jobs.apply(runs("mdav").private, new(frame), output=str(tmp_path / "out"))


def test_a_run_that_fitted_nothing_is_told_from_one_that_is_none(runs, new, tmp_path):
    place = new(people(1, 120))
    rotated = runs("nends")
    assert not (Path(rotated.private) / "fitted").exists()
    with pytest.raises(InputError, match="nends masks each record by itself"):
        jobs.apply(rotated.private, place, output=str(tmp_path / "out"))
    with pytest.raises(ResumeError, match="no run was begun here"):
        jobs.apply(str(tmp_path / "nowhere"), place, output=str(tmp_path / "out"))


def test_an_output_that_exists_stays_unless_it_is_to_be_replaced(runs, new, tmp_path):
    run, output = runs("mondrian"), str(tmp_path / "out")
    first = jobs.apply(run.private, new(people(1, 120)), output=output)
    other = new(pd.concat([people(1, 120)] * 2), "other.csv")
    with pytest.raises(OutputExistsError, match="holds a release"):
        jobs.apply(run.private, other, output=output)
    assert table_of(output).num_rows == 120
    second = jobs.apply(run.private, other, output=output, overwrite=True)
    assert table_of(output).num_rows == 240
    assert first.private == second.private


def test_the_run_s_own_release_and_its_private_prefix_are_no_outputs(runs, new):
    run, place = runs("mondrian"), new(people(1, 120))
    with pytest.raises(SpecError, match="the run's own release"):
        jobs.apply(run.private, place, output=run.output, overwrite=True)
    with pytest.raises(SpecError, match="output lies inside private"):
        jobs.apply(run.private, place, output=f"{run.private}/here")
    with pytest.raises(SpecError, match="expected refuse or suppress"):
        jobs.apply(run.private, place, on_breach="hide")


def test_what_is_fitted_is_private_and_stays_after_success(runs, new, tmp_path):
    run = runs("leaves")
    jobs.apply(run.private, new(people(1, 120)), output=str(tmp_path / "out"))
    jobs.clean(run.private)
    files = list((Path(run.private) / "fitted").iterdir())
    assert files
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    applied = list((Path(run.private) / "applied").glob("*/*"))
    assert not [file for file in applied if file.name in ("staging", "checkpoint")]
    public = b"".join(file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert str(tmp_path).encode() not in public


def test_a_suppressed_value_is_in_no_public_byte_and_no_message(runs, new, tmp_path):
    planted = "Zyxwvut-7319"
    frame = people(1, 120)
    frame.loc[5, "job"] = planted
    said = []

    class Heard:
        def start(self, phase, total): ...
        def advance(self, items=1): ...
        def note(self, message):
            said.append(message)

    output = tmp_path / "out"
    jobs.apply(
        runs("mdav").private,
        new(frame),
        output=str(output),
        on_breach="suppress",
        progress=Heard(),
    )
    files = [*output.rglob("*"), *(Path(runs("mdav").private) / "applied").rglob("*.json")]
    assert planted.encode() not in b"".join(file.read_bytes() for file in files if file.is_file())
    assert planted not in "".join(said)
    assert any("suppressed" in line for line in said)


def test_tables_in_memory_and_their_order_give_the_same_bytes(runs, tmp_path):
    run, frame = runs("mondrian"), people(1, 120)
    places = [str(tmp_path / name) for name in "abc"]
    shuffled = frame.sample(frac=1, random_state=3)
    for place, data in zip(places, (frame, shuffled, pa.table(frame)), strict=True):
        jobs.apply(run.private, data, output=place)
    for one, other in pairwise(places):
        assert table_of(one).equals(table_of(other))


def test_an_application_has_a_report_and_is_not_resumed_but_done_again(runs, new, tmp_path):
    done = jobs.apply(runs("mondrian").private, new(people(1, 120)), output=str(tmp_path / "out"))
    assert Path(jobs.rewrite_report(done.private)).exists()
    assert jobs.resume(done.private).output == done.output
    facts = Path(done.private) / "run.json"
    facts.write_text(json.dumps(json.loads(facts.read_text()) | {"status": "begun"}))
    with pytest.raises(ResumeError, match="apply it again"):
        jobs.resume(done.private)


def unmeasured(figures):
    return [figure.name for figure in figures if figure.name.endswith("not_measured")]


@pytest.mark.parametrize("method", ["mondrian", "values"])
def test_an_application_is_measured_as_the_run_is(method, tmp_path):
    spec = spec_of(tmp_path, method, "measure.budget_s=600")
    run = jobs.run_job(spec, serial=True)
    done = jobs.apply(run.private, str(tmp_path / "fit.csv"))
    ours, theirs = ({figure.name: figure for figure in one.measurements} for one in (done, run))
    assert list(ours) == list(theirs)
    assert not unmeasured(done.measurements)
    for name, figure in ours.items():  # samples aside, the same release has the same figures
        if name.startswith(("classes.", "class_sizes", "information.", "generalization")):
            assert figure == theirs[name]
    assert {"generalization.ncp", "generalization.ncp_members"} & set(ours)
    page = (Path(done.output) / "report-public.html").read_text()
    assert "Singling out" in page
    assert Path(done.report).read_text() != page
    again = jobs.apply(run.private, str(tmp_path / "fit.csv"), overwrite=True)
    assert again.measurements == done.measurements


@pytest.mark.parametrize("method", ["mondrian", "reconstruction"])
def test_new_records_are_measured_in_the_scale_of_the_fit(method, tmp_path):
    run = jobs.run_job(spec_of(tmp_path, method, "measure.budget_s=600"), serial=True)
    # One category of the fit does not occur, and one occurs that the fit has never seen.
    new = people(2, 300)
    new = new[new["job"] != "clerk"]
    new.iloc[:3, new.columns.get_loc("job")] = "astronaut"
    done = jobs.apply(run.private, new, on_breach="suppress")
    assert done.counts["unseen_values"] == 3
    assert not unmeasured(done.measurements)
    assert json.loads((Path(done.private) / "run.json").read_text())["status"] == "done"


def test_the_control_file_of_a_job_is_that_of_its_applications(tmp_path):
    people(5, 60).to_csv(tmp_path / "control.csv", index=False)
    control = f"input.control={tmp_path / 'control.csv'}"
    run = jobs.run_job(spec_of(tmp_path, "mondrian", control, "measure.budget_s=600"), serial=True)
    done = jobs.apply(run.private, people(2, 300), on_breach="suppress")
    assert any(figure.name.startswith("membership") for figure in done.measurements)
    (tmp_path / "control.csv").unlink()
    done = jobs.apply(run.private, people(2, 300), on_breach="suppress", overwrite=True)
    assert not any(figure.name.startswith("membership") for figure in done.measurements)


@pytest.mark.s3
def test_runs_and_releases_on_s3_are_applied_as_local_ones(runs, new, tmp_path, s3_environment):
    bucket, hidden = s3_environment.bucket(), s3_environment.bucket()
    places = [f"output=s3://{bucket}/release/", f"private=s3://{hidden}/private/"]
    run = jobs.run_job(spec_of(tmp_path, "mondrian", *places), serial=True)
    place = new(people(1, 120))
    done = jobs.apply(run.private, place)
    assert done.output == f"s3://{bucket}/release-applied/"
    local = jobs.apply(runs("mondrian").private, place, output=str(tmp_path / "out"))
    remote = Store(done.output)
    for entry in remote.list():
        if entry.name != "_SUCCESS":
            assert remote.read(entry.name) == (Path(local.output) / entry.name).read_bytes()
    assert [entry.name for entry in Store(done.private).list()] == [
        "audit.json",
        "metrics.json",
        "published.json",
        "report.html",
        "run.json",
        "spec.yaml",
    ]


def test_hierarchies_of_sensitive_columns_are_those_of_the_fit(tmp_path):
    spec = spec_of(
        tmp_path,
        "mondrian",
        "input.table.columns.ill={role: sensitive, hierarchy: {build: frequency, at_least: [50]}}",
        "promises={t_closeness: {t: 1, distance: hierarchical}}",
    )
    run = jobs.run_job(spec, serial=True)
    new = people(2, 80)
    new["ill"] = np.where(np.arange(80) < 70, new["ill"], "new")
    done = jobs.apply(run.private, new, on_breach="suppress")
    told = next(one for one in done.verdicts if one.promise == "t_closeness")
    # In the fit yes and no are frequent; of the new records alone, only one of them would be.
    schema = open_inputs(spec, Streams(1)).dataset.schema
    assert {row[0]: row[1] for row in schema["ill"].hierarchy.levels} == {"yes": "yes", "no": "no"}
    assert told.kept
    assert told.measured["distance"] == "hierarchical"


def test_where_nothing_can_be_released_it_is_said_why(runs, tmp_path):
    strange = people(2, 30).assign(job="pilot")
    with pytest.raises(InfeasibleError, match="30 hold values that the fitted table does not"):
        jobs.apply(runs("values").private, strange, output=f"{tmp_path}/o", on_breach="suppress")
