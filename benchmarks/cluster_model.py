"""The model of many workers: a check against workers that sleep, and its forecasts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import scaling_model
from cluster_jobs import SEED, Job
from crew_costs import sleepers
from replayed_work import Course, Recorder, Sleepers
from rows import Row, at_most, beside, shown
from scaling_model import Costs

from distanon.data.streams import Streams
from distanon.job.graphs import make
from distanon.job.inputs import open_inputs
from distanon.methods.base import Context, blocks_for
from distanon.runtime import crew
from distanon.runtime.crew import Crew
from distanon.spec import JobSpec
from distanon.storage.scratch import StoreScratch
from distanon.storage.store import StorageSettings, Store

Courses = Callable[[int], Course]

SEEN = (8, 16, 32)
FORESEEN = (16, 64, 256)
_LINK = 1.25e9  # bytes a second: 10 Gbit/s
_ON_NODE = 8
_ROUNDS = 2
_GOAL = 0.25  # by how much what is seen may be apart from what was predicted


class Work:
    """A job's work, done by whatever crew it is given.

    Args:
        job: what is done, from its files on.
        folder: for its scratch.
    """

    def __init__(self, job: Job, folder: Path) -> None:
        places = {"output": f"{folder}/release/", "private": f"{folder}/private/"}
        self.name = job.name
        self._spec = JobSpec.model_validate({**job.spec, **places})
        self._folder = folder
        self._inputs = open_inputs(self._spec, Streams(SEED))
        self._recordings = 0

    def recorded(self, workers: int) -> Recorder:
        """A recording of the work as it is cut for so many workers."""
        recorder = Recorder(workers)
        self._recordings += 1
        self.release(recorder, f"recorded-{self._recordings}")
        recorder.end()
        return recorder

    def release(self, opened: Crew, name: str) -> float:
        """Makes the release; the seconds that the method takes."""
        blocks = blocks_for(len(self._inputs.dataset), opened.workers)
        store = Store(str(self._folder / name), StorageSettings(), private=True)
        context = Context(opened, StoreScratch.open(store, {}), Streams(SEED), blocks=blocks)
        promises, _ = self._spec.effective_promises()
        began = time.perf_counter()
        make(self._spec.method, self._inputs.dataset, promises, context)
        return time.perf_counter() - began


def validation(works: Sequence[Work], found: Costs, seen: Sequence[int]) -> Iterator[Row]:
    """The same work by workers that sleep, as predicted and as seen."""
    for work in works:
        work.recorded(2)  # compiles
    for workers in seen:
        recordings = [work.recorded(workers) for work in works]
        with crew(sleepers(workers)) as opened:
            for work, recorder in zip(works, recordings, strict=True):
                course = recorder.course().quieter(work.recorded(workers).course())
                predicted = scaling_model.seconds_of(course, found, workers)
                took = min(
                    work.release(Sleepers(opened, recorder.results), f"asleep-{workers}-{number}")
                    for number in range(_ROUNDS)
                )
                label = f"{work.name}: s on {workers} workers that sleep"
                yield beside(label, "predicted", took, predicted)
                off = abs(took / predicted - 1)
                yield at_most(f"{label}: apart from the prediction", off, _GOAL)


def forecasts(name: str, courses: Courses, found: Costs) -> Iterator[Row]:
    """Time and efficiency on many workers of a real cluster, and where its driver is the limit."""
    far = replace(found, cores=None, link=_LINK, on_node=_ON_NODE)
    one = scaling_model.forecast(courses, far, 1)
    yield shown(f"forecast, {name}: s on 1 worker", one.seconds)
    yield shown(f"forecast, {name}: of it the driver's s", one.driver)
    for workers in FORESEEN:
        made = scaling_model.forecast(courses, far, workers)
        yield shown(f"forecast, {name}: s on {workers} workers", made.seconds)
        yield shown(f"forecast, {name}: efficiency on {workers} workers", made.efficiency)
        yield shown(f"forecast, {name}: the driver's s of it on {workers} workers", made.driver)
    limit = scaling_model.limit(courses, far, (1, *FORESEEN))
    yield shown(f"forecast, {name}: workers at which the driver is as busy as each", limit)
    most = max(len(stage.items) for stage in courses(FORESEEN[-1]).stages)
    yield shown(f"forecast, {name}: items at once, at most", most)
