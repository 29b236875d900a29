"""GML, read with tolerance: duplicate edges, comments, nested and repeated keys.

A key that holds a list (`graphics [ x 1 ]`) counts as an attribute that has no plain value.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from distanon.data.graph_tables import GraphTables
from distanon.errors import InputError
from distanon.storage.csv_text import to_utf8
from distanon.storage.graph_elements import Elements, Value
from distanon.storage.store import Store
from distanon.storage.text_blocks import read_some, unpacked

_TOKEN = re.compile(
    r"""
    (?:\s++|\#[^\n]*+)*+
    (?:
      (?P<text>"[^"]*")
    | (?P<float>[+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?\d+[eE][+-]?\d+)(?![^\s\]\[\#])
    | (?P<int>[+-]?\d+)(?![^\s\]\[\#])
    | (?P<open>\[)
    | (?P<close>\])
    | (?P<word>[^\s\[\]"\#]+)
    | (?P<end>\Z)
    | (?P<quote>")
    )
    """,
    re.VERBOSE,
)
_WORDS = {"NAN": float("nan"), "+INF": float("inf"), "INF": float("inf"), "-INF": float("-inf")}
_MOST_DIGITS = 400

Plain: TypeAlias = str | int | float
Entry: TypeAlias = "tuple[str, Plain | list[Entry], int]"
"""A key, its value (a list of entries for a nested one), and the place of the key."""


def read_gml(file: Store, node: str | None = None) -> GraphTables:
    """Reads one graph.

    Args:
        file: GML, gzip or not.
        node: what the ids are called; None: "id".

    Raises:
        AccessError: it can't be read.
        InputError: it is no GML, holds no graph or several, or a node or an edge lacks its ids;
            names file and line.
    """
    with unpacked(file) as stream:
        pieces = []
        while piece := read_some(stream, 1 << 24, file.url):
            pieces.append(piece)
    data, _ = to_utf8(b"".join(pieces), None, file.url)
    source = _Source(file.url, data.decode())
    graphs = [entry for entry in _entries(source) if entry[0].lower() == "graph"]
    if len(graphs) != 1 or not isinstance(graphs[0][1], list):
        raise InputError(f"{file.url}: {len(graphs)} graphs; expected GML with one graph [ … ]")
    return _collected(graphs[0][1], source).tables(file.url, node or "id", {})


@dataclass(frozen=True, slots=True)
class _Source:
    """The text of a file."""

    file: str
    text: str

    def line(self, place: int) -> int:
        """The line of a place in the text, from 1."""
        return self.text.count("\n", 0, place) + 1

    def fault(self, place: int, message: str) -> InputError:
        """What is wrong there."""
        return InputError(f"{self.file}, line {self.line(place)}: {message}")


def _tokens(source: _Source) -> Iterator[tuple[str, str, int]]:
    for found in _TOKEN.finditer(source.text):
        kind = found.lastgroup or "end"
        if kind == "end":
            return
        if kind == "quote":
            raise source.fault(found.start(kind), "a quote that is never closed")
        yield kind, found[kind], found.start(kind)


def _entries(source: _Source) -> list[Entry]:
    """Keys and values; nested lists by a stack, so that depth costs no recursion."""
    levels: list[list[Entry]] = [[]]
    opened: list[int] = []
    key: tuple[str, int] | None = None
    for kind, text, place in _tokens(source):
        if kind == "close":
            if key is not None or not opened:
                raise source.fault(place, "a ] that closes nothing, or a key without a value")
            levels.pop()
            opened.pop()
        elif key is None:
            if kind != "word":
                raise source.fault(place, "a value without a key")
            key = (text, place)
        elif kind == "open":
            inner: list[Entry] = []
            levels[-1].append((key[0], inner, key[1]))
            levels.append(inner)
            opened.append(place)
            key = None
        else:
            levels[-1].append((key[0], _value(kind, text, source, place), key[1]))
            key = None
    if key is not None or opened:
        place = key[1] if key is not None else opened[-1]
        raise source.fault(place, "the file ends inside of what begins here")
    return levels[0]


def _value(kind: str, text: str, source: _Source, place: int) -> Plain:
    if kind == "text":
        return html.unescape(text[1:-1])
    if kind == "int":
        return int(text) if len(text) < _MOST_DIGITS else text
    if kind == "float":
        return float(text)
    if text.upper() in _WORDS:
        return _WORDS[text.upper()]
    raise source.fault(place, 'text without quotes, expected a number, "text" or [')


def _collected(entries: list[Entry], source: _Source) -> Elements:
    """The graph's nodes and edges, wherever they stand among each other."""
    elements = Elements()
    lines = _Lines(source)
    for key, value, place in entries:
        if key == "directed":
            elements.is_directed = value == 1
        elif key == "node" and isinstance(value, list):
            found = _first_values(value)
            identifier = _id(found, "id", "node", source, place)
            plain = {name: one for name, one in found.items() if name != "id"}
            elements.add_node(identifier, lines.of(place), plain)
        elif key == "edge" and isinstance(value, list):
            found = _first_values(value)
            ends = [_id(found, name, "edge", source, place) for name in ("source", "target")]
            elements.add_edge(ends[0], ends[1], lines.of(place))
            names = (name for name in found if name not in ("source", "target"))
            elements.edge_attributes.update(dict.fromkeys(names))
        else:
            elements.graph_attributes[key] = None
    return elements


class _Lines:
    """Line numbers of places that come in ascending order, counted once."""

    def __init__(self, source: _Source) -> None:
        self._text = source.text
        self._place, self._line = 0, 1

    def of(self, place: int) -> int:
        """The line of a place, from 1."""
        self._line += self._text.count("\n", self._place, place)
        self._place = place
        return self._line


def _first_values(entries: list[Entry]) -> dict[str, Value]:
    """Each key's first value; that of a nested one is missing."""
    found: dict[str, Value] = {}
    for key, value, _ in entries:
        if key not in found:
            found[key] = None if isinstance(value, list) else value
    return found


def _id(found: dict[str, Value], name: str, what: str, source: _Source, place: int) -> str:
    value = found.get(name)
    if value is None or isinstance(value, float):
        raise source.fault(place, f"{what} without {name}")
    return str(value)
