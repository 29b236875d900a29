"""`distanon describe`: a table as an intruder sees it, and a spec to begin with."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from distanon.cli.arguments import AsJson
from distanon.cli.failures import explained
from distanon.cli.figures import print_json
from distanon.cli.program import app

if TYPE_CHECKING:
    from distanon.job.description import Description


@app.command()
@explained
def describe(
    path: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="A table: file, folder, glob, URL or builtin:NAME."),
    ],
    draft: Annotated[
        bool, typer.Option("--draft", help="Print the drafted spec alone, to redirect into a file.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a table's columns and how many records they single out, and draft a job spec.

    No value of the data is shown.

    Example: distanon describe builtin:adult
    """
    from distanon import job

    found = job.describe(path)
    if as_json:
        print_json(asdict(found) | {"draft": found.draft()})
    elif draft:
        print(found.draft(), end="")
    else:
        _show(found)


def _show(found: Description) -> None:
    for note in found.notes:
        print(note)
    seen = "" if found.examined == found.records else f" (the first {found.examined:,} examined)"
    print(f"{found.source}: {found.records:,} records, {len(found.columns)} columns{seen}\n")
    rows = [("column", "values", "taken for", "different", "missing", "unique", "role?")]
    rows += [
        (
            one.name,
            one.arrow_type,
            one.type.value,
            f"{one.distinct:,}",
            f"{one.missing:.1%}",
            f"{one.unique:.1%}",
            one.role.value,
        )
        for one in found.columns
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )
    print(f"\n{found.unique:.1%} of the records are alone with their values over all columns")
    if found.few:
        known = ", ".join(found.few)
        print(f"{found.unique_by_few:.1%} are so by {known} alone")
    print("\nA spec to begin with (--draft prints it alone):\n")
    print(found.draft(), end="")
