"""What the cluster's metrics are told, and what a dashboard may ask."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from distanon.data.ports import Silent, observe
from distanon.job.logbook import Logbook
from distanon.runtime import metering
from distanon.runtime.metering import METERS, Metered

DASHBOARD = Path(__file__).parents[2] / "cluster" / "grafana" / "distanon.json"


class Told:
    """A metric that remembers."""

    def __init__(self):
        self.values = []

    def tell(self, value, tags):
        self.values.append((value, tags))

    set = inc = tell


@pytest.fixture
def metrics(monkeypatch):
    """What was told, by metric."""
    found = {meter.name: Told() for meter in METERS}
    monkeypatch.setattr(metering, "_is_joined", lambda: True)
    monkeypatch.setattr(metering, "_made", found.__getitem__)
    return found


def test_phases_and_items_are_told_with_run_method_and_phase(metrics):
    metered = Metered(Silent(), "adult", "dptpe")
    metered.start("release", 5)
    metered.advance()
    metered.advance(2)
    metered.close()
    tags = {"run": metered.label, "method": "dptpe", "phase": "release"}
    assert metrics["distanon_items_total"].values == [(1, tags), (2, tags)]
    assert [value for value, _ in metrics["distanon_phase_items"].values] == [5, 0]
    assert [value for value, _ in metrics["distanon_phase_done"].values] == [0, 1, 3, 0]
    ((seconds, where),) = metrics["distanon_phase_seconds_total"].values
    assert seconds >= 0
    assert where == tags


def test_figures_of_pool_and_search_arrive_through_the_logbook(metrics):
    metered = Metered(Silent(), "adult", "kmfc_gwo")
    observe(Logbook(metered), "objective", 0.25)
    assert metrics["distanon_objective"].values == [
        (0.25, {"run": metered.label, "method": "kmfc_gwo"})
    ]


def test_a_run_is_told_apart_by_chance_and_not_by_what_digests_the_seed():
    first, second = (Metered(Silent(), "adult", "dptpe").label for _ in range(2))
    assert first != second
    assert re.fullmatch(r"adult-[0-9a-f]{6}", first)


def test_progress_that_leads_nowhere_is_no_fault():
    observe(Silent(), "objective", 1.0)
    metered = Metered(Silent(), "adult", "dptpe")  # no Ray in this process
    metered.start("release", 1)
    metered.observe("workers", 2)
    metered.close()


def faults(query):
    """What is wrong with a query of the dashboard."""
    found = []
    for name in re.findall(r"ray_\w+", query) or [""]:
        meter = next((one for one in METERS if f"ray_{one.name}" == name), None)
        if meter is None:
            found.append(f"no metric {name!r}")
            continue
        if ("rate(" in query or "increase(" in query) != (meter.kind == "counter"):
            found.append(f"{name} is a {meter.kind}")
        known = {"run", "method"} | ({"phase"} if meter.by_phase else set())
        tags = [tag for group in re.findall(r"by \(([^)]*)\)", query) for tag in group.split(", ")]
        tags += re.findall(r"(\w+)=~?\"", query)
        found += [f"{name} has no tag {tag}" for tag in tags if tag not in known]
    return found


def queries():
    return [
        target["expr"]
        for panel in json.loads(DASHBOARD.read_text())["panels"]
        for target in panel["targets"]
    ]


def test_every_query_of_the_dashboard_names_metrics_and_tags_that_exist():
    assert queries()
    assert {query: found for query in queries() if (found := faults(query))} == {}


def test_every_metric_is_shown_to_somebody():
    asked = {name for query in queries() for name in re.findall(r"ray_\w+", query)}
    assert asked == {f"ray_{meter.name}" for meter in METERS}


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("ray_distanon_items_total", "ray_distanon_item_total", "no metric"),
        ("ray_distanon_items_total", "ray_distanon_backlog", "is a gauge"),
        ("ray_distanon_backlog", "ray_distanon_items_total", "is a counter"),
        ("phase", "subject", "has no tag subject"),
        ("ray_distanon_backlog", "up", "no metric"),
    ],
)
def test_a_query_of_what_does_not_exist_is_found(old, new, fault):
    broken = [query.replace(old, new) for query in queries() if old in query]
    assert broken
    assert any(fault in told for query in broken for told in faults(query))


def test_variables_of_the_dashboard_are_asked_of_metrics_that_exist():
    variables = json.loads(DASHBOARD.read_text())["templating"]["list"]
    asked = [one["query"]["query"] for one in variables if one["type"] == "query"]
    assert asked
    for query in asked:
        name = re.fullmatch(r"label_values\(ray_(\w+)(?:\{.*\})?, (?:run|method)\)", query)[1]
        assert name in {meter.name for meter in METERS}
