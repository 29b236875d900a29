"""Charts and key figures of graphs."""

from __future__ import annotations

import pytest

from distanon.data.measurement import Measurement
from distanon.report import Subject, Summary, render
from distanon.report.graph_charts import chart_reached, chart_structure
from distanon.report.phrases import knowledge, phrase

FIGURES = [
    Measurement("reached.degree.k", 5.0, unit="1", note="the promised knowledge"),
    Measurement("reached.neighbor_degrees.k", 1.0, unit="1", note="not promised"),
    Measurement("reached.neighbor_degrees.unique", 0.62, note="not promised"),
    Measurement("structural.degree", 0.125, 0.1, 0.2),
    Measurement("structural.percolation_16", 0.625, 0.5, 0.75),
    Measurement("structural.degree.identifiers_removed", 0.9, is_public=False),
    Measurement("topology.edges", 1234.0, unit="edges"),
    Measurement("topology.edges_kept", 0.875),
    Measurement("topology.clustering", 0.375),
    Measurement("topology.original.clustering", 0.4375, is_public=False),
]


@pytest.fixture
def summary() -> Summary:
    return Summary(
        name="people",
        method={"name": "kmfc_gwo", "parameters": {}},
        limits="much",
        records=300,
        columns=[],
        certificate=[],
        removed=[],
        counts={"edges_added": 12},
        subjects=[Subject("kmfc_gwo", {one.name: one for one in FIGURES})],
        unit="nodes",
    )


def test_a_graph_is_told_in_nodes_and_edges(summary):
    page = render(summary, public=True)
    assert "300 nodes and 1,234 edges released" in page
    assert "300 records" not in page


def test_the_strongest_attack_leads_and_clustering_stands_beside_the_original(summary):
    page = render(summary, public=False)
    keys = page[page.index('id="key-figures"') : page.index('id="charts"')]
    assert "<b>0.625</b>" in keys
    assert "0.125" not in keys
    assert "<b>0.375</b>clustering coefficient, 0.438 in the original" in keys
    assert "0.44" not in render(summary, public=True)


def test_knowledge_that_was_not_promised_stands_in_the_certificate(summary):
    page = render(summary, public=True)
    rows = page[page.index("Not promised, but measured") : page.index("does not protect")]
    assert "degrees of all neighbors" in rows
    assert "0.62" in rows
    assert ">degree<" not in rows


def test_charts_tell_every_k_and_the_structure(summary):
    assert "5 (promised)" in chart_reached(summary)
    assert "degrees of all neighbors" in chart_reached(summary)
    assert "clustering coefficient" in chart_structure(summary)


def test_charts_of_nothing_are_empty(summary):
    nothing = Summary(
        **{
            **{name: getattr(summary, name) for name in summary.__slots__},
            "subjects": [Subject("kmfc_gwo", {})],
        }
    )
    assert chart_reached(nothing) == chart_structure(nothing) == ""


def test_names_become_plain_words():
    assert knowledge("reached.attributes+degree.k") == "attributes and degree"
    assert phrase("attribute.neighbors.job.blind_guess") == "job: by a blind guess"
