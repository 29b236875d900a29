"""The figures of a run or an audit, for a terminal or as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # `distanon --help` loads no data library
    from rich.console import Console

    from distanon.data.measurement import Measurement
    from distanon.promises.base import Verdict

_LEADING = (
    "identity.highest",
    "identity.release_to_original",
    "identity.original_to_release",
    "inversion.known_sample",
    "inversion.known_more",
    "identity.unknown_membership",
    "attribute.inference",
    "attribute.gain",
    "neighborhoods.stability_owner",
    "neighborhoods.stability_analyst",
    "clustering.kmeans_f",
    "generalization.ncp",
    "generalization.ncp_members",
    "classification.random_forest",
    "classification.random_forest_change",
    "classification.logistic_regression_change",
    "classification.nearest_neighbor_change",
    "topology.edges_kept",
    "topology.clustering",
    "topology.original.clustering",
    "topology.communities",
)
"""The few figures that a terminal shows, by name or by name without the column; the report has
all."""

_OF_COLUMNS = ("attribute.", "classification.")
"""Kinds of figures of which each column has its own."""

_SHORT = {
    "found": ("identity.highest",),
    "turned back": ("inversion.known_sample", "inversion.known_more"),
    "kept (owner)": ("neighborhoods.stability_owner",),
    "kept (analyst)": ("neighborhoods.stability_analyst",),
    "F-measure": ("clustering.kmeans_f",),
    "edges kept": ("topology.edges_kept",),
    "communities": ("topology.communities",),
}
"""Headings of the comparison; of several figures the highest counts."""

_SHORT_OF_GROUPS = {
    "found": ("identity.highest",),
    "inferred": ("attribute.inference",),
    "NCP": ("generalization.ncp", "generalization.ncp_members"),
    "random forest": ("classification.random_forest",),
    "regression": ("classification.logistic_regression",),
    "1-NN": ("classification.nearest_neighbor",),
}
"""The same beside a release whose rows stand for groups; more would not fit a terminal."""


class Figures(Protocol):
    """What a run and an audit have in common."""

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """Lines of the certificate."""
        ...

    @property
    def measurements(self) -> Sequence[Measurement]:
        """All figures."""
        ...


class Run(Figures, Protocol):
    """A finished run."""

    @property
    def run_id(self) -> str:
        """The run's id."""
        ...

    @property
    def output(self) -> str:
        """Where the release is."""
        ...

    @property
    def private(self) -> str:
        """Where everything else is."""
        ...

    @property
    def report(self) -> str | None:
        """The private report, where one was written."""
        ...

    @property
    def held(self) -> bool:
        """Whether the release waits in the private prefix to be published."""
        ...

    @property
    def compared(self) -> Mapping[str, Sequence[Measurement]]:
        """The figures of the methods that were measured beside the release."""
        ...

    @property
    def seconds(self) -> float:
        """How long it took."""
        ...


def print_run(run: Run, *, as_json: bool, in_all: float) -> None:
    """Where the release and its report are, the promises and the key figures.

    Args:
        run: a finished one.
        as_json: as one JSON object.
        in_all: seconds since the command began, start-up and measuring counted.
    """
    places = {
        "run_id": run.run_id,
        "output": run.output,
        "held": run.held,
        "private": run.private,
        "report": run.report,
        "seconds": round(run.seconds, 3),
        "seconds_in_all": round(in_all, 3),
    }
    if as_json:
        compared = {
            label: [asdict(measurement) for measurement in measurements]
            for label, measurements in run.compared.items()
        }
        print_json(places | figures_of(run) | {"compared": compared})
        return
    print_figures(run)
    if run.compared:
        _print_comparison(run)
    if run.held:
        print(f"held     `distanon publish {run.private}` publishes it to {run.output}")
    else:
        print(f"release  {run.output}")
    if run.report:
        print(f"report   {run.report}")
    print(f"private  {run.private}")
    done = "held" if run.held else "released"
    print(f"run      {run.run_id}, {done} after {run.seconds:.1f} s, {in_all:.1f} s in all")


def print_figures(found: Figures, *, every: bool = False) -> None:
    """The promises and the key figures, as tables.

    Args:
        found: of a run or an audit.
        every: show all figures, with what must be known beside them.
    """
    from rich.table import Table

    from distanon.promises.wording import in_words
    from distanon.report.phrases import order, phrase, risk

    console = console_of_plain_text()
    promises = Table("promise", "asked", "measured", "kept", "verified from", title="Promises")
    for verdict in found.verdicts:
        promises.add_row(
            verdict.promise,
            in_words(verdict.asked),
            in_words(verdict.measured),
            _kept(verdict),
            verdict.verified_from,
        )
    if found.verdicts:
        console.print(promises)
    else:
        console.print("Promises: none were asked.")
    leading = {*_LEADING, _strongest_in_graph(found)}
    shown = [each for each in found.measurements if every or _is_of(each.name, leading)]
    if not shown:
        return
    title = "Figures" if every else "Key figures"
    table = Table("figure", "value", "95 %", "better", *(["note"] if every else []), title=title)
    heading = ""
    for each in shown if every else sorted(shown, key=lambda each: order(each.name)):
        if not every and risk(each.name) != heading:
            heading = risk(each.name)
            table.add_section()
            table.add_row(f"{heading}:")
        goal = "" if each.goal == "none" else each.goal
        words = phrase(each.name)
        label = each.name if every else f"  {words or each.name}"
        notes = ["; ".join(filter(None, (words, each.note)))] if every else []
        table.add_row(label, _value(each), _interval(each), goal, *notes)
    console.print(table)


