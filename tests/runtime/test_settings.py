from __future__ import annotations

import pytest
from pydantic import ValidationError

from distanon.runtime.settings import RuntimeSettings


@pytest.mark.parametrize(
    ("text", "size"),
    [("512MiB", 512 << 20), ("1.5 GB", 1_500_000_000), ("2g", 2 * 10**9), ("4096", 4096), (7, 7)],
)
def test_memory_is_written_as_people_write_it(text, size):
    assert RuntimeSettings(memory_per_worker=text).memory_per_worker == size


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("workers", 0),
        ("workers", "many"),
        ("partitions", 0),
        ("memory_per_worker", "much"),
        ("memory_per_worker", 0),
        ("cpus_per_worker", 0),
        ("cpus_per_worker", 1.5),
        ("cpus_per_worker", float("inf")),
        ("timeout_s", 0),
        ("max_failures", -1),
        ("checkpoint_every", 0),
        ("address", "http://head:8265"),
        ("wokers", 2),
    ],
)
def test_what_cannot_be_meant_is_refused(setting, value):
    with pytest.raises(ValidationError):
        RuntimeSettings(**{setting: value})


def test_a_job_server_is_told_from_a_cluster():
    with pytest.raises(ValidationError, match="distanon submit"):
        RuntimeSettings(address="http://head:8265")


def test_defaults_are_those_of_the_contract():
    assert RuntimeSettings().model_dump() == {
        "address": None,
        "workers": "auto",
        "partitions": "auto",
        "checkpoint_every": 10,
        "max_failures": 3,
        "memory_per_worker": "auto",
        "cpus_per_worker": 1,
        "timeout_s": None,
    }
