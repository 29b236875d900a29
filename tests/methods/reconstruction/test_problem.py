"""Shards of questions and batches of children change no count."""

import numpy as np

from distanon.methods.reconstruction import problem as problems
from distanon.methods.reconstruction.method import Reconstruction
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


def test_ranges_cover_all_questions():
    class Rows:
        rows = np.empty((problems.SHARD * 2 + 1, 1))

    problem = problems.Problem(None, Rows, None, None, None, None)
    assert [stop - start for start, stop in problem.shards] == [problems.SHARD] * 2 + [1]
