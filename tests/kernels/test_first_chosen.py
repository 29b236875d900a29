"""The scan of neighbor lists against a direct search among the chosen, ties by number."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from distanon.kernels.first_chosen import (
    SCALE,
    Candidates,
    Questions,
    expected_hits,
    hits,
    nearest_chosen,
    nearest_lists,
    squared_error,
)
from distanon.kernels.neighbors import NeighborIndex, distinct


def direct(rows, points, chosen, own, neighbors):
    """By (distance, number) among the chosen; distances that round apart are one."""
    found = np.full((len(rows), neighbors), -1)
    for place, row in enumerate(rows):
        who = np.flatnonzero(chosen)
        who = who[who != own[place]]
        gaps = points[who] - row
        both, either = np.isnan(points[who]) & np.isnan(row), np.isnan(gaps)
        squares = np.where(both, 0.0, np.where(either, 1.0, gaps**2)).sum(axis=1)
        near = who[np.lexsort((who, np.round(np.sqrt(squares), 9)))][:neighbors]
        found[place, : len(near)] = near
    return found


def asked(seed, n=60, u=25, length=8, width=2, *, gaps=False, with_own=False):
    random = np.random.default_rng(seed)
    points = random.integers(0, 4, (n, 3)) / 3.0
    rows = random.integers(0, 4, (u, 3)) / 3.0
    if gaps:
        points[random.random(points.shape) < 0.2] = np.nan
        rows[random.random(rows.shape) < 0.2] = np.nan
    own = np.full(u, -1, np.int32)
    if with_own:
        own = random.choice(n, u, replace=False).astype(np.int32)
    index = NeighborIndex.build(distinct(points))
    lists = nearest_lists(index, rows, min(length, n - 1), own if with_own else None)
    weights = random.integers(0, 3, (u, width))
    questions = Questions(rows, own, lists, weights)
    return questions, Candidates(index.points.rows, index.points.point_of), points, random


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    share=st.sampled_from([0.02, 0.1, 0.5, 1.0]),
    neighbors=st.sampled_from([1, 3, 15]),
    gaps=st.booleans(),
    with_own=st.booleans(),
)
def test_the_first_chosen_entry_is_the_nearest_chosen_candidate(
    seed, share, neighbors, gaps, with_own
):
    questions, candidates, points, random = asked(seed, gaps=gaps, with_own=with_own)
    chosen = (random.random(len(points)) < share).astype(np.uint8)
    chosen[random.integers(len(points))] = 1
    near = nearest_chosen(questions, candidates, chosen, neighbors)
    expected = direct(questions.rows, points, chosen, questions.own, neighbors)
    assert near.tolist() == expected.tolist()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**31), neighbors=st.sampled_from([1, 3]))
def test_counts_and_errors_are_those_of_the_neighbors(seed, neighbors):
    questions, candidates, points, random = asked(seed)
    chosen = (random.random(len(points)) < 0.3).astype(np.uint8)
    chosen[0] = 1
    labels = random.integers(0, 2, len(points))
    near = direct(questions.rows, points, chosen, questions.own, neighbors)
    table = np.zeros((2, 2), np.int64)
    for place, own in enumerate(near):
        votes = np.bincount(labels[own[own >= 0]], minlength=2)
        table[votes.argmax()] += questions.weights[place]
    assert hits(questions, candidates, chosen, labels, neighbors).tolist() == table.tolist()

    shares = random.integers(0, SCALE, (len(points), 2))
    right = sum(
        int((questions.weights[i] * shares[own[own >= 0]]).sum()) // int((own >= 0).sum())
        for i, own in enumerate(near)
    )
    assert expected_hits(questions, candidates, chosen, shares, neighbors) == right

    steps = random.integers(0, SCALE, len(points))
    truths = [random.integers(0, SCALE, 2) for _ in near]
    moments = np.array([[2, t.sum(), (t**2).sum()] for t in truths])
    answers = [int(steps[own[own >= 0]].sum()) // int((own >= 0).sum()) for own in near]
    error = sum(int(((t - a) ** 2).sum()) for t, a in zip(truths, answers, strict=True))
    numbers = questions._replace(weights=moments)
    assert squared_error(numbers, candidates, chosen, steps, neighbors) == error


def test_scikit_learn_scores_the_same_where_nothing_ties():
    random = np.random.default_rng(3)
    points, rows = random.random((400, 4)), random.random((200, 4))
    labels, truth = random.integers(0, 3, 400), random.integers(0, 3, 200)
    index = NeighborIndex.build(distinct(points))
    weights = np.eye(3, dtype=np.int64)[truth]
    none = np.full(200, -1, np.int32)
    questions = Questions(rows, none, nearest_lists(index, rows, 60), weights)
    chosen = (random.random(400) < 0.1).astype(np.uint8)
    who = np.flatnonzero(chosen)
    peer = KNeighborsClassifier(1).fit(points[who], labels[who])
    candidates = Candidates(index.points.rows, index.points.point_of)
    ours = np.trace(hits(questions, candidates, chosen, labels))
    assert ours == round(peer.score(rows, truth) * 200)


def test_parts_of_the_questions_add_up_to_all():
    questions, candidates, points, random = asked(5)
    chosen, labels = np.ones(len(points), np.uint8), random.integers(0, 2, len(points))
    whole = hits(questions, candidates, chosen, labels)
    parts = [hits(questions.part(*ends), candidates, chosen, labels) for ends in ((0, 7), (7, 25))]
    assert np.sum(parts, axis=0).tolist() == whole.tolist()


def test_a_candidate_made_of_the_record_itself_never_answers():
    questions, candidates, points, _ = asked(1, with_own=True)
    alone = np.zeros(len(points), np.uint8)
    alone[questions.own[0]] = 1
    near = nearest_chosen(questions, candidates, alone)
    assert near[0, 0] == -1
    assert (np.delete(near, 0) == questions.own[0]).all()
    answers = np.zeros(len(points), np.int64)
    counted = hits(questions, candidates, alone, answers)
    assert counted.sum() == questions.weights[1:].sum()


@pytest.mark.parametrize("length", [1, 59])
def test_lists_ascend_by_distance_then_number(length):
    questions, _, points, _ = asked(2, length=length)
    everyone = np.ones(len(points), np.uint8)
    expected = direct(questions.rows, points, everyone, questions.own, length)
    assert questions.lists.tolist() == expected.tolist()
