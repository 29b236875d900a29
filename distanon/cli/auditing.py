"""`distanon audit`: what the files of a release keep of what is promised."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from distanon.cli.arguments import AsJson, Quiet, load_spec, private_prefix
from distanon.cli.failures import explained
from distanon.cli.figures import (
    figures_of,
    is_broken,
    is_unverified,
    print_figures,
    print_json,
    print_missing,
)
from distanon.cli.program import app
from distanon.errors import SpecError

_BROKEN_PROMISE = 3
_WHO_KNOWS = (
    "which columns may an intruder know? Name them with --quasi-identifiers a,b, or give the job's "
    "--spec or its run's --private; of a graph --knowledge degree will do"
)


class GraphKnowledge(Enum):
    """What an intruder may know of a person in a graph."""

    attributes = "attributes"
    degree = "degree"
    both = "attributes+degree"


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


def _named(text: str | None, option: str) -> tuple[str, ...]:
    """The columns that an option lists.

    Raises:
        SpecError: it is there and lists none, as an unset variable of the shell does.
    """
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if text is not None and not names:
        raise SpecError(f"{option} names no column (is a variable of the shell unset?)")
    return names
