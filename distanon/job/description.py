"""What a table looks like to an intruder, before anything is released, and a spec to begin with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import yaml

from distanon.data.classes import encode, equivalence_classes
from distanon.data.schema import AttributeType, Role, infer_type
from distanon.data.uniqueness import MOST_UNIQUE
from distanon.job.inputs import place_of
from distanon.storage.store import StorageSettings
from distanon.storage.tables import open_table

RECORDS = 1_000_000
"""Records that are looked at, the first ones; the description says so where there are more."""
FEW = 3
"""Columns that an intruder knows of somebody, where he knows few."""
_SEARCHED = 100_000  # records among which the few columns are looked for
_NAMES_PEOPLE = 0.5
_SAYS_WHO = re.compile(
    r"(^|_)(id|uuid|guid|ssn|e?mail|phone|mobile|iban|passport|(first|last|sur|user)?name)($|_)"
)
_CODE_LIMIT = 20
"""An integer column of no more different values is likely a code."""


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """One column; counts and shares, never a value.

    Attributes:
        name: as in the file.
        arrow_type: of its values.
        type: what it is taken for where the spec says nothing.
        distinct: different present values.
        missing: share of the records without a value.
        unique: share of the records whose value no other record has.
        role: a suggestion: identifier or quasi_identifier; what is sensitive the owner knows.
    """

    name: str
    arrow_type: str
    type: AttributeType
    distinct: int
    missing: float
    unique: float
    role: Role


@dataclass(frozen=True, slots=True)
class Description:
    """A table.

    Attributes:
        source: its path.
        records: how many it has.
        examined: how many of them were looked at, the first ones.
        columns: in the order of the file.
        unique: share of the examined records that are alone with their values over all columns
            that are not suggested as identifiers.
        few: the columns, at most `FEW` of these, that single out the most records, found one by
            one.
        unique_by_few: the share they single out.
        notes: what was detected, for the user to see.
    """

    source: str
    records: int
    examined: int
    columns: tuple[ColumnDescription, ...]
    unique: float
    few: tuple[str, ...]
    unique_by_few: float
    notes: tuple[str, ...]

    def draft(self) -> str:
        """A job spec to begin with, as YAML with comments."""
        name = re.sub(r"[^a-z0-9]+", "-", _stem(self.source).lower()).strip("-")[:63] or "table"
        columns = "".join(
            f"      {_yaml(one.name)}: {one.role.value}{_remark(one)}\n" for one in self.columns
        )
        return (
            "# A draft. Before it is run: make sensitive what an intruder must not learn, and\n"
            "# insensitive what nobody outside can know; the roles below are guesses.\n"
            f"spec: 1\nname: {name}\ninput:\n  table:\n    path: {_yaml(self.source)}\n"
            f"    columns:\n{columns}"
            "method: {name: mondrian, k: 10}          # `distanon methods` lists the others\n"
            f"output: ./releases/{name}/\n"
        )


def describe(path: str, storage: StorageSettings | None = None) -> Description:
    """Looks at a table; nothing is written, no value leaves.

    Args:
        path: a file, a folder, a glob, a URL or builtin:NAME.
        storage: how it is reached.

    Raises:
        AccessError: it can't be read.
        InputError: it is no table, or has no records.
    """
    opened = open_table(place_of(path), None, storage or StorageSettings())
    pieces, taken = [], 0
    for partition in opened.partitions:
        if taken >= RECORDS:
            break
        pieces.append(partition.read().slice(0, RECORDS - taken))
        taken += pieces[-1].num_rows
    table = pa.concat_tables(pieces)
    columns = tuple(_described(name, table.column(name)) for name in table.column_names)
    known = [one.name for one in columns if one.role is not Role.IDENTIFIER]
    few = _few(table.take(np.linspace(0, taken - 1, min(taken, _SEARCHED), dtype=np.int64)), known)
    return Description(
        path,
        opened.records,
        taken,
        columns,
        _alone(table, known),
        few,
        _alone(table, few),
        opened.notes,
    )


def _described(name: str, column: pa.ChunkedArray) -> ColumnDescription:
    codes = encode(column)
    counts = np.bincount(codes.code_of, minlength=len(codes.values))
    said = ~codes.is_marker
    rows = max(1, len(column))
    unique = float((counts[said] == 1).sum()) / rows
    kind = infer_type(column.type)
    names_people = kind is AttributeType.NOMINAL and unique > _NAMES_PEOPLE
    is_key = pa.types.is_integer(column.type) and unique == 1.0
    role = Role.QUASI_IDENTIFIER
    if names_people or is_key or _SAYS_WHO.search(name.lower()):
        role = Role.IDENTIFIER
    return ColumnDescription(
        name,
        str(column.type),
        kind,
        int(said.sum()),
        float(counts[~said].sum()) / rows,
        unique,
        role,
    )


def _alone(table: pa.Table, columns: Sequence[str]) -> float:
    """The share of the records whose tuple no other record has; 0 without columns."""
    return _singled_out(table, columns)[0] / max(1, table.num_rows) if columns else 0.0


def _singled_out(table: pa.Table, columns: Sequence[str]) -> tuple[int, int]:
    """How many records are alone with their tuple, and how many different tuples there are."""
    sizes = equivalence_classes(table, columns).sizes
    return int(np.count_nonzero(sizes == 1)), len(sizes)


def _few(table: pa.Table, known: Sequence[str]) -> tuple[str, ...]:
    """The columns that single out the most, one by one; among equals those of the most tuples."""
    chosen: list[str] = []
    for _ in range(min(FEW, len(known))):
        left = [name for name in known if name not in chosen]
        chosen.append(max(left, key=lambda name: _singled_out(table, [*chosen, name])))
    return tuple(chosen)


def _remark(column: ColumnDescription) -> str:
    """What the owner should think about, as a comment."""
    said = []
    if column.role is Role.QUASI_IDENTIFIER and column.unique > MOST_UNIQUE:
        said.append(f"unique for {column.unique:.0%} of the rows")
    if pa.types.is_integer(_kind(column)) and column.distinct <= _CODE_LIMIT:
        said.append("a code? then {role: …, type: nominal}")
    return f"  # {'; '.join(said)}" if said else ""


def _kind(column: ColumnDescription) -> pa.DataType:
    """The Arrow type by its name; text where the name alone does not tell."""
    try:
        return pa.type_for_alias(column.arrow_type)
    except ValueError:
        return pa.string()


def _yaml(text: str) -> str:
    """A text as YAML writes it, quoted only where it has to be."""
    return yaml.safe_dump(text, allow_unicode=True, width=10_000).splitlines()[0]


def _stem(source: str) -> str:
    return source.rstrip("/").rpartition("/")[2].rpartition(":")[2].partition(".")[0]
