"""How far runs are, as metrics of the cluster: what a dashboard shows while they work.

Whoever reaches a node reads them without a token, so they carry no value of the data and not the
run's id, which digests the seed: a run goes by its name and a random ending. They are sampled;
exact totals are in metrics.json and run.json.
"""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from distanon.data.ports import Progress


@dataclass(frozen=True, slots=True)
class Meter:
    """One metric; Ray puts `ray_` before its name."""

    name: str
    kind: Literal["counter", "gauge"]
    says: str
    by_phase: bool = False


METERS: Sequence[Meter] = (
    Meter("distanon_items_total", "counter", "Items that are done.", by_phase=True),
    Meter(
        "distanon_phase_seconds_total", "counter", "Seconds in phases that ended.", by_phase=True
    ),
    Meter(
        "distanon_work_seconds_total",
        "counter",
        "Seconds that workers spent on items.",
        by_phase=True,
    ),
    Meter("distanon_phase_items", "gauge", "Items of the phase under way.", by_phase=True),
    Meter("distanon_phase_done", "gauge", "Items of it that are done.", by_phase=True),
    Meter("distanon_backlog", "gauge", "Items that are under way or wait."),
    Meter("distanon_workers", "gauge", "Workers that take items."),
    Meter("distanon_workers_starting", "gauge", "Workers that start or wait for a node."),
    Meter("distanon_workers_lost", "gauge", "Workers lost so far."),
    Meter("distanon_items_repeated", "gauge", "Items done again after a loss, so far."),
    Meter("distanon_objective", "gauge", "The best value of the method's search so far."),
)
_BY_NAME = {meter.name: meter for meter in METERS}


class Metered:
    """Passes progress on, and lets the cluster's metrics know where this process is in one.

    Args:
        shown: where progress goes.
        run: the run's name, without its digest.
        method: of the release.
    """

    def __init__(self, shown: Progress, run: str, method: str) -> None:
        self.label = f"{run}-{secrets.token_hex(3)}"
        self._shown = shown
        self._tags = {"run": self.label, "method": method}
        self._phase, self._done, self._since = "", 0, time.monotonic()

    def start(self, phase: str, total: int) -> None:
        """A phase begins; the one before it ends."""
        self._end()
        self._phase, self._done, self._since = phase, 0, time.monotonic()
        self._record("distanon_phase_items", total)
        self._record("distanon_phase_done", 0)
        self._shown.start(phase, total)

    def advance(self, items: int = 1) -> None:
        """So many items of the phase are done."""
        self._done += items
        self._record("distanon_items_total", items)
        self._record("distanon_phase_done", self._done)
        self._shown.advance(items)

    def note(self, message: str) -> None:
        """A line for the user, not for the metrics."""
        self._shown.note(message)

    def observe(self, name: str, value: float) -> None:
        """A gauge of METERS has this value now, a counter gets it; without `distanon_`."""
        self._record(f"distanon_{name}", value)

    def close(self) -> None:
        """The last phase has ended, and nobody works."""
        self._end()
        for name in ("distanon_backlog", "distanon_workers", "distanon_workers_starting"):
            self._record(name, 0)

    def _end(self) -> None:
        if self._phase:
            self._record("distanon_phase_seconds_total", time.monotonic() - self._since)
            self._record("distanon_phase_items", 0)
            self._record("distanon_phase_done", 0)
        self._phase = ""

    def _record(self, name: str, value: float) -> None:
        if not _is_joined():
            return
        meter = _BY_NAME[name]
        tags = self._tags | ({"phase": self._phase} if meter.by_phase else {})
        made = _made(name)
        if meter.kind == "gauge":
            made.set(value, tags=tags)
        elif value > 0:
            made.inc(value, tags=tags)


def _is_joined() -> bool:
    """Whether this process belongs to a cluster; without Ray it is not imported for this."""
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


@cache
def _made(name: str) -> Any:
    """The metric in Ray, made once a process."""
    from ray.util.metrics import Counter, Gauge

    meter = _BY_NAME[name]
    keys = ("run", "method", "phase") if meter.by_phase else ("run", "method")
    return (Gauge if meter.kind == "gauge" else Counter)(name, meter.says, keys)
