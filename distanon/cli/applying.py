"""`distanon apply`: new records go out with the groups of an earlier release."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from distanon.cli.arguments import AsJson, Overwrite, Quiet, private_prefix
from distanon.cli.failures import explained
from distanon.cli.figures import figures_of, print_figures, print_json
from distanon.cli.program import app


class OnBreach(Enum):
    """What becomes of records that can't be released."""

    refuse = "refuse"
    suppress = "suppress"


@app.command()
@explained
def apply(
    run: Annotated[
        str,
        typer.Argument(metavar="RUN", help="The private prefix of a finished run, or a run id."),
    ],
    new_data: Annotated[
        str, typer.Argument(metavar="NEW-DATA", help="Records with the columns of its input.")
    ],
    on_breach: Annotated[
        OnBreach,
        typer.Option(
            "--on-breach",
            help="Records whose release would break a promise, or with a value that the fitted "
            "table does not have: refuse all of them, or leave these out and count them.",
        ),
    ] = OnBreach.refuse,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", metavar="URL", help="Where the release goes; by default beside the run's."
        ),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Release new records with the groups and cells of a finished run, verified like any release.

    Runs of mondrian, mdav, decision_tree_leaves and reconstruction (strict) keep what this needs.
    Exits with 3 where records would break a promise and are not to be suppressed.

    Example: distanon apply private/adult/adult-0a1b2c3d4e5f new-records.csv --on-breach suppress
    """
    from distanon import job
    from distanon.runtime.progress import shown

    with shown(quiet=quiet) as progress:
        done = job.apply(
            private_prefix(run),
            new_data,
            output=output,
            on_breach=on_breach.value,
            overwrite=overwrite,
            progress=progress,
        )
    if as_json:
        places = {
            "run_id": done.run_id,
            "output": done.output,
            "private": done.private,
            "report": done.report,
        }
        print_json({**places, "counts": dict(done.counts), **figures_of(done)})
        return
    print_figures(done)
    counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in done.counts.items())
    print(f"counts   {counts}")
    print(f"release  {done.output}")
    print(f"report   {done.report}")
    print(f"private  {done.private}")
