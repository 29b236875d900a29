from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.cell_repair import (
    DISTINCT,
    ENTROPY,
    EQUAL,
    HIERARCHICAL,
    NONE,
    ORDERED,
    RECURSIVE,
    Rules,
    decoys,
    distance,
    repair_cells,
    satisfied,
)
from distanon.kernels.closeness import equal_distances, hierarchical_distances, ordered_distances
from distanon.kernels.counts import Counts, exact
from distanon.kernels.distributions import distinct_values, entropy_diverse, recursive_diverse

V = 5
TREE = np.array([[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 0, 0]])


def rules(
    diversity=NONE, level=1.0, c=1.0, kind=NONE, t=1.0, margin=1, marker=None, ancestors=TREE
):
    is_marker = np.zeros(V, np.bool_)
    if marker is not None:
        is_marker[marker] = True
    order = np.flatnonzero(~is_marker)
    return Rules(diversity, level, c, kind, t, margin, is_marker, order, ancestors)


def classes(rng, n_classes, low=6, high=14):
    sizes = rng.integers(low, high, n_classes)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    return starts, rng.permutation(starts[-1])


def class_of(starts, members):
    result = np.empty(len(members), np.int64)
    result[members] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return result


def one_class(own):
    values = np.repeat(np.arange(len(own)), own)
    return Counts.of(np.zeros_like(values), values, 1, len(own))


counts_lists = st.lists(st.integers(0, 6), min_size=V, max_size=V).filter(sum)


@settings(max_examples=60, deadline=None)
@given(own=counts_lists, beside=counts_lists)
def test_distances_are_those_of_the_promises(own, beside):
    own, reference = np.array(own), np.array(own) + np.array(beside)
    counts = one_class(own)
    whole = reference / reference.sum()
    oracles = {
        EQUAL: equal_distances(counts, reference),
        HIERARCHICAL: hierarchical_distances(counts, reference, TREE),
    }
    for kind, ratios in oracles.items():
        assert distance(rules(kind=kind), own, whole) == pytest.approx(ratios.floats()[0], abs=1e-8)
    shown = reference > 0
    line = one_class(own[shown])
    expected = ordered_distances(line, reference[shown]).floats()[0]
    assert distance(rules(kind=ORDERED), own, whole) == pytest.approx(expected, abs=1e-8)


@settings(max_examples=60, deadline=None)
@given(own=counts_lists, beside=counts_lists)
def test_the_ordered_distance_with_markers_is_never_too_small(own, beside):
    own, reference = np.array(own), np.array(own) + np.array(beside)
    marker = np.array([False, False, False, False, True])
    shown = (reference > 0) | marker
    line = one_class(own[shown])
    expected = ordered_distances(line, reference[shown], marker[shown]).floats()[0]
    if not reference[:4].any():
        return
    found = distance(rules(kind=ORDERED, marker=4), own, reference / reference.sum())
    assert found >= expected - 1e-12


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), asked=st.sampled_from(["distinct", "entropy", "recursive", "t"]))
def test_repaired_classes_keep_the_rules_by_the_promises_own_arithmetic(seed, asked):
    rng = np.random.default_rng(seed)
    starts, members = classes(rng, 12)
    original = rng.choice(V, len(members), p=[0.5, 0.2, 0.15, 0.1, 0.05])
    original[members[: starts[2]]] = 0
    whole = np.bincount(original, minlength=V) / len(original)
    found = {
        "distinct": rules(DISTINCT, 3.0),
        "entropy": rules(ENTROPY, 2.0),
        "recursive": rules(RECURSIVE, 2.0, 2.0),
        "t": rules(kind=EQUAL, t=0.3),
    }[asked]
    bits = rng.integers(0, 2, len(members)).astype(np.uint8)
    suggested = rng.integers(0, V, len(members))
    result, failing = repair_cells(
        found, whole, starts, members, original, suggested, bits, seed + 1
    )
    assert not failing.any()
    counts = Counts.of(class_of(starts, members), result, len(starts) - 1, V)
    kept = {
        "distinct": lambda: distinct_values(counts) >= 3,
        "entropy": lambda: entropy_diverse(counts, 2),
        "recursive": lambda: recursive_diverse(counts, exact(2), 2),
        "t": lambda: equal_distances(counts, np.bincount(original, minlength=V)).at_most(
            exact(0.3)
        ),
    }[asked]()
    assert kept.all()
    before = Counts.of(class_of(starts, members), original, len(starts) - 1, V)
    if asked == "distinct":
        untouched = distinct_values(before) >= 3
        for q in np.flatnonzero(untouched):
            nodes = members[starts[q] : starts[q + 1]]
            assert (result[nodes] == original[nodes]).all()
        bits[:] = 0
        result, _ = repair_cells(found, whole, starts, members, original, suggested, bits, 1)
        changed = np.count_nonzero(result != original)
        assert changed == np.maximum(3 - distinct_values(before), 0).sum()


def test_an_added_value_gets_the_margin():
    starts, members = np.array([0, 10]), np.arange(10)
    original = np.zeros(10, np.int64)
    whole = np.array([0.6, 0.4, 0.0, 0.0, 0.0])
    nothing = np.zeros(10, np.uint8)
    result, failing = repair_cells(
        rules(DISTINCT, 2.0, margin=3), whole, starts, members, original, original, nothing, 5
    )
    assert not failing.any()
    assert np.bincount(result, minlength=V).tolist() == [7, 3, 0, 0, 0]


def test_a_class_of_missing_values_can_be_filled_and_one_that_is_too_small_can_not():
    whole = np.array([0.4, 0.3, 0.0, 0.0, 0.3])
    asked = rules(DISTINCT, 2.0, marker=4)
    for size, fails in ((4, False), (1, True)):
        original = np.full(size, 4)
        result, failing = repair_cells(
            asked,
            whole,
            np.array([0, size]),
            np.arange(size),
            original,
            original,
            np.zeros(size, np.uint8),
            1,
        )
        assert failing.tolist() == [fails]
        assert fails or satisfied(asked, np.bincount(result, minlength=V), whole)


def test_decoys_change_untouched_classes_by_the_margin_and_break_none():
    rng = np.random.default_rng(2)
    starts, members = classes(rng, 20)
    original = rng.choice(V, len(members), p=[0.5, 0.2, 0.15, 0.1, 0.05])
    whole = np.bincount(original, minlength=V) / len(original)
    asked = rules(DISTINCT, 2.0, kind=EQUAL, t=0.5, margin=2)
    values = original.copy()
    touched = members[starts[0]]
    values[touched] = (values[touched] + 1) % V
    done = decoys(asked, whole, starts, members, original, values, 6, 3)
    assert done == 6
    assert np.count_nonzero(values != original) == 1 + 6
    inside = members[starts[0] : starts[1]]
    assert np.count_nonzero(values[inside] != original[inside]) == 1
    for a, b in pairwise(starts[1:]):
        nodes = members[a:b]
        changed = values[nodes][values[nodes] != original[nodes]]
        assert len(changed) in (0, 2)
        if len(changed):
            assert satisfied(asked, np.bincount(values[nodes], minlength=V), whole)
