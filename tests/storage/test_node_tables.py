from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from distanon.storage.csv_text import CsvSettings
from distanon.storage.node_tables import open_nodes
from distanon.storage.store import StorageSettings


def read(path, column=None):
    return open_nodes(str(path), column, CsvSettings(), StorageSettings())


def test_parts_of_a_table_are_one_and_a_place_names_the_part(tmp_path):
    pq.write_table(pa.table({"id": [5, 6], "x": [1, 2]}), tmp_path / "p0.parquet")
    pq.write_table(pa.table({"id": [7], "x": [3]}), tmp_path / "p1.parquet")
    found = read(tmp_path)
    assert found.ids.to_pylist() == [5, 6, 7]
    assert found.attributes.to_pydict() == {"x": [1, 2, 3]}
    assert found.place(2).endswith("p1.parquet, row 1")


def test_a_table_of_ids_alone_has_no_attributes(tmp_path):
    (tmp_path / "n.csv").write_text("person\nx\ny\n")
    found = read(tmp_path / "n.csv")
    assert (found.column, found.attributes, found.ids.to_pylist()) == ("person", None, ["x", "y"])


def test_ids_with_leading_zeros_stay_text(tmp_path):
    (tmp_path / "n.tsv").write_text("node\tx\n07\t1\n7\t2\n")
    assert read(tmp_path / "n.tsv").ids.to_pylist() == ["07", "7"]
