"""What every benchmark prints: rows of a figure, what it is compared with, and its goal."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Row:
    """One line of the result.

    Attributes:
        name: what was measured, with its unit.
        peer: what `theirs` is of; or "at most", "at least" before a goal that `ours` is held to.
        ours: our figure.
        theirs: the peer's, from the same run; None: there is no peer.
        ratio: of the two figures, the way round in which more (or less) is asked; None: no peer.
        goal: of the ratio, or of `ours` where there is no peer; None: the row is for reading.
        ok: whether the goal is met.
    """

    name: str
    peer: str
    ours: float
    theirs: float | None
    ratio: float | None
    goal: float | None
    ok: bool


def at_most(name: str, ours: float, goal: float) -> Row:
    """A figure that may not be above its goal."""
    return Row(name, "at most", ours, None, None, goal, ours <= goal)


def at_least(name: str, ours: float, goal: float) -> Row:
    """A figure that may not be below its goal."""
    return Row(name, "at least", ours, None, None, goal, ours >= goal)


def shown(name: str, ours: float) -> Row:
    """A figure without a goal."""
    return Row(name, "", ours, None, None, None, ok=True)


def beside(name: str, peer: str, ours: float, theirs: float) -> Row:
    """Two figures without a goal."""
    ratio = ours / theirs if theirs else None
    return Row(name, peer, ours, theirs, ratio, None, ok=True)


def times_more(name: str, peer: str, ours: float, theirs: float, goal: float) -> Row:
    """A rate, or another figure, that is to be `goal` times the peer's at least."""
    ratio = ours / theirs
    return Row(name, peer, ours, theirs, ratio, goal, ratio >= goal)


def times_less(name: str, peer: str, ours: float, theirs: float, goal: float) -> Row:
    """A cost that is to be `goal` times the peer's at most."""
    ratio = ours / theirs if theirs else float("inf")
    return Row(name, peer, ours, theirs, ratio, goal, ratio <= goal)


@dataclass
class Sheet:
    """The rows of one benchmark, printed as they come.

    Attributes:
        as_json: one JSON object a line, else a line to read.
    """

    as_json: bool
    _missed: list[str] = field(default_factory=list)

    def add(self, *rows: Row) -> None:
        """Prints rows."""
        for row in rows:
            if not row.ok:
                self._missed.append(row.name)
            print(json.dumps(asdict(row)) if self.as_json else _line(row), flush=True)

    def status(self) -> int:
        """The exit status: 1 when a row missed its goal."""
        if self._missed and not self.as_json:
            print(f"missed: {'; '.join(self._missed)}", file=sys.stderr)
        return 1 if self._missed else 0


def _line(row: Row) -> str:
    parts = [f"{row.name:66} {_number(row.ours):>12}"]
    if row.theirs is not None:
        ratio = "" if row.ratio is None else f"   {_number(row.ratio)} ×"
        parts.append(f"   {row.peer} {_number(row.theirs)}{ratio}")
    if row.goal is not None:
        sense = f"{row.peer} " if row.theirs is None else ""
        parts.append(f"   (goal {sense}{row.goal:g}) {'ok' if row.ok else 'MISSED'}")
    return "".join(parts)


def _number(value: float) -> str:
    if value and abs(value) < 10:
        return f"{value:.4g}"
    return f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"
