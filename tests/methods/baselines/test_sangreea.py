from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.domain import scan
from distanon.data.graph import Graph, GraphColumns, GraphDataset
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace
from distanon.errors import InfeasibleError, SpecError
from distanon.kernels.structural_loss import normalized_structural_loss
from distanon.methods.baselines.sangreea import SaNGreeA, qualities
from distanon.promises.k_anonymity import KAnonymity
from distanon.promises.l_diversity import LDiversity
from distanon.promises.t_closeness import TCloseness

TOWNS = Hierarchy.from_rows([("a", "ab", "*"), ("b", "ab", "*"), ("c", "c1", "*")], "towns")


def towns(values, graph):
    """Nodes with a town, which has a hierarchy, and an age."""
    table = pa.table({"town": pa.array(values, pa.string()), "age": np.arange(len(values)) / 1.0})
    nominal, numeric = AttributeType.NOMINAL, AttributeType.NUMERIC
    role = Role.QUASI_IDENTIFIER
    schema = Schema(
        (
            Attribute("town", role, nominal, pa.string(), hierarchy=TOWNS),
            Attribute("age", role, numeric, pa.float64()),
        )
    )
    return GraphDataset(graph, table, schema, GraphColumns(), pa.array(range(len(values))))


@settings(max_examples=40, deadline=None)
@given(data=st.data(), nodes=st.integers(2, 40), seed=st.integers(0, 99))
def test_supernodes_have_k_members_and_all_edges(data, nodes, seed, make, graphs):
    k = data.draw(st.integers(2, nodes))
    graph = graphs.random(nodes, data.draw(st.integers(0, 3 * nodes)), seed)
    dataset = data.draw(st.sampled_from([graphs.people, graphs.bare]))(graph)
    method = SaNGreeA(k=k, alpha=data.draw(st.sampled_from([0.0, 1.0])))
    release = method.release(dataset, method.default_promises(), make.context(seed))
    sizes = release.supernodes.column("size").to_numpy()
    assert sizes.sum() == nodes
    assert sizes.min() >= k
    assert release.counts["clusters"] == nodes // k
    inner = release.supernodes.column("inner_edges").to_numpy()
    assert inner.sum() + release.superedges.column("edges").to_numpy().sum() == graph.edges
    assert (np.bincount(release.classes) == sizes).all()
    (verdict,) = graphs.verdicts(dataset, method, release)
    assert verdict.kept
    assert verdict.verified_from == "release"
    assert verdict.measured["k"] == sizes.min()


@settings(max_examples=30, deadline=None)
@given(data=st.data(), nodes=st.integers(6, 50), seed=st.integers(0, 99))
def test_sensitive_values_are_diverse_and_close_in_each_cluster(data, nodes, seed, make, graphs):
    dataset = graphs.people(graphs.random(nodes, data.draw(st.integers(0, 3 * nodes)), seed), seed)
    many = len(set(dataset.nodes.column("job").to_pylist()))
    k = data.draw(st.integers(2, 5))
    method = SaNGreeA(
        k=k,
        l=data.draw(st.sampled_from([None, *range(2, many + 1)])),
        t=data.draw(st.sampled_from([None, 0.0, 0.2, 0.5])),
    )
    release = method.release(dataset, method.default_promises(), make.context(seed))
    verdicts = graphs.verdicts(dataset, method, release)
    assert all(one.kept for one in verdicts), verdicts
    assert len(verdicts) == 1 + (method.l is not None) + (method.t is not None)
    assert release.counts["clusters"] == nodes // k - release.counts["clusters_joined"]


def test_clusters_are_joined_no_further_than_the_promises_need(make, graphs):
    dataset = graphs.people(graphs.random(300, 900, 5))
    joins = []
    for l, t in ((None, None), (2, None), (2, 0.3), (2, 0.0)):  # noqa: E741
        method = SaNGreeA(k=10, l=l, t=t)
        release = method.release(dataset, method.default_promises(), make.context())
        joins.append(release.counts["clusters_joined"])
    assert joins == sorted(joins)
    assert joins[0] == 0
    assert joins[1] < joins[2] < joins[3] == 29


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"l": 4}, "largest l that works is 3"),
        ({"l": 3.5, "kind": "entropy"}, "largest l that works is 2.7941"),
        ({"l": 3, "kind": "recursive", "c": 0.1}, "raise c, or lower l"),
    ],
)
def test_a_diversity_that_no_cluster_can_have_is_refused(asked, words, graphs):
    dataset = graphs.people(graphs.random(30, 60))
    with pytest.raises(InfeasibleError, match=words):
        SaNGreeA(k=3).check(dataset, {"l_diversity": LDiversity(**asked)})
    with pytest.raises(SpecError, match=r"others.*use unknown"):
        SaNGreeA(k=3).check(dataset, {"l_diversity": LDiversity(l=2, others="known")})


