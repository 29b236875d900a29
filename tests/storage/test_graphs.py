from __future__ import annotations

import gzip

import networkx as nx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon.data.schema import Attribute, Role, Schema, infer_type
from distanon.errors import AccessError, InputError
from distanon.storage import text_blocks
from distanon.storage.csv_text import CsvSettings
from distanon.storage.graphs import GraphSource, open_graph
from distanon.storage.store import Store

EDGES = "a,b\n1,2\n2,3\n3,3\n2,1\n"
NODES = "id,job\n3,x\n1,\n2,y\n"


def files(tmp_path, **contents) -> dict[str, str]:
    """Files by name, an underscore for the point."""
    paths = {}
    for name, content in contents.items():
        path = tmp_path / name.replace("_", ".")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        paths[name] = str(path)
    return paths


def schema_of(opened) -> Schema:
    return Schema(
        tuple(
            Attribute(field.name, Role.QUASI_IDENTIFIER, infer_type(field.type), field.type)
            for field in opened.arrow_schema
        )
    )


def dataset(source: GraphSource):
    opened = open_graph(source)
    return opened.dataset(schema_of(opened))


def test_an_edge_list_and_a_node_table_are_a_graph(tmp_path):
    paths = files(tmp_path, e_csv=EDGES, n_csv=NODES)
    found = dataset(GraphSource(paths["e_csv"], paths["n_csv"]))
    assert found.ids.to_pylist() == [3, 1, 2]
    assert found.graph.pairs().tolist() == [[0, 2], [1, 2]]
    assert found.nodes.to_pydict() == {"job": ["x", None, "y"]}
    assert (found.columns.node, found.columns.source, found.columns.target) == ("id", "a", "b")
    assert found.counts["self_loops"] == found.counts["directed_pairs_merged"] == 1
    assert found.counts["nodes_without_attributes"] == 1


def parquet(path, table) -> str:
    pq.write_table(table, path)
    return str(path)


def test_every_format_gives_the_same_graph(tmp_path):
    plain = "# comment\n" + EDGES.partition("\n")[2].replace(",", " ")
    tabbed = EDGES.replace(",", "\t")
    table = pa.table({"a": [1, 2, 3, 2], "b": [2, 3, 3, 1]})
    paths = files(
        tmp_path,
        e_csv=EDGES,
        e_tsv=tabbed,
        e_txt=plain,
        e_edges_gz=gzip.compress(plain.encode()),
        e_csv_gz=gzip.compress(EDGES.encode()),
        x_gml="graph [ node [ id 1 ] node [ id 2 ] node [ id 3 ] edge [ source 1 target 2 ]"
        " edge [ source 2 target 3 ] edge [ source 3 target 3 ] edge [ source 2 target 1 ] ]",
    )
    graph = nx.MultiGraph([(1, 2), (2, 3), (3, 3), (2, 1)])
    nx.write_graphml(graph, tmp_path / "x.graphml")
    (tmp_path / "parts").mkdir()
    pq.write_table(table.slice(0, 1), tmp_path / "parts" / "p0.parquet")
    pq.write_table(table.slice(1), tmp_path / "parts" / "p1.parquet")
    places = [
        *paths.values(),
        str(tmp_path / "x.graphml"),
        str(tmp_path / "parts"),
        str(tmp_path / "parts" / "*.parquet"),
    ]
    for place in places:
        found = dataset(GraphSource(place, undeclared="drop"))
        assert found.graph.pairs().tolist() == [[0, 1], [1, 2]], place
        assert found.counts["self_loops"] == 1, place


PARTS = {
    "csv": ["a,b\n1,2\n", "a,b\n2,3\n3,3\n", "a,b\n2,1\n"],
    "tsv": ["a\tb\n1\t2\n", "a\tb\n2\t3\n3\t3\n", "a\tb\n2\t1\n"],
    "txt": ["# one\n1 2\n", "2\t3\n3 3\n", "2 1\n"],
    "edges.gz": ["1 2\n", "2 3\n3 3\n", "2 1\n"],
}


def parts(folder, kind, contents):
    folder.mkdir()
    for place, content in enumerate(contents):
        data = gzip.compress(content.encode()) if kind.endswith("gz") else content.encode()
        (folder / f"part-{place}.{kind}").write_bytes(data)
    return folder


