"""The seam between the mathematics and the cluster, and its serial twin.

    with crew(settings) as workers:
        points = workers.put(arrays)
        for result in workers.map(function, items, shared=points): ...

`function(shared, item)` is a pure module-level function: all that varies travels in the item,
random streams included. Results arrive in the order of the items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from distanon.data.ports import Progress, Silent


@dataclass(frozen=True, slots=True)
class Shared:
    """Something that every worker reads and nobody writes; made by `Crew.put`."""

    reference: Any


@dataclass(frozen=True, slots=True)
class Kept:
    """A result that stayed where it was made; later items may carry it."""

    reference: Any


@dataclass(slots=True)
class Losses:
    """What a crew survived, for run.json."""

    workers_lost: int = 0
    items_repeated: int = 0
    causes: dict[str, int] = field(default_factory=dict)


class Crew(Protocol):
    """Workers that map pure functions over items."""

    @property
    def workers(self) -> int:
        """How many items can be worked on at once; says nothing about results."""
        ...

    @property
    def losses(self) -> Losses:
        """What was lost and made good so far."""
        ...

    def put(self, value: Any) -> Shared:
        """Shares a value once: arrays arrive at workers without a copy, read-only."""
        ...

    def map(
        self,
        function: Callable[[Any, Any], Any],
        items: Iterable[Any],
        *,
        shared: Shared | None = None,
        keep: bool = False,
        phase: str = "",
    ) -> Iterator[Any]:
        """`function(shared, item)` for each item, streamed in the order of the items.

        Args:
            function: pure, importable by name.
            items: anything picklable; a `Kept` or a `Shared`, or a tuple that holds some,
                reaches the function with their values in their place.
            shared: what `put` returned; the function gets the value (None: None).
            keep: yield `Kept` references instead of values.
            phase: what the progress display calls it.

        Raises:
            ClusterError: workers are gone for good, or never came.
            Exception: what the function itself raised, not retried.
        """
        ...

    def fetch(self, kept: Kept) -> Any:
        """The value behind a kept result."""
        ...


class SerialCrew:
    """One worker, the process itself: what every parallel crew must equal, byte for byte."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress or Silent()
        self._losses = Losses()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    @property
    def workers(self) -> int:
        """One."""
        return 1

    @property
    def losses(self) -> Losses:
        """None ever."""
        return self._losses

    def put(self, value: Any) -> Shared:
        """The value itself."""
        return Shared(value)

    def map(
        self,
        function: Callable[[Any, Any], Any],
        items: Iterable[Any],
        *,
        shared: Shared | None = None,
        keep: bool = False,
        phase: str = "",
    ) -> Iterator[Any]:
        """As `Crew.map`."""
        todo = list(items)
        self._progress.start(phase, len(todo))
        value = shared.reference if shared is not None else None
        for item in todo:
            result = function(value, _with_values(item))
            self._progress.advance()
            yield Kept(result) if keep else result

    def fetch(self, kept: Kept) -> Any:
        """The value itself."""
        return kept.reference


def _with_values(item: Any) -> Any:
    """The item with kept results, and what is shared, replaced by their values."""
    if isinstance(item, Kept | Shared):
        return item.reference
    if isinstance(item, tuple) and any(isinstance(part, Kept | Shared) for part in item):
        return tuple(_with_values(part) for part in item)
    return item
