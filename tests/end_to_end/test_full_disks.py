"""A small whole job where the disk is full at one place or another."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from distanon import job as jobs
from distanon.errors import StorageError
from distanon.spec import parse
from distanon.storage.store import Store

SPEC = """
spec: 1
name: full
seed: 20240229000000000000000000000000000001
input:
  table:
    path: builtin:forest-fires
    columns: {{area: sensitive}}
    default_role: quasi_identifier
method: {{name: dptpe, k: 10}}
measure: {{draws: 1, budget_s: 0.001}}
output: {output}
private: {private}
"""


@pytest.fixture
def small(tmp_path):
    """Makes disks of so many bytes that can grow: `small("out", 8192)` gives folder and growth."""
    mounted: list[Path] = []

    def mount(name: str, size: int):
        folder = tmp_path / name
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("mounting a small disk needs root")
        mounted.append(folder)

        def grow() -> None:
            subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)

        return folder, grow

    yield mount
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    jobs.run_job(parse(SPEC.format(output=folder / "out", private=folder / "private")), serial=True)
    return released(f"{folder}/out")


def released(output: str) -> dict[str, bytes]:
    store = Store(output)
    names = [entry.name for entry in store.list(leftovers=True) if entry.name != "_SUCCESS"]
    return {name: store.read(name) for name in names if name != "report-public.html"}


@pytest.mark.parametrize(
    ("full", "size"), [("private", 16384), ("private", 40960), ("output", 4096), ("output", 20480)]
)
def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(
    small, tmp_path, undisturbed, full, size
):
    disk, grow = small("disk", size)
    places = {"private": tmp_path / "private", "output": tmp_path / "out"}
    spec = parse(SPEC.format(**(places | {full: disk / "here"})))
    with pytest.raises(StorageError, match=r"no room left .*distanon resume"):
        jobs.run_job(spec, serial=True)
    assert not Store(spec.output).exists("_SUCCESS")
    grow()
    jobs.resume(spec, serial=True)
    assert released(spec.output) == undisturbed
    run = json.loads((Path(spec.private) / "run.json").read_text())
    assert run["status"] == "done"


@pytest.mark.s3
def test_a_full_folder_for_temporary_files_is_named(
    small, s3_environment, monkeypatch, undisturbed
):
    disk, grow = small("temporary", 4096)
    buckets = s3_environment.bucket(), s3_environment.bucket()
    spec = parse(SPEC.format(output=f"s3://{buckets[0]}/out", private=f"s3://{buckets[1]}/run"))
    monkeypatch.setattr("tempfile.tempdir", str(disk))
    with pytest.raises(StorageError, match=rf"{disk}: no room left to make .*distanon resume"):
        jobs.run_job(spec, serial=True)
    assert list(disk.iterdir()) == []
    grow()
    jobs.resume(spec, serial=True)
    assert released(spec.output) == undisturbed