@pytest.mark.parametrize("kind", PARTS)
def test_parts_of_text_are_one_edge_list_in_the_order_of_their_paths(tmp_path, kind):
    folder = parts(tmp_path / "edges", kind, PARTS[kind])
    (folder / "readme.md").write_text("1 2")
    for place in (str(folder), str(folder / f"*.{kind}")):
        opened = open_graph(GraphSource(place))
        assert opened.tables.source_ids.to_pylist() == [1, 2, 3, 2]
        found = opened.dataset(schema_of(opened))
        assert found.graph.pairs().tolist() == [[0, 1], [1, 2]]
        ours = [note for note in opened.notes if "files that are no tables" in note]
        assert len(ours) == (place == str(folder))
    first = open_graph(GraphSource(str(folder))).fingerprint
    (folder / f"part-1.{kind}").unlink()
    assert open_graph(GraphSource(str(folder))).fingerprint != first


@pytest.mark.parametrize("kind", PARTS)
def test_a_fault_names_the_part_and_its_line(tmp_path, kind):
    contents = [
        text.replace("3 3", "3").replace("3,3", "3").replace("3\t3", "3") for text in PARTS[kind]
    ]
    folder = parts(tmp_path / "edges", kind, contents)
    line = 3 if kind in ("csv", "tsv") else 2
    with pytest.raises(InputError, match=f"part-1.{kind}, line {line}: 1 cells, expected 2"):
        open_graph(GraphSource(str(folder)))


@pytest.mark.parametrize("kind", PARTS)
def test_an_unknown_node_is_found_in_its_part(tmp_path, kind):
    folder = parts(tmp_path / "edges", kind, PARTS[kind])
    nodes = files(tmp_path, n_csv="id\n1\n2\n")["n_csv"]
    line = 2 if kind in ("csv", "tsv") else 1
    with pytest.raises(InputError, match=rf"part-1.{kind}, line {line}, .*\(2 such edges"):
        dataset(GraphSource(str(folder), nodes))


@pytest.mark.parametrize(
    ("kind", "contents", "words"),
    [
        ("csv", ["a,b\n1,2\n", "a,c\n1,2\n"], "part-1.csv, line 1: the ends of an edge are not"),
        ("txt", ["1 2\n", "# c\n2 3 4\n"], "part-1.txt, line 2: 3 cells, and 2 in the parts"),
        ("txt", ["1 2 9\n", "2 3\n"], "part-1.txt, line 1: 2 cells, and 3 in the parts"),
        ("csv", ["a,b\n1,2\n", ""], "part-1.csv: the file is empty"),
    ],
)
def test_parts_that_differ_are_refused(tmp_path, kind, contents, words):
    folder = parts(tmp_path / "edges", kind, contents)
    with pytest.raises(InputError, match=words):
        open_graph(GraphSource(str(folder), undeclared="drop"))


def test_parts_of_several_formats_and_a_folder_without_any_are_refused(tmp_path):
    folder = parts(tmp_path / "edges", "txt", ["1 2\n"])
    (folder / "more.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="both CSV and whitespace text files in here"):
        open_graph(GraphSource(str(folder)))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"expected files that end in .*\.tsv.*\.edges"):
        open_graph(GraphSource(str(tmp_path / "empty")))


def test_graphs_are_read_from_wherever_they_are_stored(place):
    store = Store(place)
    store.write("e.txt.gz", gzip.compress(b"# c\n1 2\n2 3\n"))
    store.write("n.csv", b"id,job\n3,x\n1,y\n2,z\n")
    store.write("g.gml", b"graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]")
    found = dataset(GraphSource(store.place("e.txt.gz"), store.place("n.csv")))
    assert found.graph.pairs().tolist() == [[0, 2], [1, 2]]
    assert dataset(GraphSource(store.place("g.gml"))).graph.edges == 1


@pytest.mark.parametrize(
    ("edges", "name", "words"),
    [
        ("a,b\n1,2\n2,9\n", "e.csv", "e.csv, line 3, column 'b': the edge names a node"),
        ("# c\n1 2\n\n9 2\n", "e.txt", "e.txt, line 4, column 'source': the edge names a node"),
        ("a,b\n1,2\n2,\n", "e.csv", "e.csv, line 3, column 'b': no node id"),
        ("a,b,weight\n1,2,1\n", "e.csv", "e.csv, line 1: 3 columns; say with input.graph.source"),
        ("source,target,w\n1,2,1\n", "e.csv", r"edges have attributes \('w'\)"),
        ("1, 2\n2, 3\n", "e.txt", "e.txt, line 1: commas between cells, expected spaces"),
        ("x,y\ny,z\n", "e.csv", "e.csv, line 1: names of columns that are ids of nodes as well"),
        ("1,2\n2,3\n", "e.csv", "e.csv, line 1: numbers where names of columns are expected"),
        ("a b\n1 2\n", "e.csv", "e.csv, line 1: 1 column, expected those of both ends"),
        ("1 2 0.5\n", "e.txt", r"edges have attributes \('column 3'\)"),
        ("# Directed graph\n1 2\n", "e.txt", "directed: ignore"),
        ("", "e.csv", "e.csv: the file is empty"),
    ],
)
def test_faults_of_edge_lists_name_file_and_line(tmp_path, edges, name, words):
    (tmp_path / name).write_text(edges)
    (tmp_path / "n.csv").write_text(NODES)
    with pytest.raises(InputError, match=words):
        dataset(GraphSource(str(tmp_path / name), str(tmp_path / "n.csv")))


