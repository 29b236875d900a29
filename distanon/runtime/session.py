"""Joins a Ray cluster, or starts one on this machine and leaves nothing of it behind."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import logging
import math
import os
import re
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from distanon.errors import ClusterError
from distanon.runtime.head import answers, head_address
from distanon.runtime.pinning import worker_environment
from distanon.runtime.seclusion import environment, secluded
from distanon.runtime.settings import RuntimeSettings
from distanon.runtime.signals import Signals

JOB_VARIABLE = "RAY_JOB_CONFIG_JSON_ENV_VAR"  # Ray sets it in the process of a submitted job
_PREFIX = "distanon-ray-"
_LONGEST_PARENT = 20  # Ray's sockets lie below; a socket's path ends at 107 bytes
_LEAST_STORE = 80 << 20  # Ray refuses less than 75 MiB
_USEFUL_STORE = 512 << 20
_MOST_STORE = 16 << 30
_ANSWER_S = 10.0
_LEAVE_S = 10.0
_STARTING_S = 60.0
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else each worker brings a warning about GPUs
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",  # else stderr shows the results of lost workers
}


@contextlib.contextmanager
def session(settings: RuntimeSettings) -> Iterator[bool]:
    """Connects this process to Ray for the time of the block.

    A session that this process is connected to already is used, and left as it is. With an
    address, or inside a submitted job, that cluster is joined. Else a session of its own is
    started on this machine; no other Ray here is touched, whatever RAY_ADDRESS says.

    Yields:
        Whether the session is its own: it will not grow, and its workers are pinned.

    Raises:
        ClusterError: no cluster answers at the address, or Ray can't start here.
        KeyboardInterrupt: on SIGTERM too, so that the block can end in order.
    """
    import ray

    if ray.is_initialized():
        _refuse_second_cluster(settings.address)
        yield False
        return
    address = settings.address or ("auto" if JOB_VARIABLE in os.environ else "")
    with Signals() as signals, contextlib.ExitStack() as stack:
        stack.enter_context(environment(_QUIET))
        stack.enter_context(_without_cluster_messages())
        root = stack.enter_context(_root()) if not address else None
        if root is not None:
            stack.enter_context(secluded())
        try:
            with signals.held():
                if root is not None:
                    with environment(worker_environment(settings.cpus_per_worker), replace=True):
                        _start(settings, root)
                else:
                    _join(address)
            yield root is not None
        finally:
            with signals.held():
                _leave(joined=root is None)


def _join(address: str) -> None:
    _require_answer(address)
    _initialize(f"can't join Ray at {address}", {"address": address})


def _leave(*, joined: bool) -> None:
    """Disconnects; from a cluster whose head is lost Ray may try until it ends the process."""
    import ray

    if not (joined and ray.is_initialized()) or answers(head_address()):
        ray.shutdown()
        return
    leaving = threading.Thread(target=ray.shutdown, daemon=True)
    leaving.start()
    leaving.join(_LEAVE_S)
    if leaving.is_alive():
        atexit.unregister(ray.shutdown)


def _start(settings: RuntimeSettings, root: Path) -> None:
    """Ray waits for its own parts for 30 s; a busy machine may need longer, so it tries again."""
    for left in (2, 1, 0):
        try:
            _initialize("Ray can't start on this machine", _own(settings, root))
        except ClusterError as error:
            _end_processes(root)
            if not left or "timed out" not in str(error):
                raise
        else:
            return


def _initialize(failure: str, options: dict[str, Any]) -> None:
    import ray

    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except Exception as error:  # Ray raises all kinds, bare ones too
        reason = str(error).strip().split("\n", 1)[0]
        raise ClusterError(f"{failure}: {reason}") from error


def _own(settings: RuntimeSettings, root: Path) -> dict[str, Any]:
    """What `ray.init` is told for a session of its own."""
    directory, size = _store(root)
    # Workers asked for by number are had, on however few CPUs: bits don't depend on it.
    cpus = None
    if settings.workers != "auto":
        cpus = math.ceil(settings.workers * settings.cpus_per_worker)
    return {
        "address": "local",
        "include_dashboard": False,
        "num_cpus": cpus,
        "object_store_memory": size,
        "_plasma_directory": str(directory),
        "_temp_dir": str(root / "ray"),  # Ray opens it to everyone; root is closed
        "_node_ip_address": "127.0.0.1",
    }


def _store(root: Path) -> tuple[Path, int]:
    """Where shared objects lie and how many bytes they may take.

    Shared memory where it has room (containers often have 64 MB), else files below `root`.
    """
    want = max(_LEAST_STORE, min(_MOST_STORE, _free_memory() * 3 // 10))
    shared = Path("/dev/shm")  # noqa: S108  where POSIX shared memory is mounted
    room = shutil.disk_usage(shared).free * 9 // 10 if shared.is_dir() else 0
    if room >= min(want, _USEFUL_STORE):
        return shared, min(want, room)
    return root, max(_LEAST_STORE, min(want, shutil.disk_usage(root).free * 3 // 10))


def _free_memory() -> int:
    """Bytes of memory that this process may still count on."""
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        found = None
    free = int(found[1]) * 1024 if found else _MOST_STORE
    for limit in (
        Path("/sys/fs/cgroup/memory.max"),
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
    ):
        with contextlib.suppress(OSError, ValueError):
            free = min(free, int(limit.read_text()))
    return free


@contextlib.contextmanager
def _without_cluster_messages() -> Iterator[None]:
    """Ray prints pages of raylet logs when a node dies, which no setting turns off.

    What it means for the run is in the crew's losses and notes.
    """
    from ray._private import worker

    printer = worker.print_to_stdstream
    worker.print_to_stdstream = lambda *_args, **_options: None
    try:
        yield
    finally:
        worker.print_to_stdstream = printer


@contextlib.contextmanager
def _root() -> Iterator[Path]:
    """A folder for one session; what spills into it is raw data, so it goes with the session."""
    parent = Path(tempfile.gettempdir())
    if len(str(parent)) > _LONGEST_PARENT:
        parent = Path("/tmp")  # noqa: S108  mkdtemp makes it private
    _sweep(parent)
    root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    with (root / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield root
        finally:
            _end_processes(root)
            _remove(root)


def _end_processes(root: Path) -> None:
    """Ends what Ray forgot when its start failed or was broken off: our children that name root."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid() and str(root) in (process / "cmdline").read_text():
                os.kill(int(process.name), signal.SIGKILL)
                os.waitpid(int(process.name), 0)


