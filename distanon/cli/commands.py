"""The commands, each a few lines around a function of `job`."""

from __future__ import annotations

import json
import re
import time
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distanon.cli.failures import explained
from distanon.cli.figures import (
    figures_of,
    is_broken,
    is_unverified,
    print_figures,
    print_json,
    print_missing,
    print_run,
)
from distanon.errors import ResumeError, SpecError

if TYPE_CHECKING:
    from distanon.spec import JobSpec

_BROKEN_PROMISE = 3
_WHO_KNOWS = (
    "which columns may an intruder know? Name them with --quasi-identifiers a,b, or give the job's "
    "--spec or its run's --private; of a graph --knowledge degree will do"
)

app = typer.Typer(
    name="distanon",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Anonymize tables, verify the promises on the released files, say what is at risk.

    Example: distanon run jobs/forest-fires.yaml""",
)

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


class GraphKnowledge(Enum):
    """What an intruder may know of a person in a graph."""

    attributes = "attributes"
    degree = "degree"
    both = "attributes+degree"


RunId = Annotated[
    str | None,
    typer.Option("--run-id", metavar="ID", help="Instead of the name and a digest of the spec."),
]


def main() -> None:
    """The entry point of the installed command."""
    app()


def _version(wanted: bool) -> None:
    if wanted:
        import distanon

        print(f"distanon {distanon.__version__}")
        raise typer.Exit


@app.callback()
def _start(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
@explained
def run(
    spec: SpecFile,
    settings: Settings = None,
    address: Address = None,
    overwrite: Overwrite = False,
    run_id: RunId = None,
    hold: Annotated[
        bool,
        typer.Option(
            "--hold",
            help="Verify and measure, publish nothing: `distanon publish` does, once you have "
            "read the report.",
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Make a release, verify it, publish it, measure what is at risk and what is kept.

    Works on the cluster at --address, else on a single-node Ray that is started and stopped.

    Example: distanon run jobs/forest-fires.yaml --set method.k=20 --overwrite
    """
    job_spec = load_spec(spec, settings, address)
    job_spec.require_single_run()
    from distanon import job
    from distanon.runtime.progress import shown

    with shown(quiet=quiet) as progress:
        finished = job.run_job(
            job_spec, run_id=run_id, overwrite=overwrite, progress=progress, hold=hold
        )
    print_run(finished, as_json=as_json, in_all=seconds_in_all())


@app.command()
@explained
def resume(
    run: Annotated[
        str,
        typer.Argument(metavar="SPEC-or-RUN", help="The job spec, a private prefix or a run id."),
    ],
    settings: Settings = None,
    address: Address = None,
    run_id: RunId = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Go on with a run that was interrupted: the release has the same bytes as without.

    With the address of a job server (http://HEAD:8265) the cluster does it, and the command ends.

    Example: distanon resume jobs/forest-fires.yaml
    """
    if address is not None and "://" in address:
        from distanon.cli.cluster import resume_there

        resume_there(run, settings, address, run_id, as_json=as_json)
        return
    target: JobSpec | str
    if is_spec(run):
        target = load_spec(run, settings, address)
        target.require_single_run()
    elif settings:
        raise SpecError("--set belongs to a spec; a run is resumed with the settings it has")
    else:
        target = private_prefix(run)
    from distanon import job
    from distanon.runtime.progress import shown

    with shown(quiet=quiet) as progress:
        finished = job.resume(target, run_id=run_id, address=address, progress=progress)
    print_run(finished, as_json=as_json, in_all=seconds_in_all())


@app.command()
@explained
def validate(spec: SpecFile, settings: Settings = None, as_json: AsJson = False) -> None:
    """Check a spec, also against its data's columns, without running it.

    Example: distanon validate jobs/magic.yaml
    """
    job_spec = load_spec(spec, settings)
    from distanon import job

    notes = list(job.validate(job_spec))
    promises, removed = job_spec.effective_promises()
    if as_json:
        print_json({"run_id": job_spec.run_id, "notes": notes, **job_spec.public_dict()})
        return
    for note in notes:
        print(note)
    asked = [f"{name} {json.dumps(promise.asked())}" for name, promise in promises.items()]
    asked += [f"{name} (removed)" for name in removed]
    print(f"promises: {', '.join(asked) or 'none'}")
    print(f"{spec}: nothing is wrong with it; `distanon run {spec}` would be {job_spec.run_id}")


@app.command()
@explained
def schema() -> None:
    """Print the JSON Schema of a job spec, from which editors complete.

    Example: distanon schema > distanon.schema.json
    """
    from distanon.spec import JobSpec, json_schema

    print(json.dumps(json_schema(JobSpec), indent=2, ensure_ascii=False))


@app.command()
@explained
def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One method, with its parameters.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods: what they do, what they can promise, what they do not protect.

    Example: distanon methods dptpe
    """
    from distanon.cli.catalogue import described, print_method, print_methods

    found = described(name)
    if as_json:
        print_json(found)
    elif name is None:
        print_methods(found)
    else:
        print_method(found[0])


@app.command()
@explained
def audit(
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE",
            help="A release, any table (file or folder), or any graph: GraphML, GML, or a folder "
            "with edges and nodes.",
        ),
    ],
    original: Annotated[
        str | None,
        typer.Option(
            "--original",
            metavar="INPUT",
            help="The table or graph that it was made from: with --private, where the run's input "
            "has moved; with --also, to count people found in both. Of a table it adds no figure "
            "alone, since it does not say whose row is whose; of a graph, the original's "
            "structure.",
        ),
    ] = None,
    spec: Annotated[
        str | None, typer.Option("--spec", help="Take roles, promises and original from a spec.")
    ] = None,
    private: Annotated[
        str | None,
        typer.Option(
            "--private",
            metavar="PREFIX",
            help="The run that made it and kept its mapping: a private prefix or a run id.",
        ),
    ] = None,
    also: Annotated[
        str | None,
        typer.Option(
            "--also",
            metavar="OTHER",
            help="Another release of the same people: rows that both match by kept values are "
            "counted; with the originals, candidates in both; with the mapping, averaging.",
        ),
    ] = None,
    quasi_identifiers: Annotated[
        str | None,
        typer.Option("--quasi-identifiers", metavar="A,B", help="What an intruder may know."),
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", metavar="C", help="What an intruder wants.")
    ] = None,
    knowledge: Annotated[
        GraphKnowledge | None,
        typer.Option(
            "--knowledge",
            help="Of a graph: what an intruder knows of a person; by default as the release or "
            "its spec states, else both.",
        ),
    ] = None,
    promises: Annotated[
        list[str] | None,
        typer.Option(
            "--promise", metavar="NAME.PARAMETER=VALUE", help="Check this too. May be repeated."
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Check a finished release from its files alone; it need not be made by distanon.

    A release of distanon states roles and promises in its release.json; of any other table name
    the columns, of any other graph the attributes of its nodes. Exits with 3 when a stated promise
    does not hold, when one of --promise can't be verified from what is at hand, and when none of
    the others can: linkage and unchanged need a run with `keep_mapping: true` and its --private
    prefix.

    Example: distanon audit release/ --quasi-identifiers age,zip --sensitive job
    --promise k_anonymity.k=5 --promise l_diversity.l=3
    """
    known = _named(quasi_identifiers, "--quasi-identifiers")
    wanted = _named(sensitive, "--sensitive")
    if wanted and not known and spec is None and private is None and knowledge is None:
        raise SpecError(_WHO_KNOWS)
    if spec is not None and (quasi_identifiers or sensitive):
        raise SpecError(
            "--spec says what the columns mean; leave out --quasi-identifiers and --sensitive"
        )
    from distanon.spec import parse_promises

    asked = parse_promises(promises or ())
    job_spec = load_spec(spec, None) if spec is not None else None
    prefix = None if private is None else private_prefix(private)
    from distanon import job
    from distanon.runtime.progress import shown

    with shown(quiet=quiet) as progress:
        found = job.audit(
            release,
            original=original,
            spec=job_spec,
            private=prefix,
            also=also,
            quasi_identifiers=known,
            sensitive=wanted,
            knowledge=None if knowledge is None else knowledge.value,
            promises=asked,
            progress=progress,
        )
    if as_json:
        print_json({"release": release, **figures_of(found)})
    else:
        print_figures(found, every=True)
        print_missing(found, has_original=original is not None)
    if any(is_broken(verdict) for verdict in found.verdicts) or is_unverified(found, asked):
        raise typer.Exit(_BROKEN_PROMISE)


@app.command()
@explained
def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A private prefix or a run id.")],
) -> None:
    """Write the HTML report of a run again, from its private files.

    Example: distanon report private/forest-fires/forest-fires-0123456789ab
    """
    prefix = private_prefix(run)
    from distanon import job

    print(job.rewrite_report(prefix))


@app.command()
@explained
def clean(
    private: Annotated[str, typer.Argument(metavar="PRIVATE", help="A run's private prefix.")],
) -> None:
    """Remove what abandoned attempts left in a private prefix, and list it.

    Nothing else is touched, nor a live run. A run whose checkpoint goes can't be resumed.

    Example: distanon clean s3://bucket/private/forest-fires/
    """
    prefix = private_prefix(private)
    from distanon import job

    removed = job.clean(prefix)
    for one in removed:
        print(f"removed {one.place}: {one.files} file{'' if one.files == 1 else 's'}")
    if not removed:
        print("nothing to remove")


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


def _named(text: str | None, option: str) -> tuple[str, ...]:
    """The columns that an option lists.

    Raises:
        SpecError: it is there and lists none, as an unset variable of the shell does.
    """
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if text is not None and not names:
        raise SpecError(f"{option} names no column (is a variable of the shell unset?)")
    return names


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
