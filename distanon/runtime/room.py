"""How many workers a cluster has room for, now and when it has grown, and what it lacks."""

from __future__ import annotations

import time
from collections.abc import Mapping

from distanon.errors import ClusterError
from distanon.runtime import feasibility
from distanon.runtime.head import head_answers
from distanon.runtime.limits import NodeGroup, is_scaled, node_groups
from distanon.runtime.settings import RuntimeSettings

_ASK_S = 2.0
_REFUSALS = 4  # of the autoscaler, 5 s apart: it may only be at its limits for a moment
_UNSTATED = 32
"""Workers that a cluster is taken to grow to, where its autoscaler states no limits."""


class Room:
    """The nodes that are alive, asked for again every few seconds.

    Args:
        settings: how many workers, how large.
        grows: whether nodes may still join.

    Raises:
        ClusterError: no node can hold a worker, and none that can will join.
    """

    def __init__(self, settings: RuntimeSettings, *, grows: bool) -> None:
        self._settings = settings
        self._nodes: list[dict[str, float]] = []
        self._asked = -_ASK_S
        self._grows, self._scaled = grows, False
        self._groups = node_groups() if grows else None
        memory = None if settings.memory_per_worker == "auto" else settings.memory_per_worker
        self._answers = feasibility.Answers(settings.cpus_per_worker, memory, _REFUSALS)
        self._answered = -_ASK_S
        self._ask()
        if not grows and not self._places():
            raise ClusterError(f"{self.lacking()}; set runtime.cpus_per_worker to less")
        if self._groups is not None and not self._most_places(self._groups):
            raise ClusterError(
                f"{self._out_of_reach(self._groups)}; ask for less, or for more of it"
            )

    @property
    def is_elastic(self) -> bool:
        """Whether an autoscaler brings nodes for workers that wait, and takes idle ones away."""
        return self._groups is not None or self._scaled

    @property
    def workers(self) -> int:
        """How many workers there may be: as asked for, or as many as find or will find a place."""
        if self._settings.workers != "auto":
            return self._settings.workers
        self._ask()
        places = self._places()
        if self._groups is not None:
            places = self._most_places(self._groups)
        elif self._scaled:
            places = max(places, _UNSTATED)
        return max(1, places)

    def wanted(self, backlog: int) -> int:
        """How many workers there should be now.

        Args:
            backlog: items that are under way or wait.
        """
        return min(self.workers, backlog) if self.is_elastic else self.workers

    def check_refusal(self) -> None:
        """Reads what the autoscaler says of workers that wait; to be called while one does.

        Raises:
            ClusterError: no node that it may bring holds a worker.
        """
        if not self.is_elastic or time.monotonic() - self._answered < _ASK_S:
            return
        self._answered = time.monotonic()
        self._answers.take(feasibility.status())
        if self._answers.feasible is False and not self._places():
            raise ClusterError(
                f"{self.lacking()}, and its autoscaler says that no node which it may bring "
                "holds a worker; set runtime.cpus_per_worker or runtime.memory_per_worker to "
                "less, or let it bring larger nodes"
            )

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

    def _out_of_reach(self, groups: tuple[NodeGroup, ...]) -> str:
        asked, memory = self._settings.cpus_per_worker, self._settings.memory_per_worker
        kinds = [group.resources for group in groups if group.most != 0]
        cpus = max((kind.get("CPU", 0.0) for kind in (*kinds, *self._nodes)), default=0.0)
        if cpus < asked or memory == "auto":
            lack = f"{_count(asked, 'CPU')}, and no node has or will have more than {cpus:g}"
        else:
            lack = f"{_count(asked, 'CPU')} and {memory} bytes of memory, and no node has both"
        return (
            f"a worker asks for {lack}, even when the cluster has grown to its autoscaler's limits"
        )

    def _places(self) -> int:
        """Workers that the nodes could hold if nobody else used them."""
        return sum(self._fit(node) for node in self._nodes)

    def _most_places(self, groups: tuple[NodeGroup, ...]) -> int:
        """Workers that the cluster could hold at its largest, or holds already."""
        grown = sum(
            self._fit(group.resources) * (_UNSTATED if group.most is None else group.most)
            for group in groups
        )
        return max(grown, self._places())

    def _fit(self, node: Mapping[str, float]) -> int:
        fit = node.get("CPU", 0.0) / self._settings.cpus_per_worker
        # A group without stated memory may have any: only a node tells.
        if self._settings.memory_per_worker != "auto" and "memory" in node:
            fit = min(fit, node["memory"] / self._settings.memory_per_worker)
        return int(fit + 1e-9)

    def _ask(self) -> None:
        import ray

        if time.monotonic() - self._asked < _ASK_S:
            return
        self._asked = time.monotonic()
        if self._nodes and not head_answers():
            return
        nodes = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
        self._nodes = [node["Resources"] for node in nodes]
        self._scaled = self._grows and (self._scaled or is_scaled(nodes))


def _count(number: float, unit: str) -> str:
    return f"{number:g} {unit}" + ("" if number == 1 else "s")
