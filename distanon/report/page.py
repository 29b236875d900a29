"""Fills the page's template."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from distanon.data.measurement import Measurement
from distanon.report import charts
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
    digits = 2 if public else 4
    environment.filters["figure"] = lambda value: _figure(value, digits)
    environment.filters["words"] = lambda name: str(name).replace("_", " ")
    environment.filters["settings"] = _settings
    return environment.get_template("report.html.j2").render(
        summary=shown,
        public=public,
        risks=_groups(shown, "risk"),
        uses=_groups(shown, "use"),
        compared=_comparison(shown),
        key_figures=_key_figures(shown, digits),
        kept=all(line["kept"] for line in shown.certificate),
        charts=[(title, text, drawing) for title, text, drawing in _charts(shown) if drawing],
    )


def _charts(summary: Summary) -> list[tuple[str, str, str]]:
    return [
        (
            "What an intruder gains",
            "Each bar is one attack that was run against the release. 1.00 would be every record.",
            charts.chart_intruder(summary),
        ),
        (
            "What an analyst keeps",
            "The floor is what changing nothing but the clustering's seed costs.",
            charts.chart_analyst(summary),
        ),
        (
            "Protection against usefulness",
            "Best is the upper left corner. The compared methods were run privately.",
            charts.chart_tradeoff(summary),
        ),
        (
            "How far each column moved",
            "A column at zero hardly moved.",
            charts.chart_columns(summary),
        ),
        ("How the records were treated", "", charts.chart_counts(summary)),
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
    """The few figures that lead the page: label, figure, side."""
    wanted = [
        ("identity.release_to_original", "released records linked to their source", "risk"),
        ("identity.original_to_release", "targets linked to their released record", "risk"),
        ("neighborhoods.stability_owner", "of each neighborhood kept", "use"),
        ("clustering.kmeans_f", "F-measure of k-means clusters", "use"),
    ]
    return [
        (label, _figure(value, digits), side)
        for name, label, side in wanted
        if (value := summary.release.value(name)) is not None
    ]


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


def _settings(values: Mapping[str, Any] | Sequence[Any] | Any) -> str:
    """Parameters in one line: "k: 10, ties: include"."""
    if isinstance(values, Mapping):
        parts = [f"{key}: {_settings(value)}" for key, value in values.items() if value is not None]
        return ", ".join(parts) or "–"
    if isinstance(values, list | tuple):
        return "[" + ", ".join(_settings(value) for value in values) + "]"
    if isinstance(values, float):
        return f"{values:g}"
    if isinstance(values, bool):
        return "yes" if values else "no"
    return str(values)
