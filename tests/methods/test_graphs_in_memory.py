"""Graphs from Python: networkx graphs and pairs of frames, in and out."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import distanon as da
from distanon.errors import InfeasibleError, InputError, SpecError
from distanon.methods.kmfc_gwo.method import KFCFA

ROLES = {"quasi_identifiers": ["town"], "sensitive": ["job"], "seed": 7}


@pytest.fixture(scope="module")
def friends() -> nx.Graph:
    graph = nx.relabel_nodes(
        nx.connected_watts_strogatz_graph(60, 4, 0.2, seed=3), lambda one: f"person-{one}"
    )
    draw = np.random.default_rng(2)
    for name in graph:
        graph.nodes[name].update(town=str(draw.choice(["Ulm", "Jena"])), job=f"j{draw.integers(3)}")
    return graph


@pytest.fixture(scope="module")
def frames(friends):
    edges = pd.DataFrame(list(friends.edges), columns=["source", "target"])
    nodes = pd.DataFrame([{"node": one, **friends.nodes[one]} for one in friends])
    return edges, nodes


def method(**more):
    return da.KMFCGWO(**{"k": 3, "l": 2, "t": 0.5, "wolves": 3, "iterations": 3, **more})


def test_a_graph_comes_back_as_a_graph_whose_classes_hold_k(friends):
    release = method().anonymize(friends, **ROLES)
    assert type(release.data) is nx.Graph
    assert sorted(release.data) == list(range(60))
    known = [
        (data["town"], release.data.degree[one]) for one, data in release.data.nodes(data=True)
    ]
    assert pd.Series(known).value_counts().min() >= 3
    assert "person" not in repr(release)


def test_sources_stand_beside_the_nodes_that_are_handed_out(friends):
    release = method(l=None, t=None).anonymize(friends, **ROLES)
    jobs = [friends.nodes[name]["job"] for name in friends]
    shown = [release.data.nodes[one]["job"] for one in range(60)]
    assert [jobs[source] for source in release.sources] == shown


def test_frames_and_graphs_are_one_release(friends, frames):
    edges, nodes = method().anonymize(frames, **ROLES).data
    graph = method().anonymize(friends, **ROLES).data
    assert isinstance(edges, pd.DataFrame)
    assert sorted(map(tuple, edges.to_numpy().tolist())) == sorted(
        tuple(sorted(pair)) for pair in graph.edges
    )
    assert nodes["town"].tolist() == [graph.nodes[one]["town"] for one in range(60)]


def test_edges_alone_need_no_roles(frames):
    edges, nodes = (
        method(l=None, t=None, knowledge="degree").anonymize((frames[0], None), seed=1).data
    )
    assert len(nodes) == 60
    degrees = pd.concat([edges["source"], edges["target"]]).value_counts()
    assert degrees.value_counts().min() >= 3


@pytest.mark.parametrize("publish", ["generalize", "sample"])
def test_other_ways_to_publish_are_checked_too(friends, publish):
    release = method(publish=publish).anonymize(friends, **ROLES)
    assert isinstance(release.data, tuple if publish == "generalize" else nx.Graph)


def test_fireflies_search_too(friends):
    release = KFCFA(k=3, wolves=3, iterations=2).anonymize(friends, **ROLES)
    assert len(release.data) == 60


def test_the_seed_decides(friends):
    first, second = (method().anonymize(friends, **ROLES).data for _ in range(2))
    other = method().anonymize(friends, **(ROLES | {"seed": 8})).data
    assert nx.utils.graphs_equal(first, second)
    assert not nx.utils.graphs_equal(first, other)


def test_what_can_not_be_is_refused(friends):
    with pytest.raises(InputError, match="no role for 'job'"):
        method().anonymize(friends, quasi_identifiers=["town"])
    with pytest.raises(InfeasibleError, match="largest k that works is 60"):
        method(k=61).anonymize(friends, **ROLES)
    with pytest.raises(SpecError, match="unchanged"):
        method().anonymize(friends, **ROLES, promises={"unchanged": {}})
    with pytest.raises(InputError, match="direction"):
        method().anonymize(friends.to_directed(), **ROLES)
