"""What goes wrong while jobs run: the same bytes, what was survived, and an end where none can be.

One cluster stands for most: a head without CPUs and two nodes of one, which drills take away; its
storage is an S3 server behind a proxy of faults. `make drills` drills all kinds with all methods.
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import drilling
import pytest

from distanon import job as jobs
from distanon.data.ports import Silent
from distanon.job.journal import Journal
from distanon.storage.store import Store

pytestmark = [pytest.mark.ray, pytest.mark.s3, pytest.mark.timeout(900)]

MINUTE_S, MOMENT_S = 60.0, 5.0
HEAD_S = 60.0  # then Ray would end the process by itself
STORAGE_S = 300.0
"""A minute of patience, and as much again for each last word that the run tries to leave."""
RECONSTRUCTION = "method={name: reconstruction, k: 4, individuals: 6, generations: 6}"
# So many that the loss of a node is noticed before they are done.
WOLVES = "method={name: kmfc_gwo, k: 4, l: 2, t: 0.5, wolves: 6, iterations: 60}"
# The maker of the job, what it is told, the phase in which something goes wrong.
JOBS = {
    "dptpe": ("job", ("runtime.partitions=24",), "release"),
    "reconstruction": ("job", (RECONSTRUCTION, "runtime.checkpoint_every=2"), "generations"),
    "kmfc_gwo": ("graph_job", (WOLVES, "runtime.checkpoint_every=2"), "wolves"),
}
SMALLEST = "dptpe"
QUICK = ("node killed", "node drained")
slow = pytest.mark.slow


def drilled(*faults, quick=()):
    """Each fault on the job of every method, in the drills.

    Args:
        quick: those that every run of the tests drills too, for a moment on the smallest job.
            Killed workers and a bad storage are with test_same_bytes and test_storage_faults.
    """
    once = [pytest.param(SMALLEST, fault, MOMENT_S, id=f"{fault}, once") for fault in quick]
    return once + [
        pytest.param(method, fault, MINUTE_S, id=f"{fault}, {method}", marks=slow)
        for fault in faults
        for method in JOBS
    ]


# --- What stands for all drills ----------------------------------------------------------------


class Sky:
    """The rule of the proxy of faults, which drills change."""

    def __init__(self):
        self.rule = None

    def __call__(self, method, path, number):
        fault = self.rule(method, path, number) if self.rule else None
        return None if fault is None else sys.modules["fault_proxy"].Fault[fault]


@pytest.fixture(scope="module")
def sky(s3):
    """What the weather over the storage is; the environment leads to it for the module."""
    from _pytest.monkeypatch import MonkeyPatch

    sys.path.append(str(Path(__file__).parents[1]))
    from fault_proxy import FaultProxy

    sky = Sky()
    proxy = FaultProxy(s3.endpoint, sky).start()
    with MonkeyPatch.context() as patch:
        for name, value in (s3.environment(s3.writer) | {"AWS_ENDPOINT_URL_S3": proxy.url}).items():
            patch.setenv(name, value)
        yield sky
    proxy.stop()


@pytest.fixture(scope="module")
def weather(sky):
    """The cluster; its `worker_nodes` are those that a drill may take."""
    with drilling.head_alone() as cluster:
        yield cluster


@pytest.fixture
def nodes(weather, sky):
    """The cluster with its two nodes, under a clear sky."""
    drilling.fill_up(weather, 2)
    yield weather
    sky.rule = None


@pytest.fixture(scope="module")
def expected():
    """The bytes of undisturbed releases, by method."""
    return {}


@pytest.fixture
def ordered(request, public_bytes, expected, s3):
    """Makes the spec of a method's job, on disk or in buckets, and the bytes it must leave."""

    def make(method, *settings, in_buckets=False):
        maker, own, _ = JOBS[method]
        make = request.getfixturevalue(maker)
        if method not in expected:
            serial = make("serial", *own)
            jobs.run_job(serial, serial=True)
            expected[method] = public_bytes(serial.output)
        if in_buckets:
            places = f"output=s3://{s3.bucket()}/release/", f"private=s3://{s3.bucket()}/run/"
            settings = (*settings, *places)
        return make("struck", *own, "runtime.workers=2", *settings), expected[method]

    return make


def bytes_of(spec):
    """The public files, wherever they are."""
    store = Store(spec.output)
    names = [entry.name for entry in store.list(leftovers=True)]
    return {name: store.read(name) for name in names if name not in ("_CLAIM", "_SUCCESS")}


def survived(spec):
    return Journal(Store(spec.private_prefix(), private=True)).read_run()["survived"]


class Strike(Silent):
    """Does something when the second item of a phase is done."""

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


# --- Workers and nodes -------------------------------------------------------------------------


