"""What a user does with a cluster, for a test; run by `python cluster/local/up.py -- …`.

    python cluster/local/up.py -- python tests/submitting.py FOLDER SEED

uploads the table and the graph that lie in the folder, submits a job on the table, submits it
again, watches it, collects it; submits one for each of the other methods; stops and resumes
another one; asks without a token. Prints as JSON what was seen, and keeps in FOLDER/kept what
Ray itself has written down or shows to whoever asks.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from distanon import job
from distanon.errors import DistanonError
from distanon.runtime.submission import JobServer
from distanon.spec import parse
from distanon.storage.store import Store
from distanon.sweep import collect, resume_on, submit

NAME = "submitted"
STUCK = "stuck"
WAIT_S = 120.0
SPEC = """
spec: 1
name: {name}
seed: {seed}
input:
  table:
    path: s3://input/people.parquet
    columns:
      person: identifier
      age: quasi_identifier
      income: quasi_identifier
      sick: sensitive
method: {{name: {method}}}
measure: {{draws: 1}}
runtime: {{cpus_per_worker: {cpus}, partitions: 6}}
output: s3://releases/{name}/
private: s3://private/{name}/
"""
GRAPH = """
spec: 1
name: {name}
seed: {seed}
input:
  graph:
    edges: s3://input/edges.parquet
    nodes: s3://input/nodes.parquet
    columns: {{passport: identifier, town: quasi_identifier, school: sensitive}}
