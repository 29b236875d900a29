"""The cases of a sweep, started as others end: so many at once, and one that fails alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from distanon.data.ports import Progress
from distanon.errors import ClusterError, ResumeError, SpecError
from distanon.runtime.submission import SubmittedRun
from distanon.storage.store import Store
from distanon.sweep.outcomes import POLL_S, outcome
from distanon.sweep.records import RunRecord, SweepRecord
from distanon.sweep.server import Server

_REFUSED = 2


@dataclass(slots=True)
class CarriedOut:
    """A sweep under way.

    Attributes:
        record: how far it is; also in the store, after each change.
        store: the private prefix of the sweep.
        server: the cluster's.
        start: submits one of its runs, unless it was submitted before.
        at_once: runs at the same time.
        progress: told of runs that end.
    """

    record: SweepRecord
    store: Store
    server: Server
    start: Callable[[RunRecord], SubmittedRun]
    at_once: int
    progress: Progress
    _waiting: list[RunRecord] = field(default_factory=list)
    _running: dict[str, SubmittedRun] = field(default_factory=dict)

    def to_the_end(self) -> SweepRecord:
        """Until every run has ended.

        Raises:
            ClusterError: the cluster can't be reached; the same sweep submitted again goes on.
        """
        self._waiting = [run for run in self.record.runs if run.exit_code is None]
        self.progress.start("runs", len(self._waiting))
        while self._waiting or self._running:
            self._fill()
            self._take_in()
            if self._running:
                time.sleep(POLL_S)
        return self.record

    def _fill(self) -> None:
        """Starts what there is room for."""
        while self._waiting and len(self._running) < self.at_once:
            run = self._waiting[0]
            try:
                self._running[run.run_id] = self.start(run)
                self._keep(replace(run, status="running"))
            except (SpecError, ResumeError) as error:
                self._end(replace(run, status="failed", exit_code=_REFUSED, reason=str(error)))
            except ClusterError:
                if not self._running:
                    raise
                return  # it is busy with the others: asked again when it has had time
            del self._waiting[0]

    def _take_in(self) -> None:
        for run_id, submitted in list(self._running.items()):
            now = self.server.find(run_id)
            if now is not None and now.is_under_way:
                continue
            changes = next(run.changes for run in self.record.runs if run.run_id == run_id)
            del self._running[run_id]
            self._end(replace(outcome(self.server, now or submitted), changes=changes))

    def _end(self, run: RunRecord) -> None:
        self._keep(run)
        self.progress.advance()
        self.progress.note(f"{run.run_id}: {run.status}")

    def _keep(self, run: RunRecord) -> None:
        self.record = self.record.with_run(run)
        self.record.write(self.store)
