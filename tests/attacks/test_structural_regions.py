"""Degree and attributes against labels: beside a count of all pairs, by hand."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distanon.attacks.structural import measure
from distanon.data.graph import Graph
from distanon.data.streams import Streams
from distanon.runtime.crew import SerialCrew

CREW, STREAMS = SerialCrew(), Streams(3)
RING = Graph.from_pairs(4, np.array([[0, 1], [1, 2], [2, 3], [3, 0]]))


def figure(evidence):
    found = measure(evidence, crew=CREW, streams=STREAMS, draws=1)
    return {one.name: one for one in found}["structural.degree_and_attributes"]


def test_a_person_is_among_the_nodes_whose_label_covers_him(graph_evidence):
    columns = {"city": ["a", "b", "c", "d"]}
    shown = {"city": ["{a, b}", "{a, b}", "{c, d}", "{c, d}"]}
    assert figure(graph_evidence(RING, RING, np.arange(4), columns=columns, shown=shown)).value == (
        pytest.approx(1 / 2)
    )
    # Shown by their values, c and d are sure to be found.
    shown["city"][2:] = ["c", "d"]
    assert figure(graph_evidence(RING, RING, np.arange(4), columns=columns, shown=shown)).value == (
        pytest.approx(3 / 4)
    )


def scores(away, own):
    """1 / ties of the nearest of each row, 0 where its own is not among them."""
    least = away.min(axis=1, keepdims=True)
    tied = np.isclose(np.sqrt(away), np.sqrt(least), rtol=1e-9, atol=1e-12)
    return (tied[np.arange(len(own)), own] / tied.sum(axis=1)).sum()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_both_directions_count_all_pairs(graph_evidence, data):
    n = data.draw(st.integers(2, 9))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    before, after = (Graph.from_pairs(n, rng.integers(0, n, (2 * n, 2))) for _ in range(2))
    truth = {name: rng.choice(["a", "b", "c"], n).tolist() for name in ("city", "job")}
    sets = ["a", "b", "c", "{a, b}", "{a, b, c}"]
    # Also sets that do not hold the truth; only values that the original has.
    known = {name: set(values) for name, values in truth.items()}
    shown = {name: [] for name in truth}
    for name in truth:
        fitting = [one for one in sets if set(one.strip("{}").split(", ")) <= known[name]]
        shown[name] = [*rng.choice(fitting, n - 1).tolist(), "*"]
    sources = rng.permutation(n)
    found = figure(graph_evidence(before, after, sources, columns=truth, shown=shown))
    degree = [np.log1p(graph.degrees().astype(float)) for graph in (before, after)]
    top = max(1.0, np.log1p(int(before.degrees().max())))
    away = ((degree[0][:, None] - degree[1][None, :]) / top) ** 2
    for name, cells in shown.items():
        for row, cell in enumerate(cells):
            inside = known[name] if cell == "*" else set(cell.strip("{}").split(", "))
            away[:, row] += [value not in inside for value in truth[name]]
    forth = scores(away[sources], np.arange(n))
    back = scores(away.T, sources)
    assert found.value == pytest.approx(max(forth, back) / n)
