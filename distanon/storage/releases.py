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


def open_graph_release(
    url: str, csv: CsvSettings | None = None, settings: StorageSettings | None = None
) -> OpenedGraph | None:
    """Opens the graph of a release; None where the release is a table or of supernodes.

    Args:
        url: a release, or a folder that holds the folders edges and nodes.
        csv: how text files are written.
        settings: of the storage.

    Raises:
        AccessError: it can't be read.
        InputError: it is a release that is not finished, or no graph.
    """
    place = Store(url, settings or StorageSettings())
    names: dict[str, str] = {}
    if _is_release(place, url):
        document = read_document(url, settings) or {}
        names = document.get("release", {}).get("ids", {})
    if place.find("edges") is None:
        return None
    nodes = place.place("nodes") if place.find("nodes") is not None else None
    columns = (names.get("source"), names.get("target"), names.get("node"))
    edges = place.place("edges")
    source = GraphSource(edges, nodes, *columns, csv=csv or CsvSettings(), name=url)
    return open_graph(source, settings)


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
