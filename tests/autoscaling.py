"""A real autoscaler on this machine, for a drill: nodes are started and ended as processes.

    unshare --pid --fork --mount --mount-proc --net --ipc python tests/autoscaling.py SPEC…

runs each spec on one cluster that begins with a head without CPUs, and prints as JSON how many
worker nodes there were before, at most and after each, and what a spec too large was told. It
runs in namespaces of its own since starting such a cluster ends every Ray that it sees.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from distanon.runtime.pinning import pin

pin()

MOST = 3
GROW_S = 240.0
SHRINK_S = 120.0
_LISTS = (
    "initialization_commands",
    "setup_commands",
    "head_setup_commands",
    "worker_setup_commands",
    "head_start_ray_commands",
    "worker_start_ray_commands",
    "cluster_synced_files",
    "rsync_exclude",
    "rsync_filter",
)
_PROVIDER = "ray.autoscaler._private.fake_multi_node.node_provider.FakeMultiNodeProvider"


def isolated() -> None:
    """Loopback, shared memory and Ray's folder of this namespace's own."""
    ray_folder = Path("/tmp/ray")  # where `ray start` and `ray stop` look
    ray_folder.mkdir(exist_ok=True)
    for command in (
        ["ip", "link", "set", "lo", "up"],
        ["mount", "-t", "tmpfs", "-o", "size=4g", "tmpfs", "/dev/shm"],
        ["mount", "-t", "tmpfs", "tmpfs", str(ray_folder)],
    ):
        subprocess.run(command, check=True)


def cluster():
    """Autoscaler v2 over a head without CPUs and at most three spot workers of one CPU."""
    from ray.autoscaler._private.fake_multi_node.node_provider import FAKE_HEAD_NODE_ID
    from ray.cluster_utils import AutoscalingCluster

    class Local(AutoscalingCluster):
        def _generate_config(self, head_resources, worker_node_types, autoscaler_v2=False, **more):
            provider = {
                "type": "external",
                "module": _PROVIDER,
                "use_node_id_as_ip": True,
                "disable_node_updaters": True,
                "disable_launch_config_check": True,
                "launch_multiple": True,
                "head_node_id": FAKE_HEAD_NODE_ID,
            }
            head = {"resources": dict(head_resources), "node_config": {}, "max_workers": 0}
            return {
                "cluster_name": "drill",
                "max_workers": MOST,
                "idle_timeout_minutes": 0.1,
                "upscaling_speed": 10.0,
                "head_node_type": "ray.head.default",
                "provider": provider,
                "available_node_types": {
                    **copy.deepcopy(worker_node_types),
                    "ray.head.default": head,
                },
                **{name: {} for name in ("auth", "docker", "file_mounts")},
                **{name: [] for name in _LISTS},
                **more,
            }

    worker = {
        "resources": {"CPU": 1, "object_store_memory": 100 << 20},
        "labels": {"ray.io/market-type": "spot"},
        "node_config": {},
        "min_workers": 0,
        "max_workers": MOST,
    }
    head = {"CPU": 0, "object_store_memory": 200 << 20}
    return Local(head, {"worker.spot": worker}, autoscaler_v2=True)


def workers() -> int:
    """Worker nodes that are alive."""
    import ray

    return sum(
        node["Alive"] and "node:__internal_head__" not in node["Resources"] for node in ray.nodes()
    )


def until(count: int, seconds: float) -> int:
    """Waits for so many worker nodes, no longer than this; how many there are."""
    deadline = time.monotonic() + seconds
    while workers() != count and time.monotonic() < deadline:
        time.sleep(0.3)
    return workers()


class Patient:
    """Progress that does not go on from the first of many items until all nodes have come.

    A small job would be over before the second node has started.
    """

    def __init__(self) -> None:
        self.total, self.waited = 0, False

    def start(self, phase: str, total: int) -> None:
        self.total = total

    def advance(self, items: int = 1) -> None:
        if not self.waited and self.total > MOST and workers():  # fewer items need fewer nodes
            self.waited = True
            until(MOST, GROW_S)

    def note(self, message: str) -> None:
        sys.stderr.write(f"{message}\n")


def largest(stop: threading.Event, seen: list[int]) -> None:
    while not stop.wait(0.3):
        seen.append(workers())


def drill(path: str) -> dict[str, object]:
    """One job, from no worker node to none."""
    from distanon import job
    from distanon.spec import load

    before, seen, stop = until(0, SHRINK_S), [0], threading.Event()
    watch = threading.Thread(target=largest, args=(stop, seen))
    watch.start()
    try:
        job.run_job(load(path), progress=Patient())
    finally:
        stop.set()
        watch.join()
    return {"before": before, "most": max(seen), "after": until(0, SHRINK_S)}


def waited(_shared: None, item: int) -> int:
    """An item that takes a while."""
    time.sleep(1)
    return item


def between_phases() -> dict[str, object]:
    """A crew whose driver works alone for a while, between two maps: nodes go, and come again."""
    from distanon.runtime import crew
    from distanon.runtime.settings import RuntimeSettings

    nodes, found = [], []
    with crew(RuntimeSettings()) as hands:
        for _ in range(2):
            results = hands.map(waited, range(12))
            found.append(next(results))
            nodes.append(until(MOST, GROW_S))
            found.extend(results)
            nodes.append(until(0, SHRINK_S))
    return {"nodes": nodes, "right": found == 2 * list(range(12))}


def same(_shared: object, item: int) -> int:
    """The item."""
    return item


def asked() -> dict[str, object]:
    """What the autoscaler says of workers, while it has reported no limits."""
    from distanon.errors import ClusterError
    from distanon.runtime import crew, feasibility
    from distanon.runtime.settings import RuntimeSettings

    told: dict[str, object] = {str(cpus): feasibility.ask(cpus, None) for cpus in (2, 1)}
    started = time.monotonic()
    try:
        with crew(RuntimeSettings(cpus_per_worker=2)) as found:
            told["message"] = str(list(found.map(same, range(3))))
    except ClusterError as error:
        told["message"] = str(error)
    return told | {"seconds": time.monotonic() - started}


def refused() -> dict[str, object]:
    """What a crew is told that needs more than any node will have, once limits are reported."""
    import ray
    from ray.core.generated.autoscaler_pb2 import ClusterConfig

    from distanon.errors import ClusterError
    from distanon.runtime import crew
    from distanon.runtime.settings import RuntimeSettings

    config = ClusterConfig()
    group = config.node_group_configs.add()
    group.name, group.max_count = "worker.spot", MOST
    group.resources["CPU"] = 1
    ray._private.worker.global_worker.gcs_client.report_cluster_config(config.SerializeToString())
    started = time.monotonic()
    try:
        with crew(RuntimeSettings(cpus_per_worker=2)):
            return {"message": ""}
    except ClusterError as error:
        return {"message": str(error), "seconds": time.monotonic() - started}


def started():
    """The cluster with its head; a head aborts where its agents take more than 15 s to come up."""
    for left in (3, 2, 1, 0):
        standing = cluster()
        try:
            # Ray's launcher and KubeRay tell each node of which kind it is.
            standing.start(override_env={"RAY_NODE_TYPE_NAME": "ray.head.default"})
        except subprocess.CalledProcessError:
            if not left:
                raise
        else:
            return standing
    return None


def main() -> int:
    """The drills, and what came of them."""
    isolated()
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
    import ray

    standing = started()
    try:
        ray.init("auto", log_to_driver=False, logging_level="ERROR")
        told = {Path(path).stem: drill(path) for path in sys.argv[1:]}
        told["between phases"] = between_phases()
        told["asked"] = asked()
        told["too large"] = refused()
    finally:
        ray.shutdown()
        standing.shutdown()  # says so on stdout
    sys.stdout.write(f"\n{json.dumps(told)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
