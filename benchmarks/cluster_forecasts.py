"""The jobs that the model of many workers is checked on, and those that it foretells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import cluster_jobs
from cluster_model import FORESEEN, SEEN, Work, forecasts, validation
from crew_costs import costs, told
from replayed_work import Course
from rows import Row
from scaling_model import repeated, widened


def model(methods: Sequence[str], folder: Path, *, quick: bool) -> Iterator[Row]:
    """The constants, and the check of the model."""
    found = costs()
    yield from told(found)
    works = [Work(cluster_jobs.CHECKED[name](folder), folder / name) for name in methods]
    yield from validation(works, found, SEEN[:1] if quick else SEEN)


def foretold(methods: Sequence[str], folder: Path) -> Iterator[Row]:
    """What the model says of many workers, with constants of its own measurement."""
    found = costs()
    for name in methods:
        Work(cluster_jobs.QUICK[name](folder), folder / name).recorded(2)  # compiles
    if "dptpe" in methods:
        job = cluster_jobs.dptpe(1_000_000, folder)
        yield from forecasts(job.name, _cut(Work(job, folder / "whole")), found)
        pieces = Work(cluster_jobs.dptpe(5_000_000, folder), folder / "pieces").recorded(1)
        wide = widened(pieces.course(), 20)
        yield from forecasts("dptpe, 100,000,000 records × 8", lambda _: wide, found)
    if "kmfc_gwo" in methods:
        for wolves, many in ((30, 2), (240, 1)):
            job = cluster_jobs.kmfc_gwo(75_000, wolves, many, folder)
            work = _cut(Work(job, folder / str(wolves)), "wolves", 101 - many)
            yield from forecasts(job.name.replace(f"× {many}", "× 100"), work, found)
    if "reconstruction" in methods:
        job = cluster_jobs.reconstruction(200_000, 2, folder)
        work = _cut(Work(job, folder / "adult"), "generations", 149)
        yield from forecasts(job.name.replace(", 2 gen", ", 150 gen"), work, found)


def _cut(work: Work, phase: str = "", times: int = 1) -> Callable[[int], Course]:
    """The work of a job as it is cut for one worker and for those foreseen.

    Args:
        work: of few iterations.
        phase: of an iteration's last stage; "": no search.
        times: how often the last one comes.
    """
    courses = {}
    for workers in (1, *FORESEEN):
        course = work.recorded(workers).course()
        courses[workers] = repeated(course, phase, times) if phase else course
    return courses.__getitem__
