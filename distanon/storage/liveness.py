"""Whether the process behind an attempt still runs.

On the same machine the process itself is looked for. Elsewhere its heartbeat counts: a live
attempt writes the time into `attempt.json` every 30 s, and is taken for dead after 5 minutes of
silence, which leaves room for clocks that differ.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from distanon.errors import DistanonError
from distanon.storage.store import Store

BEAT_S = 30.0
SILENCE_S = 300.0
RECORD = "attempt.json"
_EXITING = 4  # PF_EXITING, see proc_pid_stat(5)


@dataclass(frozen=True, slots=True)
class Life:
    """What an attempt says of itself; private.

    Attributes:
        output: where it publishes.
        machine: host name and boot of the machine.
        pid: process number there.
        born: when the process started, in ticks since the boot; tells reused numbers apart.
        beat: seconds since 1970 at the last sign of life.
        ended: whether it said good-bye.
    """

    output: str
    machine: str
    pid: int
    born: str
    beat: float
    ended: bool = False

    @classmethod
    def of_this_process(cls, output: str) -> Self:
        """An attempt that begins here and now."""
        pid = os.getpid()
        return cls(output, _machine(), pid, _born(pid), time.time())

    @property
    def is_live(self) -> bool:
        """Whether the process is there, or was heard of a short while ago."""
        if self.ended:
            return False
        if self.machine == _machine():
            return _born(self.pid) == self.born
        return time.time() - self.beat < SILENCE_S


_beating: set[str] = set()
"""Nonces of the attempts of this process whose hearts beat."""


def read_life(folder: Store) -> Life | None:
    """What the attempt in this folder says of itself; None where it says nothing.

    Of this very process it is known better: where its good-bye was lost with the storage, and a
    notebook goes on, the attempt is over nevertheless.
    """
    content = folder.peek(RECORD)
    if content is None:
        return None
    life = Life(**json.loads(content))
    is_ours = life.pid == os.getpid() and life.is_live and life.machine == _machine()
    return replace(life, ended=True) if is_ours and _nonce(folder) not in _beating else life


def _nonce(folder: Store) -> str:
    return folder.url.rpartition("/")[2]


def write_life(folder: Store, life: Life) -> None:
    """Replaces what the attempt says of itself."""
    folder.write(RECORD, json.dumps(asdict(life)).encode())


class Heartbeat:
    """Writes signs of life in the background, from `start` to `stop`."""

    def __init__(self, folder: Store, life: Life) -> None:
        self._folder = folder
        self._life = life
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True, name="heartbeat")

    def start(self) -> None:
        """The first sign of life is written before this returns."""
        _beating.add(_nonce(self._folder))
        try:
            write_life(self._folder, self._life)
        except BaseException:
            _beating.discard(_nonce(self._folder))
            raise
        self._thread.start()

    def stop(self) -> None:
        """No sign of life is written after this."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()
        _beating.discard(_nonce(self._folder))

    def end(self) -> None:
        """Stops, and says good-bye, so that nobody has to wait for the silence."""
        self.stop()
        write_life(self._folder, replace(self._life, beat=time.time(), ended=True))

    def _beat(self) -> None:
        while not self._stopped.wait(BEAT_S):
            try:
                write_life(self._folder, replace(self._life, beat=time.time()))
            except DistanonError:
                # The run itself will meet the fault; a missed beat costs nothing but time.
                continue


def _machine() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{socket.gethostname()} {boot.read_text().strip() if boot.exists() else ''}"


def _born(pid: int) -> str:
    """Start of a process in ticks since the boot; "" where there is none, or only its remains.

    A killed process whose parent has died too stays in the table until somebody buries it.
    """
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "" if Path("/proc").is_dir() else _answers(pid)
    fields = status.rpartition(")")[2].split()
    is_over = fields[0] in "ZX" or int(fields[6]) & _EXITING
    return "" if is_over else fields[19]


def _answers(pid: int) -> str:
    """Where there is no /proc: whether the number is in use at all."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        return "used"
    return "used"