@pytest.mark.parametrize("kind", ["equal", "ordered", "hierarchical"])
def test_every_distance_and_kind_of_diversity_is_kept(kind, make, graphs):
    graph, n = graphs.random(40, 80), 40
    dataset = towns([("abc"[(i * i) % 3] if i % 11 else None) for i in range(n)], graph)
    town, age = dataset.schema
    sensitive, known = (town, age) if kind == "hierarchical" else (age, town)
    schema = Schema((replace(sensitive, role=Role.SENSITIVE), known))
    dataset = replace(dataset, schema=schema)
    promises = {
        "k_anonymity": KAnonymity(k=3),
        "l_diversity": LDiversity(l=2, kind="recursive", c=3),
        "t_closeness": TCloseness(t=0.9 if kind == "equal" else 0.3, distance=kind),
    }
    method = SaNGreeA(k=3)
    release = method.release(dataset, promises, make.context())
    assert release.counts["clusters"] > 1
    assert all(one.kept for one in graphs.verdicts(dataset, method, release, promises))


def test_ways_lead_from_values_to_the_top():
    dataset = towns(["a", "b", "c", None], Graph.from_pairs(4, np.empty((0, 2), np.int64)))
    space = AttributeSpace.of(dataset.schema.quasi_identifiers, scan(dataset.node_dataset()))
    lines, trees, heights = qualities(space, space.encode(dataset.nodes))
    a, b, c, missing = trees[:, 0].tolist()
    assert heights.tolist() == [2]
    assert (a[0] != b[0], a[1] == b[1], a[1] != c[1], a[2] == c[2]) == (True,) * 4
    assert missing[2] == a[2]
    assert not {*missing[:2]} & {*a, *b, *c}
    assert lines[:, 0].tolist() == [0.0, 1 / 3, 2 / 3, 1.0]


def test_members_are_near_in_the_hierarchy_and_told_by_its_lowest_common_node(make):
    graph = Graph.from_pairs(6, np.empty((0, 2), np.int64))
    dataset = towns(["a", "c", "b", "c", "a", "b"], graph)
    release = SaNGreeA(k=2, alpha=1.0, beta=0.0).release(dataset, {}, make.context())
    assert release.classes.tolist() == [0, 1, 2, 1, 0, 2]
    assert release.supernodes.column("town").to_pylist() == ["a", "c", "b"]
    release = SaNGreeA(k=4, alpha=1.0, beta=0.0).release(dataset, {}, make.context())
    assert release.supernodes.column("town").to_pylist() == ["*"]
    assert release.supernodes.column("age").to_pylist() == [2.0]


def test_nothing_is_random(make, graphs):
    dataset = graphs.people(graphs.random(50, 150))
    one, other = (
        SaNGreeA(k=4).release(dataset, {}, make.context(seed)).classes.tolist() for seed in (1, 2)
    )
    assert one == other


def test_weights_that_count_nothing_are_refused():
    with pytest.raises(SpecError, match="one of them must count"):
        SaNGreeA(alpha=0, beta=0)


def test_too_few_nodes_and_promises_of_more_are_refused(graphs):
    dataset = graphs.bare(graphs.random(6, 9))
    with pytest.raises(InfeasibleError, match="largest k that works is 6"):
        SaNGreeA(k=7).check(dataset, {})
    with pytest.raises(SpecError, match="they agree"):
        SaNGreeA(k=3).check(dataset, {"k_anonymity": KAnonymity(k=4)})


def test_ego_facebook_loses_as_much_structure_as_others_found(ego_facebook, make, graphs):
    method = SaNGreeA(k=10, alpha=0.0, beta=1.0)
    release = method.release(ego_facebook, {}, make.context())
    assert release.private["nsil"] == pytest.approx(0.0227, abs=1e-4)
    graph = ego_facebook.graph
    loss = normalized_structural_loss(graph.starts, graph.neighbors, release.classes)
    assert loss == release.private["nsil"]
    assert all(one.kept for one in graphs.verdicts(ego_facebook, method, release))
