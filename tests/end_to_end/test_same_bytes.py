"""Same spec, data and seed: same bytes, however the work is cut, lost and taken up again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from distanon import job as jobs
from distanon.job.journal import Journal
from distanon.storage.store import Store

COMPARE = "[{name: noise, rms: match}, rbt, nends]"


@pytest.fixture
def undisturbed(job, public_bytes):
    """The bytes of the serial run."""
    spec = job("serial", compare=COMPARE)
    jobs.run_job(spec, serial=True)
    return public_bytes(spec.output)


def test_serial_runs_leave_whole_releases(undisturbed):
    assert sorted(undisturbed) == ["data/part-00000.parquet", "release.json", "report-public.html"]


@pytest.mark.parametrize("partitions", [1, 7, 64])
def test_partitions_change_no_byte(job, public_bytes, undisturbed, partitions):
    spec = job("cut", f"runtime.partitions={partitions}", compare=COMPARE)
    jobs.run_job(spec, serial=True)
    assert public_bytes(spec.output) == undisturbed


@pytest.mark.ray
@pytest.mark.parametrize(("workers", "partitions"), [(1, 7), (2, 64), (4, 1)])
def test_workers_change_no_byte(job, public_bytes, undisturbed, ray_address, workers, partitions):
    spec = job(
        "ray",
        f"runtime.address={ray_address}",
        f"runtime.workers={workers}",
        f"runtime.partitions={partitions}",
        compare=COMPARE,
    )
    jobs.run_job(spec)
    assert public_bytes(spec.output) == undisturbed


@pytest.mark.ray
@pytest.mark.parametrize("phase", ["neighborhoods", "release"])
def test_a_worker_killed_in_mid_run_changes_no_byte(
    job, public_bytes, undisturbed, ray_cluster, killer_in, phase
):
    spec = job(
        "killed",
        f"runtime.address={ray_cluster.address}",
        "runtime.workers=2",
        "runtime.partitions=24",
        compare=COMPARE,
    )
    killer = killer_in(phase)
    result = jobs.run_job(spec, progress=killer)
    assert killer.killed
    assert public_bytes(spec.output) == undisturbed
    survived = Journal(Store(result.private)).read_run()["survived"]
    assert survived["workers_lost"] >= 1


@pytest.mark.parametrize("moment", ["reading", "release", "measuring"])
def test_a_killed_driver_is_resumed_to_the_same_bytes(
    job, public_bytes, undisturbed, tmp_path, moment
):
    spec = job("driver", "runtime.partitions=5", compare=COMPARE)
    spec_file = tmp_path / "job.yaml"
    spec_file.write_text(spec.to_yaml())
    # The run kills its own process, as SIGKILL from outside would, at a known moment.
    code = f"""
import os, signal
from distanon import job
from distanon.data.ports import Silent
from distanon.spec import load
from distanon.runtime.pinning import pin
pin()

class Suicide(Silent):
    def start(self, phase, total):
        self.phase, self.done = phase, 0
        if {moment!r} == "measuring" and os.path.exists({spec.output!r} + "/_SUCCESS"):
            os.kill(os.getpid(), signal.SIGKILL)
    def advance(self, items=1):
        self.done += 1
        if self.phase == {moment!r} and self.done == 3:
            os.kill(os.getpid(), signal.SIGKILL)

job.run_job(load({str(spec_file)!r}), progress=Suicide(), serial=True)
"""
    killed = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, timeout=200
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()[-2000:]
    jobs.resume(spec, serial=True)
    assert public_bytes(spec.output) == undisturbed
    private = Path(spec.private_prefix())
    assert not (private / "staging").exists()
    assert not (private / "checkpoint").exists()


@pytest.mark.s3
def test_local_disk_and_s3_hold_the_same_bytes(job, undisturbed, s3_environment, tmp_path):
    bucket, hidden = s3_environment.bucket(), s3_environment.bucket()
    spec = job(
        "s3",
        f"output=s3://{bucket}/release/",
        f"private=s3://{hidden}/private/",
        compare=COMPARE,
    )
    jobs.run_job(spec, serial=True)
    store = Store(spec.output)
    names = [entry.name for entry in store.list()]
    assert "_SUCCESS" in names
    assert {name: store.read(name) for name in names if name != "_SUCCESS"} == undisturbed


def test_a_resumed_run_that_is_finished_is_left_alone(job, public_bytes):
    spec = job("done")
    first = jobs.run_job(spec, serial=True)
    before = public_bytes(spec.output)
    stamp = time.time_ns()
    again = jobs.resume(spec, serial=True)
    assert again.run_id == first.run_id
    assert [figure.name for figure in again.measurements] == [
        figure.name for figure in first.measurements
    ]
    assert public_bytes(spec.output) == before
    assert all(path.stat().st_mtime_ns < stamp for path in Path(spec.output).rglob("*"))