def test_parquet_edges_without_an_id_or_with_an_unknown_one_name_the_row(tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    nodes = files(tmp_path, n_csv=NODES)["n_csv"]
    parquet(parts / "p0.parquet", pa.table({"a": [1, 2], "b": [2, 3]}))
    parquet(parts / "p1.parquet", pa.table({"a": [1, None], "b": [3, 3]}))
    with pytest.raises(InputError, match=r"p1.parquet, row 2, column 'a': no node id"):
        dataset(GraphSource(str(parts), nodes))
    parquet(parts / "p1.parquet", pa.table({"a": ["1", "x"], "b": ["3", "3"]}))
    with pytest.raises(InputError, match=r"p1.parquet, row 2, column 'a': the edge.*text in one"):
        dataset(GraphSource(str(parts), nodes))
    (parts / "p1.parquet").write_bytes(b"PAR1 no PAR1")
    with pytest.raises(InputError, match="not a parquet file, or damaged"):
        dataset(GraphSource(str(parts), nodes))


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ("id,job\n1,x\n2,y\n3,z\n1,w\n", "n.csv, row 4, column 'id': the node id of .*row 1 again"),
        ("id,job\n1,x\n,y\n", "n.csv, row 2, column 'id': no node id"),
        ("person,job\n1,x\n", "say with input.graph.node which of its 2 columns"),
        ("id,job\n", "no records"),
    ],
)
def test_faults_of_node_tables_name_file_and_row(tmp_path, nodes, words):
    paths = files(tmp_path, e_csv=EDGES, n_csv=nodes)
    with pytest.raises(InputError, match=words):
        dataset(GraphSource(paths["e_csv"], paths["n_csv"]))


def test_named_columns_are_taken_and_unknown_ones_refused(tmp_path):
    paths = files(tmp_path, e_csv="w,to,from\n9,2,1\n", n_csv="job,person\nx,1\ny,2\n")
    wanted = {"source": "from", "target": "to", "node": "person", "undeclared": "drop"}
    found = dataset(GraphSource(paths["e_csv"], paths["n_csv"], **wanted))
    assert found.graph.pairs().tolist() == [[0, 1]]
    assert found.counts["dropped_edge_attributes"] == 1
    for name, near in (("source", "form"), ("node", "persn")):
        with pytest.raises(InputError, match=f"no column '{near}'.*did you mean"):
            open_graph(GraphSource(paths["e_csv"], paths["n_csv"], **{**wanted, name: near}))


def test_node_tables_may_be_tabbed_or_between_spaces(tmp_path):
    paths = files(
        tmp_path, e_csv=EDGES, n_tsv=NODES.replace(",", "\t"), n_txt="3 x 7\n1 z 8\n2 y 9\n"
    )
    tabbed = dataset(GraphSource(paths["e_csv"], paths["n_tsv"]))
    assert tabbed.nodes.to_pydict() == {"job": ["x", None, "y"]}
    plain = dataset(GraphSource(paths["e_csv"], paths["n_txt"]))
    assert plain.nodes.to_pydict() == {"attribute_1": ["x", "z", "y"], "attribute_2": [7, 8, 9]}
    assert plain.columns.node == "node"


def test_ids_that_are_numbers_here_and_text_there_are_the_same_ids(tmp_path):
    paths = files(tmp_path, e_csv="a,b\n1,x\n2,1\n", n_csv="id\n1\n2\nx\n")
    found = dataset(GraphSource(paths["e_csv"], paths["n_csv"]))
    assert found.graph.pairs().tolist() == [[0, 1], [0, 2]]
    nodes = parquet(tmp_path / "n.parquet", pa.table({"id": ["1", "2", "3"]}))
    edges = files(tmp_path, o_csv="a,b\n1,2\n")["o_csv"]
    assert dataset(GraphSource(edges, nodes)).graph.pairs().tolist() == [[0, 1]]


