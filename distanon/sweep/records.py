"""sweep.json: what a sweep consists of and how far it is; any machine can ask for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from distanon.storage.store import Store

SWEEP = "sweep.json"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of a sweep.

    Attributes:
        run_id: its id.
        private: its private prefix.
        changes: what it sets.
        status: waiting | running | succeeded | failed | stopped.
        exit_code: of its process, once it has ended.
        reason: why it failed, in the words of the command.
    """

    run_id: str
    private: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    status: str = "waiting"
    exit_code: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SweepRecord:
    """A sweep, as it stands in `sweep.json` below its private prefix."""

    sweep_id: str
    runs: tuple[RunRecord, ...]

    def with_run(self, changed: RunRecord) -> SweepRecord:
        """The record with one run replaced."""
        runs = tuple(changed if run.run_id == changed.run_id else run for run in self.runs)
        return replace(self, runs=runs)

    def write(self, store: Store) -> None:
        """Writes it, at once or not at all."""
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False)
        store.write(SWEEP, (text + "\n").encode())


def read_sweep(store: Store) -> SweepRecord | None:
    """The sweep of this private prefix; None where there is none."""
    if not store.exists(SWEEP):
        return None
    document = json.loads(store.read(SWEEP))
    runs: Sequence[Mapping[str, Any]] = document["runs"]
    return SweepRecord(document["sweep_id"], tuple(RunRecord(**run) for run in runs))
