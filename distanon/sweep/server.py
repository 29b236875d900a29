"""What a submission needs of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from distanon.runtime.submission import SubmittedRun


class Server(Protocol):
    """What a submission needs of a cluster: `runtime.submission.JobServer`."""

    address: str

    def nodes(self) -> list[dict[str, float]]:
        """The resources of each node that is alive."""
        ...

    def grows(self) -> bool:
        """Whether an autoscaler may bring more nodes."""
        ...

    def holds(self, cpus: float, memory: float | None, modules: Sequence[str] = ()) -> bool | None:
        """Whether the autoscaler would bring a node for a worker; None: it does not say."""
        ...

    def find(self, run_id: str) -> SubmittedRun | None:
        """The latest submission of a run."""
        ...

    def start(
        self, run_id: str, arguments: Sequence[str], private: str, *, modules: Sequence[str] = ()
    ) -> SubmittedRun:
        """Starts a command of distanon."""
        ...

    def log(self, run_id: str) -> str:
        """What a run has printed."""
        ...
