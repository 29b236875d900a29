"""The workers of a pool: started, greeted, replaced when they are lost."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from typing import Any

from distanon.data.ports import Progress
from distanon.errors import ClusterError
from distanon.runtime.calls import Call
from distanon.runtime.crew import Losses
from distanon.runtime.faults import NODE_LOST, kind_of, start_failure
from distanon.runtime.pinning import worker_environment
from distanon.runtime.room import Room
from distanon.runtime.settings import WORKER_WAIT_S, RuntimeSettings
from distanon.runtime.worker import Greeting, Worker, versions

_NOTE_S = 10.0


@dataclass(frozen=True, slots=True)
class Sent:
    """A call at a worker, with the references that it was given and will give."""

    call: Call
    value: Any
    given: list[Any]


@dataclass(eq=False, slots=True)
class Member:
    """A worker process; its calls run in the order of `calls`, keyed by their outcomes' refs."""

    actor: Any
    greeting: Any
    node: str = ""
    ready: bool = False
    calls: dict[Any, Sent] = field(default_factory=dict)

    @property
    def awaited(self) -> list[Any]:
        """The references to wait for."""
        return list(self.calls) if self.ready else [self.greeting]


class Roster:
    """Keeps as many workers as the settings ask for and the cluster holds.

    Args:
        settings: how many workers, how large, how long to wait.
        progress: told of losses and waiting.
        losses: what is counted.
        own: the session was started for this crew: no node joins, and its workers are pinned.
    """

    def __init__(
        self, settings: RuntimeSettings, progress: Progress, losses: Losses, *, own: bool
    ) -> None:
        self._settings = settings
        self._progress = progress
        self._losses = losses
        self._room = Room(settings, grows=not own)
        self._actor_class = _actor_class(settings, pinned=own)
        self._versions = versions()
        self._failed_starts = 0
        self._alone_since: float | None = None
        self._noted = False
        self.members: list[Member] = []

    @property
    def target(self) -> int:
        """How many workers there are or should be."""
        return self._room.workers

    @property
    def ready(self) -> list[Member]:
        """Those that take calls."""
        return [member for member in self.members if member.ready]

    def recruit(self) -> None:
        """Starts what is missing; a worker without room waits in the cluster for a node."""
        for _ in range(self.target - len(self.members)):
            actor = self._actor_class.remote()
            self.members.append(Member(actor, actor.greet.remote()))

    def welcome(self, member: Member) -> None:
        """Takes in a worker whose greeting has arrived, or notes that it died before.

        Raises:
            ClusterError: workers will not start.
        """
        import ray

        try:
            greeting: Greeting = ray.get(member.greeting)
        except ray.exceptions.RayError as error:
            self._count_start(error)
            self.lose(member, kind_of(error))
            return
        member.ready, member.node = True, greeting.node
        self._failed_starts, self._alone_since, self._noted = 0, None, False
        if greeting.versions != self._versions:
            self._progress.note(
                f"a worker runs {greeting.versions}, this process {self._versions}: "
                "bits may differ from a run elsewhere"
            )

    def _count_start(self, error: Exception) -> None:
        """Raises where another start is in vain."""
        failure = start_failure(error)
        kind = kind_of(error)
        self._failed_starts += kind != NODE_LOST
        if failure is None and self._failed_starts > self._settings.max_failures:
            failure = ClusterError(f"{self._failed_starts} workers died as they started ({kind})")
        if failure is not None:
            raise failure from None

    def lose(self, member: Member, kind: str) -> list[Sent]:
        """Strikes a worker off; what it was at."""
        import ray

        self.members.remove(member)
        with contextlib.suppress(ray.exceptions.RayError, ValueError):
            ray.kill(member.actor)  # out of reach is not dead: nothing may run twice at once
        self._losses.workers_lost += 1
        self._losses.causes[kind] = self._losses.causes.get(kind, 0) + 1
        self._progress.note(f"lost a worker ({kind}), replacing it")
        return list(member.calls.values())

    def check_alone(self) -> None:
        """Says what is missing while there is no worker.

        Raises:
            ClusterError: for too long.
        """
        if self.ready:
            self._alone_since = None
            return
        now = time.monotonic()
        self._alone_since = self._alone_since or now
        bound = self._settings.timeout_s or WORKER_WAIT_S
        if now - self._alone_since > bound:
            raise ClusterError(f"no worker for {bound:g} s: {self._room.lacking()}")
        if now - self._alone_since > _NOTE_S and not self._noted:
            self._noted = True
            self._progress.note(self._room.lacking())

    def close(self) -> None:
        """Ends all workers."""
        import ray

        for member in self.members:
            with contextlib.suppress(ray.exceptions.RayError, ValueError):
                ray.kill(member.actor)
        self.members.clear()


def _actor_class(settings: RuntimeSettings, *, pinned: bool) -> Any:
    import ray

    options: dict[str, Any] = {
        "num_cpus": settings.cpus_per_worker,
        "max_restarts": 0,
        "max_task_retries": 0,
        "scheduling_strategy": "SPREAD",
    }
    if not pinned:  # an environment of its own makes a worker start seconds later
        options["runtime_env"] = {"env_vars": worker_environment(settings.cpus_per_worker)}
    if settings.memory_per_worker != "auto":
        options["memory"] = settings.memory_per_worker
    return ray.remote(**options)(Worker)
