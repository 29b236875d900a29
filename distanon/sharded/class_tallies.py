"""Classes counted piece by piece: each partition tallies its own, each bucket joins them.

All of it is integers; what a piece says does not depend on where tables were cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.classes import Classes, partition_of
from distanon.data.ports import Partition
from distanon.sharded.class_keys import KeyColumn, numbers, words

Integers = NDArray[np.int64]
Packed = NDArray[np.int32]


class Plan(NamedTuple):
    """What every partition does.

    Attributes:
        keys: the columns that make the classes.
        values: distinct values of each column that is counted, by name.
        buckets: into how many the classes are cut.
        suppressed: the words of the tuple in which every cell is suppressed; None: there is none.
    """

    keys: tuple[KeyColumn, ...]
    values: Mapping[str, pa.Array]
    buckets: int
    suppressed: tuple[int, ...] | None


class Pairs(NamedTuple):
    """(class, value, count), ascending, int32 on the way; classes by their place in the tally."""

    classes: Integers | Packed
    values: Integers | Packed
    counts: Integers | Packed

    def packed(self) -> Pairs:
        """The same in half the room: a table has fewer than 2³¹ records, so all numbers fit."""
        return Pairs(*(one.astype(np.int32) for one in self))


class Tally(NamedTuple):
    """The classes of one partition, or of one bucket.

    Attributes:
        words: the tuple of each class, each of shape (c,).
        sizes: int32, shape (c,).
        firsts: int32, shape (c,): record numbers in the partition.
        start: of the partition, in the whole table.
        pairs: of each column that is counted, and of the people where these are.
        borders: int64, shape (buckets + 1,): bucket b is of the classes borders[b] … borders[b+1].
        suppressed: the first record of which every cell is suppressed; None: there is none.
    """

    words: tuple[Integers, ...]
    sizes: Packed
    firsts: Packed
    start: int
    pairs: tuple[Pairs, ...]
    borders: Integers
    suppressed: int | None


class Bucket(NamedTuple):
    """The classes of one bucket over the whole table; `people` are counted, not named.

    `suppressed` is a tally's, over the whole table, whatever the bucket.
    """

    sizes: Integers
    firsts: Integers
    pairs: tuple[Pairs, ...]
    people: Integers | None
    suppressed: int | None


def tally(plan: Plan, item: tuple[Partition, Integers | None]) -> Tally:
    """Counts one partition; its classes stand bucket by bucket."""
    part, people = item
    names = [key.name for key in plan.keys]
    # A table without columns would lose its number of rows.
    table = part.read(list(dict.fromkeys((*names, *plan.values))) or None)
    packed = words(table, plan.keys)
    groups = _grouped(packed)
    tuples = tuple(word[groups.firsts] for word in packed)
    bucket_of = _buckets(tuples, plan.buckets)
    order = np.argsort(bucket_of, kind="stable")
    place_of = np.empty(len(order), np.int64)
    place_of[order] = np.arange(len(order))
    class_of = place_of[groups.class_of]
    pairs = [
        _paired(class_of, numbers(table.column(name), values, name), len(values))
        for name, values in plan.values.items()
    ]
    if people is not None:
        person = partition_of(people)  # numbered without gaps, so that no product overflows
        found = _paired(class_of, person.class_of, len(person))
        pairs.append(found._replace(values=people[person.firsts][found.values]))
    return Tally(
        tuple(word[order] for word in tuples),
        groups.sizes[order].astype(np.int32),
        groups.firsts[order].astype(np.int32),
        part.start,
        tuple(one.packed() for one in pairs),
        np.searchsorted(bucket_of[order], np.arange(plan.buckets + 1)),
        _first_like(plan.suppressed, tuples, groups.firsts + part.start),
    )


def join(_: None, item: tuple[int, bool, *tuple[Tally, ...]]) -> Bucket:
    """Joins what all partitions say of the classes of one bucket."""
    bucket, with_people, *tallies = item
    spans = [(int(one.borders[bucket]), int(one.borders[bucket + 1])) for one in tallies]
    told = list(zip(tallies, spans, strict=True))
    width = len(tallies[0].words)
    tuples = [
        np.concatenate([one.words[at][low:high] for one, (low, high) in told])
        for at in range(width)
    ]
    groups = _grouped(tuples)
    sizes = np.zeros(len(groups), np.int64)
    np.add.at(
        sizes, groups.class_of, np.concatenate([one.sizes[low:high] for one, (low, high) in told])
    )
    firsts = np.full(len(groups), np.iinfo(np.int64).max)
    absolute = [one.firsts[low:high] + np.int64(one.start) for one, (low, high) in told]
    np.minimum.at(firsts, groups.class_of, np.concatenate(absolute))
    offsets = np.cumsum([0, *(high - low for low, high in spans)])
    pairs = [_summed(told, at, groups.class_of, offsets) for at in range(len(tallies[0].pairs))]
    people = None
    if with_people:
        people = np.bincount(pairs.pop().classes, minlength=len(groups)).astype(np.int64)
    marked = [one.suppressed for one in tallies if one.suppressed is not None]
    packed = tuple(one.packed() for one in pairs)
    return Bucket(sizes, firsts, packed, people, min(marked, default=None))


def _first_like(
    wanted: tuple[int, ...] | None, tuples: Sequence[Integers], firsts: Integers
) -> int | None:
    """The first record of the class of this tuple."""
    if wanted is None:
        return None
    same = np.ones(len(firsts), np.bool_)
    for word, one in zip(tuples, wanted, strict=True):
        same &= word == one
    return int(firsts[same][0]) if same.any() else None


def _summed(
    told: Sequence[tuple[Tally, tuple[int, int]]], at: int, class_of: Integers, offsets: Integers
) -> Pairs:
    """The counts of one column over all partitions."""
    parts = []
    for (one, (low, high)), offset in zip(told, offsets, strict=False):
        mine = one.pairs[at]
        begin, end = np.searchsorted(mine.classes, (low, high))
        parts.append(
            (
                class_of[mine.classes[begin:end] - low + offset],
                mine.values[begin:end],
                mine.counts[begin:end],
            )
        )
    classes, values, counts = (np.concatenate(one) for one in zip(*parts, strict=True))
    return _merged(classes, values, counts)


def _merged(classes: Integers, values: Integers, counts: Integers) -> Pairs:
    """Pairs sorted, equal ones added."""
    width = np.int64(values.max(initial=0) + 1)  # classes and values are both below 2³¹
    order = np.argsort(classes * width + values)
    classes, values, counts = classes[order], values[order], counts[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (classes[1:] != classes[:-1]) | (values[1:] != values[:-1])
    starts = np.flatnonzero(is_new)
    sums = np.add.reduceat(counts, starts, dtype=np.int64) if len(starts) else counts
    return Pairs(classes[starts], values[starts], sums)


def _paired(class_of: Integers, value_of: Integers, n_values: int) -> Pairs:
    """(class, value, count) of the rows of a partition."""
    width = np.int64(max(n_values, 1))
    keys = partition_of(class_of * width + value_of)
    key = (class_of * width + value_of)[keys.firsts]
    return _merged(key // width, key % width, keys.sizes)


def _grouped(packed: Sequence[Integers]) -> Classes:
    """The classes of equal tuples of words."""
    if len(packed) == 1:
        return partition_of(packed[0])
    dense = [partition_of(word) for word in packed]
    return reduce(_crossed, dense)


def _crossed(one: Classes, other: Classes) -> Classes:
    return partition_of(one.class_of * np.int64(max(len(other), 1)) + other.class_of)


def _buckets(tuples: Sequence[Integers], buckets: int) -> Integers:
    """A bucket for each tuple, by a hash of its words alone."""
    mixed = np.zeros(len(tuples[0]), np.uint64)
    for word in tuples:
        # The finalizer of splitmix64 (Steele, Lea & Flood 2014): every bit reaches every other.
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + word.view(np.uint64)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return (mixed % np.uint64(buckets)).astype(np.int64)
