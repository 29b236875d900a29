"""Finished releases, read again: distanon's own, and files that it did not make."""

from __future__ import annotations

import json
from typing import Any

from distanon.errors import InputError
from distanon.storage.claims import CLAIM, DOCUMENT, SUCCESS
from distanon.storage.csv_text import CsvSettings
from distanon.storage.graphs import GraphSource, OpenedGraph, open_graph
from distanon.storage.store import StorageSettings, Store
from distanon.storage.tables import OpenedTable, open_table


def open_release(
    url: str,
    csv: CsvSettings | None = None,
    settings: StorageSettings | None = None,
    pieces: int | None = None,
) -> OpenedTable:
    """Opens the table of a release, or any table's files.

    Raises:
        AccessError: it can't be read.
        InputError: it is a release that is not finished, or no table.
    """
    place = Store(url, settings or StorageSettings())
    if _is_release(place, url):
        url = place.place("data")
    return open_table(url, csv, settings, pieces)


def open_any_graph(
    url: str, csv: CsvSettings | None = None, settings: StorageSettings | None = None
) -> OpenedGraph | None:
    """Opens the graph of a release, or any graph's files; None where there are no edges.

    What the edges and the graph itself have beside their ends is left out, and a direction is no
    fault: the tables tell of both.

    Args:
        url: a release; a folder that holds edges and may hold nodes, as folders or files of these
            names; an edge list, or one file of nodes and edges.
        csv: how text files are written.
        settings: of the storage.

    Raises:
        AccessError: it can't be read.
        InputError: it is a release that is not finished, or no graph.
    """
    csv = csv or CsvSettings()
    place = Store(url, settings or StorageSettings())
    entry = place.find()
    names: dict[str, str] = {}
    if entry is not None and not entry.is_folder:
        source = GraphSource(url, directed=True, undeclared="drop", csv=csv)
        return open_graph(source, settings)
    if _is_release(place, url):
        document = read_document(url, settings) or {}
        names = document.get("release", {}).get("ids", {})
    edge_list = find_edges(place)
    if edge_list is None:
        return None
    node_table = _find(place, "nodes")
    columns = (names.get("source"), names.get("target"), names.get("node"))
    source = GraphSource(
        place.place(edge_list),
        None if node_table is None else place.place(node_table),
        *columns,
        directed=True,
        undeclared="drop",
        csv=csv,
        name=url,
    )
    return open_graph(source, settings)


def find_edges(place: Store) -> str | None:
    """The name of the edge list in a folder: a folder `edges`, or one file `edges.*`."""
    return _find(place, "edges")


def _find(place: Store, name: str) -> str | None:
    """A folder of this name, or the one file that is called so but for its ending.

    Raises:
        InputError: several files could be meant.
    """
    if place.find(name) is not None:
        return name
    entry = place.find()
    if entry is None or not entry.is_folder:
        return None
    files = [one.name for one in place.list() if one.name.split(".")[0] == name]
    if len(files) > 1:
        raise InputError(
            f"{place.url}: {', '.join(files)}: which of them holds the {name}? Keep one of them"
        )
    return files[0] if files else None


def _is_release(place: Store, url: str) -> bool:
    """Whether distanon made it.

    Raises:
        InputError: it is not finished.
    """
    is_ours = place.exists(DOCUMENT)
    if (is_ours or place.exists(CLAIM)) and not place.exists(SUCCESS):
        raise _unfinished(url)
    return is_ours


def read_document(url: str, settings: StorageSettings | None = None) -> dict[str, Any] | None:
    """release.json of a release; None where there is none.

    Raises:
        InputError: it is not JSON.
    """
    place = Store(url, settings or StorageSettings())
    if not place.exists(DOCUMENT):
        return None
    try:
        document = json.loads(place.read(DOCUMENT))
    except ValueError:
        raise InputError(f"{place.place(DOCUMENT)}: not JSON") from None
    if not isinstance(document, dict):
        raise InputError(f"{place.place(DOCUMENT)}: expected a JSON object")
    return document


def _unfinished(url: str) -> InputError:
    return InputError(f"{url}: no finished release: {SUCCESS} is missing")
