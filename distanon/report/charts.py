"""The charts of a report: static SVG, the same bytes for the same figures."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from distanon.report.phrases import STRONGEST, STRUCTURAL, attack, attack_name
from distanon.report.summary import Subject, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from distanon.data.measurement import Measurement

RISK = "#b3382c"
USE = "#1f6f78"
_QUIET = "#9aa5ab"
INK = "#263238"


def chart_intruder(summary: Summary) -> str:
    """Rates of every attack with their 95 % intervals, and the blind guess beside them."""
    rows = [
        (attack_name(measured), measured)
        for name, measured in summary.release.measurements.items()
        if is_attack(measured) and summary.release.value(name) is not None
    ]
    if not rows:
        return ""
    figure, axes = canvas(0.42 * len(rows) + 1.0)
    for place, (_, measured) in enumerate(rows):
        axes.barh(place, measured.value, color=RISK, height=0.62)
        if measured.ci_low is not None and measured.ci_high is not None:
            axes.plot([measured.ci_low, measured.ci_high], [place, place], color=INK, lw=1.6)
        right = max(measured.value, measured.ci_high or 0.0) + 0.015
        axes.text(right, place, f"{measured.value:.2f}", va="center", fontsize=9)
    rows_of(axes, [label for label, _ in rows])
    axes.set_xlim(0, 1.12)
    unit = "people" if summary.is_graph else "records"
    axes.set_xlabel(f"share of {unit} an intruder gets right (line: 95 % interval)")
    return svg(figure, "What an intruder gains: rate of every attack")


def chart_analyst(summary: Summary) -> str:
    """Neighborhood stability and F-measures: a row each, a dot for every subject."""
    names = {
        "neighborhoods.stability_owner": "stability, owner's scale",
        "neighborhoods.stability_analyst": "stability, analyst's scale",
        "clustering.kmeans_f": "F-measure, k-means",
        "clustering.dbscan_f": "F-measure, DBSCAN",
        "topology.edges_kept": "edges",
        "topology.communities": "communities",
        "topology.pagerank_overlap": "most central nodes",
    }
    shown = [name for name in names if any(s.value(name) is not None for s in summary.subjects)]
    if not shown:
        return ""
    figure, axes = canvas(max(0.62 * len(shown), 0.24 * len(summary.subjects)) + 1.0)
    for index, subject in reversed(list(enumerate(summary.subjects))):  # the release on top
        known = [(place, subject.value(name)) for place, name in enumerate(shown)]
        dots = [(value, place) for place, value in known if value is not None]
        size = 110 if index == 0 else 55
        values, places = [value for value, _ in dots], [place for _, place in dots]
        axes.scatter(values, places, s=size, color=_color(index), label=subject.label)
        if index == 0:
            for value, place in dots:
                axes.text(value, place - 0.22, f"{value:.2f}", ha="center", fontsize=9)
    floor = summary.release.value("clustering.kmeans_floor")
    if floor is not None and "clustering.kmeans_f" in shown:
        row = shown.index("clustering.kmeans_f")
        axes.plot([floor, floor], [row - 0.3, row + 0.3], color=INK, lw=1.6, label="floor")
    rows_of(axes, [names[name] for name in shown])
    axes.set_ylim(len(shown) - 0.5, -0.6)
    axes.grid(axis="y", color=_QUIET, lw=0.4)
    axes.set_xlim(0, 1.06)
    axes.set_xlabel("1 = as in the original")
    if len(summary.subjects) > 1:
        handles, labels = axes.get_legend_handles_labels()
        count = len(summary.subjects)
        order = [*range(count - 1, -1, -1), *range(count, len(labels))]
        axes.legend(
            [handles[place] for place in order],
            [labels[place] for place in order],
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            frameon=False,
        )
    return svg(figure, "What an analyst keeps")


def chart_columns(summary: Summary) -> str:
    """How far each column's values moved, in shares of the column's range."""
    prefix = "change.mean_absolute."
    rows = [
        (name.removeprefix(prefix), value)
        for name in summary.release.measurements
        if name.startswith(prefix) and (value := summary.release.value(name)) is not None
    ]
    if not rows:
        return ""
    figure, axes = canvas(0.34 * len(rows) + 1.0)
    for place, (_, value) in enumerate(rows):
        axes.barh(place, value, color=USE, height=0.62)
        axes.text(value, place, f" {value:.3g}", va="center", fontsize=9)
    rows_of(axes, [label for label, _ in rows])
    axes.set_xlim(0, max(value for _, value in rows) * 1.18 + 1e-9)
    axes.set_xlabel("mean absolute change, in shares of the column's range")
    return svg(figure, "How far each column's values moved")


def chart_tradeoff(summary: Summary) -> str:
    """The strongest attack against stability: the release among what it is compared with."""
    measure = "topology.communities" if summary.is_graph else "neighborhoods.stability_owner"
    points = [
        (f"{subject.label}\n({attack(strongest)})", strongest.value, kept)
        for subject in summary.subjects
        if (strongest := strongest_attack(subject)) is not None
        and (kept := subject.value(measure)) is not None
    ]
    if len(points) < 2:
        return ""
    figure, axes = canvas(3.6)
    for index, (label, risk, kept) in enumerate(points):
        axes.scatter(risk, kept, s=90 if index == 0 else 55, color=_color(index), label=label)
    axes.set_xlim(-0.03, 1.05)
    axes.set_ylim(0, 1.05)
    axes.set_xlabel("found by the strongest attack (lower protects more)")
    kind = "communities" if summary.is_graph else "stability"
    axes.set_ylabel(f"{kind} (higher keeps more)")
    axes.legend(
        loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, title="method\n(its attack)"
    )
    return svg(figure, "Protection against usefulness")


def chart_counts(summary: Summary) -> str:
    """How many records were treated in which way; small counts are not drawn."""
    if summary.is_graph:
        return ""  # they count edges, cells and bounds: no shares of one whole
    rows = [
        (name.replace("_", " "), value)
        for name, value in summary.counts.items()
        if isinstance(value, int) and name != "records" and 0 < value <= summary.records
    ]
    if not rows:
        return ""
    figure, axes = canvas(0.4 * len(rows) + 1.0)
    for place, (_, value) in enumerate(rows):
        axes.barh(place, value, color=USE, height=0.62)
        axes.text(value, place, f" {value:,}", va="center", fontsize=9)
    rows_of(axes, [label for label, _ in rows])
    axes.set_xlim(0, summary.records * 1.15)
    axes.set_xlabel(f"records, of {summary.records:,}")
    return svg(figure, "How the records were treated")


def strongest_attack(subject: Subject) -> Measurement | None:
    """The one with the highest rate, of those that find records and those that turn back."""
    names = (*STRONGEST, *STRUCTURAL)
    known = [subject.measurements[name] for name in names if subject.value(name) is not None]
    return max(known, key=lambda measured: measured.value, default=None)


def is_attack(measured: Measurement) -> bool:
    """Whether a figure is the rate of an attack on records or values."""
    kinds = ("identity.", "inversion.", "attribute.", "linkage.", "structural.")
    if measured.name.endswith((".unique", ".identifiers_removed")):
        return False
    if measured.name.startswith("attribute.control."):
        return False
    return measured.unit == "share" and measured.name.startswith(kinds)


def _color(index: int) -> str:
    shades = ["#8c6bb1", "#d08a2e", "#5a9367", "#4a78b0", "#a65a7a", _QUIET, "#6b705c"]
    return USE if index == 0 else shades[(index - 1) % len(shades)]


def canvas(height: float) -> tuple[Figure, Axes]:
    """A figure of its own, outside pyplot's global state."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.4, height), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)
    return figure, axes


def rows_of(axes: Axes, labels: Sequence[str]) -> None:
    """Names the rows of a chart, the first on top."""
    # A dollar sign would start a formula, and a column may be called anything.
    axes.set_yticks(range(len(labels)), [label.replace("$", r"\$") for label in labels])
    axes.invert_yaxis()
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def svg(figure: Figure, title: str) -> str:
    """The figure as an `<svg>` element with a title for those who can't see it."""
    import matplotlib as mpl

    # Ids are hashed from the title: fixed, and unlike those of the page's other charts.
    with mpl.rc_context({"svg.hashsalt": title, "svg.fonttype": "none", "font.size": 10}):
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    # The metadata block links to elsewhere; a page that loads nothing names nothing.
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return re.sub(r"<svg ", f'<svg role="img" aria-label="{title}" ', text, count=1)
