"""The commands that ask a cluster: submit, status, logs, stop; and `collect` over many runs."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from distanon.cli.arguments import (
    AsJson,
    Overwrite,
    Quiet,
    RunId,
    Settings,
    SpecFile,
    is_spec,
    load_spec,
    private_prefix,
)
from distanon.cli.failures import explained
from distanon.cli.figures import console_of_plain_text, print_json
from distanon.cli.program import app
from distanon.errors import ResumeError, SpecError

if TYPE_CHECKING:
    from distanon.runtime.submission import JobServer
    from distanon.sweep import Collection, Submission
    from distanon.sweep.records import RunRecord

ADDRESS = "DISTANON_ADDRESS"
"""Environment variable with the job server, where --address says nothing."""

ServerAddress = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="http://HEAD:8265",
        help=f"The cluster's job server; by default {ADDRESS} of the environment.",
    ),
]
RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="A run id, or the private prefix of a run.")
]
Wheels = Annotated[
    list[str] | None,
    typer.Option("--wheel", metavar="FILE", help="For development: a wheel to bring along."),
]


@app.command()
@explained
def submit(
    spec: SpecFile,
    settings: Settings = None,
    address: ServerAddress = None,
    run_id: RunId = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Until it has ended; exits with the run's own code.")
    ] = False,
    at_once: Annotated[
        int | None,
        typer.Option(
            "--at-once",
            metavar="N",
            min=1,
            help="Runs of a sweep at the same time; by default as many as the CPUs hold.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    wheel: Wheels = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Let a cluster carry out a spec, or every case of its sweep, and print the run ids.

    The runs of a sweep hold their releases back: `distanon publish` publishes one of them.
    Submitting the same run twice is the same run.

    Example: distanon submit jobs/magic-s3.yaml --address http://head:8265 --wait
    """
    job_spec = load_spec(spec, settings)
    from distanon.runtime.progress import shown
    from distanon.sweep import Order, submit

    order = Order(run_id, wait, at_once, tuple(wheel or ()), overwrite)
    with shown(quiet=quiet) as progress:
        done = submit(job_spec, server_of(address), order, progress)
    _print_submission(done, as_json=as_json)
    if done.exit_code:
        raise typer.Exit(done.exit_code)


@app.command()
@explained
def status(run: RunName, address: ServerAddress = None, as_json: AsJson = False) -> None:
    """Say how far a run is: what the cluster knows of it, and what its private prefix says.

    Example: distanon status magic-0a1b2c3d4e5f --address http://head:8265
    """
    from distanon import job

    run_id, place, server = _found(run, address)
    submitted = server.find(run_id) if server is not None else None
    told = job.standing(place)
    if as_json:
        known = None if submitted is None else asdict(submitted)
        print_json({"run_id": run_id, "private": place, "cluster": known, **told})
        return
    print(f"run      {run_id}")
    print(f"private  {place}")
    if submitted is not None:
        code = "" if submitted.exit_code is None else f", exit code {submitted.exit_code}"
        print(f"cluster  {submitted.status}{code}")
    print(f"status   {told['status']}")
    if told.get("reason"):
        print(f"reason   {told['reason']}")


@app.command()
@explained
def logs(
    run: RunName,
    address: ServerAddress = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Until the run ends.")] = False,
) -> None:
    """Print what a submitted run has said. Logs hold no value of the data.

    Example: distanon logs magic-0a1b2c3d4e5f --address http://head:8265 --follow
    """
    run_id, _, server = _found(run, address)
    server = server or server_of(address)
    if not follow:
        print(server.log(run_id), end="")
        return
    for chunk in server.follow(run_id):
        print(chunk, end="", flush=True)


@app.command()
@explained
def stop(run: RunName, address: ServerAddress = None) -> None:
    """Ask a submitted run to end; `distanon resume` goes on from its checkpoint.

    Example: distanon stop magic-0a1b2c3d4e5f --address http://head:8265
    """
    run_id, _, server = _found(run, address)
    stopped = (server or server_of(address)).stop(run_id)
    print(f"{run_id}: {stopped.status}" + (", asked to end" if stopped.is_under_way else ""))


