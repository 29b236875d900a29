"""GraphML, read and written: one flat graph with typed attributes.

Written text is a function of the tables alone: no time, no library, no file name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa

from distanon.data.graph import GraphColumns
from distanon.data.graph_tables import GraphTables
from distanon.errors import InputError
from distanon.storage.graph_elements import Elements, Value
from distanon.storage.store import Store
from distanon.storage.text_blocks import read_some, unpacked

_CHUNK = 1 << 20
_TYPES: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "int": pa.int64(),
    "long": pa.int64(),
    "float": pa.float64(),
    "double": pa.float64(),
    "string": pa.string(),
}
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_UNPRINTABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NESTED = {"port", "hyperedge", "endpoint", "locator"}


def read_graphml(file: Store, node: str | None = None) -> GraphTables:
    """Reads one graph.

    Args:
        file: GraphML, gzip or not.
        node: what the ids are called; None: "id".

    Raises:
        AccessError: it can't be read.
        InputError: it is no GraphML, holds no graph or several, or a value is not of its type;
            names file and line.
    """
    reader = _Reader(file.url)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = reader.refuse_entity
    reader.line = lambda: parser.CurrentLineNumber
    with unpacked(file) as stream:
        try:
            while chunk := read_some(stream, _CHUNK, file.url):
                parser.Parse(chunk, False)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise InputError(f"{file.url}, line {error.lineno}: not GraphML, or damaged") from None
    if not reader.graphs:
        raise InputError(f"{file.url}: no graph in here; expected GraphML with one <graph>")
    types = {
        key.name: _TYPES[key.kind] for key in reader.keys.values() if key.domain in ("node", "all")
    }
    return reader.elements.tables(file.url, node or "id", types)


@dataclass(frozen=True, slots=True)
class _Key:
    """What a <key> declares: an attribute's name, type, and of what it is."""

    name: str
    kind: str
    domain: str


