"""Neighbor lists in the text of nauty."""

from __future__ import annotations

import gzip

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.schema import Schema
from distanon.errors import InputError
from distanon.storage.graphs import GraphSource, open_graph

TEXT = "!n=5\n!m=6\n0: 1 2;\n1: 0\n 3;  ! a comment\n2: 0;\n3: 1;\n"


def opened(tmp_path, text, name="g.nauty"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return open_graph(GraphSource(str(path)))


def test_lists_may_go_on_over_lines_and_nodes_without_one_are_there(tmp_path):
    for text, name in ((TEXT, "g.nauty"), (gzip.compress(TEXT.encode()), "g.nauty.gz")):
        found = opened(tmp_path, text, name).dataset(Schema(()))
        assert found.graph.pairs().tolist() == [[0, 1], [0, 2], [1, 3]]
        assert found.graph.nodes == 5
        assert found.counts["isolated_nodes"] == 1
        assert (found.columns.node, found.columns.source) == ("node", "source")


@settings(max_examples=30, deadline=None)
@given(nodes=st.integers(1, 15), seed=st.integers(0, 99), stated=st.booleans())
def test_what_networkx_has_is_read_back(nodes, seed, stated, tmp_path_factory):
    graph = nx.gnp_random_graph(nodes, 0.3, seed=seed)
    lists = "".join(f"{one}: {' '.join(map(str, graph[one]))};\n" for one in graph)
    head = f"!n={nodes}\n!m={2 * graph.number_of_edges()}\n" if stated else ""
    found = opened(tmp_path_factory.mktemp("n"), head + lists).dataset(Schema(()))
    assert set(map(tuple, found.graph.pairs().tolist())) == {
        (min(edge), max(edge)) for edge in graph.edges
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TEXT.replace("2: 0", "2: 9"), "line 6: a node above the number of nodes"),
        (TEXT.replace("2: 0;", "2: 0"), "line 7: a list begins before"),
        (TEXT.replace("2: 0;", "2; 0;"), "line 6: a number outside a list"),
        (TEXT.replace("2: 0;", "2: secret;"), "line 6: expected numbers"),
        (TEXT.partition("2: 0")[0], r"line 5: the graph breaks off \(6 neighbors stated, 4 found"),
        ("0: 1", "line 1: the graph breaks off"),
        ("0: 1;1: 0.\n2", "line 2: text after the end"),
        ("0: 99999999999999999999999;", "line 1: a node above"),
    ],
)
def test_the_first_bad_line_is_named_and_never_quoted(tmp_path, text, words):
    with pytest.raises(InputError, match=words) as error:
        opened(tmp_path, text)
    assert "secret" not in str(error.value)
    assert "g.nauty" in str(error.value)


@pytest.mark.parametrize(
    ("name", "nodes", "edges"),
    [
        ("fb_friends", 800, 6418),
        ("socfb-Reed98", 962, 18812),
        ("socfb-Simmons81", 1518, 32988),
        ("calls", 536, 621),
        ("sms", 568, 697),
    ],
)
def test_real_files_have_as_many_nodes_and_edges_as_they_are_known_for(
    graphs_folder, name, nodes, edges
):
    path = graphs_folder / "anonet" / f"{name}.nauty"
    found = open_graph(GraphSource(str(path))).dataset(Schema(()))
    assert (found.graph.nodes, found.graph.edges) == (nodes, edges)
    assert found.counts["directed_pairs_merged"] == edges
