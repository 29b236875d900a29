"""The node table of a graph: ids and attributes, from the files that tables are read from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePosixPath

import pyarrow as pa

from distanon.data.node_ids import Place, read_ids
from distanon.errors import InputError
from distanon.storage.csv_text import CsvSettings, parse
from distanon.storage.edge_text import find_layout, read_edge_text
from distanon.storage.inference import infer
from distanon.storage.store import StorageSettings, Store
from distanon.storage.tables import open_table, plain_schema

_TABLES = (".parquet", ".csv")
_USUAL = ("node", "id", "node_id")


@dataclass(frozen=True, slots=True, eq=False)
class NodeTable:
    """A node table that was read.

    Attributes:
        ids: of the nodes, none missing; None: there is no table.
        attributes: all other columns; None: there are none.
        column: name of the ids.
        place: where a node stands.
        notes: what was detected.
        fingerprint: of the files; private.
    """

    ids: pa.Array | None
    attributes: pa.Table | None
    column: str
    place: Place
    notes: tuple[str, ...] = ()
    fingerprint: str = ""

    @staticmethod
    def of_none(column: str) -> NodeTable:
        """What stands for a table that is not there."""
        return NodeTable(None, None, column, lambda row: f"node {row + 1}")


def open_nodes(
    path: str, column: str | None, csv: CsvSettings, settings: StorageSettings
) -> NodeTable:
    """Reads a node table: parquet or CSV (parts too), TSV, or text between spaces.

    Args:
        path: a file, a folder or a glob.
        column: of the ids; None: the one called node or id. Text between spaces has no names:
            its first column holds the ids, the others become attribute_1, attribute_2, …
        csv: how text files are written.
        settings: of the storage.

    Raises:
        AccessError: it can't be read.
        InputError: it is no table, or has no column of ids, or an id is missing.
    """
    name = PurePosixPath(path).name.lower().removesuffix(".gz")
    entry = Store(path, settings).find()
    if entry is None or entry.is_folder or name.endswith(_TABLES):
        opened = open_table(path, csv, settings)
        table = pa.concat_tables([partition.read() for partition in opened.partitions])
        place, notes, fingerprint = _rows(opened.locate), opened.notes, opened.fingerprint
    else:
        file = Store(path, settings)
        if name.endswith(".tsv"):
            table, notes = _tabbed(file, csv)
            place = _rows(lambda row: (file.url, row + 1))
        else:
            table, place, notes = _plain(file, column or _USUAL[0], csv)
        version = f"{entry.size} {entry.tag}"
        fingerprint = hashlib.sha256(version.encode()).hexdigest()
    chosen = column if column is not None else _found(table.column_names, path)
    if chosen not in table.column_names:
        close = get_close_matches(chosen, table.column_names, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise InputError(f"{path}: no column {chosen!r} of node ids{hint}; is there a header?")
    ids = read_ids(table.column(chosen), chosen, place)
    attributes = table.drop_columns([chosen])
    has_any = attributes.num_columns > 0
    return NodeTable(ids, attributes if has_any else None, chosen, place, notes, fingerprint)


def _found(names: Sequence[str], path: str) -> str:
    """The column of the ids where nobody has named it."""
    for usual in _USUAL:
        for name in names:
            if name.lower() == usual:
                return name
    if len(names) == 1:
        return names[0]
    raise InputError(
        f"{path}: say with input.graph.node which of its {len(names)} columns holds the node ids"
    )


def _rows(locate: Callable[[int], tuple[str, int]]) -> Place:
    def place(row: int) -> str:
        file, number = locate(row)
        return f"{file}, row {number}"

    return place


def _tabbed(file: Store, csv: CsvSettings) -> tuple[pa.Table, tuple[str, ...]]:
    settings = csv.model_copy(update={"delimiter": csv.delimiter or "\t"})
    text = parse(file.read(), settings, file.url)
    schema = plain_schema(text.table.schema, file.url)
    decimal = csv.decimal or "."
    columns = {name: infer(text.table.column(name), decimal) for name in schema.names}
    return pa.table(columns), (f"{file.url}: {text.settings_shown}",)


def _plain(file: Store, column: str, csv: CsvSettings) -> tuple[pa.Table, Place, tuple[str, ...]]:
    layout = find_layout(file, None, csv.encoding, plain=True)
    text = read_edge_text(file, layout, tuple(range(len(layout.names))), csv.encoding)
    names = [column, *(f"attribute_{place}" for place in range(1, len(layout.names)))]
    table = pa.table(list(text.columns), names)
    note = f"{file.url}: text between spaces; columns {', '.join(names)}"
    return table, lambda row: f"{file.url}, line {text.line_of(row)}", (note,)
