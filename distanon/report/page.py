"""Fills the page's template."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from distanon.data.measurement import Measurement
from distanon.promises.wording import in_words
from distanon.report import charts, graph_charts
from distanon.report.phrases import INVERSION, STRUCTURAL, attack_name, knowledge, phrase
from distanon.report.summary import Summary

_HEADINGS = {
    "classes": ("Equivalence classes: what equal rows give away (k, l, t)", "risk"),
    "identity": ("Singling out and linkability: whose record is this?", "risk"),
    "linkage": ("Linkability", "risk"),
    "attribute": ("Inference: what is this person's confidential value?", "risk"),
    "homogeneity": ("Inference from groups: do all of a group share it?", "risk"),
    "similarity": ("Inference from groups: do all of a group share it?", "risk"),
    "minimality": ("Inference from changes: are rare values of a group false?", "risk"),
    "reached": ("How many look alike to whom (k for every kind of knowledge)", "risk"),
    "structural": ("Singling out in the graph: which node is this person?", "risk"),
    "link": ("Links: which friendships are false, which were removed?", "risk"),
    "membership": ("Membership: was this person in the data?", "risk"),
    "inversion": ("Inversion: can the release be turned back?", "risk"),
    "composition": ("Composition: what do two releases leave?", "risk"),
    "neighborhoods": ("Neighborhoods", "use"),
    "clustering": ("Clusters", "use"),
    "change": ("Columns", "use"),
    "generalization": ("Generalization: how much do the cells leave open?", "use"),
    "class_sizes": ("Sizes of the groups", "use"),
    "classification": ("Classifiers that learn from the release", "use"),
    "topology": ("Structure of the graph", "use"),
}


_COMPARED = ("classification.", "attribute.inference.", "attribute.gain.")
"""Figures of single columns that are compared with those of other methods."""


def render(summary: Summary, *, public: bool) -> str:
    """One HTML page without scripts, fonts or links to elsewhere.

    Args:
        summary: of the run.
        public: leave out what the public may not see, and write rates to 2 digits.

    Returns:
        The page, the same bytes for the same figures.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    shown = summary.public() if public else summary
    # Everything is escaped but the charts, which hold text that matplotlib escaped itself.
    environment = Environment(
        loader=PackageLoader("distanon.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    digits = 2 if public else 3
    environment.filters["figure"] = lambda value, unit="": _figure(value, digits, unit)
    environment.filters["words"] = lambda name: str(name).replace("_", " ")
    environment.filters["settings"] = in_words
    environment.filters["phrase"] = lambda measurement: phrase(measurement.name)
    return environment.get_template("report.html.j2").render(
        summary=shown,
        public=public,
        risks=_groups(shown, "risk"),
        uses=_groups(shown, "use"),
        compared=_comparison(shown),
        reached=_reached(shown),
        key_figures=_key_figures(shown, digits),
        kept=all(line["kept"] for line in shown.certificate),
        charts=[chart for chart in _charts(shown) if chart.drawing],
    )


@dataclass(frozen=True, slots=True)
class _Chart:
    """A drawing with what must be said beside it; `labels` explain the names in it."""

    title: str
    text: str
    drawing: str
    labels: Sequence[tuple[str, str]] = ()


def _charts(summary: Summary) -> list[_Chart]:
    return [
        _Chart(
            "What an intruder gains",
            "Each bar is one attack that was run against the release. 1.00 would be every "
            f"{'person' if summary.is_graph else 'record'}.",
            charts.chart_intruder(summary),
            _attacks(summary),
        ),
        _Chart(
            "How many look alike to whom",
            "The fewest people that an intruder can't tell apart. What he may know beyond the "
            "promised knowledge was measured, not promised.",
            graph_charts.chart_reached(summary),
        ),
        _Chart(
            "What an analyst keeps",
            ""
            if summary.is_graph
            else "The floor is what changing nothing but the clustering's seed costs.",
            charts.chart_analyst(summary),
        ),
        _Chart(
            "What the graph is like",
            ""
            if summary.release.value("topology.original.clustering") is None
            else "The line is the original.",
            graph_charts.chart_structure(summary),
        ),
        _Chart(
            "Protection against usefulness",
            "Best is the upper left corner. Below each method stands the attack that gained most "
            "against it. The compared methods were run privately.",
            charts.chart_tradeoff(summary),
        ),
        _Chart(
            "How far each column moved",
            "A column at zero hardly moved.",
            charts.chart_columns(summary),
        ),
        _Chart(f"How the {summary.unit} were treated", "", charts.chart_counts(summary)),
    ]


def _attacks(summary: Summary) -> list[tuple[str, str]]:
    """The names of the bars, in plain words."""
    measured = summary.release.measurements.values()
    return [
        (attack_name(each), phrase(each.name))
        for each in measured
        if charts.is_attack(each) and not math.isnan(each.value) and phrase(each.name)
    ]


def _groups(summary: Summary, side: str) -> list[tuple[str, list[Measurement]]]:
    """Measurements under their headings, in the order of the headings."""
    groups: dict[str, list[Measurement]] = {}
    for name, measurement in summary.release.measurements.items():
        heading, its_side = _HEADINGS.get(name.split(".")[0], ("Other", "use"))
        if its_side == side:
            groups.setdefault(heading, []).append(measurement)
    return list(groups.items())


def _reached(summary: Summary) -> list[tuple[str, int, float | None]]:
    """The k of every kind of knowledge that was not promised, and the share that stands alone."""
    return [
        (knowledge(name), int(measured.value), summary.release.value(f"{name[:-2]}.unique"))
        for name, measured in summary.release.measurements.items()
        if graph_charts.is_reached(measured) and measured.note == "not promised"
    ]


def _comparison(summary: Summary) -> list[tuple[str, list[float | None]]]:
    """Figures that at least two subjects have, one row each."""
    if len(summary.subjects) < 2:
        return []
    rows = []
    for name, measurement in summary.release.measurements.items():
        is_one_of_many = name.count(".") > 1 and not name.startswith(_COMPARED)
        is_beside = name.endswith((".blind_guess", ".all"))
        if is_one_of_many or is_beside or measurement.unit not in ("share", "1"):
            continue
        values = [subject.value(name) for subject in summary.subjects]
        if sum(value is not None for value in values) > 1:
            rows.append((name, values))
    return rows


def _key_figures(summary: Summary, digits: int) -> list[tuple[str, str, str]]:
    """The few figures that lead the page: label, figure, side; of several the highest counts."""

    def of_columns(kind: str) -> tuple[str, ...]:
        return tuple(
            name
            for name in summary.release.measurements
            if name.startswith(f"{kind}.") and not name.endswith(".blind_guess")
        )

    wanted: list[tuple[tuple[str, ...], str]] = [
        (("identity.highest",), "risk"),
        (INVERSION, "risk"),
        (("identity.release_to_original",), "risk"),
        (("neighborhoods.stability_owner",), "use"),
        (("clustering.kmeans_f",), "use"),
        (STRUCTURAL, "risk"),
        (of_columns("attribute.neighbors"), "risk"),
        (of_columns("attribute.inference"), "risk"),
        (("generalization.ncp", "generalization.ncp_members"), "use"),
        (of_columns("classification.random_forest"), "use"),
        (("topology.edges_kept",), "use"),
        (("topology.clustering",), "use"),
        (("topology.communities",), "use"),
    ]
    shown = []
    for names, side in wanted:
        measured = [
            (value, name) for name in names if (value := summary.release.value(name)) is not None
        ]
        if measured:
            value, name = max(measured)
            original = summary.release.value(name.replace("topology.", "topology.original."))
            beside = "" if original is None or original == value else _figure(original, digits)
            label = f"{phrase(name)}, {beside} in the original" if beside else phrase(name)
            shown.append((label, _figure(value, digits), side))
    return shown


def _figure(value: Any, digits: int, unit: str = "") -> str:
    """A number as it is read; what counts things (unit "1") without digits that say nothing."""
    if unit == "1" and isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "not measured" if math.isnan(value) else f"{value:.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)
