"""What a user does with a cluster, for a test; run by `python cluster/local/up.py -- …`.

    python cluster/local/up.py -- python tests/submitting.py TABLE.parquet SEED

uploads the table, submits a job on it, submits it again, watches it, collects it; stops and
resumes another one; asks without a token. Prints as JSON what was seen.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import time
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
method: {{name: dptpe, k: 5}}
measure: {{draws: 1}}
runtime: {{cpus_per_worker: {cpus}, partitions: 6}}
output: s3://releases/{name}/
private: s3://private/{name}/
"""


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
    return {"code": done.returncode, "said": done.stdout + done.stderr}


def metrics() -> str:
    """What every node shows to everybody now, of distanon."""
    session = Path(os.environ["RAY_AUTH_TOKEN_PATH"]).parent / "ray"
    found = []
    for file in session.glob("prom_metrics_service_discovery.json"):
        for target in json.loads(file.read_text())[0]["targets"]:
            try:
                with urllib.request.urlopen(f"http://{target}/metrics", timeout=5) as page:
                    lines = page.read().decode().splitlines()
            except OSError:
                continue
            found += [line for line in lines if line.startswith("ray_distanon")]
    return "\n".join(found)


def submitted(server: JobServer, seed: str) -> dict[str, Any]:
    """A job from its submission to its figures."""
    spec = parse(SPEC.format(name=NAME, seed=seed, cpus=1))
    (run,) = submit(spec, server).runs
    (again,) = submit(spec, server).runs
    seen = ""
    while server.require(run.run_id).is_under_way:
        seen += metrics()
        time.sleep(0.5)
    (late,) = submit(spec, server).runs
    ended = server.require(run.run_id)
    release = Store("s3://releases/submitted/")
    figures = collect(["s3://private/submitted/"])
    return {
        "ids": [run.run_id, again.run_id, late.run_id],
        "submissions": [one.submission_id for one in server._all()],
        "ended": dataclasses.asdict(ended),
        "log": server.log(run.run_id),
        "followed": "".join(server.follow(run.run_id)),
        "info": str(server._client.get_job_info(run.run_id)),
        "metrics": seen,
        "release": {
            entry.name: release.read(entry.name).hex()
            for entry in release.list()
            if entry.name not in {"_SUCCESS", "_CLAIM"}
        },
        "collected": figures.runs,
        "figures": figures.table.num_rows,
        "run": json.loads(Store(ended.private, private=True).read("run.json")),
    }


def stopped(server: JobServer, seed: str) -> dict[str, Any]:
    """A job that waits for a worker that never comes: stopped, resumed, stopped again."""
    spec = parse(SPEC.format(name=STUCK, seed=seed, cpus=64))
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
    table, seed = sys.argv[1:]
    Store("s3://input/").write("people.parquet", Path(table).read_bytes())
    server = JobServer(os.environ["DISTANON_ADDRESS"])
    story = {
        "nodes": [node.get("CPU", 0.0) for node in server.nodes()],
        "unknown": server.find("nobody") is None,
        "submitted": submitted(server, seed),
        "stopped": stopped(server, seed),
    }
    run_id = story["submitted"]["ids"][0]
    story["status"] = answer("status", run_id)
    story["tokenless"] = answer("status", run_id, RAY_AUTH_MODE="disabled")
    story["absent"] = answer("status", run_id, DISTANON_ADDRESS="http://127.0.0.1:9")
    sys.stdout.write(f"\n{json.dumps(story)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
