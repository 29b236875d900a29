"""Releases of a run, read as an auditor reads them: with the spec, with the originals, alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from distanon import job as jobs
from distanon.spec import parse


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ranges and labels as text, rules for quasi-identifiers and a sensitive column, a key."""
    folder = tmp_path_factory.mktemp("audited")
    rng = np.random.default_rng(11)
    n = 90
    people = pd.DataFrame(
        {
            "age": rng.integers(20, 70, n),
            "born": rng.integers(1900, 1990, n),
            "pay": rng.integers(1_000, 9_000, n),
            "ill": rng.choice(["flu", "cold", "gout", "ague"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "name": [f"p{one}" for one in range(n)],
        }
    )
    people.to_csv(folder / "people.csv", index=False)
    (folder / "key").write_text("0123456789abcdef0123456789abcdef")
    spec = parse(text(folder))
    jobs.run_job(spec, serial=True)
    return folder


def text(folder):
    return f"""
spec: 1
name: x
seed: 5
input:
  table:
    path: {folder / "people.csv"}
    default_role: quasi_identifier
    columns:
      born: {{role: quasi_identifier, hierarchy: {{build: intervals, widths: [10, 20]}}}}
      pay: {{role: quasi_identifier, top_code: 8000}}
      ill: {{role: sensitive, hierarchy: {{build: frequency, at_least: [20, 40]}}}}
      name: {{role: identifier, keep: hmac, key: "file:{folder / "key"}"}}
method: {{name: mondrian, k: 5, suppression: 0.1}}
promises: {{t_closeness: {{t: 0.6, distance: hierarchical}}}}
measure: {{budget_s: 0.001}}
keep_mapping: true
output: {folder / "out"}
private: {folder / "private"}
"""


def figures(found):
    return {one.name: one.value for one in found.measurements}


def test_every_way_to_the_same_release_measures_the_same(folder):
    spec, original = parse(text(folder)), str(folder / "people.csv")
    (folder / "key").unlink(missing_ok=True)  # an auditor need not have it
    out = str(folder / "out")
    beside = jobs.audit(out, spec=spec, original=original)
    pq.write_table(pq.read_table(folder / "out" / "data"), folder / "alone.parquet")
    foreign = jobs.audit(str(folder / "alone.parquet"), spec=spec, original=original)
    assert all("not_measured" not in name for name in figures(beside))
    assert figures(beside) == pytest.approx(figures(foreign), nan_ok=True)
    assert figures(beside)["generalization.ncp.age"] > 0
    assert figures(beside)["generalization.ncp.born"] > 0
    ours = {one.promise: one.measured for one in beside.verdicts}
    assert ours == {one.promise: one.measured for one in foreign.verdicts}
    assert ours["t_closeness"]["distance"] == "hierarchical"


def test_a_promise_that_needs_a_hierarchy_is_left_open_where_only_the_release_is_known(folder):
    found = jobs.audit(str(folder / "out"))
    verdicts = {one.promise: one for one in found.verdicts}
    assert verdicts["k_anonymity"].kept
    assert verdicts["t_closeness"].verified_from == "asserted"
    assert "--spec" in verdicts["t_closeness"].reason


def test_the_originals_say_what_a_rule_builds_and_not_the_rows_that_are_left(folder):
    spec = parse(text(folder))
    released = pq.read_table(folder / "out" / "data").to_pandas()
    some = released[released["ill"] != "flu"].head(20)
    alone = jobs.audit(some, spec=spec)
    beside = jobs.audit(some, spec=spec, original=str(folder / "people.csv"))
    told = [
        next(one for one in found.verdicts if one.promise == "t_closeness").measured["t"]
        for found in (alone, beside)
    ]
    assert told[0] != told[1]
