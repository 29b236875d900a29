"""Whole runs of reconstruction: what the public files say, and the same bytes whoever works."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from distanon import job as jobs
from distanon.job.journal import Journal
from distanon.storage.store import Store

METHOD = "method={name: reconstruction, k: 4, individuals: 6, generations: 6}"
PAPER = "method={name: reconstruction, mode: paper, k: 4, individuals: 6, generations: 6}"


@pytest.fixture
def undisturbed(job, public_bytes):
    spec = job("serial", METHOD)
    jobs.run_job(spec, serial=True)
    return public_bytes(spec.output)


def test_a_strict_release_has_its_people_verified(job, undisturbed):
    document = json.loads(undisturbed["release.json"])
    (promise,) = document["promises"]
    assert promise["promise"] == "k_anonymity"
    assert promise["measured"]["k"] >= 4
    assert promise["measured"]["counted"] == "people"
    assert document["counts"]["suppressed"] == 0


def test_the_papers_release_says_copies_and_people_and_never_k_anonymous(job):
    spec = job("paper", PAPER)
    result = jobs.run_job(spec, serial=True)
    document = json.loads((Path(spec.output) / "release.json").read_text())
    (promise,) = document["promises"]
    assert promise["promise"] == "copies"
    assert promise["measured"]["copies"] >= 4
    rows = pq.read_table(Path(spec.output) / "data").num_rows
    assert promise["measured"]["source_people"] == rows // 4
    assert promise["measured"]["distinct_source_k"] >= 1
    for page in (result.report, Path(spec.output) / "report-public.html"):
        text = Path(page).read_text()
        assert "source people" in text.replace("_", " ")


@pytest.mark.ray
def test_a_worker_killed_in_mid_search_changes_no_byte(
    job, public_bytes, undisturbed, ray_cluster, killer_in
):
    spec = job("killed", METHOD, f"runtime.address={ray_cluster.address}", "runtime.workers=2")
    killer = killer_in("generations")
    result = jobs.run_job(spec, progress=killer)
    assert killer.killed
    assert public_bytes(spec.output) == undisturbed
    assert Journal(Store(result.private)).read_run()["survived"]["workers_lost"] >= 1