@app.command()
@explained
def collect(
    places: Annotated[
        list[str],
        typer.Argument(metavar="PRIVATE…", help="Private prefixes of runs, or folders of them."),
    ],
    to: Annotated[
        str | None, typer.Option("--to", metavar="FILE", help="Write the table as parquet.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Gather the figures of many runs in one table, and show the leading ones side by side.

    The table holds the seeds: it is as private as the runs.

    Example: distanon collect private/magic --to metrics.parquet
    """
    from distanon.sweep import collect

    found = collect(places)
    if to is not None:
        found.write(to)
    if as_json:
        names, values = found.compared()
        rows = {label: dict(zip(names, row, strict=True)) for label, row in values.items()}
        print_json({"runs": found.runs, "reasons": found.reasons(), "compared": rows})
        return
    _print_collection(found)
    if to is not None:
        print(f"{found.table.num_rows} rows in {to}")


def server_of(address: str | None) -> JobServer:
    """The job server that an option or the environment names.

    Raises:
        SpecError: neither does, and this process is no submitted job.
        ClusterError: it does not answer.
    """
    from distanon.runtime.submission import JobServer, inside_a_job

    named = address or os.environ.get(ADDRESS) or inside_a_job()
    if not named:
        raise SpecError(f"which cluster? Give --address http://HEAD:8265, or set {ADDRESS}")
    return JobServer(named)


def resume_there(
    run: str, settings: list[str] | None, address: str, run_id: str | None, *, as_json: bool
) -> None:
    """Lets a cluster go on with a run that was broken off."""
    from distanon.sweep import Submission, resume_on

    if is_spec(run):
        spec = load_spec(run, settings)
        spec.require_single_run()
        named, place = run_id or spec.run_id, spec.private_prefix(run_id)
    else:
        named, place, _ = _found(run, address)
    done = resume_on(server_of(address), place, named)
    _print_submission(Submission((done,)), as_json=as_json)


def _found(run: str, address: str | None) -> tuple[str, str, JobServer | None]:
    """Id, private prefix and, where one is named, cluster of a run.

    Raises:
        ResumeError: nobody knows it.
    """
    from distanon import job

    if "/" in run:
        named = address or os.environ.get(ADDRESS)
        return job.run_id_of(run), run, server_of(named) if named else None
    if address is None and ADDRESS not in os.environ:
        place = private_prefix(run)
        return run, place, None
    server = server_of(address)
    known = server.find(run)
    if known is None:
        raise ResumeError(f"no run {run!r} was submitted to {server.address}")
    return run, known.private, server


def _print_submission(done: Submission, *, as_json: bool) -> None:
    if as_json:
        print_json({"runs": [asdict(run) for run in done.runs], "notes": list(done.notes)})
        return
    for note in done.notes:
        print(note)
    for run in done.runs:
        print(_line(run))


def _line(run: RunRecord) -> str:
    changes = ", ".join(f"{path}={value}" for path, value in run.changes.items())
    told = "  ".join(filter(None, (run.run_id, changes, run.status)))
    return f"{told}: {run.reason}" if run.reason else told


def _print_collection(found: Collection) -> None:
    from rich.table import Table

    console = console_of_plain_text()
    names, values = found.compared()
    if values:
        table = Table("run", *names, title="Side by side")
        for label, row in values.items():
            table.add_row(label, *("" if one is None else f"{one:.4g}" for one in row))
        console.print(table)
    statuses: dict[str, int] = {}
    for status in found.runs.values():
        statuses[status] = statuses.get(status, 0) + 1
    print(", ".join(f"{count} {status}" for status, count in sorted(statuses.items())))
    for run, reason in found.reasons().items():
        print(f"{run}: {reason}")
