"""A Ray cluster on this machine whose parts can be taken away, for drills and seeded faults."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

DETECTION = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 3,
    "worker_niceness": 0,
}
"""A dead node is noticed in seconds; workers are as urgent as all else on this machine."""

STORE = 100 << 20
"""Bytes of a node's object store."""

_PATIENCE_S = 60.0


@contextlib.contextmanager
def head_alone(cpus: int = 0, config: Mapping[str, object] | None = None) -> Iterator[Any]:
    """A `ray.cluster_utils.Cluster` that is nothing but a head, for the time of the block.

    Args:
        cpus: of the head; 0: it takes no worker.
        config: of Ray's own settings, beside those by which it notices losses soon.
    """
    from ray.cluster_utils import Cluster

    from distanon.runtime.seclusion import secluded

    with secluded():
        cluster = Cluster()
        add_node(
            cluster, cpus, include_dashboard=False, _system_config={**DETECTION, **(config or {})}
        )
        try:
            yield cluster
        finally:
            cluster.shutdown()  # type: ignore[no-untyped-call]


def add_node(cluster: Any, cpus: int = 1, **more: object) -> Any:
    """One more node; again where it aborts, since its agents took more than 15 s to come up."""
    if threading.current_thread() is not threading.main_thread():
        # Ray would set handlers of signals there, and the node would end with its thread.
        cluster._shutdown_at_exit = False  # noqa: SLF001  `shutdown` ends all nodes anyway
    for left in (2, 1, 0):
        try:
            return cluster.add_node(num_cpus=cpus, object_store_memory=STORE, **more)
        except Exception as error:
            if not left or "timed out" not in str(error):
                raise
    return None


def fill_up(cluster: Any, nodes: int) -> None:
    """Adds nodes of one CPU until there are so many beside the head."""
    while len(cluster.worker_nodes) < nodes:
        add_node(cluster)


def take_node(cluster: Any, place: int = 0) -> None:
    """Ends all processes of a node without notice."""
    nodes = sorted(cluster.worker_nodes, key=lambda node: str(node.node_id))
    if nodes:
        cluster.remove_node(nodes[place % len(nodes)], allow_graceful=False)


def drain_node(cluster: Any, place: int = 0, notice_s: float = 3.0) -> threading.Timer | None:
    """What a spot notice brings: no new work there, some seconds, then the end.

    Returns:
        What will end the node.
    """
    from ray._raylet import GcsClient  # type: ignore[attr-defined]
    from ray.core.generated import autoscaler_pb2

    nodes = sorted(cluster.worker_nodes, key=lambda node: str(node.node_id))
    if not nodes:
        return None
    node = nodes[place % len(nodes)]
    accepted, why = GcsClient(address=cluster.address).drain_node(
        node.node_id,
        autoscaler_pb2.DrainNodeReason.DRAIN_NODE_REASON_PREEMPTION,  # type: ignore[attr-defined]
        "spot",
        int((time.time() + notice_s) * 1000),
    )
    if not accepted:
        raise RuntimeError(f"the node can't be drained: {why}")
    end = threading.Timer(notice_s, cluster.remove_node, (node,), {"allow_graceful": False})
    end.start()
    return end


def workers_of(cluster: Any) -> list[int]:
    """Process ids of a crew's workers in this cluster, and in no other on the machine."""
    raylets = {
        entry.process.pid
        for node in list(cluster.list_all_nodes())
        for entry in node.all_processes.get("raylet", ())
    }
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended
            title = (folder / "cmdline").read_bytes().split(b"\0")[0]
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent in raylets and title.startswith(b"ray::") and b"Worker" in title:
                found.append(int(folder.name))
    return sorted(found)


def kill_worker(cluster: Any, place: int = 0, wait_s: float = 5.0) -> bool:
    """SIGKILL for one worker, once there is one; whether there was."""
    deadline = time.monotonic() + wait_s
    while not (workers := workers_of(cluster)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.kill(workers[place % len(workers)], signal.SIGKILL)
    return True


def kill_head(cluster: Any) -> None:
    """SIGKILL for every process of the head."""
    for entries in cluster.head_node.all_processes.values():
        for entry in entries:
            with contextlib.suppress(ProcessLookupError):
                os.kill(entry.process.pid, signal.SIGKILL)


def wait_until(holds: Callable[[], bool], seconds: float = _PATIENCE_S) -> None:
    """Waits for something.

    Raises:
        TimeoutError: it does not come true.
    """
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:g} s in vain")
        time.sleep(0.1)
