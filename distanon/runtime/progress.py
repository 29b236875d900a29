"""How far a run is, on stderr: a bar on a terminal, lines elsewhere, as JSON where asked for."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from rich.progress import TaskID

LOG = "DISTANON_LOG"
"""Environment variable: "json" makes each line of progress, notes and failures a JSON object."""

_LINE_S = 10.0
_MOMENT_S = 1.0
"""A phase that ends sooner gets one line, not two."""
_FEWEST, _EARLIEST_S = 3, 5.0
"""Items and seconds before which nobody can say how long a phase will take."""


def shown(*, quiet: bool = False, stream: TextIO | None = None) -> Shown:
    """The display for this stream (stderr by default): bar, lines, or nothing where quiet."""
    stream = stream or sys.stderr
    if quiet:
        return Hidden()
    if logs_json():
        return JsonLines(stream)
    return Bar(stream) if stream.isatty() else Lines(stream)


def logs_json() -> bool:
    """Whether logs are read by programs."""
    return os.environ.get(LOG) == "json"


def json_line(level: str, message: str, **more: object) -> str:
    """One entry of a log.

    Args:
        level: info | error.
        message: what a person would read.
        more: further fields.
    """
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"time": now, "level": level, "message": message, **more})


def duration(seconds: float) -> str:
    """A time for people: "0.4 s", "12 s", "3 min 05 s", "2 h 10 min"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


class Shown(ABC):
    """A `data.ports.Progress` that ends: as a context manager it closes the last phase.

    Args:
        clock: seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.phase = ""
        self.total = 0
        self.done = 0
        self.began = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, phase: str, total: int) -> None:
        """As `Progress.start`; a phase without a name shows nothing."""
        self.close()
        self.phase, self.total, self.done, self.began = phase, total, 0, self.clock()
        if phase:
            self.opened()

    def advance(self, items: int = 1) -> None:
        """As `Progress.advance`."""
        self.done += items
        if self.phase:
            self.moved()

    def close(self) -> None:
        """Ends the current phase; one that is left early says how far it came."""
        if self.phase:
            early = f"{self.done} of {self.total} " if self.done < self.total else ""
            self.closed(f"{self.phase}: {early}done in {duration(self.clock() - self.began)}")
        self.phase = ""

    def left(self, now: float) -> str:
        """How long the phase will still take, once that can be told; else ""."""
        spent = now - self.began
        if self.done < _FEWEST or spent <= _EARLIEST_S or not 0 < self.done < self.total:
            return ""
        return f"about {duration(spent / self.done * (self.total - self.done))} left"

    @abstractmethod
    def note(self, message: str) -> None:
        """As `Progress.note`."""

    @abstractmethod
    def opened(self) -> None:
        """A phase has begun."""

    @abstractmethod
    def moved(self) -> None:
        """Items of the phase are done."""

    @abstractmethod
    def closed(self, summary: str) -> None:
        """The phase has ended."""


class Hidden(Shown):
    """Nothing."""

    def note(self, message: str) -> None:
        """Says nothing."""

    def opened(self) -> None:
        """Says nothing."""

    def moved(self) -> None:
        """Says nothing."""

    def closed(self, summary: str) -> None:
        """Says nothing."""


class Lines(Shown):
    """A line when a phase ends; of one that takes longer also when it begins and in between.

    Args:
        stream: where lines go.
        clock: seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._stream = stream
        self._spoke = 0.0
        self._opening: threading.Timer | None = None

    def note(self, message: str) -> None:
        """The message as a line."""
        print(message, file=self._stream, flush=True)

    def opened(self) -> None:
        """Says the phase and its size, unless it is over in a moment."""
        self._spoke = self.began
        line = f"{self.phase}: {self.total} to do" if self.total else self.phase
        self._opening = threading.Timer(_MOMENT_S, self._announce, (line,))
        self._opening.daemon = True
        self._opening.start()

    def _announce(self, line: str) -> None:
        """The line of a phase that takes longer, unless the display was left meanwhile."""
        if self.phase and not self._stream.closed:
            self.note(line)

    def moved(self) -> None:
        """Says how far the phase is and how long it will take, now and then."""
        now = self.clock()
        if now - self._spoke < _LINE_S or self.done >= self.total:
            return
        self._spoke = now
        left = self.left(now)
        self.note(f"{self.phase}: {self.done} of {self.total}{f', {left}' if left else ''}")

    def closed(self, summary: str) -> None:
        """The summary as a line."""
        if self._opening is not None:
            self._opening.cancel()
            self._opening = None
        self.note(summary)


class JsonLines(Lines):
    """The same lines for programs: one JSON object each, with the phase and how far it is."""

    def note(self, message: str) -> None:
        """The message as an object."""
        where = {"phase": self.phase, "done": self.done, "total": self.total}
        print(json_line("info", message, **where), file=self._stream, flush=True)


class Bar(Shown):
    """A bar with the time left; a line takes its place when the phase has ended.

    Args:
        stream: the terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        from rich import progress
        from rich.console import Console

        super().__init__()
        self._rich = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("{task.fields[left]}"),
            console=Console(file=stream),
            transient=True,
        )
        self._task: TaskID | None = None

    def note(self, message: str) -> None:
        """The message above the bar, as it is."""
        self._rich.console.print(message, markup=False, highlight=False)

    def opened(self) -> None:
        """Shows the bar."""
        self._task = self._rich.add_task(self.phase, total=self.total or None, left="")
        self._rich.start()

    def moved(self) -> None:
        """Moves the bar."""
        if self._task is not None:
            self._rich.update(self._task, completed=self.done, left=self.left(self.clock()))

    def closed(self, summary: str) -> None:
        """Takes the bar away, so that the terminal is as it was."""
        if self._task is not None:
            self._rich.remove_task(self._task)
            self._task = None
        self._rich.stop()
        self.note(summary)
