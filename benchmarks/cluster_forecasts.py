"""The jobs that the model of many workers is checked on, and those that it foretells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import cluster_jobs
from cluster_model import FORESEEN, SEEN, Work, costs, forecasts, told, validation
from replayed_work import Course
from rows import Row
from scaling_model import coarser, repeated, widened

_FINEST = FORESEEN[-1]


def model(methods: Sequence[str], folder: Path, *, quick: bool) -> Iterator[Row]:
    """The constants, and the check of the model."""
    found = costs()
    yield from told(found)
    works = [Work(cluster_jobs.CHECKED[name](folder), folder / name) for name in methods]
    yield from validation(works, found, SEEN[:1] if quick else SEEN)


def foretold(methods: Sequence[str], folder: Path) -> Iterator[Row]:
    """What the model says of many workers, with constants of its own measurement."""
    found = costs()
    if "dptpe" in methods:
        job = cluster_jobs.dptpe(1_000_000, folder)
        yield from forecasts(job.name, _Cut(Work(job, folder / "whole")), found)
        pieces = Work(cluster_jobs.dptpe(5_000_000, folder), folder / "pieces").recorded(1)
        wide = widened(pieces.course(), 20)
        yield from forecasts("dptpe, 100,000,000 records × 8", lambda _: wide, found)
    if "kmfc_gwo" in methods:
        for wolves, many in ((30, 2), (240, 1)):
            job = cluster_jobs.kmfc_gwo(75_000, wolves, many, folder)
            work = _Cut(Work(job, folder / str(wolves)), "wolves", 101 - many)
            yield from forecasts(job.name.replace(f"× {many}", "× 100"), work, found)
    if "reconstruction" in methods:
        job = cluster_jobs.reconstruction(200_000, 2, folder)
        work = _Cut(Work(job, folder / "adult"), "generations", 149)
        yield from forecasts(job.name.replace(", 2 gen", ", 150 gen"), work, found)


class _Cut:
    """The work of a job for any number of workers, recorded for one and for the most.

    Args:
        work: of few iterations.
        phase: of an iteration's last stage; "": no search.
        times: how often the last one comes.
    """

    def __init__(self, work: Work, phase: str = "", times: int = 1) -> None:
        work.recorded(2)  # compiles
        self._courses = {}
        for workers in (1, _FINEST):
            course = work.recorded(workers).course()
            self._courses[workers] = repeated(course, phase, times) if phase else course

    def __call__(self, workers: int) -> Course:
        if workers in self._courses:
            return self._courses[workers]
        return coarser(self._courses[_FINEST], workers)
