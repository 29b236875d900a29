"""Finished releases, read again: distanon's own, and files that it did not make."""

from __future__ import annotations

import json
from typing import Any

from distanon.errors import InputError
from distanon.storage.claims import CLAIM, DOCUMENT, SUCCESS
from distanon.storage.csv_text import CsvSettings
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
    if place.exists(CLAIM) and not place.exists(SUCCESS):
        raise _unfinished(url)
    if place.exists(DOCUMENT):
        if not place.exists(SUCCESS):
            raise _unfinished(url)
        url = place.place("data")
    return open_table(url, csv, settings, pieces)


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
