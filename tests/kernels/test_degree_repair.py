import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.degree_repair import Levels, incidence, repair


def every_pair(n, rng):
    """Every pair as a candidate, some of them edges."""
    ends = np.array([(a, b) for a in range(n) for b in range(a + 1, n)], np.int32)
    sign = np.where(rng.random(len(ends)) < 0.4, -1, 1).astype(np.int8)
    return incidence(n, ends, sign, rng.random(len(ends)))


def free(n, level, least):
    """All nodes in one class, with room for any degree."""
    counts = np.bincount(level, minlength=n + 1).astype(np.int64)
    return Levels(np.zeros(n, np.int64), np.array([0, n + 1]), counts, least)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), least=st.integers(2, 4))
def test_what_is_open_is_what_the_edits_leave_and_levels_stay_shared(seed, least):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 14))
    listed = every_pair(n, rng)
    edges = listed.ends[listed.sign < 0]
    degrees = np.bincount(edges.ravel(), minlength=n)
    level = np.repeat(rng.integers(0, n, n // least + 1), least)[:n]
    level[n // least * least :] = level[0]
    shared = set(level.tolist())
    level, want = level.astype(np.int64), (level - degrees).astype(np.int64)
    before = np.abs(want).sum()
    levels = free(n, level, least)
    bits = (rng.random(len(listed.sign)) < 0.2).astype(np.uint8)
    repair(listed, levels, bits, level, want, np.ones(n), 0.1, seed)
    change = np.zeros(n, np.int64)
    for c in np.flatnonzero(bits):
        change[listed.ends[c]] += listed.sign[c]
    assert (level - (degrees + change) == want).all()
    assert (levels.counts == np.bincount(level, minlength=n + 1)).all()
    assert set(level.tolist()) <= shared
    assert levels.counts[levels.counts > 0].min() >= least
    assert np.abs(want).sum() <= max(before, 2 * n)


def test_one_edit_serves_two_nodes():
    ends = np.array([(0, 1), (0, 2), (1, 3)], np.int32)
    listed = incidence(4, ends, np.array([1, 1, 1], np.int8), np.array([3.0, 1.0, 1.0]))
    level, want = np.array([1, 1, 0, 0]), np.array([1, 1, 0, 0])
    bits = np.zeros(3, np.uint8)
    repair(listed, free(4, level, 2), bits, level, want, np.ones(4), 0.0, 1)
    assert bits.tolist() == [1, 0, 0]
    assert not want.any()


def test_an_exchange_serves_two_nodes_that_can_not_be_joined():
    # 0 and 3 want an edge each; 0-1, 1-2 and 2-3 may be added, 1-2 is added already.
    ends = np.array([(0, 1), (1, 2), (2, 3)], np.int32)
    listed = incidence(4, ends, np.array([1, 1, 1], np.int8), np.zeros(3))
    level, want = np.ones(4, np.int64), np.ones(4, np.int64)
    bits = np.array([0, 1, 0], np.uint8)
    repair(listed, free(4, level, 4), bits, level, want, np.ones(4), 0.0, 1)
    assert bits.tolist() == [1, 0, 1]
    assert not want.any()


def test_an_edge_moves_from_a_node_with_too_many_to_one_with_too_few():
    ends = np.array([(0, 1), (1, 2)], np.int32)
    listed = incidence(3, ends, np.array([-1, 1], np.int8), np.zeros(2))
    level, want = np.array([0, 1, 1]), np.array([-1, 0, 1])
    bits = np.zeros(2, np.uint8)
    repair(listed, free(3, level, 3), bits, level, want, np.ones(3), 0.0, 1)
    assert bits.tolist() == [1, 1]
    assert not want.any()


def test_edits_that_nobody_needs_are_taken_back():
    rng = np.random.default_rng(5)
    listed = every_pair(8, rng)
    bits = np.ones(len(listed.sign), np.uint8)
    level = np.bincount(listed.ends[listed.sign < 0].ravel(), minlength=8).astype(np.int64)
    want = np.zeros(8, np.int64)
    repair(listed, free(8, level, 1), bits, level, want, np.ones(8), 0.0, 1)
    assert bits.sum() < len(bits) / 2
    assert not want.any()
