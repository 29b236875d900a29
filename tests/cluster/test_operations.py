"""What operators are told stands in the tree: documents, places, ports, settings."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "operations.md").read_text()


def section(title):
    return TEXT.split(f"## {title}\n")[1].split("\n## ")[0]


def test_every_file_that_is_named_exists():
    named = set(re.findall(r"`((?:cluster|distanon|benchmarks)/[\w./*-]+)`", TEXT))
    assert len(named) >= 7
    for name in named:
        assert list(ROOT.glob(name.rstrip("/"))), name


def test_every_command_that_is_named_exists():
    named = {one for one in re.findall(r"`distanon (\w+)", TEXT) if one != "resume"}
    assert len(named) >= 5
    said = subprocess.run(
        [sys.executable, "-m", "distanon", "--help"],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    for name in named:
        assert re.search(rf"\b{name}\b", said), name


def test_the_ports_that_stay_open_are_those_of_the_manifests():
    table = section("What stays open on the network")
    told = {int(port) for port in re.findall(r"^\| (\d+)", table, re.MULTILINE)}
    cluster = yaml.safe_load((ROOT / "cluster/kuberay/raycluster.yaml").read_text())
    (head,) = cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"]
    assert {port["containerPort"] for port in head["ports"]} <= told


@pytest.mark.parametrize(
    "subject",
    ["Network", "TLS", "Token", "Identities", "Spill disk", "Temporary files", "Abandoned uploads",
     "Retention of the private prefix", "Seed", "Logs and metrics"],
)  # fmt: skip
def test_the_checklist_names_what_must_be_settled_beforehand(subject):
    assert f"- [ ] **{subject}**: " in section("Before the first run on real data")


def test_the_days_that_are_told_are_those_of_the_lifecycles():
    rules = json.loads((ROOT / "cluster/s3/lifecycle-private.json").read_text())["Rules"]
    (kept,) = [rule["Expiration"]["Days"] for rule in rules if "Expiration" in rule]
    (ended,) = [
        rule["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"]
        for rule in rules
        if "AbortIncompleteMultipartUpload" in rule
    ]
    assert f"deletes runs after {kept} days" in TEXT
    assert f"unfinished multipart uploads after {ended} days" in TEXT
