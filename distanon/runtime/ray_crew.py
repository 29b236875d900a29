"""The crew on Ray: what the serial twin does, on many workers that may be lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

from distanon.data.ports import Progress
from distanon.errors import ClusterError
from distanon.runtime.calls import Call
from distanon.runtime.crew import Kept, Losses, Shared
from distanon.runtime.pool import Pool
from distanon.runtime.settings import RuntimeSettings


class RayCrew:
    """Implements `Crew` on the Ray session that this process is connected to.

    Args:
        settings: how many workers, how large, how often to try.
        progress: told of phases, finished items, losses and waiting.
        own: the session was started for this crew: no node joins, and its workers are pinned.
        loads: functions that each worker runs as it starts.

    Raises:
        ClusterError: no worker fits, and no node can join.
    """

    def __init__(
        self,
        settings: RuntimeSettings,
        progress: Progress,
        *,
        own: bool,
        loads: Sequence[Callable[[], None]] = (),
    ) -> None:
        self._progress = progress
        self._pool = Pool(settings, progress, own=own, loads=loads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    @property
    def workers(self) -> int:
        """As `Crew.workers`."""
        return self._pool.roster.target

    @property
    def losses(self) -> Losses:
        """As `Crew.losses`."""
        return self._pool.losses

    def put(self, value: Any) -> Shared:
        """As `Crew.put`.

        Raises:
            ClusterError: neither memory nor disk has room for it.
        """
        import ray

        try:
            return Shared(ray.put(value))
        except (ray.exceptions.ObjectStoreFullError, ray.exceptions.OutOfDiskError) as error:
            raise ClusterError("no room for shared data in memory or on disk") from error

    def map(
        self,
        function: Callable[[Any, Any], Any],
        items: Iterable[Any],
        *,
        shared: Shared | None = None,
        keep: bool = False,
        phase: str = "",
    ) -> Iterator[Any]:
        """As `Crew.map`; an error comes in the place of its item, as from the serial twin."""
        todo = deque(items)
        self._progress.start(phase, len(todo))
        pool, calls = self._pool, deque[Call]()
        pool.held_back += len(todo)
        before = pool.failed
        try:
            while todo or calls:
                failed = pool.failed > before and any(call.error is not None for call in calls)
                while todo and not failed and len(calls) < pool.window:
                    calls.append(Call.of(function, shared, todo.popleft()))
                    pool.held_back -= 1
                    pool.submit(calls[-1])
                value = pool.complete(calls[0]) if keep else pool.value(calls[0])
                calls.popleft().take()
                pool.look()  # so that workers have something to do while the caller works
                yield Kept(value) if keep else value
        finally:
            pool.held_back -= len(todo)
            for call in calls:
                pool.drop(call)

    def fetch(self, kept: Kept) -> Any:
        """As `Crew.fetch`."""
        return self._pool.value(kept.reference.call)
