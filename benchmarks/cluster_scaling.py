"""Whole jobs on one worker and on two: the time to `_SUCCESS` without the start of Ray."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from cluster_jobs import Job
from measured_jobs import Finished, run, without_start
from rows import Row, shown, times_more

_START = "workers"
_GOAL = 1.7


def scaling(job: Job, rounds: int, folder: Path, goal: float | None = _GOAL) -> Iterator[Row]:
    """One worker against two, the best of interleaved rounds.

    Args:
        job: what is run.
        rounds: how often.
        folder: for its releases.
        goal: how many times as fast two workers are to be; None: no goal.
    """
    found: dict[int, list[Finished]] = {1: [], 2: []}
    for number in range(rounds):
        for workers, runs in found.items():
            place = folder / f"{workers}-{number}"
            runs.append(run(job.on(workers), place, watched=False))
            shutil.rmtree(place)
    one, two = (min(runs, key=without_start) for runs in found.values())
    label = f"{job.name}: times as fast on 2 workers"
    if goal is None:
        yield shown(label, without_start(one) / without_start(two))
    else:
        yield times_more(
            label, "1 worker, per s", 1 / without_start(two), 1 / without_start(one), goal
        )
    yield shown(f"{job.name}: s to _SUCCESS on 1 worker, start of Ray apart", without_start(one))
    yield shown(f"{job.name}: s to _SUCCESS on 2 workers, start of Ray apart", without_start(two))
    yield shown(f"{job.name}: start of Ray and its workers, s", two.phases[_START])
    waited = 1 - sum(_own(one).values()) / without_start(one)
    yield shown(f"{job.name}: share of the time that the driver or the crew took, 1 worker", waited)
    for phase, seconds in one.phases.items():
        if phase in one.work and seconds > 0.02 * without_start(one):
            yield shown(f"{job.name}: {phase}, s on 1 worker", seconds)
            yield shown(f"{job.name}: {phase}, s of work in it", one.work[phase])
            yield shown(f"{job.name}: {phase}, s on 2 workers", two.phases.get(phase, 0.0))
            yield shown(f"{job.name}: {phase}, s of work in it, 2 workers", two.work[phase])


def _own(done: Finished) -> Mapping[str, float]:
    """Work of the release's own phases: those after `_SUCCESS` are not counted in its time."""
    names = list(done.phases)
    last = names.index("verify") if "verify" in names else len(names) - 1
    return {name: done.work.get(name, 0.0) for name in names[: last + 1]}
