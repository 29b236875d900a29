"""Shards of questions and batches of children change no count."""

import numpy as np

from distanon.methods.reconstruction import problem as problems
from distanon.methods.reconstruction.method import Reconstruction


def test_a_heavy_evaluation_is_spread_over_shards(people, dataset_of, context, monkeypatch):
    dataset = dataset_of(people(1, 150))
    method = Reconstruction(k=4, individuals=5, generations=3)
    results = []
    for shard in (problems.SHARD, 7):
        monkeypatch.setattr(problems, "SHARD", shard)
        release = method.release(dataset, {}, context())
        results.append([piece.read() for piece in release.pieces] + [release.private])
    assert results[0] == results[1]


def test_ranges_cover_all_questions():
    class Rows:
        rows = np.empty((problems.SHARD * 2 + 1, 1))

    problem = problems.Problem(None, Rows, None, None, None, None)
    assert [stop - start for start, stop in problem.shards] == [problems.SHARD] * 2 + [1]