def _end_orphans(root: Path) -> None:
    """Ends what outlived a killed session: it has files open below root."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            files = [file.readlink() for file in (process / "fd").iterdir()]
            if any(file.is_relative_to(root) for file in files) and process.name != str(
                os.getpid()
            ):
                os.kill(int(process.name), signal.SIGKILL)


def _sweep(parent: Path) -> None:
    """Removes what killed processes left; the lock of a living one is held."""
    for root in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            status = root.stat()
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < _STARTING_S:
                continue
            with (root / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _end_orphans(root)
                _remove(root)


def _remove(root: Path) -> None:
    """Ray's last process may still be writing for a moment."""
    for _ in range(20):
        shutil.rmtree(root, ignore_errors=True)
        if not root.exists():
            return
        time.sleep(0.1)


def _require_answer(address: str) -> None:
    """Asks the head's port first: Ray itself tries for a minute and writes to stderr."""
    host, _, port = address.rpartition(":")
    if not host:  # "auto"
        return
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER_S):
            return
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"no Ray cluster answers at {address} ({error}); expected HOST:PORT of its head"
        ) from error


def _refuse_second_cluster(address: str | None) -> None:
    import ray

    joined = ray.get_runtime_context().gcs_address
    if address not in {None, "auto", joined}:
        raise ClusterError(
            f"this process is connected to Ray at {joined}, so it can't join {address}; "
            "call ray.shutdown() first"
        )
