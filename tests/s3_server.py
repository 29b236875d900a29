"""A real S3 server (SeaweedFS) with authentication on, for tests and `make demo-s3`.

    python tests/s3_server.py --bucket demo --upload FILE demo/KEY --download demo FOLDER \
        --run COMMAND …

starts a server in a fresh folder, makes the buckets, uploads the files, runs COMMAND with the
endpoint and the writer's credentials in its environment, downloads what is to be kept, and ends
with the command's exit code.
Several servers can stand side by side: every port is free and chosen anew.
"""

from __future__ import annotations

import argparse
import contextlib
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
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

READY_S = 60.0


@dataclass(frozen=True)
class Identity:
    """Who asks: a key pair made for this server alone."""

    name: str
    actions: tuple[str, ...]
    policy: str = ""  # an IAM policy document; what it grants adds to the actions
    key: str = field(default_factory=lambda: "AK" + secrets.token_hex(9).upper())
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(30))


class S3Server:
    """One server: admin may all, writer reads and writes, reader reads, stranger may nothing here.

    Args:
        folder: where it keeps its data; made anew and removed with the server where None.
        others: more identities.
    """

    def __init__(self, folder: Path | None = None, others: tuple[Identity, ...] = ()) -> None:
        self._made = folder is None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="s3-"))
        self.admin = Identity("admin", ("Admin", "Read", "List", "Tagging", "Write"))
        self.writer = Identity("writer", ("Read", "List", "Tagging", "Write"))
        self.reader = Identity("reader", ("Read", "List"))
        self.stranger = Identity("stranger", ("Read:elsewhere", "List:elsewhere"))
        self._identities = (self.admin, self.writer, self.reader, self.stranger, *others)
        self._process: subprocess.Popen[bytes] | None = None
        self._buckets = 0

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> Self:
        """Starts it and waits until it answers.

        Raises:
            RuntimeError: it did not answer in time; says where its log is.
        """
        weed = shutil.which("weed", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        if weed is None:
            message = "no `weed` beside this Python: install the development requirements"
            raise RuntimeError(message)
        config = self.folder / "s3.json"
        config.write_text(json.dumps(_access(self._identities)))
        (self.folder / "data").mkdir(exist_ok=True)
        with (self.folder / "weed.log").open("ab") as log:
            self._process = subprocess.Popen(
                [weed, *self._arguments(config)],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=os.environ | {"WEED_S3_SSE_KEK": secrets.token_hex(32)},
                start_new_session=True,
            )
        self._wait()
        return self

    def kill(self) -> None:
        """SIGKILL: a graceful stop takes nine seconds, and a crash is what some tests want."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def environment(self, identity: Identity | None = None) -> dict[str, str]:
        """What a process needs to reach the server as somebody (the writer, unless named)."""
        identity = identity or self.writer
        return {
            "AWS_ENDPOINT_URL_S3": self.endpoint,
            "AWS_ACCESS_KEY_ID": identity.key,
            "AWS_SECRET_ACCESS_KEY": identity.secret,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def bucket(self, name: str | None = None) -> str:
        """Makes a bucket of its own for whoever asks, and returns its name."""
        self._buckets += 1
        name = name or f"bucket-{self._buckets}"
        self._client().mkdir(name)
        return name

    def upload(self, file: Path, place: str) -> None:
        """Puts a local file at BUCKET/KEY."""
        self._client().put_file(str(file), place)

    def download(self, place: str, folder: Path) -> None:
        """Gets all objects below BUCKET/PREFIX into a local folder, for its owner alone."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        client = self._client()
        for key in client.find(place):
            target = folder / key[len(place.rstrip("/")) + 1 :]
            target.parent.mkdir(parents=True, exist_ok=True)
            client.get_file(key, str(target))

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()
        if self._made:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _client(self):
        import s3fs  # imported late: --help and the fixtures of other tests do without

        return s3fs.S3FileSystem(
            key=self.admin.key,
            secret=self.admin.secret,
            endpoint_url=self.endpoint,
            skip_instance_cache=True,
        )

    def _arguments(self, config: Path) -> list[str]:
        names = ("master", "volume", "filer", "s3")
        free = _free_ports(2 * len(names))
        ports = dict(zip(names, free, strict=False))
        grpc = dict(zip(names, free[len(names) :], strict=True))
        self.port = ports["s3"]
        return [
            "-logtostderr=true",
            "server",
            f"-dir={self.folder / 'data'}",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            *(f"-{name}.port={ports[name]}" for name in names),
            *(f"-{name}.port.grpc={grpc[name]}" for name in names),
            "-filer",
            "-s3",
            f"-s3.config={config}",
            "-s3.iam=false",
            "-s3.autoCreateBucket=false",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            "-volume.max=0",
            "-master.volumeSizeLimitMB=64",
            "-master.volumePreallocate=false",
            "-master.telemetry=false",
            f"-filer.localSocket={self.folder / 'f.sock'}",
            f"-s3.localSocket={self.folder / 's.sock'}",
        ]

    def _wait(self) -> None:
        end = time.monotonic() + READY_S
        while time.monotonic() < end and self._process and self._process.poll() is None:
            try:
                urllib.request.urlopen(self.endpoint, timeout=2)
            except urllib.error.HTTPError as answer:
                if answer.code == 403 and self._holds():
                    return
            except OSError:
                pass
            time.sleep(0.2)
        message = f"the S3 server did not start; its log is {self.folder / 'weed.log'}"
        raise RuntimeError(message)

    def _holds(self) -> bool:
        """Whether what is written can be read: the gate opens before the volumes are there."""
        try:
            client = self._client()
            client.mkdirs("ready", exist_ok=True)
            client.pipe_file("ready/probe", b"?")
            return bool(client.cat_file("ready/probe") == b"?")
        except OSError:
            return False


def _access(identities: tuple[Identity, ...]) -> dict[str, object]:
    """Who may do what, as the server reads it."""
    policies = [{"name": one.name, "content": one.policy} for one in identities if one.policy]
    return {"identities": [_entry(one) for one in identities], "policies": policies}


def _entry(identity: Identity) -> dict[str, object]:
    pair = {"accessKey": identity.key, "secretKey": identity.secret}
    entry = {"name": identity.name, "credentials": [pair], "actions": list(identity.actions)}
    return entry | ({"policyNames": [identity.name]} if identity.policy else {})


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, all different."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bucket", action="append", default=[], help="make this bucket")
    parser.add_argument(
        "--upload", nargs=2, action="append", default=[], metavar=("FILE", "BUCKET/KEY")
    )
    parser.add_argument(
        "--download", nargs=2, action="append", default=[], metavar=("BUCKET/PREFIX", "FOLDER")
    )
    parser.add_argument("--run", nargs=argparse.REMAINDER, required=True, help="the command")
    wanted = parser.parse_args()
    with S3Server() as server:
        for name in wanted.bucket:
            server.bucket(name)
        for file, place in wanted.upload:
            server.upload(Path(file), place)
        environment = os.environ | server.environment()
        code = subprocess.run(wanted.run, env=environment, check=False).returncode
        for place, folder in wanted.download:
            server.download(place, Path(folder))
        return code


if __name__ == "__main__":
    sys.exit(main())
