from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph
from distanon.methods.kmfc_gwo.links import excess_links, thinned
from distanon.promises.link_confidence import class_pairs

NONE = frozenset()


def toggled(graph, pairs):
    is_edge = graph.has(pairs)
    return graph.edited(pairs[is_edge], pairs[~is_edge])


def worst(graph, class_of):
    found = class_pairs(graph.pairs(), class_of, np.bincount(class_of))
    return [Fraction(int(e), int(p)) for e, p in zip(found.edges, found.possible, strict=True)]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), limit=st.sampled_from(["0.2", "0.5", "0.75"]))
def test_removals_bring_every_pair_of_classes_to_the_limit_and_no_fewer_can(seed, limit):
    rng = np.random.default_rng(seed)
    graph = Graph.from_pairs(24, rng.integers(0, 24, (120, 2)))
    class_of = np.repeat(np.arange(4), 6)
    pairs, left = thinned(graph, class_of, Fraction(limit), NONE, rng, keeps_degrees=False)
    assert left == 0
    assert len(pairs) == excess_links(graph.pairs(), class_of, Fraction(limit))
    assert max(worst(toggled(graph, pairs), class_of), default=0) <= Fraction(limit)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_exchanges_keep_every_degree(seed):
    rng = np.random.default_rng(seed)
    graph = Graph.from_pairs(40, rng.integers(0, 40, (120, 2)))
    class_of = np.repeat(np.arange(8), 5)
    limit = Fraction("0.4")
    pairs, left = thinned(graph, class_of, limit, NONE, rng, keeps_degrees=True)
    after = toggled(graph, pairs)
    assert (after.degrees() == graph.degrees()).all()
    assert excess_links(after.pairs(), class_of, limit) == left
    assert left <= excess_links(graph.pairs(), class_of, limit)


def test_kept_pairs_stay():
    clique = Graph.from_pairs(4, np.array([(i, j) for i in range(4) for j in range(i)]))
    kept = frozenset(map(tuple, clique.pairs()[:4].tolist()))
    rng = np.random.default_rng(0)
    pairs, left = thinned(
        clique, np.zeros(4, np.int64), Fraction(1, 2), kept, rng, keeps_degrees=False
    )
    assert left == 1
    assert not kept & set(map(tuple, pairs.tolist()))


@pytest.mark.parametrize("shape", [(0, 2)])
def test_a_graph_without_edges_has_none_too_many(shape):
    assert excess_links(np.empty(shape, np.int64), np.zeros(3, np.int64), Fraction(1, 9)) == 0
