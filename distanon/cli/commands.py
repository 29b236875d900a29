"""The commands about one job: run, resume, validate, report, clean; and what can be asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from distanon.cli.arguments import (
    Address,
    AsJson,
    Overwrite,
    Quiet,
    RunId,
    Settings,
    SpecFile,
    is_spec,
    load_spec,
    private_prefix,
    seconds_in_all,
)
from distanon.cli.failures import explained
from distanon.cli.figures import print_json, print_run
from distanon.cli.program import app
from distanon.errors import SpecError

if TYPE_CHECKING:
    from distanon.spec import JobSpec


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
