"""Charts of graphs: who looks alike to whom, and what the structure is like."""

from __future__ import annotations

from distanon.data.measurement import Measurement
from distanon.report.charts import INK, RISK, USE, canvas, rows_of, svg
from distanon.report.phrases import knowledge
from distanon.report.summary import Summary

_STRUCTURE = {
    "clustering": "clustering coefficient",
    "transitivity": "transitivity",
    "modularity": "modularity",
}


def is_reached(measured: Measurement) -> bool:
    """Whether a figure is the k that one kind of knowledge meets."""
    return measured.name.startswith("reached.") and measured.name.endswith(".k")


def chart_reached(summary: Summary) -> str:
    """The k of every kind of knowledge, on a scale where ten times more is one step."""
    rows = [
        (knowledge(measured.name), measured)
        for measured in summary.release.measurements.values()
        if is_reached(measured) and measured.value >= 1
    ]
    if not rows:
        return ""
    figure, axes = canvas(0.42 * len(rows) + 1.0)
    promised = min((m.value for _, m in rows if m.note != "not promised"), default=0.0)
    for place, (_, measured) in enumerate(rows):
        is_promised = measured.note != "not promised"
        # Bars begin at 0.8, so that a k of 1 is still seen.
        axes.barh(
            place,
            measured.value - 0.8,
            left=0.8,
            color=USE if measured.value >= promised else RISK,
            height=0.62,
        )
        told = f"{round(measured.value):,}" + (" (promised)" if is_promised else "")
        axes.text(measured.value * 1.08, place, told, va="center", fontsize=9)
    rows_of(axes, [label for label, _ in rows])
    axes.set_xscale("log")
    highest = max(measured.value for _, measured in rows)
    axes.set_xlim(0.8, highest * 6)
    marks = [10**power for power in range(len(str(round(highest))))]
    axes.set_xticks(marks, [f"{mark:,}" for mark in marks])
    axes.minorticks_off()
    axes.set_xlabel("k: people that look alike, at the fewest")
    return svg(figure, "The k that is reached for every kind of knowledge")


def chart_structure(summary: Summary) -> str:
    """Coefficients of the released graph; those of the original as lines, where they are shown."""
    rows = [
        (label, value, summary.release.value(f"topology.original.{name}"))
        for name, label in _STRUCTURE.items()
        if (value := summary.release.value(f"topology.{name}")) is not None
    ]
    if not rows:
        return ""
    figure, axes = canvas(0.46 * len(rows) + 1.0)
    for place, (_, value, original) in enumerate(rows):
        axes.barh(place, value, color=USE, height=0.62)
        if original is not None:
            axes.plot([original, original], [place - 0.4, place + 0.4], color=INK, lw=2)
        axes.text(
            max(value, original or 0.0) + 0.015, place, f"{value:.2f}", va="center", fontsize=9
        )
    rows_of(axes, [label for label, *_ in rows])
    axes.set_xlim(min(0.0, *(value for _, value, _ in rows)), 1.12)
    axes.set_xlabel("coefficient")
    return svg(figure, "What the released graph is like")
