"""Equivalence classes of tables that no process holds: a hash aggregate over partitions.

Three rounds over the workers. Each partition says what values its columns have; then it counts
its own classes, cut into buckets by a hash of the tuple; then each bucket joins what all
partitions say of it. What comes back are the class tables alone. All of it is integers, and
classes and values are numbered by first appearance: the same result for any cut and any crew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from distanon.data import codes
from distanon.data.classes import SUPPRESSED, is_text, partition_of
from distanon.data.ports import Partition
from distanon.data.table import Dataset
from distanon.kernels.counts import Counts, from_triplets
from distanon.runtime.crew import Crew
from distanon.sharded.class_keys import (
    ColumnPart,
    Distinct,
    KeyColumn,
    key_column,
    plain_type,
    survey,
    words,
)
from distanon.sharded.class_tallies import Bucket, Pairs, Plan, join, tally

Integers = NDArray[np.int64]

_BUCKET_ROWS = 2_000_000  # records whose tuples a worker joins at once, at the most
_LARGEST_NUMBER = 2**31
_ONE_BUCKET = 262_144  # so few are joined in one piece


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """How often each value of a column occurs in each class.

    Attributes:
        values: the distinct values by number, in order of first appearance; a missing one is null.
        counts: by class and value.
    """

    values: pa.Array
    counts: Counts


@dataclass(frozen=True, slots=True, eq=False)
class ClassTables:
    """The classes of a table's records, without the records.

    Attributes:
        sizes: int64, shape (c,): records of each class, at least 1; classes are numbered from 0
            in order of first appearance, as `data.classes` numbers them.
        firsts: int64, shape (c,): the first record of each class, ascending.
        occurrences: of the columns that were counted, by name.
        people: int64, shape (c,): different people of each class; None: these were not counted.
        suppressed: the class of the records whose every cell is suppressed; None: there is none.
    """

    sizes: Integers
    firsts: Integers
    occurrences: Mapping[str, Occurrences] = field(default_factory=dict)
    people: Integers | None = None
    suppressed: int | None = None

    def __len__(self) -> int:
        return len(self.sizes)


def class_tables(
    crew: Crew,
    dataset: Dataset,
    columns: Sequence[str],
    values: Sequence[str] = (),
    people: Integers | None = None,
) -> ClassTables:
    """The classes of equal tuples over some columns, and what they hold.

    Args:
        crew: who works.
        dataset: n records.
        columns: that make the classes; without columns all records are one class.
        values: columns to count in each class.
        people: int64, shape (n,): a number for the person behind each record; None: not counted.

    Returns:
        The same as `data.classes.equivalence_classes` and `Counts.of` on the whole table. The
        driver holds O(classes + pairs of a class and a value that occur); a worker one partition,
        or one bucket of about 2 million tuples.
    """
    plan = _planned(crew, dataset, columns, values)
    if people is not None and people.max(initial=0) >= _LARGEST_NUMBER:
        people = partition_of(people).class_of  # as small as the pieces pack them
    items = [
        (one, None if people is None else people[one.start : one.stop])
        for one in dataset.partitions
    ]
    tallies = list(crew.map(tally, items, shared=crew.put(plan), keep=True, phase="classes"))
    last = people is not None
    joins = [(bucket, last, *tallies) for bucket in range(plan.buckets)] if tallies else []
    return _whole(list(crew.map(join, joins, phase="classes")), plan, with_people=last)


def value_totals(crew: Crew, dataset: Dataset, column: str) -> tuple[pa.Array, Integers]:
    """The distinct values of a column in order of first appearance, and how often each occurs."""
    found = class_tables(crew, dataset, [], [column]).occurrences[column]
    return found.values, found.counts.value_totals


def rows_at(dataset: Dataset, records: Integers, columns: Sequence[str]) -> pa.Table:
    """Some records, ascending, by reading the partitions that hold them alone."""
    tables = []
    for partition in dataset.partitions:
        low, high = np.searchsorted(records, (partition.start, partition.stop))
        if low < high:
            places = records[low:high] - partition.start
            read = partition.read(columns)
            shown = [
                codes.stored(column) for column in read.columns
            ]  # Arrow takes no rows of views
            table = pa.table(shown, names=read.column_names)
            tables.append(table.take(pa.array(places, pa.int64())))
    if not tables:
        kinds = [(name, dataset.schema[name].arrow_type) for name in columns]
        return pa.schema(kinds).empty_table()
    return pa.concat_tables(tables)


def _planned(crew: Crew, dataset: Dataset, columns: Sequence[str], values: Sequence[str]) -> Plan:
    """The integers that stand for the values of each column, from a survey of all partitions."""
    kinds = {attribute.name: attribute.arrow_type for attribute in dataset.schema}
    named = crew.put((tuple(columns), tuple(values)))
    parts: list[list[ColumnPart]] = [[] for _ in (*columns, *values)]
    gathered = [Distinct(plain_type(kinds[name])) for name in values]
    for found in crew.map(_survey, dataset.partitions, shared=named, phase="values"):
        for place, part in enumerate(found):
            if place < len(columns):
                parts[place].append(part)
            else:
                gathered[place - len(columns)].add(part.values)
    keys = tuple(key_column(name, kinds[name], parts[at]) for at, name in enumerate(columns))
    distinct = {name: one.values() for name, one in zip(values, gathered, strict=True)}
    records = len(dataset)
    buckets = 1 if records <= _ONE_BUCKET else max(crew.workers, -(-records // _BUCKET_ROWS))
    return Plan(keys, distinct, buckets, _suppressed(keys))


def _suppressed(keys: Sequence[KeyColumn]) -> tuple[int, ...] | None:
    """The words of the tuple in which every cell is suppressed, if it can occur."""
    cells = {}
    for key in keys:
        if key.values is None or not is_text(key.values.type):
            return None
        cells[key.name] = pa.array([SUPPRESSED], key.values.type)
        if not pc.is_in(cells[key.name], value_set=key.values)[0].as_py():
            return None
    return tuple(int(word[0]) for word in words(pa.table(cells), keys)) if cells else None


def _survey(named: tuple[tuple[str, ...], tuple[str, ...]], part: Partition) -> list[ColumnPart]:
    keys, values = named
    return survey(part.read(list(dict.fromkeys((*keys, *values)))), keys, values)


def _whole(buckets: list[Bucket], plan: Plan, *, with_people: bool) -> ClassTables:
    """The classes of all buckets, numbered by first appearance."""
    nothing = np.zeros(0, np.int64)
    firsts = np.concatenate([nothing, *(one.firsts for one in buckets)])
    order = np.argsort(firsts)
    number_of = np.empty(len(order), np.int64)
    number_of[order] = np.arange(len(order))
    offsets = np.cumsum([0, *(len(one.sizes) for one in buckets)])
    occurrences = {
        name: _occurrences([one.pairs[at] for one in buckets], values, number_of, offsets)
        for at, (name, values) in enumerate(plan.values.items())
    }
    sizes = np.concatenate([nothing, *(one.sizes for one in buckets)])[order]
    people = [one.people for one in buckets if one.people is not None]
    counted = np.concatenate([nothing, *people])[order] if with_people else None
    marked = buckets[0].suppressed if buckets else None
    firsts = firsts[order]
    suppressed = None if marked is None else int(np.searchsorted(firsts, marked))
    return ClassTables(sizes, firsts, occurrences, counted, suppressed)


def _occurrences(
    parts: Sequence[Pairs], values: pa.Array, number_of: Integers, offsets: Integers
) -> Occurrences:
    """The pairs of all buckets, by class and value."""
    width = np.int64(max(len(values), 1))
    nothing = np.zeros(0, np.int64)
    told = zip(parts, offsets, strict=False)
    keys = [number_of[one.classes + before] * width + one.values for one, before in told]
    key = np.concatenate([nothing, *keys])
    order = np.argsort(key)
    key = key[order]
    counts = np.concatenate([nothing, *(one.counts for one in parts)])[order]
    triplets = (key // width, key % width, counts)
    return Occurrences(values, from_triplets(*triplets, len(number_of), len(values)))