def _strongest_in_graph(found: Figures) -> str:
    """The name of the attack that finds most people in a graph; "" where none was run."""
    from distanon.report.phrases import STRUCTURAL

    known = [
        each
        for each in found.measurements
        if each.name in STRUCTURAL and not math.isnan(each.value)
    ]
    return max(known, key=lambda each: each.value).name if known else ""


def _is_of(name: str, wanted: Collection[str]) -> bool:
    """Whether a figure is one of these, or one of these of a single column."""
    if name in wanted:
        return True
    of_columns = tuple(f"{kind}." for kind in wanted if kind.startswith(_OF_COLUMNS))
    return name.startswith(of_columns) and not name.endswith(".blind_guess")


def is_broken(verdict: Verdict) -> bool:
    """Whether the files show that the promise does not hold; else it may not be verifiable."""
    return not verdict.kept and verdict.verified_from != "asserted"


def is_unverified(found: Figures, asked: Collection[str]) -> bool:
    """Whether what was asked by name could not be verified, or nothing of all that is stated."""
    unverified = [line.promise for line in found.verdicts if _is_asserted(line)]
    nothing = bool(unverified) and len(unverified) == len(found.verdicts)
    return nothing or any(name in asked for name in unverified)


def print_missing(found: Figures, *, has_original: bool) -> None:
    """What an audit could not verify or measure, and how it could.

    Args:
        found: by the audit.
        has_original: whether the originals were there, without whose row is whose.
    """
    unverified = [line.promise for line in found.verdicts if _is_asserted(line)]
    missing = [f"Not verified: {', '.join(unverified)}."] if unverified else []
    names = {each.name for each in found.measurements}
    is_graph = any(name.startswith("reached.") for name in names)
    if is_graph and "topology.edges_kept" not in names:
        missing.append(
            "Not measured: who is found again by structure or by a few known people, which edges "
            "are told apart, and what is kept of the original's."
        )
    if not is_graph and not any(name.startswith("identity.release") for name in names):
        missing.append("Not measured: linkage, stability and change.")
    if not missing:
        return
    need = "beside the originals the" if has_original else "the originals and the"
    print(
        f"{' '.join(missing)} That needs {need} source of each {'node' if is_graph else 'row'}: "
        "run the job with `keep_mapping: true` and audit with its --private prefix (or its --spec)."
    )


def _is_asserted(verdict: Verdict) -> bool:
    return not verdict.kept and verdict.verified_from == "asserted"


def _kept(verdict: Verdict) -> str:
    if verdict.kept:
        return "yes"
    return f"no: {verdict.reason}" if is_broken(verdict) else verdict.reason


def _print_comparison(run: Run) -> None:
    """One row a method, one column a key figure."""
    from rich.table import Table

    from distanon.report.phrases import STRUCTURAL

    found = {"this release": run.measurements, **run.compared}
    by_name = {label: {each.name: each for each in figures} for label, figures in found.items()}
    is_of_groups = any(_is_of(name, _SHORT_OF_GROUPS["NCP"]) for name in by_name["this release"])
    short = _SHORT_OF_GROUPS if is_of_groups else _SHORT
    headings = short | {"found": (*short["found"], *STRUCTURAL)}
    shown = {
        label: {heading: _highest(figures, names) for heading, names in headings.items()}
        for label, figures in by_name.items()
    }
    names = [name for name in short if any(row[name] for row in shown.values())]
    table = Table(title="On the same data")
    table.add_column("method", no_wrap=True)
    for name in names:
        table.add_column(name)
    for label, row in shown.items():
        table.add_row(label, *(row[name] for name in names))
    console_of_plain_text().print(table)
    if "found" in names:
        told = "found: by the strongest attack on identities"
        back = "; turned back: by who knows a few records" if "turned back" in names else ""
        print(f"{told}{back}.")


def _highest(figures: Mapping[str, Measurement], names: Sequence[str]) -> str:
    """The highest of these figures; why there is none; "" where none was asked for."""
    found = [each for name, each in figures.items() if _is_of(name, names)]
    measured = [each for each in found if not math.isnan(each.value)]
    if measured:
        return _value(max(measured, key=lambda each: each.value))
    return _value(found[0]) if found else ""


def figures_of(found: Figures) -> dict[str, Any]:
    """The figures as plain values; details with values of the data are left out."""
    verdicts = [asdict(verdict) for verdict in found.verdicts]
    for verdict in verdicts:
        del verdict["private"]
    return {
        "promises": verdicts,
        "measurements": [asdict(measurement) for measurement in found.measurements],
    }


def console_of_plain_text() -> Console:
    """A console that takes every text as it is: names of columns may hold brackets and colons."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False)


def print_json(value: Any) -> None:
    """One JSON object on stdout; what could not be measured is null."""
    print(json.dumps(_without_nan(value), ensure_ascii=False, default=str))


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nan(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _value(measurement: Measurement) -> str:
    if math.isnan(measurement.value):
        return f"not measured: {measurement.note}" if measurement.note else "not measured"
    if measurement.unit == "edges" and measurement.value.is_integer():
        return f"{measurement.value:,.0f}"
    return f"{measurement.value:.3f}"


def _interval(measurement: Measurement) -> str:
    if measurement.ci_low is None or measurement.ci_high is None:
        return ""
    return f"{measurement.ci_low:.3f} … {measurement.ci_high:.3f}"
