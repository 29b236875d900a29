"""The command line program; the modules beside this one add their commands to it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from typer.core import TyperGroup

from distanon.cli import guarded

COMMANDS = (
    *("describe", "validate", "run", "resume", "publish", "apply", "audit", "report", "clean"),
    *("submit", "status", "logs", "stop", "collect"),
    *("methods", "schema"),
)
"""In the order in which the help lists them: that of a job's life, a cluster's, what there is."""

_DRIVERS = (["run"], ["resume"])
"""Commands whose process Ray may end."""


class _Ordered(TyperGroup):
    def list_commands(self, ctx: object) -> list[str]:
        """Those that were added, in the order of `COMMANDS`."""
        del ctx
        return sorted(self.commands, key=COMMANDS.index)


app = typer.Typer(
    name="distanon",
    cls=_Ordered,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Anonymize tables, verify the promises on the released files, say what is at risk.

    Example: distanon run jobs/forest-fires.yaml""",
)


def main() -> None:
    """The entry point of the installed command."""
    if sys.argv[1:2] in _DRIVERS and guarded.is_possible():
        sys.exit(guarded.in_child(app))
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
