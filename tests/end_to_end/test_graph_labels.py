"""Graph jobs whose clusters agree on labels of hierarchies: releases that hold no false value."""

from __future__ import annotations

import csv
from pathlib import Path

import networkx as nx
import pyarrow.parquet as pq
import pytest

import distanon as da
from distanon import job as jobs
from distanon.errors import InputError, SpecError
from distanon.spec import JobSpec, parse

TOWNS = (("Ulm", "South", "*"), ("Jena", "North", "*"), ("Köln", "North", "*"))
CODES = "{type: nominal, role: quasi_identifier, hierarchy: {build: prefixes, lengths: [2, 1]}}"


@pytest.fixture(scope="module")
def files(tmp_path_factory, social) -> Path:
    """The social graph with a postal code, and the towns' hierarchy."""
    folder = tmp_path_factory.mktemp("labels")
    edges, nodes = social
    places = [{"Ulm": 890, "Jena": 770, "Köln": 500}[town] for town in nodes["town"].to_pylist()]
    codes = [place + 3 * (number % 2) for number, place in enumerate(places)]
    pq.write_table(edges, folder / "edges.parquet")
    pq.write_table(nodes.append_column("code", [codes]), folder / "nodes.parquet")
    with (folder / "towns.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(TOWNS)
    return folder


@pytest.fixture
def label_job(files, tmp_path):
    """Makes a spec with hierarchies: `label_job("name", "method.k=5", towns=path)`."""

    def make(place: str = "run", *settings: str, towns: Path | None = None) -> JobSpec:
        text = f"""
spec: 1
name: labels
seed: 77
input:
  graph:
    edges: {files}/edges.parquet
    nodes: {files}/nodes.parquet
    columns:
      passport: identifier
      gender: quasi_identifier
      town: {{role: quasi_identifier, hierarchy: {towns or files / "towns.csv"}}}
      code: {CODES}
      school: sensitive
method: {{name: kmfc_gwo, agreement: hierarchy, k: 4, l: 2, t: 0.5, wolves: 3, iterations: 3}}
measure: {{draws: 1}}
keep_mapping: true
output: {tmp_path / place / "release"}
private: {tmp_path / place / "private"}
"""
        return parse(text, settings)

    return make


def test_a_release_of_labels_is_verified_attacked_and_audited(label_job, files):
    spec = label_job()
    result = jobs.run_job(spec, serial=True)
    assert {one.promise for one in result.verdicts} == {
        "k_anonymity",
        "k_degree",
        "l_diversity",
        "t_closeness",
    }
    assert all(one.kept and one.verified_from != "asserted" for one in result.verdicts)
    found = {one.name: one for one in result.measurements}
    assert [name for name, one in found.items() if name.endswith("not_measured")] == []
    linked = found["structural.degree_and_attributes"].value
    assert found["structural.blind_guess"].value < linked <= 1 / 4
    # Labels are in the files, and gender, which has no hierarchy, holds values.
    table = pq.read_table(Path(spec.output) / "nodes")
    towns, codes = (set(table.column(name).to_pylist()) for name in ("town", "code"))
    assert towns - {"Ulm", "Jena", "Köln"}
    assert towns <= {"Ulm", "Jena", "Köln", "North", "*"}
    assert codes <= {"890", "893", "770", "773", "500", "503", "89*", "77*", "50*", "8**", "*"}
    assert codes & {"89*", "77*", "50*", "*"}
    assert set(table.column("gender").to_pylist()) == {"f", "m"}
    # Whoever audits the files, with the run or without, finds the same.
    for more in ({"private": spec.private, "spec": spec}, {"spec": spec}, {}):
        findings = da.audit(spec.output, **more)
        assert {one.promise for one in findings.verdicts} >= {"k_anonymity", "k_degree"}
        assert all(one.kept for one in findings.verdicts)
    again = {
        one.name: one.value
        for one in da.audit(spec.output, spec=spec, private=spec.private).measurements
    }
    assert again["structural.degree_and_attributes"] == pytest.approx(linked)


def test_partitions_change_no_byte_of_labels(label_job, public_bytes):
    whole, cut = label_job("whole"), label_job("cut", "runtime.partitions=7")
    for spec in (whole, cut):
        jobs.run_job(spec, serial=True)
    assert public_bytes(whole.output) == public_bytes(cut.output)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("Ulm,South,*\nJena,North,*\nKöln,North\n", "row 3: expected 3 cells"),
        ("Ulm,South,*\nJena,North,*\n", "hierarchy"),
        ("Ulm,South,*\nJena,North,*\nKöln,North,+\n", "row 3"),
    ],
)
def test_a_bad_hierarchy_is_refused(label_job, tmp_path, rows, message):
    path = tmp_path / "bad.csv"
    path.write_text(rows, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        jobs.run_job(label_job(towns=path), serial=True)
    assert "Köln" not in str(caught.value)


def test_python_takes_hierarchies_and_refuses_labels_without_any(social):
    edges, nodes = social
    graph = nx.from_pandas_edgelist(edges.to_pandas())
    towns = dict(zip(nodes["node"].to_pylist(), nodes["town"].to_pylist(), strict=True))
    nx.set_node_attributes(graph, {one: towns[one] for one in graph}, "town")
    method = da.KMFCGWO(agreement="hierarchy", k=4, wolves=2, iterations=1)
    release = method.anonymize(
        graph, quasi_identifiers=["town"], hierarchies={"town": TOWNS}, seed=5
    )
    shown = set(nx.get_node_attributes(release.data, "town").values())
    assert shown <= {"Ulm", "Jena", "Köln", "North", "*"}
    with pytest.raises(SpecError, match="no quasi-identifier has a hierarchy"):
        method.anonymize(graph, quasi_identifiers=["town"], seed=5)
