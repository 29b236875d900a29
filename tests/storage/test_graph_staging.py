from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon.data.graph import Graph, GraphColumns
from distanon.data.graph_release import GraphRelease, PublishedGraph, publishable_tables
from distanon.data.schema import Attribute, Role, Schema, infer_type
from distanon.data.streams import Streams
from distanon.errors import InputError, StorageError
from distanon.storage import graph_staging, staging
from distanon.storage.graph_staging import GraphManifest, read_back, stage, staged_manifest
from distanon.storage.graphs import GraphSource, open_graph
from distanon.storage.publishing import Attempt
from distanon.storage.releases import open_any_graph
from distanon.storage.staging import read_mapping
from distanon.storage.store import Store

COLUMNS = GraphColumns("id", "a", "b")
NODES = 30


def attributes() -> pa.Table:
    draw = np.random.default_rng(5)
    return pa.table(
        {
            "job": pa.array(draw.choice(["x", "y", "<&>"], NODES)).dictionary_encode(),
            "when": pa.array(draw.integers(0, 3, NODES), pa.timestamp("s")),
            "share": pa.array([None if one < 0.2 else one for one in draw.random(NODES)]),
        }
    )


def schema_of(table: pa.Table) -> Schema:
    return Schema(
        tuple(
            Attribute(field.name, Role.QUASI_IDENTIFIER, infer_type(field.type), field.type)
            for field in table.schema
        )
    )


def released(**more) -> GraphRelease:
    pairs = np.random.default_rng(1).integers(0, NODES, (80, 2))
    table = attributes()
    settings = {"nodes": table, "schema": schema_of(table), **more}
    return GraphRelease(
        Graph.from_pairs(NODES, pairs),
        sources=np.arange(NODES),
        classes=np.arange(NODES) // 10,
        **settings,
    )


