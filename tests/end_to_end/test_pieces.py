"""A table that no process holds: the bytes of one that fits, whoever works and whoever is lost."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from distanon import job as jobs
from distanon.job.journal import Journal
from distanon.methods.dptpe import method
from distanon.storage.store import Store


@pytest.fixture
def in_memory(job, public_bytes):
    """The bytes of the serial run on the whole table."""
    spec = job("whole")
    jobs.run_job(spec, serial=True)
    return public_bytes(spec.output)


@pytest.fixture
def cut(monkeypatch):
    """Makes every table one of so many pieces."""
    return lambda pieces: monkeypatch.setattr(method, "pieces_for", lambda *_: pieces)


@pytest.mark.parametrize(("pieces", "partitions"), [(7, 5), (64, 1)])
def test_pieces_change_no_byte(job, public_bytes, in_memory, cut, pieces, partitions):
    cut(pieces)
    spec = job("cut", f"runtime.partitions={partitions}")
    jobs.run_job(spec, serial=True)
    assert public_bytes(spec.output) == in_memory


@pytest.mark.ray
@pytest.mark.parametrize(("workers", "pieces"), [(1, 7), (2, 64), (4, 7)])
def test_workers_on_pieces_change_no_byte(
    job, public_bytes, in_memory, cut, ray_address, workers, pieces
):
    cut(pieces)
    spec = job(
        "ray",
        f"runtime.address={ray_address}",
        f"runtime.workers={workers}",
        "runtime.partitions=5",
    )
    jobs.run_job(spec)
    assert public_bytes(spec.output) == in_memory


@pytest.mark.ray
@pytest.mark.parametrize(
    "phase",
    [
        "neighborhoods",
        pytest.param("exchange", marks=pytest.mark.slow),
        pytest.param("return", marks=pytest.mark.slow),
    ],
)
def test_a_worker_lost_among_pieces_changes_no_byte(
    job, public_bytes, in_memory, cut, ray_cluster, killer_in, phase
):
    cut(12)
    spec = job(
        "killed",
        f"runtime.address={ray_cluster.address}",
        "runtime.workers=2",
        "runtime.partitions=12",
    )
    killer = killer_in(phase)
    result = jobs.run_job(spec, progress=killer)
    assert killer.killed
    assert public_bytes(spec.output) == in_memory
    survived = Journal(Store(result.private)).read_run()["survived"]
    assert survived["workers_lost"] >= 1


@pytest.mark.parametrize("moment", ["exchange", "return"])
def test_a_run_on_pieces_that_was_killed_is_resumed_to_the_same_bytes(
    job, public_bytes, in_memory, cut, tmp_path, moment
):
    cut(7)
    spec = job("driver", "runtime.partitions=5")
    spec_file = tmp_path / "job.yaml"
    spec_file.write_text(spec.to_yaml())
    code = f"""
import os, signal
from distanon import job
from distanon.data.ports import Silent
from distanon.methods.dptpe import method
from distanon.spec import load
from distanon.runtime.pinning import pin
pin()
method.pieces_for = lambda *_: 7

class Suicide(Silent):
    def start(self, phase, total):
        self.phase, self.done = phase, 0
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
    assert public_bytes(spec.output) == in_memory
