"""Clusters that grow for a job and shrink after it, under a real autoscaler."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from distanon import job as jobs

UNSHARE = ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "--net", "--ipc"]
ELASTIC = ("runtime.address=auto", "runtime.partitions=24")
RECONSTRUCTION = "method={name: reconstruction, k: 4, individuals: 6, generations: 4}"


@pytest.fixture
def namespaces():
    """The command that runs another one in namespaces of its own; skips without the right."""
    if os.geteuid() or not (shutil.which("unshare") and shutil.which("ip")):
        pytest.skip("needs root, unshare and iproute2")
    if subprocess.run([*UNSHARE, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this kernel or container lets nobody make namespaces")
    return UNSHARE


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.timeout(1500)
def test_each_job_grows_from_no_node_to_three_and_shrinks_again_without_a_changed_byte(
    namespaces, job, graph_job, public_bytes, tmp_path
):
    made = {
        "dptpe": (job, ()),
        "reconstruction": (job, (RECONSTRUCTION,)),
        "kmfc_gwo": (graph_job, ("method.wolves=12", "method.iterations=2")),
    }
    expected, elastic, files = {}, {}, []
    for name, (make, settings) in made.items():
        serial = make(f"{name}-serial", *settings)
        jobs.run_job(serial, serial=True)
        expected[name] = public_bytes(serial.output)
        elastic[name] = make(f"{name}-elastic", *settings, *ELASTIC)
        files.append(tmp_path / f"{name}.yaml")
        files[-1].write_text(elastic[name].to_yaml())
    script = Path(__file__).parents[1] / "autoscaling.py"
    answer = subprocess.run(
        [*namespaces, sys.executable, str(script), *map(str, files)],
        check=False,
        capture_output=True,
        text=True,
        timeout=1400,
    )
    assert answer.returncode == 0, answer.stderr[-3000:]
    told = json.loads(answer.stdout.strip().splitlines()[-1])
    for name in made:
        assert told[name] == {"before": 0, "most": 3, "after": 0}
        assert public_bytes(elastic[name].output) == expected[name]
    assert told["between phases"] == {"nodes": [3, 0, 3, 0], "right": True}
    asked = told["asked"]
    assert (asked["2"], asked["1"]) == (False, True)
    assert "no node which it may bring holds a worker" in asked["message"]
    assert asked["seconds"] < 90  # without an answer it would be 300
    refused = told["too large"]
    assert "asks for 2 CPUs, and no node has or will have more than 1" in refused["message"]
    assert refused["seconds"] < 10
