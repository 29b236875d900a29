"""Shards of questions and batches of children change no count."""

from dataclasses import replace

import numpy as np
import pytest

from distanon.methods.reconstruction import problem as problems
from distanon.methods.reconstruction.method import Reconstruction
from distanon.optimizers.choice_genetic import ChoiceGenetic
from distanon.optimizers.population import Individual, founded
from distanon.runtime.crew import SerialCrew


def test_shards_change_nothing_with_few_workers_or_many(people, dataset_of, context, monkeypatch):
    dataset = dataset_of(people(1, 150))
    method = Reconstruction(k=4, individuals=5, generations=3)
    results = []
    for shard, workers in ((problems.SHARD, 1), (7, 1), (7, 4)):
        monkeypatch.setattr(problems, "SHARD", shard)
        monkeypatch.setattr(SerialCrew, "workers", workers)
        release = method.release(dataset, {}, context())
        results.append([piece.read() for piece in release.pieces] + [release.private])
    assert results[0] == results[1] == results[2]


def test_children_are_the_same_in_whatever_ranges_they_are_made(context):
    options = np.array([3, 1, 5, 2] * 25)
    optimizer = ChoiceGenetic.over(options, 3, 0.1, 1)
    problem = problems.Problem(optimizer, None, None, None, None, None)
    draw = np.random.default_rng(5)
    members = [Individual(optimizer.random(draw), (float(place % 4),)) for place in range(9)]
    parents = problems.Parents.of(founded(members), 7, context().streams)
    whole = problems.make_children(problem, (parents, 0, 9))
    parts = [problems.make_children(problem, (parents, *span)) for span in ((0, 2), (2, 3), (3, 9))]
    assert np.array_equal(whole, np.concatenate(parts))
    assert len(np.unique(whole, axis=0)) > 4
    other = replace(parents, turn=8)
    assert not np.array_equal(whole, problems.make_children(problem, (other, 0, 9)))


@pytest.mark.parametrize("patience", [1, 2, 3, 5])
def test_a_search_ends_when_no_generation_has_chosen_for_as_long_as_its_patience(
    patience, people, dataset_of, context
):
    dataset = dataset_of(people(1, 150))
    settings = {"k": 4, "individuals": 5, "mutation": 0.1}
    method = Reconstruction(**settings, generations=40, patience=40)
    known = []
    for generations in range(1, 13):  # a course that nothing ends early
        shorter = method.model_copy(update={"generations": generations})
        known.append(shorter.release(dataset, {}, context()).private["chosen_generation"])
    # The generation that was the best so far, after each of them.
    ends = next(
        (turn for turn, chosen in enumerate(known, 1) if turn - chosen >= patience), len(known)
    )
    found = Reconstruction(**settings, generations=12, patience=patience)
    private = found.release(dataset, {}, context()).private
    assert private["generations"] == ends
    assert private["chosen_generation"] == known[ends - 1]


def test_ranges_cover_all_questions():
    class Rows:
        rows = np.empty((problems.SHARD * 2 + 1, 1))

    problem = problems.Problem(None, Rows, None, None, None, None)
    assert [stop - start for start, stop in problem.shards] == [problems.SHARD] * 2 + [1]
