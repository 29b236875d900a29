import numpy as np
import pytest

from distanon.attacks.neighbor_majority import measure
from distanon.data.graph import Graph

# A star 0 with 1, 2, 3, and a node 4 alone.
STAR = Graph.from_pairs(5, np.array([[0, 1], [0, 2], [0, 3]]))


def values(evidence):
    return {m.name: m.value for m in measure(evidence)}


def test_a_node_is_guessed_by_its_neighbors_and_one_alone_by_the_commonest(graph_evidence):
    columns = {"job": ["x", "x", "y", "x", "x"]}
    found = values(graph_evidence(STAR, STAR, np.arange(5), columns=columns, sensitive=["job"]))
    # 0: x of x, y, x; 1, 3: x of x; 2: guessed x; 4: the commonest, x.
    assert found == {
        "attribute.neighbors.job": 4 / 5,
        "attribute.neighbors.job.blind_guess": 4 / 5,
    }


def test_values_that_tie_count_a_part_and_missing_ones_are_neither_targets_nor_votes(
    graph_evidence,
):
    columns = {"job": ["x", "x", "y", None, None]}
    evidence = graph_evidence(STAR, STAR, np.arange(5), columns=columns, sensitive=["job"])
    # 0: x and y tie; 1: x; 2: guessed x.
    assert values(evidence)["attribute.neighbors.job"] == pytest.approx(1.5 / 3)


def test_the_truth_is_the_original_value_and_the_votes_are_the_released_ones(graph_evidence):
    columns = {"job": ["x", "y", "y", "y", "y"]}
    shown = {"job": ["y", "x", "x", "x", "x"]}
    evidence = graph_evidence(
        STAR, STAR, np.arange(5), columns=columns, sensitive=["job"], shown=shown
    )
    # 0 is x and its neighbors show x; 1, 2, 3 are y and see y; 4 is y, the commonest shown is x.
    assert values(evidence)["attribute.neighbors.job"] == pytest.approx(4 / 5)


def test_released_nodes_are_compared_with_their_sources(graph_evidence):
    columns = {"job": ["x", "x", "y", "x", "x"]}
    sources = np.array([4, 3, 2, 1, 0])
    moved = Graph.from_pairs(5, np.argsort(sources)[STAR.pairs()])
    evidence = graph_evidence(STAR, moved, sources, columns=columns, sensitive=["job"])
    assert values(evidence)["attribute.neighbors.job"] == 4 / 5


def test_without_values_nothing_is_measured(graph_evidence):
    columns = {"job": [None] * 5}
    assert not values(graph_evidence(STAR, STAR, np.arange(5), columns=columns, sensitive=["job"]))
    assert values(graph_evidence(STAR, STAR, np.arange(5))) == {}
