"""`distanon publish`: what a run has held back goes out."""

from __future__ import annotations

from typing import Annotated

import typer

from distanon.cli.arguments import AsJson, Overwrite, Quiet, private_prefix, seconds_in_all
from distanon.cli.failures import explained
from distanon.cli.figures import print_run
from distanon.cli.program import app


@app.command()
@explained
def publish(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="The private prefix of a run that holds a release.")
    ],
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Publish one run of a sweep, or any run made with --hold, after verifying it again.

    Example: distanon publish private/magic/magic-0a1b2c3d4e5f
    """
    from distanon import job
    from distanon.runtime.progress import shown

    with shown(quiet=quiet) as progress:
        finished = job.publish(private_prefix(run), overwrite=overwrite, progress=progress)
    print_run(finished, as_json=as_json, in_all=seconds_in_all())
