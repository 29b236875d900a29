import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.baselines.random_edits import RandomEdits
from distanon.utility.topology import edit_loss


@settings(max_examples=60, deadline=None)
@given(nodes=st.integers(2, 30), seed=st.integers(0, 99), share=st.floats(0, 1), data=st.data())
def test_edits_are_as_many_as_asked_and_leave_a_simple_graph(
    nodes, seed, share, data, make, graphs
):
    graph = graphs.random(nodes, data.draw(st.integers(0, 3 * nodes)), seed)
    dataset = graphs.bare(graph)
    pairs = nodes * (nodes - 1) // 2
    if data.draw(st.booleans()):
        method = RandomEdits(loss=share * pairs / max(1, graph.edges))
        expected = round(float(method.loss) * max(1, graph.edges))
    else:
        add = (pairs - graph.edges) * data.draw(st.floats(0, 1)) / max(1, graph.edges)
        method = RandomEdits(remove=share, add=add)
        expected = round(share * graph.edges) + round(add * max(1, graph.edges))
    release = method.release(dataset, {}, make.context())
    before, after = (set(map(tuple, one.pairs().tolist())) for one in (graph, release.graph))
    assert len(before - after) == release.counts["edges_removed"]
    assert len(after - before) == release.counts["edges_added"]
    assert len(before ^ after) == expected
    assert release.private["IL_G"] == edit_loss(graph, release.graph, release.sources)
    assert all(low < high for low, high in after)
    assert Graph.from_pairs(nodes, release.graph.pairs()).edges == release.graph.edges


def test_a_loss_is_half_removed_and_half_added(make, graphs):
    release = RandomEdits(loss=0.4).release(graphs.bare(graphs.random(60, 300)), {}, make.context())
    assert release.counts["edges_added"] - release.counts["edges_removed"] in (0, 1)
    assert release.private["IL_G"] == pytest.approx(0.4, abs=0.002)


def test_all_edits_are_equally_likely(make, graphs):
    dataset = graphs.bare(Graph.from_pairs(4, np.array([(0, 1), (1, 2), (2, 3)])))
    counts = np.zeros((4, 4), int)
    for seed in range(600):
        release = RandomEdits(remove=1 / 3, add=1 / 3).release(dataset, {}, make.context(seed))
        changed = {*map(tuple, release.graph.pairs().tolist())} ^ {(0, 1), (1, 2), (2, 3)}
        for pair in changed:
            counts[pair] += 1
    found = counts[np.triu_indices(4, 1)]
    assert found.sum() == 1200
    assert np.abs(found - 200).max() < 5 * np.sqrt(600 * 2 / 9)


def test_attributes_are_kept_as_they_are_and_nothing_is_promised(make, graphs):
    dataset = graphs.people(graphs.random(20, 40))
    method = RandomEdits(loss=0.2)
    release = method.release(dataset, {}, make.context())
    assert release.nodes.equals(dataset.nodes)
    assert method.default_promises() == {}
    assert method.keeps == frozenset()


def test_the_same_seed_gives_the_same_edits_and_another_seed_others(make, graphs):
    dataset = graphs.bare(graphs.random(40, 100))
    one, same, other = (
        RandomEdits(loss=0.3).release(dataset, {}, make.context(seed)).graph.pairs().tolist()
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other


def test_a_size_that_is_not_known_is_refused_and_a_matched_one_is_not(graphs):
    dataset = graphs.bare(graphs.random(20, 40))
    with pytest.raises(SpecError, match=r"method\.loss"):
        RandomEdits().check(dataset, {})
    RandomEdits().matched(0.3).check(dataset, {})
    assert not RandomEdits(remove=0.1).matches


def test_two_sizes_are_refused():
    with pytest.raises(SpecError, match="not both"):
        RandomEdits(loss=0.1, add=0.1)


@pytest.mark.parametrize("size", [{"add": 1.0}, {"loss": 3.0}])
def test_more_edits_than_pairs_are_refused_with_the_most_that_works(size, make, graphs):
    pairs = [(i, j) for i in range(5) for j in range(i)]
    dataset = graphs.bare(Graph.from_pairs(5, np.array(pairs[:8])))
    with pytest.raises(InfeasibleError, match=r"that works is (\d\.\d+)") as refused:
        RandomEdits(**size).check(dataset, {})
    most = float(str(refused.value).rsplit(" ", 1)[1])
    RandomEdits(**dict.fromkeys(size, most)).release(dataset, {}, make.context())
