"""Which files make up a table: one file, a folder, or those that a pattern names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Literal

from distanon.errors import AccessError, InputError
from distanon.storage.entry import Entry
from distanon.storage.store import StorageSettings, Store

Format = Literal["parquet", "csv", "tsv", "plain"]

TABLES: Mapping[str, Format] = {".parquet": "parquet", ".csv": "csv", ".csv.gz": "csv"}
"""What the files of a table hold, by the ending of their names."""

EDGES: Mapping[str, Format] = {
    **TABLES,
    **{f".tsv{packed}": "tsv" for packed in ("", ".gz")},
    **{
        f"{ending}{packed}": "plain"
        for ending in (".txt", ".edges", ".edgelist", ".el")
        for packed in ("", ".gz")
    },
}
"""The same of an edge list; plain: ids between spaces."""

_NAMES: dict[Format, str] = {
    "parquet": "parquet",
    "csv": "CSV",
    "tsv": "TSV",
    "plain": "whitespace text",
}
_PATTERN = re.compile(r"[*?\[]")
_HIVE = re.compile(r"^[^=]+=[^=]*$")


@dataclass(frozen=True, slots=True)
class PartFile:
    """One file of a table.

    Attributes:
        file: its URL, as a store of one file.
        name: relative to the folder that was given.
        size: bytes.
        tag: changes when the content does.
        shown: what it is called in messages: as the user wrote the path, with its name.
    """

    file: Store
    name: str
    size: int
    tag: str
    shown: str = ""


@dataclass(frozen=True, slots=True)
class FoundParts:
    """The files of a table, in the order of their paths; what was left out is in the notes."""

    format: Format
    parts: tuple[PartFile, ...]
    notes: tuple[str, ...] = ()


def find_parts(
    path: str, settings: StorageSettings, endings: Mapping[str, Format] = TABLES
) -> FoundParts:
    """Finds them.

    Args:
        path: a file, a folder or a glob.
        settings: of the storage.
        endings: of the names that count.

    Raises:
        AccessError: nothing is there, or it can't be listed.
        InputError: what is there is no table.
    """
    place = Store(path, settings)
    entry = place.find()
    if entry is None and _PATTERN.search(path):
        base, entries = _matching(place)
        if not entries:
            raise AccessError(f"{path}: no file matches this pattern; check the path")
    elif entry is None:
        raise AccessError(f"{path}: there is nothing to read; check the path")
    elif entry.is_folder:
        base, entries = place, _visible(place.list())
    else:
        if format_of(path, endings) is None:
            raise InputError(f"{path}: expected a name that ends in {', '.join(endings)}")
        entry = replace(entry, name=PurePosixPath(path).name)
        return _found(path, [PartFile(place, entry.name, entry.size, entry.tag, path)], endings)
    typed = _typed_base(path, is_folder=entry is not None)
    parts = [
        PartFile(base.child(one.name), one.name, one.size, one.tag, f"{typed}{one.name}")
        for one in entries
    ]
    return _found(path, parts, endings)


def format_of(name: str, endings: Mapping[str, Format] = TABLES) -> Format | None:
    """What a file holds, by the ending of its name."""
    lower = name.lower()
    return next((kind for ending, kind in endings.items() if lower.endswith(ending)), None)


def _found(path: str, files: Iterable[PartFile], endings: Mapping[str, Format]) -> FoundParts:
    parts: list[PartFile] = []
    others: list[PartFile] = []
    for file in files:
        (others if format_of(file.name, endings) is None else parts).append(file)
    if not parts:
        raise InputError(
            f"{path}: no table in here; expected files that end in {', '.join(endings)}"
        )
    found = {format_of(part.name, endings) for part in parts}
    formats = [name for name in _NAMES if name in found]
    if len(formats) > 1:
        both = " and ".join(_NAMES[name] for name in formats)
        raise InputError(f"{path}: both {both} files in here; name those to read")
    for part in parts:
        _refuse_hive(path, part)
    notes = (f"{path}: {len(others)} files that are no tables were left out",) if others else ()
    return FoundParts(formats[0], tuple(sorted(parts, key=lambda part: part.name)), notes)


def _refuse_hive(path: str, part: PartFile) -> None:
    """Folders named COLUMN=VALUE hold a column that the files lack."""
    for folder in PurePosixPath(part.name).parts[:-1]:
        if _HIVE.match(folder):
            column = folder.partition("=")[0]
            raise InputError(
                f"{path}: the column {column} is in the names of folders; write it into the files"
            )


def _matching(place: Store) -> tuple[Store, list[Entry]]:
    """The folder above the first wildcard, and the files below that match, or lie in a match."""
    segments = place.url.split("/")
    first = next(i for i, segment in enumerate(segments) if _PATTERN.search(segment))
    base = replace(place, url="/".join(segments[:first]) or "/")
    pattern = re.compile(_translate("/".join(segments[first:])))
    entries = [
        entry
        for entry in _visible(base.list())
        if any(
            pattern.fullmatch(str(one))
            for one in (PurePosixPath(entry.name), *PurePosixPath(entry.name).parents)
        )
    ]
    return base, entries


def _typed_base(path: str, *, is_folder: bool) -> str:
    """The part of a path that stands before the names of its files, as it was typed."""
    if is_folder:
        return f"{path.rstrip('/')}/"
    return path[: path.rfind("/", 0, next(_PATTERN.finditer(path)).start()) + 1]


def _translate(pattern: str) -> str:
    """A glob as a regular expression: `*` and `?` stay inside a segment, `**` does not."""
    pieces = re.split(r"(\*\*/|\*\*|\*|\?|\[[^]]+\])", pattern)
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(
        words.get(piece)
        or (piece.replace("[!", "[^") if piece.startswith("[") else re.escape(piece))
        for piece in pieces
    )


def _visible(entries: Iterable[Entry]) -> list[Entry]:
    """Without what readers leave out by custom: names that begin with "_" or "."."""
    return [
        entry
        for entry in entries
        if not any(part.startswith(("_", ".")) for part in PurePosixPath(entry.name).parts)
    ]
