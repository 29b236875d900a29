"""Holds Ctrl-C and SIGTERM back while Ray starts or stops, and turns SIGTERM into Ctrl-C."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, Self

_HELD = (signal.SIGINT, signal.SIGTERM)
_ONE_WISH_S = 1.0


class Signals:
    """For the time of its block SIGTERM raises KeyboardInterrupt; earlier handlers come back after.

    Ray starts a dozen processes one after another; interrupted in between it forgets some.
    Only the main thread may set handlers: elsewhere this does nothing.
    """

    def __init__(self) -> None:
        self._earlier: dict[signal.Signals, Any] = {}
        self._caught = 0
        self._ended = -math.inf

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._earlier = {number: signal.getsignal(number) for number in _HELD}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._earlier.items():
            # None: it was not set from Python and can't be set back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Signals wait for the end of the block; a third one does not."""
        for number in self._earlier:
            if self._earlier[number] is not signal.SIG_IGN:
                signal.signal(number, self._hold)
        try:
            yield
        finally:
            self._release()
        if self._caught:
            self._caught = 0
            raise KeyboardInterrupt

    def _release(self) -> None:
        """Ray's start has put its own handler on SIGTERM by now: it is replaced."""
        if not self._earlier:
            return
        interrupt = self._earlier[signal.SIGINT]
        signal.signal(signal.SIGINT, signal.SIG_DFL if interrupt is None else interrupt)
        ignored = self._earlier[signal.SIGTERM] is signal.SIG_IGN
        signal.signal(signal.SIGTERM, signal.SIG_IGN if ignored else self._interrupt)

    def _hold(self, number: int, frame: FrameType | None) -> None:
        del frame
        if number == signal.SIGTERM and self._is_repeated():
            return
        self._caught += 1
        if self._caught > 2:
            raise KeyboardInterrupt

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if not self._is_repeated():
            raise KeyboardInterrupt

    def _is_repeated(self) -> bool:
        """Whether this is the same wish once more.

        What ends all processes of a job sends SIGTERM to each of them, and the first passes it on.
        """
        now = time.monotonic()
        is_repeated = now - self._ended < _ONE_WISH_S
        if not is_repeated:
            self._ended = now
        return is_repeated
