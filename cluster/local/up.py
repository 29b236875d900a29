"""A Ray cluster and an S3 server on this machine, without Docker: a head and two workers.

    python cluster/local/up.py                      # stands until Ctrl-C; prints what to export
    python cluster/local/up.py -- distanon submit … # stands as long as the command; its exit code

The head takes no items; its dashboard listens on 127.0.0.1 alone, as S3 does, and all nodes ask
everybody for a token. Ray's own ports listen on all addresses: a node that joins at 127.0.0.1 looks
for the head at the machine's own address, where it has one, and would not find it. The server of
Ray's client (10001), which distanon does not use, is not started.
Everything lies in one temporary folder that goes at the end. Needs the development environment
(`make demo` makes it).
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from s3_server import S3Server

READY_S = 180.0
STOP_S = 15.0
_AGENTS = (
    "--dashboard-agent-listen-port",
    "--dashboard-agent-grpc-port",
    "--runtime-env-agent-port",
    "--metrics-export-port",
)
# Nodes on one machine would draw their workers' ports from the same range: the system gives them.
_WORKERS = ("--min-worker-port=0", "--max-worker-port=0")
# `ray start` has no setting that leaves the client's server away: where there is grpc it starts.
_RAY = """
import sys
from ray.scripts import scripts
scripts.get_ray_client_dependency_error = lambda: ImportError("left away")
sys.exit(scripts.main())
"""
_STARTS_AGAIN = 4  # a node gives its agents 15 s to come up, however busy the machine is


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


Process = subprocess.Popen[bytes]


def ray_start(folder: Path, environment: dict[str, str], *arguments: str) -> Process:
    """One node of the cluster, with ports of its own, as a process group."""
    ports = [*_WORKERS, *(f"{name}={free_port()}" for name in _AGENTS)]
    log = (folder / f"node-{secrets.token_hex(4)}.log").open("wb")
    own = ["--block", "--disable-usage-stats", "--node-ip-address=127.0.0.1", *ports]
    return subprocess.Popen(
        [sys.executable, "-c", _RAY, "start", *own, *arguments],
        env=environment,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def end(process: Process) -> None:
    """Ends a node with all that it started."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_S)


@contextlib.contextmanager
def cluster(workers: int, cpus: int) -> Iterator[dict[str, str]]:
    """Head, workers and S3 for the time of the block.

    Yields:
        What a client's environment needs: addresses, the token's file, the writer's credentials.
    """
    folder = Path(
        tempfile.mkdtemp(prefix="up-", dir="/tmp")
    )  # 0700; Ray's sockets need a short path
    token = folder / "token"
    token.touch(mode=0o600)
    token.write_text(secrets.token_hex(32))
    bin_folder = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        "PATH": f"{bin_folder}:{os.environ.get('PATH', '')}",  # a head runs the first `python`
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    }
    nodes: list[Process] = []
    gcs, dashboard = free_port(), free_port()
    try:
        with S3Server() as server:
            for bucket in ("input", "releases", "private"):
                server.bucket(bucket)
            environment |= server.environment(server.writer)
            head = [f"--port={gcs}", f"--dashboard-port={dashboard}", "--num-cpus=0", "--head"]
            head += ["--dashboard-host=127.0.0.1", f"--temp-dir={folder / 'ray'}"]
            join = [f"--address=127.0.0.1:{gcs}", f"--num-cpus={cpus}"]
            environment["DISTANON_ADDRESS"] = f"http://127.0.0.1:{dashboard}"
            # One after another: two at once would take the same name for their sockets.
            for arguments in (head, *[join] * workers):
                start = functools.partial(ray_start, folder, environment, *arguments)
                nodes.append(start())
                wait_for_nodes(environment["DISTANON_ADDRESS"], token, nodes, folder, start)
            yield environment
    finally:
        for node in reversed(nodes):  # all are told before one is waited for
            with contextlib.suppress(ProcessLookupError):
                os.killpg(node.pid, signal.SIGTERM)
        for node in reversed(nodes):
            end(node)
        shutil.rmtree(folder, ignore_errors=True)


def wait_for_nodes(
    url: str, token: Path, nodes: list[Process], folder: Path, start: Callable[[], Process]
) -> None:
    """Until all nodes are alive; the last one is started again when it took too long to join."""
    asked = urllib.request.Request(
        f"{url}/api/v0/nodes", headers={"Authorization": f"Bearer {token.read_text()}"}
    )
    deadline, left = time.monotonic() + READY_S, _STARTS_AGAIN
    while True:
        with contextlib.suppress(OSError), urllib.request.urlopen(asked, timeout=10) as answer:
            found = json.load(answer)["data"]["result"]["result"]
            if sum(node["state"] == "ALIVE" for node in found) >= len(nodes):
                return
        if nodes[-1].poll() is not None and left:
            end(nodes[-1])
            nodes[-1], left = start(), left - 1
            deadline = time.monotonic() + READY_S
        if time.monotonic() > deadline or any(node.poll() is not None for node in nodes):
            raise SystemExit(f"a node does not start:\n{logs_of(folder)}")
        time.sleep(0.5)


def logs_of(folder: Path) -> str:
    """The end of what the nodes have said."""
    files = sorted(folder.glob("node-*.log"))
    return "".join(f"{file.name}:\n{file.read_text()[-2000:]}\n" for file in files)


def main() -> int:
    """Starts it all, runs the command or waits, ends it all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=2, help="worker nodes")
    parser.add_argument("--cpus", type=int, default=1, help="CPUs of each")
    parser.add_argument("command", nargs="*", help="after --: run it and stop")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with cluster(asked.workers, asked.cpus) as environment:
        if asked.command:
            return subprocess.run(asked.command, env=environment, check=False).returncode
        new = {name: value for name, value in environment.items() if os.environ.get(name) != value}
        for name, value in sorted(new.items()):
            print(f"export {name}={value}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main())
