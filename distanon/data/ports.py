"""What the mathematics needs of the outside world, as protocols; `job` passes the real things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa  # loads numpy, before which a process must be pinned


class Partition(Protocol):
    """A contiguous range of a table's records; picklable, so that a worker can open it itself.

    Attributes:
        start: number of the first record, in the whole table.
        stop: one more than the number of the last record.
    """

    @property
    def start(self) -> int:
        """Number of the first record."""
        ...

    @property
    def stop(self) -> int:
        """One more than the number of the last record."""
        ...

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The records in order, as `stop - start` rows of the named columns (None: all)."""
        ...


class Scratch(Protocol):
    """Named tables that outlive a crash of the run that wrote them; picklable, used by workers.

    A name stands for what was computed, so it must hold all that the content depends on beside
    the spec, the data and the seed (for a partition: its start and stop).
    """

    def find(self, name: str) -> Partition | None:
        """The table of this name, if an earlier attempt or another worker finished it."""
        ...

    def write(self, name: str, table: pa.Table) -> Partition:
        """Writes at once or not at all; an equal name is replaced."""
        ...


WORK = "work_seconds_total"
"""What `observe` calls the seconds that workers spent on items."""


class Progress(Protocol):
    """Where a run says how far it is."""

    def start(self, phase: str, total: int) -> None:
        """A phase of `total` items begins; the one before it has ended."""
        ...

    def advance(self, items: int = 1) -> None:
        """So many items of the current phase are done."""
        ...

    def note(self, message: str) -> None:
        """A line for the user: what was detected, what was lost and replaced."""
        ...


class Silent:
    """Progress that nobody watches."""

    def start(self, phase: str, total: int) -> None:
        """Says nothing."""

    def advance(self, items: int = 1) -> None:
        """Says nothing."""

    def note(self, message: str) -> None:
        """Says nothing."""


def observe(progress: Progress, name: str, value: float) -> None:
    """Tells those who watch the cluster, where progress leads to them: ("objective", 0.3).

    Args:
        progress: a run's.
        name: one of `runtime.metering.METERS`, without its prefix.
        value: now (of a counter what is added); a sum or a count, never a value of the data.
    """
    tell = getattr(progress, "observe", None)
    if tell is not None:
        tell(name, value)
