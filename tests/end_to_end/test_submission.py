"""A cluster with a dashboard, a token, two workers and S3, as a user meets it from outside."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from distanon import job as jobs
from distanon.spec import parse

pytestmark = [pytest.mark.ray, pytest.mark.s3, pytest.mark.slow]

TESTS = Path(__file__).parents[1]
SEED = 314159265358979323846264338327950288419
NAME = "Xanthippe-Quollwright"
EXTREME = 987654.375


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    """300 people, one of whom nobody may find in what the cluster shows."""
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "person": [f"person-{number}" for number in range(300)],
            "age": draw.integers(18, 80, 300),
            "income": np.round(draw.lognormal(8, 0.3, 300), 2),
            "sick": draw.random(300) < 0.3,
        }
    )
    frame.loc[17, ["person", "income"]] = [NAME, EXTREME]
    path = tmp_path_factory.mktemp("submitted") / "people.parquet"
    frame.to_parquet(path)
    return path


@pytest.fixture(scope="module")
def story(table):
    """What the user saw."""
    up = TESTS.parent / "cluster" / "local" / "up.py"
    command = [sys.executable, str(up), "--", sys.executable, str(TESTS / "submitting.py")]
    done = subprocess.run(
        [*command, str(table), str(SEED)],
        check=False,
        capture_output=True,
        text=True,
        timeout=840,
        env=os.environ | {"RAY_metrics_report_interval_ms": "1000"},
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.mark.timeout(900)
def test_a_submitted_run_leaves_the_bytes_of_a_local_one(story, table, tmp_path, public_bytes):
    text = (TESTS / "submitting.py").read_text().split('SPEC = """')[1].split('"""')[0]
    text = text.format(name="submitted", seed=SEED, cpus=1)
    text = text.replace("s3://input/people.parquet", str(table)).replace("s3:/", str(tmp_path))
    spec = parse(text)
    jobs.run_job(spec, serial=True)
    found = story["submitted"]
    assert found["ended"]["status"] == "succeeded", found["log"]
    assert {name: bytes.fromhex(raw) for name, raw in found["release"].items()} == public_bytes(
        spec.output
    )


@pytest.mark.timeout(900)
def test_the_same_run_twice_is_one_submission_before_and_after_its_end(story):
    found = story["submitted"]
    assert len(set(found["ids"])) == 1
    assert found["submissions"] == found["ids"][:1]


@pytest.mark.timeout(900)
def test_log_status_and_figures_of_a_run_are_had_from_outside(story):
    found = story["submitted"]
    assert "release" in found["log"]
    assert found["followed"] == found["log"]
    assert found["collected"] == {found["ids"][0]: "done"}
    assert found["figures"] > 10
    assert story["status"]["code"] == 0
    assert re.search(r"cluster +succeeded, exit code 0\nstatus +done", story["status"]["said"])
    assert story["unknown"]
    assert sorted(story["nodes"]) == [0.0, 1.0, 1.0]


@pytest.mark.timeout(900)
def test_a_run_is_stopped_in_order_and_resumed_under_its_id_with_a_number(story):
    found = story["stopped"]
    assert "a worker asks for 64 CPUs, no node has that" in found["refused"]
    assert found["first"]["status"] == "stopped"
    assert found["standing"] == {"status": "begun", "reason": "interrupted"}
    assert found["resumed"] == [found["first"]["run_id"]] * 2
    assert found["last"]["submission_id"] == f"{found['first']['run_id']}.2"
    assert found["last"]["status"] == "stopped"


@pytest.mark.timeout(900)
def test_who_has_no_token_and_who_errs_in_the_address_are_told(story):
    assert story["tokenless"]["code"] == 4
    assert "asks for a token" in story["tokenless"]["said"]
    assert story["absent"]["code"] == 4
    assert "no job server answers at http://127.0.0.1:9" in story["absent"]["said"]


@pytest.mark.timeout(900)
def test_log_metrics_and_job_info_hold_no_value_and_no_seed(story):
    found = story["submitted"]
    assert "ray_distanon_items_total{" in found["metrics"]
    assert 'method="dptpe"' in found["metrics"]
    shown = {name: found[name] for name in ("log", "followed", "info", "metrics")}
    shown["status"] = story["status"]["said"]
    for place, text in shown.items():
        for secret in (NAME, "987654", str(SEED), f"{SEED:x}", "person-18"):
            assert secret not in text, f"{secret} in {place}"
    assert found["ids"][0] not in found["metrics"], "the run's id digests the seed"
