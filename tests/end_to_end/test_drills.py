"""Nodes that go while jobs run: the same bytes, what was survived, and an end where none can be.

One cluster stands for all: a head without CPUs and two nodes of one, which drills take away.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from distanon import job as jobs
from distanon.data.ports import Silent
from distanon.job.journal import Journal
from distanon.storage.store import Store

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(900)]

MINUTE_S = 60.0
DETECTION = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 3,
}
RECONSTRUCTION = "method={name: reconstruction, k: 4, individuals: 6, generations: 6}"
# The maker of the job, what it is told, the phase in which nodes go.
JOBS = {
    "dptpe": ("job", ("runtime.partitions=24",), "release"),
    "reconstruction": ("job", (RECONSTRUCTION,), "generations"),
    "kmfc_gwo": ("graph_job", (), "wolves"),
}


def added(cluster):
    """One more node of one CPU."""
    for left in (2, 1, 0):
        try:
            return cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        except Exception as error:
            if not left or "timed out" not in str(error):
                raise
    return None


@contextlib.contextmanager
def cluster_with_head(cpus):
    """A cluster that is nothing but a head."""
    from ray.cluster_utils import Cluster

    from distanon.runtime.seclusion import secluded

    with secluded():
        cluster = Cluster()
        for left in (2, 1, 0):
            try:
                cluster.add_node(
                    num_cpus=cpus,
                    object_store_memory=150 << 20,
                    include_dashboard=False,
                    _system_config=DETECTION,
                )
                break
            except Exception as error:
                if not left or "timed out" not in str(error):
                    raise
        try:
            yield cluster
        finally:
            cluster.shutdown()


@pytest.fixture(scope="module")
def weather():
    """The cluster; its `worker_nodes` are those that a drill may take."""
    with cluster_with_head(0) as cluster:
        yield cluster


@pytest.fixture
def nodes(weather):
    """The cluster with its two nodes."""
    while len(weather.worker_nodes) < 2:
        added(weather)
    return weather


class Strike(Silent):
    """Does something to the cluster when the second item of a phase is done."""

    def __init__(self, phase, act):
        self.phase, self.act = phase, act
        self.now, self.done, self.struck = "", 0, False

    def start(self, phase, total):
        self.now, self.done = phase, 0

    def advance(self, items=1):
        self.done += items
        if self.now == self.phase and self.done >= 2 and not self.struck:
            self.struck = True
            self.act()


def kill(cluster):
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)


def drain_then_kill(cluster):
    """What a spot notice brings: no new work, three seconds, then the end."""
    from ray._raylet import GcsClient
    from ray.core.generated.autoscaler_pb2 import DrainNodeReason

    node = next(iter(cluster.worker_nodes))
    deadline = int((time.time() + 3) * 1000)
    accepted, why = GcsClient(address=cluster.address).drain_node(
        node.node_id, DrainNodeReason.DRAIN_NODE_REASON_PREEMPTION, "spot", deadline
    )
    assert accepted, why
    threading.Timer(3, cluster.remove_node, (node,), {"allow_graceful": False}).start()


def take_all_for_a_minute(cluster):
    for node in list(cluster.worker_nodes):
        cluster.remove_node(node, allow_graceful=False)
    threading.Timer(MINUTE_S, lambda: [added(cluster) for _ in range(2)]).start()


FAULTS = {"killed": kill, "drained": drain_then_kill, "all gone": take_all_for_a_minute}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("method", JOBS)
def test_nodes_that_go_change_no_byte_and_are_told_of(request, nodes, public_bytes, method, fault):
    maker, settings, phase = JOBS[method]
    make = request.getfixturevalue(maker)
    serial = make("serial", *settings)
    jobs.run_job(serial, serial=True)
    spec = make("struck", *settings, f"runtime.address={nodes.address}", "runtime.workers=2")
    strike = Strike(phase, lambda: FAULTS[fault](nodes))
    began = time.monotonic()
    result = jobs.run_job(spec, progress=strike)
    assert strike.struck
    assert public_bytes(spec.output) == public_bytes(serial.output)
    survived = Journal(Store(result.private)).read_run()["survived"]
    if fault == "all gone":
        assert time.monotonic() - began > MINUTE_S
        assert survived["workers_lost"] >= 2
    if fault != "drained":  # a job may end within the notice
        assert survived["causes"].get("node lost", 0) >= 1, survived


def resumed_bytes(spec, public_bytes):
    jobs.resume(spec, serial=True)
    return public_bytes(spec.output)


def command(spec, folder):
    """The job as a command in a process of its own, which joins the cluster from outside."""
    file = Path(folder) / "job.yaml"
    file.write_text(spec.to_yaml())
    return subprocess.Popen(
        [sys.executable, "-m", "distanon", "run", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_a_job_whose_workers_never_come_back_ends_in_time_and_says_how_to_go_on(
    nodes, job, public_bytes, tmp_path
):
    bound = 20
    settings = (f"runtime.address={nodes.address}", "runtime.workers=2", "runtime.partitions=24")
    spec = job("lost", *settings, f"runtime.timeout_s={bound}")
    process = command(spec, tmp_path)
    journal = Path(spec.private_prefix()) / "run.json"
    wait_until(lambda: journal.exists() or process.poll() is not None)
    for node in list(nodes.worker_nodes):
        nodes.remove_node(node, allow_graceful=False)
    said, _ = process.communicate(timeout=bound + 90)
    assert process.returncode == 4, said
    assert "no worker for 20 s" in said
    assert "distanon resume" in said
    assert resumed_bytes(spec, public_bytes)


def test_a_job_that_lost_the_head_ends_in_time_and_says_how_to_go_on(job, public_bytes, tmp_path):
    bound = 60  # then Ray would end the process by itself
    with cluster_with_head(1) as cluster:
        # A worker too large keeps the job where it is, whatever the machine's speed.
        settings = (f"runtime.address={cluster.address}", "runtime.cpus_per_worker=2")
        spec = job("headless", *settings, "runtime.timeout_s=600")
        process = command(spec, tmp_path)
        journal = Path(spec.private_prefix()) / "run.json"
        wait_until(lambda: journal.exists() or process.poll() is not None)
        time.sleep(15)
        began = time.monotonic()
        for entries in cluster.head_node.all_processes.values():
            for entry in entries:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(entry.process.pid, signal.SIGKILL)
        said, _ = process.communicate(timeout=bound + 60)
        assert process.returncode == 4, said
        assert time.monotonic() - began < bound
        assert "has not answered for 20 s" in said
        assert "distanon resume" in said
        assert resumed_bytes(spec, public_bytes)


def wait_until(holds, seconds=120.0):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_an_item_that_eats_the_memory_is_killed_named_and_done_again(tmp_path):
    """Ray kills what it can spare when the machine's memory passes a threshold."""
    code = MEMORY_HOG.format(marker=str(tmp_path / "eaten"))
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "[0, 1, 4, 9, 16, 25] ['out of memory']"


MEMORY_HOG = """
import sys, time
from pathlib import Path
from ray import cloudpickle
from ray.cluster_utils import Cluster
from distanon.runtime import crew
from distanon.runtime.seclusion import secluded
from distanon.runtime.settings import RuntimeSettings

cloudpickle.register_pickle_by_value(sys.modules[__name__])

def eats_once(marker, item):
    if item == 3 and not Path(marker).exists():
        Path(marker).touch()
        held = []
        for _ in range(32):
            held.append(b"x" * (256 << 20))
            time.sleep(0.1)
        time.sleep(20)
    return item * item

known = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
total, free = (int(known[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
limit = 1 - free / total + (2 << 20) / total  # 2 GiB from now
with secluded():
    cluster = Cluster(initialize_head=True, head_node_args=dict(
        num_cpus=1, object_store_memory=100 << 20, include_dashboard=False,
        _system_config=dict(memory_usage_threshold=limit, memory_monitor_refresh_ms=200)))
    with crew(RuntimeSettings(address=cluster.address, workers=1)) as workers:
        marker = workers.put({marker!r})
        found = list(workers.map(eats_once, range(6), shared=marker))
        print(found, sorted(workers.losses.causes))
    cluster.shutdown()
"""
