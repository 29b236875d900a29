import json
import os
import signal
import subprocess
import sys

import pytest

from distanon.errors import ResumeError
from distanon.storage.leftovers import attempts, clean
from distanon.storage.store import Store

HEADER = json.dumps({"spec": "a-1", "input": "i", "version": "v", "seed": "s"}).encode()


def names(store: Store) -> list[str]:
    return [entry.name for entry in store.list(leftovers=True)]


@pytest.mark.parametrize("name", ["staging", "checkpoint"])
def test_clean_spares_a_finished_run_that_is_called_like_a_working_folder(place, name):
    run = Store(f"{place}/{name}/{name}-0123abcd")
    run.write("mapping/part-00000.parquet", b"rows")
    run.write("run.json", b'{"run_id": "a-1"}')
    run.write("checkpoint/HEADER.json", HEADER)
    assert [one.files for one in clean(place)] == [1]
    assert names(run) == ["mapping/part-00000.parquet", "run.json"]


def test_an_attempt_is_named_by_its_nonce_and_its_record_and_by_nothing_else(place):
    private = Store(place)
    private.write(f"staging/{'0a' * 16}/attempt.json", b"{}")
    private.write(f"staging/{'0b' * 16}/data/attempt.json", b"rows")
    private.write("staging/notes.txt", b"mine")
    assert attempts(private) == ["0a" * 16]


FOREIGN = {
    f"staging/{'0c' * 16}/model.bin": b"mine",
    "staging/notes.txt": b"mine",
    "checkpoint/weights-3.pt": b"mine",
    "checkpoint/HEADER.json": b'{"title": "mine"}',
    "a/checkpoint/HEADER.json": b"mine",
    "run.json": b"[]",
}


def test_clean_touches_no_folder_that_merely_has_the_names_of_ours(place):
    foreign = Store(place)
    for name, content in FOREIGN.items():
        foreign.write(name, content)
    with pytest.raises(ResumeError, match="no run of distanon"):
        clean(place)
    assert names(foreign) == sorted(FOREIGN)


def test_clean_spares_a_checkpoint_of_others_beside_a_run(place):
    run = Store(place)
    run.write("run.json", b'{"run_id": "a-1"}')
    run.write("checkpoint/weights-3.pt", b"mine")
    assert clean(place) == []
    assert names(run) == ["checkpoint/weights-3.pt", "run.json"]


def test_a_place_that_is_not_there_can_not_be_cleaned(place):
    with pytest.raises(ResumeError, match="no run of distanon"):
        clean(f"{place}/nowhere")


def test_clean_removes_files_that_a_crash_left_before_they_were_whole(tmp_path):
    run = Store(str(tmp_path), private=True)
    run.write("run.json", b'{"run_id": "a-1"}')
    half = ".run.json.0123456789abcdef.tmp"
    for name in (half, f"held/data/{half}", f"applied/x/{half}"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"half")
    assert [one.files for one in clean(str(tmp_path))] == [2]
    assert names(run) == [f"applied/x/{half}", "run.json"]


@pytest.mark.s3
def test_clean_ends_uploads_that_nobody_goes_on_with(s3_environment, bucket):
    import s3fs

    client = s3fs.S3FileSystem(skip_instance_cache=True)
    run = Store(f"s3://{bucket}/uploads/run", private=True)
    run.write("run.json", b'{"run_id": "a-1"}')
    for key in ("run/checkpoint/a.parquet", "run-2/checkpoint/a.parquet"):
        begun = {"Bucket": bucket, "Key": f"uploads/{key}"}
        upload = client.call_s3("create_multipart_upload", **begun)
        part = begun | {"UploadId": upload["UploadId"], "PartNumber": 1}
        client.call_s3("upload_part", **part, Body=b"original data")
    assert [one.files for one in clean(run.url)] == [1]
    left = client.call_s3("list_multipart_uploads", Bucket=bucket, Prefix="uploads/")["Uploads"]
    assert [one["Key"] for one in left] == ["uploads/run-2/checkpoint/a.parquet"]


_VICTIM = """
import os, signal, sys, tempfile
from distanon.storage.store import Store

def produce(out):
    out.write(b"original data" * 100_000)
    out.flush()
    os.kill(os.getpid(), signal.SIGKILL)

tempfile.tempdir = sys.argv[2]
Store(sys.argv[1]).write_with("a", produce)
"""


@pytest.mark.s3
def test_a_process_killed_while_it_uploads_leaves_nothing(s3_environment, bucket, tmp_path):
    store = Store(f"s3://{bucket}/killed")
    victim = [sys.executable, "-c", _VICTIM, store.url, str(tmp_path)]
    killed = subprocess.run(victim, env=os.environ, check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert list(tmp_path.iterdir()) == []
    assert names(store) == []
