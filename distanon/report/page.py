"""Fills the page's template."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from distanon.data.measurement import Measurement
from distanon.promises.wording import in_words
from distanon.report import charts
from distanon.report.phrases import INVERSION, attack_name, phrase
from distanon.report.summary import Summary

_HEADINGS = {
    "classes": ("Equivalence classes: what equal rows give away (k, l, t)", "risk"),
    "identity": ("Singling out and linkability: whose record is this?", "risk"),
    "linkage": ("Linkability", "risk"),
    "attribute": ("Inference: what is this person's confidential value?", "risk"),
    "homogeneity": ("Inference", "risk"),
    "similarity": ("Inference", "risk"),
    "membership": ("Membership: was this person in the data?", "risk"),
    "inversion": ("Inversion: can the release be turned back?", "risk"),
    "composition": ("Composition: what do two releases leave?", "risk"),
    "neighborhoods": ("Neighborhoods", "use"),
    "clustering": ("Clusters", "use"),
    "change": ("Columns", "use"),
}


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
    environment.filters["figure"] = lambda value: _figure(value, digits)
    environment.filters["words"] = lambda name: str(name).replace("_", " ")
    environment.filters["settings"] = in_words
    environment.filters["phrase"] = lambda measurement: phrase(measurement.name)
    return environment.get_template("report.html.j2").render(
        summary=shown,
        public=public,
        risks=_groups(shown, "risk"),
        uses=_groups(shown, "use"),
        compared=_comparison(shown),
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
            "Each bar is one attack that was run against the release. 1.00 would be every record.",
            charts.chart_intruder(summary),
            _attacks(summary),
        ),
        _Chart(
            "What an analyst keeps",
            "The floor is what changing nothing but the clustering's seed costs.",
            charts.chart_analyst(summary),
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
        _Chart("How the records were treated", "", charts.chart_counts(summary)),
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


def _comparison(summary: Summary) -> list[tuple[str, list[float | None]]]:
    """Figures that at least two subjects have, one row each."""
    if len(summary.subjects) < 2:
        return []
    rows = []
    for name, measurement in summary.release.measurements.items():
        if name.count(".") > 1 or measurement.unit not in ("share", "1"):
            continue
        values = [subject.value(name) for subject in summary.subjects]
        if sum(value is not None for value in values) > 1:
            rows.append((name, values))
    return rows


def _key_figures(summary: Summary, digits: int) -> list[tuple[str, str, str]]:
    """The few figures that lead the page: label, figure, side; of several the highest counts."""
    wanted: list[tuple[tuple[str, ...], str]] = [
        (("identity.highest",), "risk"),
        (INVERSION, "risk"),
        (("identity.release_to_original",), "risk"),
        (("neighborhoods.stability_owner",), "use"),
        (("clustering.kmeans_f",), "use"),
    ]
    shown = []
    for names, side in wanted:
        measured = [
            (value, name) for name in names if (value := summary.release.value(name)) is not None
        ]
        if measured:
            value, name = max(measured)
            shown.append((phrase(name), _figure(value, digits), side))
    return shown


def _figure(value: Any, digits: int) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "not measured" if math.isnan(value) else f"{value:.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)
