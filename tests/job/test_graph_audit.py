"""Audits of graphs, from their files."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from distanon import job as jobs
from distanon.data.ports import Silent
from distanon.errors import InputError, SpecError
from distanon.spec import parse


@pytest.fixture
def finished(tmp_path):
    """Publishes a small graph; `finished("method.knowledge=degree").output`."""

    def run(*settings: str):
        draw = np.random.default_rng(4)
        graph = nx.connected_watts_strogatz_graph(60, 4, 0.2, seed=3)
        for one in graph:
            graph.nodes[one].update(town=str(draw.choice(["U", "J"])), job=f"j{draw.integers(3)}")
        nx.write_graphml(graph, tmp_path / "graph.graphml")
        text = f"""
spec: 1
name: friends
seed: 5
input:
  graph:
    path: {tmp_path}/graph.graphml
    columns: {{town: quasi_identifier, job: sensitive}}
method: {{name: kmfc_gwo, k: 3, l: 2, wolves: 3, iterations: 2}}
measure: {{draws: 1}}
output: {tmp_path}/release
private: {tmp_path}/private
"""
        spec = parse(text, settings)
        jobs.run_job(spec, serial=True)
        return spec

    return run


def test_promises_are_verified_from_the_files_alone(finished):
    spec = finished()
    found = jobs.audit(spec.output, spec=spec)
    assert {one.promise for one in found.verdicts} == {"k_anonymity", "k_degree", "l_diversity"}
    assert all(one.kept for one in found.verdicts)
    names = {one.name for one in found.measurements}
    assert "reached.degree_and_triangles.k" in names
    assert "topology.edges_kept" not in names


def test_a_stricter_promise_is_broken(finished):
    spec = finished()
    found = jobs.audit(spec.output, spec=spec, promises={"k_anonymity": {"k": 50}})
    assert [one.promise for one in found.verdicts if not one.kept] == ["k_anonymity"]


def test_with_the_mapping_attacks_are_as_in_the_run(finished):
    spec = finished("keep_mapping=true")
    found = {one.name: one.value for one in jobs.audit(spec.output, spec=spec).measurements}
    ran = {one.name: one.value for one in jobs.resume(spec, serial=True).measurements}
    for name in ("topology.edges_kept", "structural.degree", "topology.original.clustering"):
        assert found[name] == ran[name]


def told_of(found):
    return {one.promise: (one.asked, one.measured, one.kept) for one in found.verdicts}


def test_a_release_states_roles_knowledge_and_promises_itself(finished):
    spec = finished("method.knowledge=degree")
    alone, by_spec = jobs.audit(spec.output), jobs.audit(spec.output, spec=spec)
    assert told_of(alone) == told_of(by_spec)
    assert [one.name for one in alone.measurements] == [one.name for one in by_spec.measurements]
    promised = [one.name for one in alone.measurements if one.note == "the promised knowledge"]
    assert promised == ["reached.degree.k", "reached.degree.unique"]


def test_names_say_what_is_known_where_nobody_else_does(finished):
    spec = finished()
    found = jobs.audit(
        spec.output,
        quasi_identifiers=["town"],
        sensitive=["job"],
        promises={"k_anonymity": {"k": 3}, "l_diversity": {"l": 2}, "k_degree": {"k": 3}},
    )
    assert [one.kept for one in found.verdicts] == [True, True, True]
    known = jobs.audit(
        spec.output,
        quasi_identifiers=["town"],
        knowledge="attributes",
        promises={"k_anonymity": {"k": 9}},
    )
    assert known.verdicts[0].measured["classes"] == 2
    with pytest.raises(InputError, match="no column 'twon'; it has 'town', 'job'"):
        jobs.audit(spec.output, quasi_identifiers=["twon"])
    with pytest.raises(SpecError, match="the spec says"):
        jobs.audit(spec.output, spec=spec, sensitive=["job"])


def foreign(folder, form):
    """A graph that distanon did not make: 12 nodes in a ring, two towns, weights on its edges."""
    graph = nx.cycle_graph(12)
    for one in graph:
        graph.nodes[one]["town"] = "UJ"[one % 2]
    if form == "memory":
        return graph
    folder.mkdir()
    if form in ("graphml", "gml"):
        path = folder / f"ring.{form}"
        (nx.write_graphml if form == "graphml" else nx.write_gml)(graph, path)
        return path
    edges = pd.DataFrame([(*edge, 2.5) for edge in graph.edges], columns=["a", "b", "weight"])
    edges = edges.rename(columns={"a": "source", "b": "target"})
    nodes = pd.DataFrame({"node": range(12), "town": ["UJ"[one % 2] for one in range(12)]})
    if form == "pair":
        return edges, nodes
    if form == "folders":
        for name, table in (("edges", edges), ("nodes", nodes)):
            (folder / name).mkdir()
            table.to_parquet(folder / name / "0.parquet")
    else:
        edges.to_csv(folder / "edges.csv", index=False)
        nodes.to_csv(folder / "nodes.csv", index=False)
    return folder


FORMS = ["memory", "pair", "graphml", "gml", "folders", "files"]


@pytest.mark.parametrize("form", FORMS)
def test_graphs_that_distanon_did_not_make_are_audited(form, tmp_path):
    class Notes(Silent):
        notes = ()

        def note(self, message):
            self.notes += (message,)

    progress, asked = Notes(), {"k_anonymity": {"k": 6}, "k_degree": {"k": 12}}
    found = jobs.audit(
        foreign(tmp_path / "ring", form),
        quasi_identifiers=["town"],
        promises=asked,
        progress=progress,
    )
    assert [one.kept for one in found.verdicts] == [True, True]
    assert [one.verified_from for one in found.verdicts] == ["release", "release"]
    weights = [note for note in progress.notes if "edge attributes dropped" in note]
    assert len(weights) == (form in ("pair", "folders", "files"))


def test_two_edge_files_are_told_apart_by_nobody(tmp_path):
    for name in ("edges.csv", "edges.tsv"):
        (tmp_path / name).write_text("source,target\n1,2\n")
    with pytest.raises(InputError, match=r"edges.csv, edges.tsv: which of them"):
        jobs.audit(tmp_path, knowledge="degree")


def test_the_original_is_a_graph_too(finished, tmp_path):
    spec = finished("keep_mapping=true")
    moved = tmp_path / "moved.graphml"
    (tmp_path / "graph.graphml").rename(moved)
    alone = {one.name for one in jobs.audit(spec.output, original=moved).measurements}
    assert "topology.original.clustering" in alone
    assert "topology.edges_kept" not in alone
    with_run = jobs.audit(spec.output, spec=spec, original=moved)
    found = {one.name: one.value for one in with_run.measurements}
    ran = {one.name: one.value for one in jobs.resume(spec, serial=True).measurements}
    assert found["topology.edges_kept"] == ran["topology.edges_kept"]
    small = nx.Graph([(0, 1)])
    nx.set_node_attributes(small, "U", "town")
    with pytest.raises(InputError, match="fewer nodes than the run released"):
        jobs.audit(spec.output, spec=spec, original=small)
    with pytest.raises(InputError, match="no column 'town'"):
        jobs.audit(spec.output, original="builtin:lastfm-asia")


def test_what_is_said_of_graphs_alone_is_refused_of_tables_and_the_other_way_round(finished):
    with pytest.raises(SpecError, match="this is a table"):
        jobs.audit(pa.table({"a": [1, 2]}), quasi_identifiers=["a"], knowledge="degree")
    with pytest.raises(SpecError, match="composed of tables alone"):
        jobs.audit(nx.cycle_graph(3), also=nx.cycle_graph(3))


def test_supernodes_are_no_graph_to_audit(finished):
    spec = finished("method.publish=generalize")
    with pytest.raises(SpecError, match="supernodes"):
        jobs.audit(spec.output, spec=spec)
    with pytest.raises(SpecError, match="supernodes"):
        jobs.audit(spec.output, quasi_identifiers=["town"])
