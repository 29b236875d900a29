"""What is wrong with a table, found partition by partition and told once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from distanon.errors import InputError

Locate: TypeAlias = Callable[[int], tuple[str, int]]
"""The file that holds a record of this number, and the record's row there, from 1."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault in one column. Never quotes a value.

    Attributes:
        column: its name.
        kind: what was found and expected: "text, expected number; mend the cell or …".
        first: number of the first record that has it, from 0; None: the whole column.
        count: records that have it, in all partitions.
    """

    column: str
    kind: str
    first: int | None
    count: int

    def __str__(self) -> str:
        return self.told()

    def told(self, locate: Locate | None = None) -> str:
        """The fault in words.

        Args:
            locate: in a table of several files, the file of a record and its row there, from 1.
        """
        place = f"column {self.column!r}"
        if self.first is None:
            return f"{place}: {self.kind}"
        rows = "row" if self.count == 1 else "rows, the first of them row"
        count = "" if self.count == 1 else f"{self.count} "
        file, row = ("", self.first + 1) if locate is None else locate(self.first)
        where = f"{row} of {file}" if file else f"{row}"
        return f"{place}, {count}{rows} {where}: {self.kind}"


def join(faults: Iterable[Fault]) -> list[Fault]:
    """Equal kinds in one column as one fault, in the order in which they first came."""
    joined: dict[tuple[str, str], Fault] = {}
    for fault in faults:
        key = (fault.column, fault.kind)
        known = joined.get(key)
        if known is None:
            joined[key] = fault
            continue
        places = [place for place in (known.first, fault.first) if place is not None]
        count = known.count + fault.count
        joined[key] = Fault(*key, min(places) if places else None, count)
    return list(joined.values())


def refuse(faults: Sequence[Fault], source: str, locate: Locate | None = None) -> None:
    """Raises one error for all faults.

    Args:
        faults: perhaps none.
        source: what the table is called.
        locate: as in `Fault.told`.

    Raises:
        InputError: there are any.
    """
    if faults:
        raise InputError("\n".join(f"{source}: {fault.told(locate)}" for fault in faults))