def published(release: GraphRelease | None = None) -> PublishedGraph:
    return publishable_tables(release or released(), COLUMNS, Streams(9))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_what_was_staged_is_read_back_with_types_sources_and_classes(place, kind):
    folder, one = Store(place), published()
    manifest = stage(one, folder, kind)
    back = read_back(folder, manifest, one.schema)
    assert back.tables["nodes"].to_pydict() == one.tables["nodes"].to_pydict()
    assert [field.type for field in back.nodes.schema] == [
        field.type for field in attributes().schema
    ]
    original = released().graph
    pairs = {tuple(sorted(one.sources[pair].tolist())) for pair in back.graph.pairs()}
    assert pairs == set(map(tuple, original.pairs().tolist()))
    assert back.sources.tolist() == one.sources.tolist()
    assert (back.classes == back.sources // 10).all()
    assert back.graph.nodes == NODES
    assert [attribute.name for attribute in back.schema] == ["job", "when", "share"]
    assert staged_manifest(folder) == manifest
    assert (manifest.records, manifest.rows["edges"]) == (NODES, original.edges)


def test_files_have_their_names_and_columns_and_hold_no_source(tmp_path):
    folder = Store(str(tmp_path))
    manifest = stage(published(), folder, "parquet")
    assert [file.path for file in manifest.files] == [
        "nodes/part-00000.parquet",
        "edges/part-00000.parquet",
        "graph.graphml",
    ]
    assert pq.read_schema(tmp_path / "nodes" / "part-00000.parquet").names == [
        "id",
        "job",
        "when",
        "share",
    ]
    assert pq.read_schema(tmp_path / "edges" / "part-00000.parquet").names == ["a", "b"]
    document = manifest.as_document()
    assert json.loads(json.dumps(document)) == document
    assert document["ids"] == {"node": "id", "source": "a", "target": "b"}
    assert list(document["columns"]) == ["nodes", "edges"]


def test_parts_are_cut_by_rows_and_graphml_by_edges(place, monkeypatch):
    monkeypatch.setattr(staging, "PART_ROWS", 16)
    monkeypatch.setattr(graph_staging, "GRAPHML_EDGES", 10)
    folder, one = Store(place), published()
    manifest = stage(one, folder, "parquet")
    assert [file.rows for file in manifest.files if file.path.startswith("nodes")] == [16, 14]
    assert not folder.exists("graph.graphml")
    back = read_back(folder, manifest, one.schema)
    assert back.sources.tolist() == one.sources.tolist()
    assert back.nodes.num_rows == NODES


def test_the_bytes_do_not_depend_on_chunks(tmp_path):
    whole = released()
    table = attributes()
    chunked = released(nodes=pa.concat_tables([table.slice(0, 7), table.slice(7)]))
    manifests = [
        stage(published(one), Store(str(tmp_path / str(number))), "parquet")
        for number, one in enumerate([whole, chunked])
    ]
    assert manifests[0] == manifests[1]


def test_all_files_tell_the_same_graph(tmp_path):
    manifest = stage(published(), Store(str(tmp_path)), "parquet")
    by_graphml = nx.read_graphml(tmp_path / "graph.graphml", node_type=int)
    edges = pq.read_table(tmp_path / "edges" / "part-00000.parquet")
    pairs = list(zip(*edges.to_pydict().values(), strict=True))
    assert sorted(by_graphml.edges) == sorted(pairs)
    assert len(by_graphml) == manifest.records
    opened = open_graph(GraphSource(str(tmp_path / "edges"), str(tmp_path / "nodes")))
    again = opened.dataset(schema_of(attributes()))
    assert again.graph.pairs().tolist() == [list(pair) for pair in pairs]


def test_a_graph_without_attributes_and_one_without_edges_are_released(tmp_path):
    graph = Graph.from_pairs(3, np.zeros((0, 2), np.int64))
    one = published(GraphRelease(graph, None, Schema(()), None))
    folder = Store(str(tmp_path))
    manifest = stage(one, folder, "csv")
    back = read_back(folder, manifest, one.schema)
    assert (back.graph.nodes, back.graph.edges, back.nodes) == (3, 0, None)
    assert (back.sources, back.classes) == (None, None)
    assert back.graph.nodes == 3


def test_supernodes_are_staged_in_folders_of_their_own(tmp_path):
    release = GraphRelease(
        None,
        None,
        Schema(()),
        np.arange(5),
        np.array([0, 0, 1, 1, 1]),
        pa.table({"size": [2, 3]}),
        pa.table({"one": [0], "other": [1], "edges": [4]}),
    )
    folder = Store(str(tmp_path))
    manifest = stage(published(release), folder, "parquet")
    assert [file.path for file in manifest.files] == [
        "supernodes/part-00000.parquet",
        "superedges/part-00000.parquet",
    ]
    back = read_back(folder, manifest, Schema(()))
    assert back.graph is None
    sizes = back.tables["supernodes"].column("size").to_pylist()
    assert [sizes[place] for place in back.classes] == [2, 2, 3, 3, 3]
    assert staged_manifest(folder) == manifest


@pytest.mark.parametrize("name", ["nodes/part-00000.parquet", "graph.graphml"])
def test_a_file_that_is_not_what_was_written_is_refused(tmp_path, name):
    folder, one = Store(str(tmp_path)), published()
    manifest = stage(one, folder, "parquet")
    folder.write(name, folder.read(name)[:-1] + b"x")
    with pytest.raises(StorageError, match="not what was written"):
        read_back(folder, manifest, one.schema)


@pytest.mark.parametrize("ends", [[[0, 0]], [[1, 0]], [[0, 1], [0, 1]], [[1, 2], [0, 1]], [[0, 9]]])
def test_edges_that_are_not_simple_and_sorted_are_refused(tmp_path, ends):
    edges = pa.table({"a": [one for one, _ in ends], "b": [other for _, other in ends]})
    one = PublishedGraph(
        {"nodes": pa.table({"id": [0, 1, 2]}), "edges": edges}, COLUMNS, Schema(())
    )
    folder = Store(str(tmp_path))
    manifest = stage(one, folder, "parquet")
    with pytest.raises(StorageError):
        read_back(folder, manifest, one.schema)


def test_a_graph_goes_the_way_of_every_release(place, tmp_path):
    output, private = f"{place}/out", f"{place}/hidden"
    one = published()
    with Attempt.begin(output, private) as attempt:
        manifest = attempt.stage(one)
        assert isinstance(manifest, GraphManifest)
        back = attempt.read_back_graph(one.schema)
        attempt.keep_mapping()
        attempt.publish({"release": manifest.as_document()})
    resumed = Attempt.resume(output, private)
    with resumed:
        assert resumed.has_sources
        assert resumed.read_back_graph(one.schema).graph.edges == back.graph.edges
        resumed.cleanup()
    assert read_mapping(Store(private)).tolist() == one.sources.tolist()
    opened = open_any_graph(output)
    assert opened.tables.columns == COLUMNS
    assert opened.dataset(schema_of(attributes())).graph.edges == back.graph.edges
    names = {Path(entry.name).parts[0] for entry in Store(output).list()}
    assert names == {"nodes", "edges", "graph.graphml", "release.json", "_SUCCESS"}
    assert Store(private).list("staging") == []


def test_a_release_of_a_table_has_no_graph_and_one_under_way_is_refused(tmp_path):
    (tmp_path / "data").mkdir()
    assert open_any_graph(str(tmp_path)) is None
    (tmp_path / "release.json").write_text("{}")
    with pytest.raises(InputError, match="no finished release"):
        open_any_graph(str(tmp_path))


def test_the_public_bytes_name_no_input_id_and_no_unused_value(tmp_path):
    job = pa.array(["kept", "PLANTED"]).dictionary_encode().take(pa.array([0] * NODES))
    table = pa.table({"job": job}).replace_schema_metadata({"note": "PLANTED"})
    one = published(released(nodes=table, schema=schema_of(table)))
    manifest = stage(one, Store(str(tmp_path)), "parquet")
    for file in manifest.files:
        assert b"PLANTED" not in (tmp_path / file.path).read_bytes()
