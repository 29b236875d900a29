"""How many workers a cluster holds, and what it lacks while none can start."""

from __future__ import annotations

import time

from distanon.errors import ClusterError
from distanon.runtime.settings import RuntimeSettings

_ASK_S = 2.0


class Room:
    """The nodes that are alive, asked for again every few seconds.

    Args:
        settings: how many workers, how large.
        grows: whether nodes may still join.

    Raises:
        ClusterError: no node can hold a worker, and none can join.
    """

    def __init__(self, settings: RuntimeSettings, *, grows: bool) -> None:
        self._settings = settings
        self._nodes: list[dict[str, float]] = []
        self._asked = -_ASK_S
        self._ask()
        if not grows and not self._places():
            raise ClusterError(f"{self.lacking()}; set runtime.cpus_per_worker to less")

    @property
    def workers(self) -> int:
        """How many workers there should be now: as asked for, or as many as find a place."""
        if self._settings.workers != "auto":
            return self._settings.workers
        self._ask()
        return max(1, self._places())

    def lacking(self) -> str:
        """What a worker waits for, as a sentence without its full stop."""
        self._asked = -_ASK_S
        self._ask()
        asked = self._settings.cpus_per_worker
        cpus = [node.get("CPU", 0.0) for node in self._nodes]
        need = f"waiting for {_count(asked, 'CPU')}"
        if max(cpus, default=0.0) < asked:
            largest = f" (the largest of {len(cpus)} nodes has {max(cpus):g})" if cpus[1:] else ""
            return f"{need}, the cluster has {sum(cpus):g}{largest}"
        if not self._places():
            return f"waiting for {self._settings.memory_per_worker} bytes of memory on one node"
        return f"{need}: all {sum(cpus):g} of the cluster are taken, or its workers are starting"

    def _places(self) -> int:
        """Workers that the nodes could hold if nobody else used them."""
        return sum(self._fit(node) for node in self._nodes)

    def _fit(self, node: dict[str, float]) -> int:
        fit = node.get("CPU", 0.0) / self._settings.cpus_per_worker
        if self._settings.memory_per_worker != "auto":
            fit = min(fit, node.get("memory", 0.0) / self._settings.memory_per_worker)
        return int(fit + 1e-9)

    def _ask(self) -> None:
        import ray

        if time.monotonic() - self._asked < _ASK_S:
            return
        self._asked = time.monotonic()
        nodes = ray.nodes()  # type: ignore[no-untyped-call]
        self._nodes = [node["Resources"] for node in nodes if node["Alive"]]


def _count(number: float, unit: str) -> str:
    return f"{number:g} {unit}" + ("" if number == 1 else "s")
