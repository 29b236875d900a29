"""What holds records shows none when it is printed: notebooks and logs keep what they print."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pyarrow as pa

import distanon as da
from distanon.data.domain import scan
from distanon.data.evidence import Evidence
from distanon.data.graph import Graph, GraphColumns, GraphDataset
from distanon.data.graph_release import GraphRelease
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset, MemoryPartition
from distanon.promises.base import Verdict

PLANTED = ("Munchausen", "918273")


def printed(thing: object) -> str:
    """How it is printed, and how each of its parts is."""
    parts = [getattr(thing, each.name) for each in fields(thing)] if is_dataclass(thing) else []
    own = [part for part in parts if type(part).__module__.startswith("distanon")]
    return " ".join([repr(thing), str(thing), *map(printed, own)])


def table() -> pa.Table:
    return pa.table({"age": [918273, *range(40)], "name": ["Munchausen", *["a"] * 40]})


def dataset() -> Dataset:
    number = Attribute("age", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.int64())
    text = Attribute("name", Role.QUASI_IDENTIFIER, AttributeType.NOMINAL, pa.string())
    return Dataset(Schema((number, text)), (MemoryPartition(table()),), "the table")


def test_what_holds_a_table_prints_no_value_of_it():
    whole = dataset()
    domain = scan(whole)
    evidence = Evidence(whole, whole, np.arange(41))
    space = AttributeSpace.of(whole.schema.quasi_identifiers, domain)
    hierarchy = Hierarchy.from_rows([["Munchausen", "all"], ["a", "all"]], "h.csv")
    selected = whole.select(np.array([0, 3]))
    verdict = Verdict("k_anonymity", {}, {}, False, "release", private={"rows": ["Munchausen"]})
    release = da.DPTPE(k=3).anonymize(
        table(), quasi_identifiers=["age"], insensitive=["name"], seed=918273
    )
    for thing in (whole, domain, evidence, space, hierarchy, selected, verdict, release):
        text = printed(thing)
        assert not any(value in text for value in PLANTED), thing
    assert repr(release) == "Release(41 records of age, name; the rows are in .data)"
    assert repr(whole) == "Dataset(the table: 41 records of age, name)"


def test_what_holds_a_graph_prints_neither_ids_nor_edges():
    graph = Graph.from_pairs(3, np.array([[0, 1], [1, 2]]))
    ids = pa.array([918273, 2, 3])
    whole = GraphDataset(graph, None, Schema(()), GraphColumns(), ids)
    release = GraphRelease(graph, None, Schema(()), np.array([0, 1, 2]), data=table())
    clusters = GraphRelease(None, None, Schema(()), None, supernodes=table(), superedges=table())
    for thing in (graph, whole, release, clusters):
        assert not any(value in printed(thing) for value in PLANTED)
    assert repr(release) == "GraphRelease(Graph(3 nodes, 2 edges))"
    assert repr(clusters) == "GraphRelease(41 supernodes)"