@dataclass(slots=True)
class _Reader:
    """Handlers of the parser's events; where they are is in `path`."""

    file: str
    elements: Elements = field(default_factory=Elements)
    keys: dict[str, _Key] = field(default_factory=dict)
    defaults: dict[str, Value] = field(default_factory=dict)
    graphs: int = 0
    line: Callable[[], int] = lambda: 0
    path: list[str] = field(default_factory=list)
    _key: str = ""
    _text: list[str] = field(default_factory=list)
    _node: tuple[str, int] = ("", 0)
    _values: dict[str, Value] = field(default_factory=dict)
    _by_default: bool = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        name = tag.rpartition(":")[2]
        if not self.path and name != "graphml":
            raise self._fault("not GraphML: expected <graphml>")
        self._refuse_nested(name)
        self.path.append(name)
        if name == "key":
            self._declare(attributes)
        elif name == "graph":
            self.graphs += 1
            self._by_default = self._wanted(attributes, "edgedefault") == "directed"
        elif name == "node":
            self._node, self._values = (self._wanted(attributes, "id"), self.line()), {}
        elif name == "edge":
            self._add_edge(attributes)
        elif name in ("data", "default"):
            self._text = []
            if name == "data":
                self._key = self._wanted(attributes, "key")

    def end(self, _tag: str) -> None:
        """An element ends."""
        name = self.path.pop()
        if name == "node":
            values = {key: value for key, value in self.defaults.items() if value is not None}
            self.elements.add_node(*self._node, {**values, **self._values})
        elif name == "data":
            self._keep("".join(self._text))
        elif name == "default" and self.path[-1:] == ["key"]:
            key = self.keys[self._key]
            if key.domain in ("node", "all"):
                self.defaults[key.name] = self._typed(key, "".join(self._text))

    def text(self, text: str) -> None:
        """Text inside an element."""
        if self.path and self.path[-1] in ("data", "default"):
            self._text.append(text)

    def refuse_entity(self, *_: Any) -> None:
        """Entities can make a small file endless, and read other files."""
        raise self._fault("the file declares entities, which are not read; write them out")

    def _refuse_nested(self, name: str) -> None:
        if name in _NESTED or (name == "graph" and "graph" in self.path):
            raise self._fault(f"<{name}>: only one flat graph of nodes and edges can be read")
        if name == "graph" and self.graphs:
            raise self._fault("a second <graph>; put each graph into a file of its own")
        if name in ("node", "edge") and self.path[-1:] != ["graph"]:
            raise self._fault(f"<{name}> outside of <graph>")
        if name not in ("desc", "default") and self.path[-1:] == ["data"]:
            raise self._fault(f"<{name}> inside of <data>: only plain values can be read")

    def _declare(self, attributes: dict[str, str]) -> None:
        identifier = self._wanted(attributes, "id")
        kind = attributes.get("attr.type", "string")
        if kind not in _TYPES:
            raise self._fault(f"attr.type: expected one of {', '.join(_TYPES)}")
        name = attributes.get("attr.name", identifier)
        domain = attributes.get("for", "all")
        for other in self.keys.values():
            if other.name == name and (other.domain == domain or "all" in (other.domain, domain)):
                raise self._fault(f"a second key for the attribute {name!r}")
        self._key = identifier
        self.keys[identifier] = _Key(name, kind, domain)

    def _add_edge(self, attributes: dict[str, str]) -> None:
        source, target = self._wanted(attributes, "source"), self._wanted(attributes, "target")
        directed = _TRUTH.get(attributes.get("directed", ""), self._by_default)
        self.elements.is_directed = self.elements.is_directed or directed
        self.elements.add_edge(source, target, self.line())

    def _keep(self, text: str) -> None:
        """A value of the node, edge or graph that the parser is in."""
        key = self.keys.get(self._key)
        if key is None:
            raise self._fault("<data> of a key that the file does not declare")
        owner = self.path[-1] if self.path else ""
        if owner == "node":
            if key.name in self._values:
                raise self._fault(f"attribute {key.name!r} has two values")
            self._values[key.name] = self._typed(key, text)
        elif owner == "edge":
            self.elements.edge_attributes[key.name] = None
        else:
            self.elements.graph_attributes[key.name] = None

    def _typed(self, key: _Key, text: str) -> Value:
        """A value in its key's type; nothing but spaces is missing where a number is expected."""
        if key.kind == "string":
            return text
        word = text.strip()
        if not word:
            return None
        try:
            if key.kind == "boolean":
                return _TRUTH[word.lower()]
            if key.kind in ("int", "long"):
                return int(pa.scalar(int(word), pa.int64()).as_py())
            return float(word)
        except (KeyError, ValueError, OverflowError):
            message = f"attribute {key.name!r}: text, expected {key.kind}"
            raise self._fault(message) from None

    def _wanted(self, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            raise self._fault(f"<{self.path[-1]}> without {name}")
        return attributes[name]

    def _fault(self, message: str) -> InputError:
        return InputError(f"{self.file}, line {self.line()}: {message}")


def write_graphml(nodes: pa.Table, edges: pa.Table, columns: GraphColumns) -> bytes | None:
    """Both tables as one GraphML file; None where their text holds what XML can't.

    Args:
        nodes: ids and attributes.
        edges: both ends.
        columns: names of the ids in the tables.
    """
    names = [name for name in nodes.column_names if name != columns.node]
    if any(_UNPRINTABLE.search(name) for name in names):
        return None
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    ]
    cells = []
    for place, name in enumerate(names):
        kind, texts = _texts(nodes.column(name))
        if any(text is not None and _UNPRINTABLE.search(text) for text in texts):
            return None
        attribute = f'attr.name={quoteattr(name)} attr.type="{kind}"'
        lines.append(f'<key id="d{place}" for="node" {attribute}/>')
        cells.append(
            [
                "" if text is None else f'<data key="d{place}">{_escaped(text)}</data>'
                for text in texts
            ]
        )
    lines.append('<graph edgedefault="undirected">')
    lines += _node_lines(nodes.column(columns.node).to_pylist(), cells)
    ends = (edges.column(columns.source).to_pylist(), edges.column(columns.target).to_pylist())
    lines += [f'<edge source="{one}" target="{other}"/>' for one, other in zip(*ends, strict=True)]
    lines += ["</graph>", "</graphml>", ""]
    return "\n".join(lines).encode()


def _node_lines(ids: list[int], cells: list[list[str]]) -> Iterator[str]:
    for place, identifier in enumerate(ids):
        data = "".join(column[place] for column in cells)
        yield (f'<node id="{identifier}">{data}</node>' if data else f'<node id="{identifier}"/>')


def _texts(column: pa.ChunkedArray) -> tuple[str, list[str | None]]:
    """A column's GraphML type, and its values as text."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    values = column.to_pylist()
    if pa.types.is_boolean(kind):
        return "boolean", [None if one is None else str(one).lower() for one in values]
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        return "long", [None if one is None else str(one) for one in values]
    if pa.types.is_floating(kind):
        return "double", [None if one is None else repr(float(one)) for one in values]
    return "string", column.cast(pa.large_string()).to_pylist()


def _escaped(text: str) -> str:
    return escape(text, {"\r": "&#13;"})
