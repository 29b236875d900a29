"""The workers of a pool: started, greeted, replaced when lost, given back when idle."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from distanon.data.ports import Progress
from distanon.errors import ClusterError
from distanon.runtime.calls import Call
from distanon.runtime.crew import Losses
from distanon.runtime.faults import BLAMELESS, RESUMABLE, kind_of, start_failure
from distanon.runtime.pinning import worker_environment
from distanon.runtime.room import Room
from distanon.runtime.settings import WORKER_WAIT_S, RuntimeSettings
from distanon.runtime.worker import Greeting, Worker, versions

_NOTE_S = 10.0
IDLE_S = 20.0
"""Seconds for which a worker may have nothing to do where nodes can be given back."""
# A lost worker costs an item, so workers take what is cheap where there is some. Not where nodes
# are brought for them: an autoscaler that is asked for spot nodes waits for them, and brings no
# others while there are none to be had; there its own priorities decide.
_PREFERENCE = {
    "label_selector": {"ray.io/market-type": "spot"},
    "fallback_strategy": [{"label_selector": {"ray.io/market-type": "!spot"}}],
}


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
    idle_since: float = field(default_factory=time.monotonic)


class Roster:
    """Keeps as many workers as the settings ask for and the cluster holds.

    Args:
        settings: how many workers, how large, how long to wait.
        progress: told of losses and waiting.
        losses: what is counted.
        own: the session was started for this crew: no node joins, and its workers are pinned.
        loads: functions that each worker runs as it starts.
    """

    def __init__(
        self,
        settings: RuntimeSettings,
        progress: Progress,
        losses: Losses,
        *,
        own: bool,
        loads: Sequence[Callable[[], None]] = (),
    ) -> None:
        self._settings = settings
        self._progress = progress
        self._losses = losses
        self._room = Room(settings, grows=not own)
        self._actor_class = _actor_class(settings, pinned=own, choosy=not self._room.is_elastic)
        self._versions = versions()
        self._loads = tuple(loads)
        self._failed_starts = 0
        self._alone_since: float | None = None
        self._noted = False
        self.members: list[Member] = []
        self._starting: dict[Any, Member] = {}

    @property
    def target(self) -> int:
        """How many workers there are or may be."""
        return self._room.workers

    @property
    def is_elastic(self) -> bool:
        """Whether the cluster gets and loses nodes as workers need them."""
        return self._room.is_elastic

    def recruit(self, backlog: int) -> None:
        """Starts what is missing; a worker without room waits in the cluster for a node.

        Args:
            backlog: items that are under way or wait: no more workers than that are started
                where nodes are brought for them.
        """
        for _ in range(self._room.wanted(backlog) - len(self.members)):
            actor = self._actor_class.remote()
            if self._loads:  # who dies of it never greets; what it raises an item meets again
                actor.prepare.remote(self._loads)
            member = Member(actor, actor.greet.remote())
            self.members.append(member)
            self._starting[member.greeting] = member

    def give_back(self, backlog: int) -> None:
        """Ends workers that have had nothing to do for a while, so that their nodes can go.

        Args:
            backlog: as in `recruit`.
        """
        if not self.is_elastic:
            return
        before = time.monotonic() - IDLE_S
        spare = len(self.members) - self._room.wanted(backlog)
        idle = [one for one in self.members if not one.calls and one.idle_since < before]
        sharers = Counter(one.node for one in self.members)
        # Those that still wait for a node first, then those whose node is soonest free.
        idle.sort(key=lambda one: (one.ready, sharers[one.node]))
        for member in idle[: max(0, spare)]:
            self._remove(member)

    @property
    def greetings(self) -> list[Any]:
        """References of what those say who start."""
        return list(self._starting)

    def welcomed(self, arrived: Sequence[Any]) -> list[Member]:
        """Takes in the workers whose greetings have arrived.

        Args:
            arrived: references, of greetings or not.

        Raises:
            ClusterError: workers will not start.
        """
        found = [self._starting[one] for one in arrived if one in self._starting]
        for member in found:
            self._welcome(member)
        return [member for member in found if member.ready]

    def _welcome(self, member: Member) -> None:
        """Takes in a worker, or notes that it died before it could greet."""
        import ray

        try:
            greeting: Greeting = ray.get(member.greeting)
        except ray.exceptions.RayError as error:
            self._count_start(error)
            self.lose(member, kind_of(error))
            return
        del self._starting[member.greeting]
        member.ready, member.node = True, greeting.node
        member.idle_since = time.monotonic()
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
        self._failed_starts += kind not in BLAMELESS
        if failure is None and self._failed_starts > self._settings.max_failures:
            failure = ClusterError(f"{self._failed_starts} workers died as they started ({kind})")
        if failure is not None:
            raise failure from None

    def lose(self, member: Member, kind: str) -> list[Sent]:
        """Strikes a worker off; what it was at."""
        self._remove(member)  # out of reach is not dead: nothing may run twice at once
        self._losses.workers_lost += 1
        self._losses.causes[kind] = self._losses.causes.get(kind, 0) + 1
        self._progress.note(f"lost a worker ({kind}), replacing it")
        return list(member.calls.values())

    def check_alone(self, backlog: int) -> None:
        """Says what is missing while there is work and no worker.

        Args:
            backlog: as in `recruit`.

        Raises:
            ClusterError: for too long, or no node will ever hold one.
        """
        if not backlog or any(member.ready for member in self.members):
            self._alone_since = None
            return
        now = time.monotonic()
        self._alone_since = self._alone_since or now
        bound = self._settings.timeout_s or WORKER_WAIT_S
        if now - self._alone_since > bound:
            lacking = self._room.lacking()
            raise ClusterError(f"no worker for {bound:g} s: {lacking}; {RESUMABLE}")
        self._room.check_refusal()
        if now - self._alone_since > _NOTE_S and not self._noted:
            self._noted = True
            self._progress.note(self._room.lacking())

    def close(self) -> None:
        """Ends all workers."""
        for member in list(self.members):
            self._remove(member)

    def _remove(self, member: Member) -> None:
        """Ends a worker; it takes no more calls."""
        self.members.remove(member)
        self._starting.pop(member.greeting, None)
        member.ready = False
        _end(member)


def _end(member: Member) -> None:
    import ray

    with contextlib.suppress(ray.exceptions.RayError, ValueError):
        ray.kill(member.actor)


def _actor_class(settings: RuntimeSettings, *, pinned: bool, choosy: bool) -> Any:
    import ray

    options: dict[str, Any] = {
        "num_cpus": settings.cpus_per_worker,
        "max_restarts": 0,
        "max_task_retries": 0,
        "scheduling_strategy": "SPREAD",
    }
    if not pinned:
        options |= _PREFERENCE if choosy else {}
        # Of its own it would make a worker start seconds later.
        options["runtime_env"] = {"env_vars": worker_environment(settings.cpus_per_worker)}
    if settings.memory_per_worker != "auto":
        options["memory"] = settings.memory_per_worker
    ray.method(num_returns=2)(Worker.call)  # stated with each call it would cost a tenth of it
    return ray.remote(**options)(Worker)
