"""Audits of graphs, from their files."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from distanon import job as jobs
from distanon.errors import SpecError
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


def test_a_graph_without_its_spec_is_refused_with_the_way_out(finished):
    spec = finished()
    with pytest.raises(SpecError, match="--spec"):
        jobs.audit(spec.output)
    with pytest.raises(SpecError, match="--spec"):
        jobs.audit(spec.output, quasi_identifiers=["town"])


def test_supernodes_are_no_graph_to_audit(finished):
    spec = finished("method.publish=generalize")
    with pytest.raises(SpecError, match="supernodes"):
        jobs.audit(spec.output, spec=spec)