def test_space_around_an_id_is_no_part_of_it(tmp_path):
    paths = files(tmp_path, e_csv="a,b\np , q\n", n_csv="id,job\n q,x\np,y\n")
    assert dataset(GraphSource(paths["e_csv"], paths["n_csv"])).ids.to_pylist() == ["q", "p"]


def test_a_header_that_is_an_edge_of_known_nodes_is_refused(tmp_path):
    paths = files(tmp_path, e_csv="p,q\nr,s\n", n_csv="id\np\nq\nr\ns\n")
    with pytest.raises(InputError, match="ids of nodes as well"):
        dataset(GraphSource(paths["e_csv"], paths["n_csv"]))


def test_a_node_table_beside_a_file_that_holds_nodes_is_refused(tmp_path):
    paths = files(tmp_path, x_gml="graph [ node [ id 1 ] ]", n_csv=NODES)
    with pytest.raises(InputError, match="leave the node table out"):
        open_graph(GraphSource(paths["x_gml"], paths["n_csv"]))


def test_an_empty_graph_is_refused_and_one_edge_is_a_graph(tmp_path):
    paths = files(tmp_path, e_txt="# nothing\n", f_txt="5 7\n", x_gml="graph [ ]")
    for name in ("e_txt", "x_gml"):
        with pytest.raises(InputError, match="the graph is empty"):
            dataset(GraphSource(paths[name]))
    one = dataset(GraphSource(paths["f_txt"]))
    assert (one.graph.nodes, one.graph.edges, one.ids.to_pylist()) == (2, 1, [5, 7])


def test_nothing_there_is_said(tmp_path):
    for name in ("e.csv", "e.gml", "e.txt"):
        with pytest.raises(AccessError, match="there is nothing to read"):
            open_graph(GraphSource(str(tmp_path / name)))


def test_the_fingerprint_tells_files_apart(tmp_path):
    paths = files(tmp_path, e_csv=EDGES, n_csv=NODES)
    source = GraphSource(paths["e_csv"], paths["n_csv"])
    first = open_graph(source).fingerprint
    assert open_graph(source).fingerprint == first
    (tmp_path / "n.csv").write_text(NODES.replace("x", "z"))
    assert open_graph(source).fingerprint != first


def test_a_wrong_delimiter_fails_before_the_file_is_read(tmp_path, monkeypatch):
    path = tmp_path / "e.csv"
    path.write_bytes(b"a,b\n" + b"1;2\n" * 1_000_000)
    got: list[int] = []
    monkeypatch.setattr(text_blocks, "_BLOCK", 1 << 16)
    read = text_blocks.read_some
    monkeypatch.setattr(text_blocks, "read_some", lambda *them: _count(read(*them), got))
    with pytest.raises(InputError, match=r"e.csv, line 2: 1 cells, expected 2"):
        open_graph(GraphSource(str(path), csv=CsvSettings(delimiter=",")))
    assert sum(got) < 400_000


def _count(data: bytes, got: list[int]) -> bytes:
    got.append(len(data))
    return data


@pytest.mark.parametrize(
    ("edges", "nodes", "size", "more"),
    [
        ("ego-facebook/facebook_combined.txt", "ego-facebook/nodes.csv", (4039, 88234), {}),
        (
            "email-eu-core/email-Eu-core.txt",
            "email-eu-core/email-Eu-core-department-labels.txt",
            (1005, 16064),
            {},
        ),
        (
            "facebook-pages/facebook_edges.csv",
            "facebook-pages/facebook_target.csv",
            (22470, 170823),
            {},
        ),
        ("github/git_edges.csv", "github/git_target.csv", (37700, 289003), {}),
        ("polblogs/polblogs.gml", None, (1490, 16705), {"directed": True}),
    ],
)
def test_real_graphs_have_the_size_that_is_known(graphs_folder, edges, nodes, size, more):
    nodes = None if nodes is None else str(graphs_folder / nodes)
    found = dataset(GraphSource(str(graphs_folder / edges), nodes, **more))
    assert (found.graph.nodes, found.graph.edges) == size


def test_a_directed_real_graph_is_refused_unless_told(graphs_folder):
    with pytest.raises(InputError, match=r"polblogs.gml: the edges have a direction"):
        open_graph(GraphSource(str(graphs_folder / "polblogs" / "polblogs.gml")))
