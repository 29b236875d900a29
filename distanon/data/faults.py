"""What is wrong with a table, found partition by partition and told once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from distanon.errors import InputError


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
        place = f"column {self.column!r}"
        if self.first is None:
            return f"{place}: {self.kind}"
        rows = "row" if self.count == 1 else "rows, the first of them row"
        count = "" if self.count == 1 else f"{self.count} "
        return f"{place}, {count}{rows} {self.first + 1}: {self.kind}"


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


def refuse(faults: Sequence[Fault], source: str) -> None:
    """Raises one error for all faults.

    Raises:
        InputError: there are any.
    """
    if faults:
        raise InputError("\n".join(f"{source}: {fault}" for fault in faults))
