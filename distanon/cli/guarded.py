"""Work in a child, so that somebody is left to say what has become of it.

Ray ends the process of a driver without a word (exit status 1) when the node that the process is
connected to is lost, at its next touch of a shared object, and a minute after the head is lost.
Nothing in the process can prevent that, so the one that the user has started only looks on.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable

from distanon.cli.failures import CLUSTER, say

_LOOKED_OUT_FOR = {
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT),  # passed on
    *(signal.SIGTSTP, signal.SIGCHLD),
}
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG, see prctl(2)
_RESUME = (
    "What is finished is kept: `distanon resume SPEC` (and the same --set and --run-id), or "
    "`distanon resume` and the private prefix, goes on from there."
)


def is_possible() -> bool:
    """Whether this system ends a child with its parent; elsewhere one could be left behind."""
    return sys.platform == "linux"


def in_child(work: Callable[[], object]) -> int:
    """Does something in a child of this process; each signal reaches it once.

    Returns:
        The exit code of the work, in both processes; 4 where Ray has ended the child.
    """
    reading, writing = os.pipe()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _LOOKED_OUT_FOR)
    parent, child = os.getpid(), os.fork()
    if not child:
        os.close(reading)
        _be_a_child_of(parent)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return _told(work, writing)
    os.close(writing)
    code = _end_of(child)
    told = _read_at_once(reading)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if told:
        return told[0]
    if code < 0:
        _tell(f"the run was ended by {signal.Signals(-code).name}. {_RESUME}")
        if -code != signal.SIGKILL:  # whose handling nobody may set
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
        return 128 - code  # the first process of a container outlives what it sends itself
    _tell(
        "Ray has ended the run, as it does where the node that the run is on or the head of the "
        f"cluster is lost. {_RESUME}"
    )
    return CLUSTER


def _tell(message: str) -> None:
    """Says something to a terminal that may have gone."""
    with contextlib.suppress(OSError):
        say(message)


def _read_at_once(reading: int) -> bytes:
    """What the work has told: nobody else who holds the pipe is waited for."""
    os.set_blocking(reading, False)
    try:
        return os.read(reading, 1)
    except BlockingIOError:
        return b""


def _be_a_child_of(parent: int) -> None:
    os.setpgid(0, 0)  # what is sent to a whole group comes from the parent alone
    # A terminal stops those who write or read behind its own group; reading fails now instead.
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    signal.signal(signal.SIGTTIN, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # it died before
        os.kill(os.getpid(), signal.SIGKILL)


def _told(work: Callable[[], object], writing: int) -> int:
    """Tells the parent how the work has ended: what comes after may be ended by Ray as well."""
    code = 1
    try:
        work()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        for stream in filter(None, (sys.stdout, sys.stderr)):  # None where it was closed
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os.write(writing, bytes([code & 0xFF]))
    return code


def _end_of(child: int) -> int:
    """Passes signals on until the child has ended; its exit code, or minus its signal."""
    while True:
        number = signal.sigwaitinfo(_LOOKED_OUT_FOR).si_signo
        if number == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
        elif number == signal.SIGTSTP:  # Ctrl-Z, until the shell lets both go on
            os.kill(child, signal.SIGSTOP)
            _stop()
            os.kill(child, signal.SIGCONT)
        else:
            os.kill(child, number)


def _stop() -> None:
    """Stops this process, unless nobody would let it go on: then the kernel drops the signal."""
    os.kill(os.getpid(), signal.SIGTSTP)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})
