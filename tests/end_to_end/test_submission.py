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
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon import job as jobs
from distanon.runtime.metering import METERS
from distanon.spec import parse

pytestmark = [pytest.mark.ray, pytest.mark.s3, pytest.mark.slow]

TESTS = Path(__file__).parents[1]
SEED = 314159265358979323846264338327950288419
NAME = "Xanthippe-Quollwright"
PASSPORT = "passport-Zyzzogeton"
EXTREME = 987654.375
SECRETS = (
    NAME,
    PASSPORT,
    str(EXTREME),
    str(SEED),
    f"{SEED:x}",
    "person-18",
    "member-18",
    "passport-18",
)
SETTINGS = {
    "RAY_metrics_report_interval_ms": "1000",
    "RAY_enable_autoscaler_v2": "1",  # the one that says which requests it can't meet
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """300 people and who knows whom; one of them nobody may find in what the cluster shows."""
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
    place = tmp_path_factory.mktemp("submitted")
    frame.to_parquet(place / "people.parquet")
    members = np.array([f"member-{number}" for number in range(120)])
    members[17] = NAME
    nodes = pd.DataFrame(
        {
            "node": members,
            "passport": [f"passport-{number}" for number in range(120)],
            "town": draw.choice(["Ulm", "Jena"], 120),
            "school": draw.choice(["none", "high", "college"], 120),
        }
    )
    nodes.loc[17, "passport"] = PASSPORT
    nodes.to_parquet(place / "nodes.parquet", index=False)
    ends = draw.integers(0, 120, (400, 2))
    edges = pd.DataFrame({"source": members[ends[:, 0]], "target": members[ends[:, 1]]})
    edges[edges.source != edges.target].drop_duplicates().to_parquet(
        place / "edges.parquet", index=False
    )
    return place


@pytest.fixture(scope="module")
def story(folder):
    """What the user saw."""
    up = TESTS.parent / "cluster" / "local" / "up.py"
    command = [sys.executable, str(up), "--", sys.executable, str(TESTS / "submitting.py")]
    done = subprocess.run(
        [*command, str(folder), str(SEED)],
        check=False,
        capture_output=True,
        text=True,
        timeout=1140,
        env=os.environ | SETTINGS,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.mark.timeout(1200)
def test_a_submitted_run_leaves_the_bytes_of_a_local_one(story, folder, tmp_path, public_bytes):
    text = (TESTS / "submitting.py").read_text().split('SPEC = """')[1].split('"""')[0]
    text = text.format(name="submitted", seed=SEED, cpus=1, method="dptpe, k: 5")
    people = str(folder / "people.parquet")
    text = text.replace("s3://input/people.parquet", people).replace("s3:/", str(tmp_path))
    spec = parse(text)
    jobs.run_job(spec, serial=True)
    found = story["submitted"]
    assert found["ended"]["status"] == "succeeded", found["log"]
    assert {name: bytes.fromhex(raw) for name, raw in found["release"].items()} == public_bytes(
        spec.output
    )


@pytest.mark.timeout(1200)
def test_the_same_run_twice_is_one_submission_before_and_after_its_end(story):
    found = story["submitted"]
    assert len(set(found["ids"])) == 1
    assert found["submissions"] == found["ids"][:1]


@pytest.mark.timeout(1200)
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


@pytest.mark.timeout(1200)
def test_a_run_is_stopped_in_order_and_resumed_under_its_id_with_a_number(story):
    found = story["stopped"]
    assert "a worker asks for 64 CPUs, no node has that" in found["refused"]
    assert found["first"]["status"] == "stopped"
    assert found["standing"] == {"status": "begun", "reason": "interrupted"}
    assert found["resumed"] == [found["first"]["run_id"]] * 2
    assert found["last"]["submission_id"] == f"{found['first']['run_id']}.2"
    assert found["last"]["status"] == "stopped"


@pytest.mark.timeout(1200)
def test_neither_s3_nor_the_dashboard_listens_beyond_loopback_and_the_token_is_its_owners(story):
    names, ports = zip(*(one.rsplit(maxsplit=1) for one in story["listening"]), strict=True)
    assert "raylet" in names
    assert "weed" not in names
    assert story["dashboard"] not in ports
    assert any("gcs_server" in one for one in story["commands"])
    assert not any("ray.util.client.server" in one for one in story["commands"])
    assert sorted(story["modes"].values()) == ["0o600", "0o700"]


@pytest.mark.timeout(1200)
def test_who_has_no_token_and_who_errs_in_the_address_are_told(story):
    assert story["tokenless"]["code"] == 4
    assert "asks for a token" in story["tokenless"]["said"]
    assert story["absent"]["code"] == 4
    assert "no job server answers at http://127.0.0.1:9" in story["absent"]["said"]


@pytest.mark.timeout(1200)
def test_an_autoscaler_says_before_a_run_whether_a_worker_has_room(story):
    assert story["holds"] == {"1": True, "64": False}


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("job", ["submitted", "rebuilt", "social"])
def test_log_metrics_job_info_and_release_hold_no_value_and_no_seed(story, job):
    found = story["submitted"] if job == "submitted" else story["others"][job]
    assert found["ended"]["status"] == "succeeded", found["log"]
    method = {"submitted": "dptpe", "rebuilt": "reconstruction", "social": "kmfc_gwo"}[job]
    assert "ray_distanon_items_total{" in found["metrics"]
    assert f'method="{method}"' in found["metrics"]
    assert "distanon run" in found["info"]  # the entry point
    assert "runtime_env" in found["info"]
    assert "s3://private/" in found["info"]  # its metadata
    for place in ("log", "info", "metrics"):
        for secret in SECRETS:
            assert secret not in found[place], f"{secret} in {place}"
    assert found["ended"]["run_id"] not in found["metrics"], "the run's id digests the seed"
    for name, raw in found["release"].items():
        content = readable(bytes.fromhex(raw), name)
        for secret in SECRETS:
            assert secret not in content, f"{secret} in {name}"


def readable(raw, name):
    """A public file as text, with what parquet hides in it."""
    if not name.endswith(".parquet"):
        return raw.decode()
    table = pq.read_table(pa.BufferReader(raw))
    return raw.decode("latin-1") + str(table.schema) + str(table.to_pydict())


@pytest.mark.timeout(1200)
def test_every_metric_reaches_prometheus(story):
    shown = [story["submitted"]["metrics"], *(one["metrics"] for one in story["others"].values())]
    names = set(re.findall(r"^(ray_distanon_\w+)\{", "\n".join(shown), re.MULTILINE))
    assert names >= {f"ray_{meter.name}" for meter in METERS}


@pytest.mark.timeout(1200)
def test_what_ray_writes_down_and_shows_of_all_runs_holds_no_value_and_no_seed(story, folder):
    found = [path for path in (folder / "kept").rglob("*") if path.is_file()]
    names = " ".join(path.name for path in found)
    for expected in ("job-driver-", "worker-", "raylet", "gcs_server", "metrics.prom"):
        assert expected in names
    tasks = b"".join(path.read_bytes() for path in found if path.name.endswith("v0-tasks.json"))
    assert b"Worker.call" in tasks, "what the state API shows of workers"
    for path in found:
        content = path.read_bytes()
        for secret in SECRETS:
            assert secret.encode() not in content, f"{secret} in {path.relative_to(folder)}"
    assert story["credentials"] == []


@pytest.mark.timeout(1200)
def test_status_and_the_log_as_it_is_followed_hold_no_value_and_no_seed(story):
    for text in (story["status"]["said"], story["submitted"]["followed"]):
        for secret in SECRETS:
            assert secret not in text
