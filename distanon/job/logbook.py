"""Progress that also remembers: how long each phase took, and what the user was told."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from distanon.data.ports import WORK, Progress, observe


class Logbook:
    """Passes progress on, and keeps notes and seconds by phase for run.json.

    Attributes:
        notes: what the user was told, in order, each once.
        seconds: by phase, summed where a phase came more than once.
        work: seconds that workers spent on items, by phase; of what was done in this process none.
        subject: the compared method at work, before its phases and notes; "": the release's own.
    """

    def __init__(self, shown: Progress) -> None:
        self.notes: list[str] = []
        self.seconds: dict[str, float] = {}
        self.work: dict[str, float] = {}
        self.subject = ""
        self._shown = shown
        self._phase: str | None = None
        self._since = time.monotonic()

    def start(self, phase: str, total: int) -> None:
        """A phase begins; the one before it ends."""
        self.end()
        if phase:
            phase = self._of_subject(phase)
        self._phase = phase
        self._shown.start(phase, total)

    def advance(self, items: int = 1) -> None:
        """So many items of the phase are done."""
        self._shown.advance(items)

    def note(self, message: str) -> None:
        """A line for the user."""
        message = self._of_subject(message)
        if message not in self.notes:
            self.notes.append(message)
            self._shown.note(message)

    def observe(self, name: str, value: float) -> None:
        """A figure for those who watch the cluster."""
        if name == WORK and self._phase:
            self.work[self._phase] = self.work.get(self._phase, 0.0) + value
        observe(self._shown, name, value)

    def _of_subject(self, text: str) -> str:
        return f"{self.subject}: {text}" if self.subject else text

    def end(self) -> None:
        """The phase under way has ended."""
        now = time.monotonic()
        if self._phase is not None:
            spent = self.seconds.get(self._phase, 0.0) + now - self._since
            self.seconds[self._phase] = round(spent, 3)
        self._phase, self._since = None, now


@contextmanager
def about(progress: Progress, subject: str) -> Iterator[None]:
    """For a while phases and notes say which compared method is at work."""
    if not isinstance(progress, Logbook):
        yield
        return
    progress.end()
    progress.subject = subject
    try:
        yield
    finally:
        progress.end()
        progress.subject = ""
