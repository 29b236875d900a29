import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.baselines import degree_anonymization
from distanon.methods.baselines.degree_anonymization import DegreeAnonymization
from distanon.promises.k_degree import KDegree

SHAPES = {
    "star": lambda n: np.array([(0, i) for i in range(1, n)]),
    "clique": lambda n: np.array([(i, j) for i in range(n) for j in range(i)]),
    "clique and strangers": lambda n: np.array([(i, j) for i in range(n // 2) for j in range(i)]),
    "empty": lambda n: np.empty((0, 2), np.int64),
    "edge": lambda n: np.array([(0, 1)]),
    "path": lambda n: np.array([(i, i + 1) for i in range(n - 1)]),
}


@settings(max_examples=60, deadline=None)
@given(data=st.data(), nodes=st.integers(2, 30), seed=st.integers(0, 99))
def test_every_degree_is_shared_by_k_nodes_and_edits_are_counted(data, nodes, seed, make, graphs):
    k = data.draw(st.integers(2, nodes))
    shape = data.draw(st.sampled_from(["random", *SHAPES]))
    if shape == "random":
        graph = graphs.random(nodes, data.draw(st.integers(0, 4 * nodes)), seed)
    else:
        graph = Graph.from_pairs(nodes, SHAPES[shape](nodes).reshape(-1, 2))
    dataset = graphs.people(graph)
    method = DegreeAnonymization(k=k, attempts=1, unchanged_edges="accept")
    release = method.release(dataset, method.default_promises(), make.context(seed))
    counts = np.bincount(release.graph.degrees())
    assert counts[counts > 0].min() >= k
    before, after = (set(map(tuple, one.pairs().tolist())) for one in (graph, release.graph))
    assert all(low < high for low, high in after)
    assert len(before - after) == release.counts["edges_removed"]
    assert len(after - before) == release.counts["edges_added"]
    assert len(before ^ after) >= release.counts["edit_bound"]
    assert release.nodes.equals(dataset.nodes)
    verdicts = graphs.verdicts(dataset, method, release)
    assert [one.promise for one in verdicts if one.kept] == ["k_anonymity", "k_degree"]


def test_shared_degrees_need_no_edit(make, graphs):
    graph = Graph.from_pairs(12, np.array([(i, (i + 1) % 12) for i in range(12)]))
    with pytest.raises(InfeasibleError, match="unchanged_edges: accept"):
        DegreeAnonymization(k=4).release(graphs.bare(graph), {}, make.context())
    method = DegreeAnonymization(k=4, unchanged_edges="accept")
    release = method.release(graphs.bare(graph), {}, make.context())
    assert release.graph.pairs().tolist() == graph.pairs().tolist()
    assert release.private["IL_G"] == 0


@settings(max_examples=25, deadline=None)
@given(data=st.data(), nodes=st.integers(6, 40), seed=st.integers(0, 99))
def test_sensitive_values_are_diverse_and_close_in_each_degree(data, nodes, seed, make, graphs):
    dataset = graphs.people(graphs.random(nodes, data.draw(st.integers(0, 3 * nodes)), seed), seed)
    many = len(set(dataset.nodes.column("job").to_pylist()))
    method = DegreeAnonymization(
        k=data.draw(st.integers(2, 5)),
        l=data.draw(st.sampled_from([None, *range(2, many + 1)])),
        t=data.draw(st.sampled_from([None, 0.0, 0.2, 0.5])),
        attempts=1,
        unchanged_edges="accept",
    )
    release = method.release(dataset, method.default_promises(), make.context(seed))
    assert release.nodes.equals(dataset.nodes)
    verdicts = graphs.verdicts(dataset, method, release)
    assert all(one.kept for one in verdicts), verdicts
    assert {one.promise for one in verdicts} >= {
        name for name, asked in (("l_diversity", method.l), ("t_closeness", method.t)) if asked
    }


def test_groups_are_joined_no_further_than_the_promises_need(make, graphs):
    dataset = graphs.people(graphs.random(300, 900, 5))
    groups = [
        DegreeAnonymization(k=10, l=l, t=t)
        .release(dataset, DegreeAnonymization(k=10, l=l, t=t).default_promises(), make.context())
        .counts["degree_groups"]
        for l, t in ((None, None), (2, None), (2, 0.15), (2, 0.0))  # noqa: E741
    ]
    assert groups[0] == groups[1] > groups[2] > groups[3] == 1


def test_an_l_that_no_class_can_have_is_refused_with_the_largest(graphs):
    dataset = graphs.people(graphs.random(30, 60))
    method = DegreeAnonymization(k=3, l=4)
    with pytest.raises(InfeasibleError, match="largest l that works is 3"):
        method.check(dataset, method.default_promises())


def test_degrees_that_are_not_reached_are_an_error_and_no_release(make, graphs, monkeypatch):
    from distanon.kernels import degree_edits

    def left_open(starts, neighbors, level, seed):
        del neighbors, seed
        return np.empty((0, 2), np.int64), level - np.diff(starts) + 1

    monkeypatch.setattr(degree_edits, "realize", left_open)
    with pytest.raises(InfeasibleError, match="no edits were found"):
        DegreeAnonymization(k=3).release(graphs.bare(graphs.random(9, 9)), {}, make.context())


def test_the_fewest_edits_of_all_attempts_are_kept(make, graphs):
    dataset = graphs.bare(graphs.random(60, 200, 3))
    once, often = (
        DegreeAnonymization(k=6, attempts=attempts)
        .release(dataset, {}, make.context())
        .private["IL_G"]
        for attempts in (1, 8)
    )
    assert often <= once


def test_the_same_seed_gives_the_same_release(make, graphs):
    dataset = graphs.bare(graphs.random(60, 200, 3))
    one, other = (
        DegreeAnonymization(k=6).release(dataset, {}, make.context(3)).graph.pairs().tolist()
        for _ in range(2)
    )
    assert one == other


def test_each_rule_gives_degrees_of_an_even_sum_once():
    degrees = np.array([1, 1, 2, 5, 7])
    levels = [
        level.tolist() for level in degree_anonymization._levels(degrees, np.array([0, 0, 0, 1, 1]))
    ]
    assert all(sum(level) % 2 == 0 for level in levels)
    assert len({*map(tuple, levels)}) == len(levels)


def test_too_few_nodes_are_refused_with_the_largest_k(graphs):
    with pytest.raises(InfeasibleError, match="largest k that works is 6"):
        DegreeAnonymization(k=7).check(graphs.bare(graphs.random(6, 9)), {})


@pytest.mark.parametrize(
    ("promise", "message"),
    [(KDegree(k=4), "they agree"), (KDegree(k=3, within="classes"), "within")],
)
def test_promises_that_it_does_not_keep_are_refused(promise, message, graphs):
    with pytest.raises(SpecError, match=message):
        DegreeAnonymization(k=3).check(graphs.bare(graphs.random(9, 9)), {"k_degree": promise})


def test_ego_facebook_costs_less_than_the_figure_of_umga(ego_facebook, make, graphs):
    method = DegreeAnonymization(k=10)
    release = method.release(ego_facebook, {}, make.context())
    assert release.private["IL_G"] <= 0.032
    assert all(one.kept for one in graphs.verdicts(ego_facebook, method, release))
