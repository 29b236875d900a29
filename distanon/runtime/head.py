"""Whether the cluster's head is still there: without it nothing can be started or ended.

Ray itself ends the process of a driver 60 s after the head was lost, without a word to it. A run
that notices before can say why it ends, and how it goes on.
"""

from __future__ import annotations

import socket
import threading
import time

from distanon.errors import ClusterError
from distanon.runtime.faults import RESUMABLE

LOST_S = 20.0
"""Seconds without an answer after which the head counts as lost."""
_ASK_S = 2.0
_FEWEST = 4  # asked in vain: 4 of them take up to LOST_S
_ANSWER_S = 3.0


class HeadWatch:
    """Asks the head's port every few seconds, in a thread of its own.

    Args:
        address: HOST:PORT of the head.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._silent_since: float | None = None
        self._asked = 0  # in vain, one after another
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="distanon head", daemon=True)
        self._thread.start()

    @property
    def is_lost(self) -> bool:
        """Whether it has not answered for too long, and was asked often enough.

        A process that was asleep or too busy to ask knows nothing.
        """
        since = self._silent_since
        return since is not None and self._asked >= _FEWEST and time.monotonic() - since > LOST_S

    def check(self) -> None:
        """Nothing, while the head is there.

        Raises:
            ClusterError: it is lost.
        """
        if self.is_lost:
            raise ClusterError(
                f"the head of the cluster ({self._address}) has not answered for {LOST_S:g} s; "
                f"{RESUMABLE}"
            )

    def close(self) -> None:
        """Stops asking."""
        self._closed.set()

    def _watch(self) -> None:
        while not self._closed.wait(_ASK_S):
            if answers(self._address):
                self._silent_since, self._asked = None, 0
                continue
            self._asked += 1
            self._silent_since = self._silent_since or time.monotonic()


def head_address() -> str:
    """HOST:PORT of the head of the cluster that this process is connected to."""
    import ray

    return str(ray.get_runtime_context().gcs_address)


def head_answers() -> bool:
    """Whether the head is there: Ray waits for one that is not, and then ends the process."""
    return answers(head_address())


def answers(address: str) -> bool:
    """Whether somebody listens at HOST:PORT."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER_S):
            return True
    except (OSError, ValueError):
        return False
