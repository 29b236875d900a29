"""A session of one's own: alone on the machine, and gone afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from distanon.errors import ClusterError
from distanon.runtime import crew, session
from distanon.runtime.pinning import worker_environment
from distanon.runtime.seclusion import environment
from distanon.runtime.settings import RuntimeSettings

RUN = """
import json
import os
import time

def pins(_shared, _item):
    return dict(os.environ)

def work(_shared, item):
    time.sleep(item)
    return item

if __name__ == "__main__":
    from distanon.runtime import crew
    from distanon.runtime.settings import RuntimeSettings
    import ray

    with crew(RuntimeSettings(workers=1)) as workers:
        print(ray.get_runtime_context().gcs_address, len(ray.nodes()), flush=True)
        print(ray._private.worker._global_node.get_session_dir_path(), flush=True)
        print(json.dumps([*workers.map(pins, [0]), dict(os.environ)]), flush=True)
        print("busy", flush=True)
        list(workers.map(work, [600.0]))
"""


def start(tmp_path, name, **variables):
    """Runs the script in a session (of processes) of its own, up to "busy"."""
    (tmp_path / name).mkdir()
    script = tmp_path / name / "script.py"
    script.write_text(RUN)
    pins = worker_environment(1).keys() - {"NUMBA_CACHE_DIR"}  # that is for all processes
    kept = {k: v for k, v in os.environ.items() if not k.startswith("RAY_") and k not in pins}
    return subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=(tmp_path / name / "stderr").open("w"),
        text=True,
        env=kept | variables,
        start_new_session=True,
    )


def members(group):
    """Living processes of a session of processes."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == group and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def wait_until(condition, seconds=15.0):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.1)
    return condition()


@pytest.fixture(params=["ctrl-c", "sigterm", pytest.param("killed", marks=pytest.mark.slow)])
def ended(request, ray_address, tmp_path):
    """A session that started beside another Ray and was ended: its folder, what it said."""
    run = start(tmp_path, request.param, RAY_ADDRESS=ray_address)
    try:
        address, nodes = run.stdout.readline().split()
        assert address != ray_address
        assert nodes == "1"
        folder = Path(run.stdout.readline().strip()).parents[1]
        assert folder.stat().st_mode & 0o077 == 0, "what spills there is raw data"
        worker, driver = json.loads(run.stdout.readline())
        assert worker_environment(1).items() <= worker.items()
        assert "OMP_NUM_THREADS" not in driver, "what workers are given stays with them"
        assert run.stdout.readline() == "busy\n"
        assert len(members(run.pid)) > 4
        if request.param == "ctrl-c":
            os.killpg(run.pid, signal.SIGINT)
        else:
            run.send_signal(signal.SIGTERM if request.param == "sigterm" else signal.SIGKILL)
        run.wait(60)
        if request.param == "killed":
            os.utime(folder, (0, 0))
            session._sweep(folder.parent)  # what the next session does first
        assert wait_until(lambda: not members(run.pid)), "processes are left"
    finally:
        for pid in members(run.pid):
            os.kill(pid, signal.SIGKILL)
        run.stdout.close()
    return request.param, folder, (tmp_path / request.param / "stderr").read_text()


@pytest.mark.ray
def test_an_own_session_is_alone_and_leaves_nothing_when_it_is_ended(ended):
    how, folder, stderr = ended
    if how == "killed":
        assert stderr == ""
    else:
        assert stderr.startswith("Traceback")  # Ray has said nothing
        assert stderr.rstrip().endswith("KeyboardInterrupt")
    assert not folder.exists()


@pytest.mark.ray
def test_a_submitted_job_joins_the_cluster_that_runs_it(ray_address, monkeypatch):
    import ray

    monkeypatch.setenv("RAY_ADDRESS", ray_address)
    monkeypatch.setenv("RAY_JOB_CONFIG_JSON_ENV_VAR", '{"metadata": {}}')
    with session.session(RuntimeSettings()) as own:
        assert not own
        assert ray.get_runtime_context().gcs_address == ray_address
    assert not ray.is_initialized()


def test_an_address_where_nobody_answers_is_named_at_once():
    began = time.monotonic()
    with (
        pytest.raises(ClusterError, match=r"no Ray cluster answers at 127\.0\.0\.1:9"),
        crew(RuntimeSettings(address="127.0.0.1:9")),
    ):
        pass
    assert time.monotonic() - began < 20


def test_the_folder_of_a_living_session_is_not_swept(tmp_path):
    with session._root() as root:
        os.utime(root, (0, 0))
        session._sweep(root.parent)
        assert root.is_dir()
        assert root.stat().st_mode & 0o077 == 0
    assert not root.exists()


@pytest.mark.parametrize(
    ("free_shared", "place"), [(24 << 30, "/dev/shm"), (64 << 20, "below"), (0, "below")]
)
def test_shared_objects_lie_in_memory_that_has_room(monkeypatch, tmp_path, free_shared, place):
    def usage(path):
        return type("Usage", (), {"free": free_shared if str(path) == "/dev/shm" else 100 << 30})

    monkeypatch.setattr(session.shutil, "disk_usage", usage)
    monkeypatch.setattr(session, "_free_memory", lambda: 8 << 30)
    directory, size = session._store(tmp_path)
    assert directory == (Path("/dev/shm") if place == "/dev/shm" else tmp_path)
    assert size == (8 << 30) * 3 // 10


def test_variables_are_set_for_a_block_and_put_back(monkeypatch):
    monkeypatch.setenv("DISTANON_A", "user's")
    monkeypatch.delenv("DISTANON_B", raising=False)
    with environment({"DISTANON_A": "ours", "DISTANON_B": "ours"}):
        assert (os.environ["DISTANON_A"], os.environ["DISTANON_B"]) == ("user's", "ours")
    with environment({"DISTANON_A": "ours"}, replace=True):
        assert os.environ["DISTANON_A"] == "ours"
    assert os.environ["DISTANON_A"] == "user's"
    assert "DISTANON_B" not in os.environ