def take_all(cluster, seconds):
    for node in list(cluster.worker_nodes):
        cluster.remove_node(node, allow_graceful=False)
    back = threading.Timer(seconds, drilling.fill_up, (cluster, 2))
    back.start()
    return back


FAULTS = {
    "worker killed": lambda cluster, _: drilling.kill_worker(cluster),
    "node killed": lambda cluster, _: drilling.take_node(cluster),
    "node drained": lambda cluster, _: drilling.drain_node(cluster),
    "all nodes gone": take_all,
}
GONE = ("node lost", "worker out of reach")  # the latter where Ray has yet to notice
LEAST = {
    "worker killed": (("worker died",), 1),
    "node killed": (GONE, 1),
    "node drained": (GONE, 0),  # a job may end within the notice
    "all nodes gone": (GONE, 2),
}


@pytest.mark.parametrize(("method", "fault", "seconds"), drilled(*FAULTS, quick=QUICK))
def test_what_is_taken_away_changes_no_byte_and_is_told_of(nodes, ordered, method, fault, seconds):
    spec, undisturbed = ordered(method, f"runtime.address={nodes.address}")
    later = []
    strike = Strike(JOBS[method][2], lambda: later.append(FAULTS[fault](nodes, seconds)))
    began = time.monotonic()
    jobs.run_job(spec, progress=strike)
    for timer in later:
        if isinstance(timer, threading.Timer):
            timer.join()
    assert strike.struck
    assert bytes_of(spec) == undisturbed
    told = survived(spec)
    if fault == "all nodes gone":
        assert time.monotonic() - began > seconds
    causes, least = LEAST[fault]
    assert sum(told["causes"].get(cause, 0) for cause in causes) >= least, told
    assert told["workers_lost"] >= least


# --- Object store ------------------------------------------------------------------------------


def fill_stores(cluster, held):
    """Puts more into every node's store than it can hold."""
    import numpy as np
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def blocks():
        return [np.full(1_250_000, number, np.float64) for number in range(12)]  # 10 MB each

    for node in cluster.worker_nodes:
        there = NodeAffinitySchedulingStrategy(node.node_id, soft=False)
        options = {"num_cpus": 0, "num_returns": 12, "scheduling_strategy": there}
        held.extend(ray.remote(**options)(blocks).remote())
    held.extend(ray.put(block) for block in blocks())
    ray.wait(held, num_returns=len(held), fetch_local=False, timeout=60)


@pytest.mark.parametrize(("method", "fault", "seconds"), drilled("stores full"))
def test_stores_that_spill_change_no_byte(nodes, ordered, method, fault, seconds):
    spec, undisturbed = ordered(method, f"runtime.address={nodes.address}")
    held, spilled = [], []

    def fill():
        fill_stores(nodes, held)
        session = Path(nodes.head_node.get_session_dir_path())
        spilled.extend(session.rglob("ray_spilled_objects*/*"))

    jobs.run_job(spec, progress=Strike(JOBS[method][2], fill))
    assert spilled
    assert bytes_of(spec) == undisturbed


# --- Storage -----------------------------------------------------------------------------------


def slow_storage(draw):
    return lambda method, path, number: (
        draw.choice(("DELAY", "SLOW_DOWN")) if draw.random() < 0.3 else None
    )


def failing_storage(draw):
    faults = ("DROP_REQUEST", "DROP_RESPONSE", "TRUNCATE", "BROKEN")
    return lambda method, path, number: draw.choice(faults) if draw.random() < 0.15 else None


def cut_storage(draw):
    """Nothing is answered for ten seconds from the first table of the checkpoint.

    Before a run has begun it is not borne for so long: nothing would be lost.
    """
    end = []

    def rule(method, path, number):
        if not end and method == "PUT" and is_kept(path):
            end.append(time.monotonic() + 10)
        return "DROP_REQUEST" if end and time.monotonic() < end[0] else None

    rule.end = end
    return rule


WEATHERS = {
    "storage slow": slow_storage,
    "storage failing": failing_storage,
    "storage cut": cut_storage,
}


@pytest.mark.parametrize(("method", "fault", "seconds"), drilled(*WEATHERS))
def test_a_storage_that_recovers_changes_no_byte(nodes, ordered, sky, method, fault, seconds):
    settings = f"runtime.address={nodes.address}"
    spec, undisturbed = ordered(method, settings, in_buckets=True)
    sky.rule = WEATHERS[fault](random.Random(3))
    jobs.run_job(spec)
    assert fault != "storage cut" or sky.rule.end, "the job had no checkpoint"
    sky.rule = None
    assert bytes_of(spec) == undisturbed


