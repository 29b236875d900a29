from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon.errors import InputError
from distanon.storage.edge_lists import EdgeLists, GraphSource, ending
from distanon.storage.parts import PartFile
from distanon.storage.store import Store


def part(path) -> PartFile:
    return PartFile(Store(str(path)), path.name, path.stat().st_size, "")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/b.CSV.gz", ".csv"),
        ("s3://bucket/x.y/edges.graphml", ".graphml"),
        ("edges.txt", ".txt"),
        ("edges", ""),
        ("edges.gz", ""),
    ],
)
def test_the_ending_of_a_packed_file_is_that_of_its_content(path, expected):
    assert ending(path) == expected


def test_edges_of_several_files_follow_one_another_and_are_found_again(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,w\n1,2,9\n\n3,4,9\n")
    (tmp_path / "b.csv").write_text("y,x\nq,5\n")
    pq.write_table(pa.table({"x": [7], "y": ["8"]}), tmp_path / "c.parquet")
    edges = EdgeLists(GraphSource("any", source="x", target="y"))
    edges.add_text(part(tmp_path / "a.csv"))
    edges.add_text(part(tmp_path / "b.csv"))
    edges.add_parquet(part(tmp_path / "c.parquet"))
    assert [column.to_pylist() for column in edges.joined()] == [
        [1, 3, 5, 7],
        ["2", "4", "q", "8"],
    ]
    assert edges.attributes == ("w",)
    assert [edges.place(edge).rpartition("/")[2] for edge in range(4)] == [
        "a.csv, line 2",
        "a.csv, line 4",
        "b.csv, line 2",
        "c.parquet, row 1",
    ]


def test_a_name_that_two_columns_have_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,x\n1,2,3\n")
    edges = EdgeLists(GraphSource("any", source="x", target="y"))
    with pytest.raises(InputError, match="more than one column 'x'"):
        edges.add_text(part(tmp_path / "a.csv"))


def test_columns_called_source_and_target_are_the_ends_whatever_stands_between(tmp_path):
    (tmp_path / "a.csv").write_text("Target,weight,Source\n1,2,3\n")
    edges = EdgeLists(GraphSource("any"))
    edges.add_text(part(tmp_path / "a.csv"))
    assert edges.names == ("Source", "Target")
    assert [column.to_pylist() for column in edges.joined()] == [[3], [1]]
