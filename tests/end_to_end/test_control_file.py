"""A control file through the real command: no row of it is released, and attacks are told by it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from distanon import job as jobs
from distanon.attacks.intervals import wilson
from distanon.cli import app

METHODS = {
    "mondrian": "name: mondrian, k: 4",
    "reconstruction": "name: reconstruction, k: 4, generations: 2, individuals: 4",
}
PLANTED = 77.0625  # an age that only the control has


def people(seed, count):
    rng = np.random.default_rng(seed)
    ill = np.where(rng.random(count) < 0.3, "yes", "no")
    job = rng.choice(["cook", "clerk", "smith"], count)
    return pd.DataFrame({"age": rng.integers(18, 76, count).astype(float), "job": job, "ill": ill})


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Runs distanon on 240 people, in this process."""
    monkeypatch.setattr(jobs, "run_job", partial(jobs.run_job, serial=True))
    people(1, 240).to_csv(tmp_path / "people.csv", index=False)
    control = people(2, 60)
    control.loc[3, "age"] = PLANTED
    control.to_csv(tmp_path / "control.csv", index=False)

    def run(method, *arguments, control="control.csv"):
        (tmp_path / "spec.yaml").write_text(f"""
spec: 1
name: held
seed: 340282366920938463463374607431768211455
input:
  table:
    path: {tmp_path / "people.csv"}
    columns: {{age: quasi_identifier, job: quasi_identifier, ill: sensitive}}
  control: {tmp_path / control}
method: {{{METHODS[method]}}}
output: {tmp_path / "out"}
private: {tmp_path / "private"}
""")
        return CliRunner().invoke(app, [*arguments, "--json", "--quiet"])

    return run


def figures_in(place):
    document = json.loads((Path(place) / "metrics.json").read_text())
    return {one["name"]: one for one in document["subjects"][0]["measurements"]}


@pytest.mark.parametrize("method", METHODS)
def test_a_table_is_attacked_beside_its_control(command, tmp_path, method):
    done = command(method, "run", str(tmp_path / "spec.yaml"))
    assert done.exit_code == 0, done.stderr
    assert pq.read_table(tmp_path / "out" / "data").num_rows == 240
    for file in (tmp_path / "out").rglob("*"):
        assert file.is_dir() or str(PLANTED).encode() not in file.read_bytes()
    figures = figures_in(tmp_path / "private")
    inside, outside = (figures[f"attribute.{one}.ill"] for one in ("inference", "control"))
    assert (inside["n"], outside["n"]) == (240, 60)
    for one in (inside, outside):
        assert (one["ci_low"], one["ci_high"]) == wilson(one["value"] * one["n"], one["n"])
    gain = (inside["value"] - outside["value"]) / (1 - outside["value"])
    assert figures["attribute.gain.ill"]["value"] == pytest.approx(gain)
    assert figures["attribute.gain.ill"]["ci_low"] < gain < figures["attribute.gain.ill"]["ci_high"]
    assert figures["membership.auc"]["ci_low"] <= figures["membership.auc"]["value"]
    # Who is not in the release can be tested on: labels of the control are predicted.
    assert figures["classification.random_forest.ill"]["n"] == 60
    assert "membership" in (tmp_path / "private" / "report.html").read_text().lower()


def test_an_application_is_attacked_beside_the_same_control(command, tmp_path):
    assert command("mondrian", "run", str(tmp_path / "spec.yaml")).exit_code == 0
    people(3, 200).to_csv(tmp_path / "new.csv", index=False)
    places = [str(tmp_path / "private"), str(tmp_path / "new.csv")]
    done = command("mondrian", "apply", *places, "--on-breach", "suppress")
    assert done.exit_code == 0, done.stderr
    figures = figures_in(json.loads(done.stdout)["private"])
    assert figures["attribute.control.ill"]["n"] == 60
    assert figures["membership.auc"]["value"] is not None


def test_a_control_of_other_columns_is_refused_by_path(command, tmp_path):
    people(2, 60)[["age", "job"]].to_csv(tmp_path / "other.csv", index=False)
    done = command("mondrian", "run", str(tmp_path / "spec.yaml"), control="other.csv")
    assert done.exit_code == 2
    assert "other.csv: the columns are not those of" in done.stderr
    assert not (tmp_path / "out").exists()