method: {{name: {method}}}
measure: {{draws: 1}}
runtime: {{cpus_per_worker: {cpus}}}
output: s3://releases/{name}/
private: s3://private/{name}/
"""
DPTPE = "dptpe, k: 5"
OTHERS = {
    "rebuilt": (SPEC, "reconstruction, k: 4, individuals: 4, generations: 3"),
    "social": (GRAPH, "kmfc_gwo, k: 4, l: 2, wolves: 3, iterations: 3"),
}
SHOWN = (
    "v0/actors?detail=1",
    "v0/tasks?detail=1",
    "v0/workers?detail=1",
    "v0/objects?detail=1",
    "v0/jobs?detail=1",
    "v0/runtime_envs?detail=1",
    "v0/cluster_events",
    "cluster_status",
    "jobs/",
)
"""What the dashboard answers to whoever has the token."""


def session() -> Path:
    """Where the head keeps its session."""
    return Path(os.environ["RAY_AUTH_TOKEN_PATH"]).parent / "ray"


def family() -> set[int]:
    """Processes of the cluster, of S3 and of this story."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            parents[int(stat.parent.name)] = int(fields[1])
    ours = {os.getppid()}
    while more := {one for one, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return ours


def command_of(process: int) -> str:
    """What a process was started as, where it still is there."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def listening() -> list[str]:
    """Who of the cluster and S3 listens elsewhere than on 127.0.0.1, as NAME PORT."""
    sockets: dict[str, str] = {}
    for one in family():
        with contextlib.suppress(OSError):
            name = Path(f"/proc/{one}/comm").read_text().strip()
            links = [file.readlink().name for file in Path(f"/proc/{one}/fd").iterdir()]
            sockets |= {link[8:-1]: name for link in links if link.startswith("socket:")}
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                found.append((sockets[fields[9]], *fields[1].split(":")))
    assert len(found) > 10, "nobody listens"
    loopback = ("0100007F", "00000000000000000000000001000000")
    return [f"{name} {int(port, 16)}" for name, at, port in found if not at.endswith(loopback)]


def credentials() -> list[bytes]:
    """The secret of S3, and the cluster's token."""
    token = Path(os.environ["RAY_AUTH_TOKEN_PATH"]).read_bytes()
    return [os.environ["AWS_SECRET_ACCESS_KEY"].encode(), token]


def keep(kept: Path, name: str) -> None:
    """Keeps what the dashboard shows now."""
    kept.mkdir(exist_ok=True)
    token = Path(os.environ["RAY_AUTH_TOKEN_PATH"]).read_text()
    for path in SHOWN:
        asked = urllib.request.Request(
            f"{os.environ['DISTANON_ADDRESS']}/api/{path}",
            headers={"Authorization": f"Bearer {token}"},
        )
        place = kept / f"{name}-{path.partition('?')[0].replace('/', '-')}.json"
        try:
            with urllib.request.urlopen(asked, timeout=30) as page:
                place.write_bytes(page.read())
        except urllib.error.HTTPError as refused:  # what it says then counts too
            place.write_bytes(refused.read())


def answer(*command: str, **changed: str) -> dict[str, Any]:
    """What a command of distanon says."""
    environment = os.environ | changed
    done = subprocess.run(
        [sys.executable, "-m", "distanon", *command],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        timeout=WAIT_S,
    )
    return {"code": done.returncode, "out": done.stdout, "said": done.stdout + done.stderr}


def metrics(kept: Path) -> str:
    """What every node shows to everybody now, of distanon; all of it is kept."""
    found = []
    for file in session().glob("prom_metrics_service_discovery.json"):
        for target in json.loads(file.read_text())[0]["targets"]:
            try:
                with urllib.request.urlopen(f"http://{target}/metrics", timeout=5) as page:
                    text = page.read().decode()
            except OSError:
                continue
            with (kept / "metrics.prom").open("a") as every:
                every.write(text)
            found += [line for line in text.splitlines() if line.startswith("ray_distanon")]
    return "\n".join(found)


def watched(server: JobServer, run_id: str, kept: Path) -> dict[str, Any]:
    """What a run shows from now to its end, and what it leaves in public."""
    seen = ""
    keep(kept, f"{run_id}-begun")
    while server.require(run_id).is_under_way:
        seen += metrics(kept)
        time.sleep(0.5)
    keep(kept, f"{run_id}-ended")
    ended = server.require(run_id)
    release = Store(f"s3://releases/{run_id.rpartition('-')[0]}/")
    return {
        "ended": dataclasses.asdict(ended),
        "log": server.log(run_id),
        "info": str(server._client.get_job_info(run_id)),
        "metrics": seen,
        "release": {
            entry.name: release.read(entry.name).hex()
            for entry in release.list()
            if entry.name not in {"_SUCCESS", "_CLAIM"}
        },
    }


def submitted(server: JobServer, seed: str, kept: Path) -> dict[str, Any]:
    """A job from its submission to its figures."""
    spec = parse(SPEC.format(name=NAME, seed=seed, cpus=1, method=DPTPE))
    (run,) = submit(spec, server).runs
    (again,) = submit(spec, server).runs
    found = watched(server, run.run_id, kept)
    (late,) = submit(spec, server).runs
    figures = collect([f"s3://private/{NAME}/"])
    return found | {
        "ids": [run.run_id, again.run_id, late.run_id],
        "submissions": [one.submission_id for one in server._all()],
        "followed": "".join(server.follow(run.run_id)),
        "collected": figures.runs,
        "figures": figures.table.num_rows,
        "run": json.loads(Store(found["ended"]["private"], private=True).read("run.json")),
    }


def others(server: JobServer, seed: str, kept: Path) -> dict[str, Any]:
    """A job of each of the other methods, one after another, by the command line."""
    found = {}
    for name, (text, method) in OTHERS.items():
        file = kept.parent / f"{name}.yaml"
        file.write_text(text.format(name=name, seed=seed, cpus=1, method=method))
        told = answer("submit", str(file), "--json")
        if told["code"]:
            raise SystemExit(told["said"])
        (run,) = json.loads(told["out"])["runs"]
        found[name] = watched(server, run["run_id"], kept)
    return found


def stopped(server: JobServer, seed: str) -> dict[str, Any]:
    """A job that waits for a worker that never comes: stopped, resumed, stopped again."""
    spec = parse(SPEC.format(name=STUCK, seed=seed, cpus=64, method=DPTPE))
    private = spec.private_prefix()
    told = {"refused": ""}
    try:
        submit(spec, server)
    except DistanonError as error:
        told["refused"] = str(error)
    store = Store(private, private=True)
    place = store.place("spec.yaml")
    store.write("spec.yaml", spec.to_yaml().encode())
    server.start(spec.run_id, ["run", place], private)
    first = stop(server, spec.run_id, private)
    standing = job.standing(private)
    second = resume_on(server, private, spec.run_id)
    asked_again = resume_on(server, private, spec.run_id)
    last = stop(server, spec.run_id, private)
    return told | {
        "first": dataclasses.asdict(first),
        "standing": standing,
        "resumed": [second.run_id, asked_again.run_id],
        "last": dataclasses.asdict(last),
    }


def stop(server: JobServer, run_id: str, private: str) -> Any:
    """Stops a run once it waits for workers; how it ended."""
    deadline = time.monotonic() + WAIT_S
    while "waiting for 64 CPUs" not in server.log(run_id) and time.monotonic() < deadline:
        if not server.require(run_id).is_under_way:
            raise SystemExit(f"{run_id} ended early:\n{server.log(run_id)}")
        time.sleep(0.5)
    server.stop(run_id)
    return server.wait(run_id)


def main() -> int:
    """The story, as JSON."""
    folder, seed = Path(sys.argv[1]), sys.argv[2]
    kept = folder / "kept"
    kept.mkdir()
    for name in ("people", "edges", "nodes"):
        file = f"{name}.parquet"
        Store("s3://input/").write(file, (folder / file).read_bytes())
    server = JobServer(os.environ["DISTANON_ADDRESS"])
    story: dict[str, Any] = {
        "nodes": [node.get("CPU", 0.0) for node in server.nodes()],
        "unknown": server.find("nobody") is None,
        "listening": listening(),
        "dashboard": os.environ["DISTANON_ADDRESS"].rpartition(":")[2],
        "commands": [line for one in family() for line in [command_of(one)] if line],
        "modes": {
            str(file): oct(file.stat().st_mode & 0o777)
            for file in (session().parent, Path(os.environ["RAY_AUTH_TOKEN_PATH"]))
        },
        "submitted": submitted(server, seed, kept),
        "others": others(server, seed, kept),
        "holds": {size: server.holds(float(size), None) for size in ("1", "64")},
        "stopped": stopped(server, seed),
    }
    run_id = story["submitted"]["ids"][0]
    story["status"] = answer("status", run_id)
    story["tokenless"] = answer("status", run_id, RAY_AUTH_MODE="disabled")
    story["absent"] = answer("status", run_id, DISTANON_ADDRESS="http://127.0.0.1:9")
    for number, logs in enumerate(session().glob("session_2*/logs")):
        shutil.copytree(logs, kept / f"session-{number}", ignore_dangling_symlinks=True)
    story["credentials"] = [
        str(path)
        for path in kept.rglob("*")
        if path.is_file() and any(one in path.read_bytes() for one in credentials())
    ]
    sys.stdout.write(f"\n{json.dumps(story)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