@slow
@pytest.mark.parametrize("method", JOBS)
def test_a_job_whose_storage_is_cut_for_good_ends_in_time_and_goes_on_from_there(
    nodes, ordered, sky, method, tmp_path
):
    address = f"runtime.address={nodes.address}"
    spec, undisturbed = ordered(method, address, in_buckets=True)
    cut_at = []

    def rule(verb, path, number):
        if verb == "PUT" and is_kept(path) and not cut_at:
            cut_at.append(time.monotonic())
        return "DROP_REQUEST" if cut_at else None

    sky.rule = rule
    process = command(["run", written(spec, tmp_path)], tmp_path)
    said, _ = process.communicate(timeout=STORAGE_S + 120)
    assert process.returncode == 4, said
    assert time.monotonic() - cut_at[0] < STORAGE_S
    assert "distanon resume" in said
    sky.rule = None
    jobs.resume(spec.private_prefix())
    assert bytes_of(spec) == undisturbed


# --- The driver --------------------------------------------------------------------------------


def is_kept(path):
    return "/checkpoint/" in path and "HEADER" not in path


def written(spec, folder):
    file = Path(folder) / "job.yaml"
    file.write_text(spec.to_yaml())
    return str(file)


def command(arguments, folder, *before):
    """distanon in a process of its own."""
    return subprocess.Popen(
        [*before, sys.executable, "-m", "distanon", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
    )


def killed_when_it_has_kept_two_tables(spec, sky, folder):
    """Runs a job in a process of its own, which is killed without a word."""
    kept = []

    def rule(verb, path, number):
        if verb == "PUT" and is_kept(path):
            kept.append(path)
            if len(kept) == 2:  # one table at least was finished
                process.send_signal(signal.SIGKILL)

    sky.rule = rule
    process = command(["run", written(spec, folder)], folder)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL, said
    sky.rule = None
    assert any(is_kept(f"/{entry.name}") for entry in Store(spec.private_prefix()).list())


def here_and_there(tmp_path):
    """Two folders that share nothing."""
    folders = tmp_path / "here", tmp_path / "there"
    for folder in folders:
        folder.mkdir()
    return folders


def left_behind(spec):
    names = {entry.name.split("/")[0] for entry in Store(spec.private_prefix()).list()}
    return names & {"staging", "checkpoint"}


@pytest.mark.parametrize(("method", "fault", "seconds"), drilled("driver killed"))
def test_a_killed_driver_is_resumed_elsewhere_from_object_storage_alone(
    nodes, ordered, sky, method, fault, seconds, tmp_path
):
    address = f"runtime.address={nodes.address}"
    spec, undisturbed = ordered(method, address, in_buckets=True)
    here, there = here_and_there(tmp_path)
    killed_when_it_has_kept_two_tables(spec, sky, here)
    again = command(["resume", spec.private_prefix(), "--address", nodes.address], there)
    said, _ = again.communicate(timeout=300)
    assert again.returncode == 0, said
    assert bytes_of(spec) == undisturbed
    assert not left_behind(spec)


ELSEWHERE = ["unshare", "--uts", "sh", "-c", 'hostname elsewhere && exec "$@"', "--"]


@pytest.fixture
def elsewhere():
    """The command that runs another one on a machine of another name; skips without the right."""
    if not shutil.which("unshare"):
        pytest.skip("needs unshare")
    if subprocess.run([*ELSEWHERE, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this kernel, container or user may not name a machine")
    return ELSEWHERE


def fall_silent(spec):
    """What a killed run's last sign of life is after five more minutes."""
    private = Store(spec.private_prefix(), private=True)
    (record,) = [one.name for one in private.list() if one.name.endswith("/attempt.json")]
    life = json.loads(private.read(record))
    assert "elsewhere" not in life["machine"]
    life["beat"] -= 300
    private.write(record, json.dumps(life).encode())


@slow
@pytest.mark.parametrize("method", JOBS)
def test_another_machine_resumes_what_a_killed_one_began_once_that_has_been_silent(
    nodes, ordered, sky, elsewhere, method, tmp_path
):
    address = f"runtime.address={nodes.address}"
    spec, undisturbed = ordered(method, address, in_buckets=True)
    here, there = here_and_there(tmp_path)
    killed_when_it_has_kept_two_tables(spec, sky, here)
    resume = ["resume", spec.private_prefix(), "--address", nodes.address]
    early = command(resume, there, *elsewhere)
    said, _ = early.communicate(timeout=300)
    assert early.returncode == 2, said
    assert "counts as under way for 5 minutes after its last sign of life" in " ".join(said.split())
    fall_silent(spec)
    late = command(resume, there, *elsewhere)
    said, _ = late.communicate(timeout=300)
    assert late.returncode == 0, said
    assert bytes_of(spec) == undisturbed
    assert not left_behind(spec)


# --- Jobs that can't go on ---------------------------------------------------------------------


@pytest.mark.parametrize("method", [pytest.param(one, marks=slow) for one in JOBS])
def test_a_job_whose_workers_never_come_back_ends_in_time_and_says_how_to_go_on(
    nodes, ordered, sky, method, tmp_path
):
    bound = 20
    settings = (f"runtime.address={nodes.address}", f"runtime.timeout_s={bound}")
    spec, undisturbed = ordered(method, *settings, in_buckets=True)
    gone = []

    def take():
        for node in list(nodes.worker_nodes):
            nodes.remove_node(node, allow_graceful=False)
        gone.append(time.monotonic())

    def rule(verb, path, number):
        if verb == "PUT" and is_kept(path) and not taking.is_alive() and not gone:
            taking.start()

    taking = threading.Thread(target=take)
    sky.rule = rule
    process = command(["run", written(spec, tmp_path)], tmp_path)
    said, _ = process.communicate(timeout=300)
    taking.join()
    assert process.returncode == 4, said
    assert time.monotonic() - gone[0] < bound + 40
    assert "no worker for 20 s" in said
    assert "distanon resume" in said
    drilling.fill_up(nodes, 2)
    jobs.resume(spec.private_prefix())
    assert bytes_of(spec) == undisturbed


class Doomed:
    """A cluster of a head that takes workers; another one, once its head was killed."""

    def __init__(self):
        self.stack, self.standing = contextlib.ExitStack(), None

    def cluster(self):
        if self.standing is None:
            self.standing = self.stack.enter_context(drilling.head_alone(1, low_memory()))
        return self.standing

    def kill_head(self):
        drilling.kill_head(self.standing)
        self.standing = None


@pytest.fixture(scope="module")
def doomed(sky):
    clusters = Doomed()
    with clusters.stack:
        yield clusters


MEMORY_STEP = 3 << 30


def memory():
    lines = Path("/proc/meminfo").read_text().splitlines()
    known = {name: int(rest.split()[0]) << 10 for name, rest in (one.split(":") for one in lines)}
    return known["MemTotal"], known["MemAvailable"]


def low_memory():
    """Ray kills what it can spare when so much more of the machine's memory is taken."""
    total, free = memory()
    limit = 1 - free / total + MEMORY_STEP / total
    return {"memory_usage_threshold": min(limit, 0.97), "memory_monitor_refresh_ms": 200}


HOG = f"held = [bytearray(b'x' * (1 << 28)) for _ in range({2 * MEMORY_STEP >> 28})]; input()"


@pytest.mark.parametrize(("method", "fault", "seconds"), drilled("memory short"))
def test_a_worker_that_is_killed_for_memory_is_named_and_changes_no_byte(
    doomed, ordered, method, fault, seconds
):
    if memory()[1] < 3 * MEMORY_STEP:
        pytest.skip("needs 9 GiB of free memory, which it fills for a moment")
    address = f"runtime.address={doomed.cluster().address}"
    spec, undisturbed = ordered(
        method, address, "runtime.workers=1", "runtime.max_failures=20", "runtime.timeout_s=120"
    )

    def eat():
        (victim,) = drilling.workers_of(doomed.cluster())
        with subprocess.Popen([sys.executable, "-c", HOG], stdin=subprocess.PIPE) as hog:
            try:
                drilling.wait_until(lambda: victim not in drilling.workers_of(doomed.cluster()), 30)
            finally:
                hog.kill()

    jobs.run_job(spec, progress=Strike(JOBS[method][2], eat))
    assert survived(spec)["causes"].get("out of memory", 0) >= 1
    assert bytes_of(spec) == undisturbed


@pytest.mark.parametrize(("method", "fault", "seconds"), drilled("head lost"))
def test_a_job_that_lost_the_head_ends_in_time_and_goes_on_without_it(
    doomed, ordered, sky, method, fault, seconds, tmp_path
):
    address = doomed.cluster().address
    spec, undisturbed = ordered(
        method, f"runtime.address={address}", "runtime.workers=auto", in_buckets=True
    )
    lost = []

    def rule(verb, path, number):
        if verb == "PUT" and is_kept(path) and not lost:
            lost.append(time.monotonic())
            doomed.kill_head()

    sky.rule = rule
    process = command(["run", written(spec, tmp_path)], tmp_path)
    said, _ = process.communicate(timeout=300)
    sky.rule = None
    assert process.returncode == 4, said
    assert time.monotonic() - lost[0] < HEAD_S
    assert "distanon resume" in said
    jobs.resume(spec.private_prefix(), serial=True)
    assert bytes_of(spec) == undisturbed
