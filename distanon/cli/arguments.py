"""Arguments and options that several commands share, and how they are read."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distanon.errors import ResumeError

if TYPE_CHECKING:
    from distanon.spec import JobSpec

SpecFile = Annotated[str, typer.Argument(metavar="SPEC", help="The job spec, YAML or JSON.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Change a setting: method.k=20. May be repeated."
    ),
]
Address = Annotated[
    str | None,
    typer.Option("--address", metavar="HOST:PORT", help="A running Ray cluster to work on."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace a release that is already there.")
]
RunId = Annotated[
    str | None,
    typer.Option("--run-id", metavar="ID", help="Instead of the name and a digest of the spec."),
]


def seconds_in_all() -> float:
    """Since the command began, what it loads counted."""
    from distanon.cli import STARTED

    return time.monotonic() - STARTED


def load_spec(path: str, settings: list[str] | None, address: str | None = None) -> JobSpec:
    """The spec with what the command line changes."""
    from distanon.spec import load

    changes = list(settings or ())
    if address is not None:
        changes.append(f"runtime.address={json.dumps(address)}")
    return load(path, changes)


def is_spec(text: str) -> bool:
    """Whether the argument names a spec file, not a run."""
    return text.endswith((".yaml", ".yml", ".json"))


def private_prefix(run: str) -> str:
    """The private prefix of a run that is named by its prefix, or by the id of a local run.

    Raises:
        ResumeError: there is no such run where local runs are by default.
    """
    if "/" in run or Path(run).is_dir():
        return run
    name = re.sub(r"-[0-9a-f]{12}$", "", run)
    for folder in (Path("private", name, run), *Path("private").glob(f"*/{run}")):
        if folder.is_dir():
            return str(folder)
    raise ResumeError(f"no run {run!r} below ./private; name its private prefix, such as s3://…/")
