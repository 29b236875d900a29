"""Graphs in the text of nauty's `dreadnaut`: for each node the list of its neighbors.

    !n=4
    !m=4
    0: 1 2;
    1: 0;

Nodes are numbers from 0. What follows `!` is a comment, but for `!n=`, the number of nodes, and
`!m=`, the number of neighbors in all lists; a list may go on over lines, and ends with `;` or `.`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from distanon.data.graph import GraphColumns
from distanon.data.graph_tables import GraphTables
from distanon.errors import InputError
from distanon.storage.store import Store
from distanon.storage.text_blocks import blocks

_STATED = re.compile(r"^!\s*([nm])\s*=\s*(\d{1,18})\s*$")
_LARGEST = 2**31 - 1
_WORD = re.compile(r"\d+|[:;.]|\S")


def read_nauty(file: Store, node: str | None = None) -> GraphTables:
    """Reads one graph.

    Args:
        file: such text, gzip or not.
        node: what the ids are called; None: "node".

    Raises:
        AccessError: it can't be read.
        InputError: it is no such text, or is not what its first lines state; names file and line.
    """
    reader = _Reader(file.url)
    for line, text in _lines(file):
        reader.read(line, text)
    nodes = reader.finished()
    ends = np.array(reader.pairs, np.int64).reshape(-1, 2)
    lines = reader.lines
    return GraphTables(
        pa.array(ends[:, 0]),
        pa.array(ends[:, 1]),
        pa.array(np.arange(nodes)),
        None,
        GraphColumns(node or "node"),
        lambda edge: f"{file.url}, line {lines[edge]}",
        lambda row: f"{file.url}, node {row}",
        file.url,
    )


def _lines(file: Store) -> Iterator[tuple[int, str]]:
    for block in blocks(file):
        for place, data in enumerate(block.data.split(b"\n")[:-1]):
            yield block.first_line + place, data.decode(errors="replace")


class _Reader:
    """What was read so far.

    Attributes:
        pairs: node and neighbor.
        lines: the line of each pair.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._stated: dict[str, int] = {}
        self._node: int | None = None
        self._last, self._line = -1, 0
        self._is_over = False
        self.pairs: list[tuple[int, int]] = []
        self.lines: list[int] = []

    def read(self, line: int, text: str) -> None:
        """One line."""
        self._line = line
        stated = _STATED.match(text.strip())
        if stated is not None:
            self._stated[stated[1]] = int(stated[2])
        words = _WORD.findall(text.partition("!")[0])
        for place, word in enumerate(words):
            if self._is_over:
                raise self._fault("text after the end of the graph")
            if word in (";", "."):
                self._node = None
                self._is_over = word == "."
            elif word == ":":
                continue
            elif not word.isascii() or not word.isdigit():
                raise self._fault("expected numbers, and lists such as 0: 1 2;")
            elif words[place + 1 : place + 2] == [":"]:
                self._begin(self._number(word))
            else:
                self._add(self._number(word))

    def finished(self) -> int:
        """How many nodes there are, once all lines were read."""
        nodes = self._stated.get("n", self._last + 1)
        found = len(self.pairs)
        if self._node is not None or self._stated.get("m", found) != found:
            stated = f"{self._stated['m']} neighbors stated, " if "m" in self._stated else ""
            raise InputError(
                f"{self._name}, line {self._line}: the graph breaks off ({stated}{found} found); "
                "is the file cut short?"
            )
        return nodes

    def _begin(self, node: int) -> None:
        if self._node is not None:
            raise self._fault("a list begins before the one above has ended with ;")
        self._node = node

    def _add(self, neighbor: int) -> None:
        if self._node is None:
            raise self._fault("a number outside a list; expected a node and a colon first")
        self.pairs.append((self._node, neighbor))
        self.lines.append(self._line)

    def _number(self, word: str) -> int:
        node = int(word) if len(word) < len(str(_LARGEST)) else _LARGEST
        if node >= self._stated.get("n", _LARGEST):
            raise self._fault("a node above the number of nodes that is stated (from 0)")
        self._last = max(self._last, node)
        return node

    def _fault(self, what: str) -> InputError:
        return InputError(f"{self._name}, line {self._line}: {what}")
