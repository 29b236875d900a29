"""Paper mode: a chosen few masked records, each released k times or more with its own class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.finishing import finishing
from distanon.data.release import Release, publishable
from distanon.data.schema import SOURCE
from distanon.data.table import Dataset
from distanon.kernels.first_chosen import SCALE
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.kernels.partition import partition
from distanon.methods.base import BLOCK, Context
from distanon.methods.baselines.whole_table import WholeTable
from distanon.methods.reconstruction.confidential import Confidential
from distanon.methods.reconstruction.fitness import Fitness
from distanon.methods.reconstruction.folds import Asking, Folds, list_length
from distanon.methods.reconstruction.masks import masked
from distanon.methods.reconstruction.order import axes_of
from distanon.methods.reconstruction.pool import equals_unique
from distanon.methods.reconstruction.problem import Problem
from distanon.methods.reconstruction.search import search
from distanon.methods.reconstruction.strict import told
from distanon.optimizers.population import set_bits
from distanon.optimizers.subset_genetic import SubsetGenetic

if TYPE_CHECKING:
    from distanon.methods.reconstruction.method import Reconstruction

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """The masked table and who of it may be chosen.

    Attributes:
        tuples: float64, shape (n, q), in codes, finished.
        is_exact: bool, shape (n,): equals an original tuple that one record alone has.
        strata: int64, shape (n,): in which shares of each are kept.
        sizes: int64: how many of each stratum are chosen.
        records: int64, shape (c,), ascending: those that may be chosen.
    """

    tuples: Floats
    is_exact: Booleans
    strata: Integers
    sizes: Integers
    records: Integers


def release_paper(method: Reconstruction, dataset: Dataset, context: Context) -> Release:
    """Masks the records, searches ⌊n / k⌋ of them and copies these."""
    table = WholeTable.read(dataset)
    confidential = Confidential.of(dataset, method.bins)
    masks = _masked(method, table, confidential, context)
    folds = Folds.of(len(dataset), method.held_out, context.streams)
    own = np.full(len(dataset), -1, np.int32)
    own[masks.records] = np.arange(len(masks.records), dtype=np.int32)
    asking = Asking(
        table.space.embed(table.values),
        NeighborIndex.build(distinct(table.space.embed(masks.tuples[masks.records]))),
        confidential,
        own,
        list_length(len(masks.records), int(masks.sizes.sum()), method.neighbors),
    )
    problem = _problem(method, confidential, masks, asking, folds, context)
    stop = asking.questions(folds.stop, context)
    start = [
        problem.optimizer.random(context.streams.generator("reconstruction first", place))
        for place in range(method.individuals)
    ]
    found = search(problem, stop, start, method.settings, context)
    chosen = masks.records[set_bits(found.genome)]
    sources = copied(chosen, len(dataset), context)
    counts = {
        "records": len(sources),
        "source_people": len(chosen),
        "copies": int(len(dataset) // len(chosen)),
        "exact_tuple": int(masks.is_exact[chosen].sum()),
    }
    context.progress.note(
        f"reconstruction, mode paper: {counts['copies']} copies or more of {len(chosen)} records; "
        "the rows of a tuple may all be of one person, so the release is not k-anonymous"
    )
    return _published(table, masks.tuples, sources, context, counts, told(found))


def copied(chosen: Integers, records: int, context: Context) -> Integers:
    """The source of each released row, ascending: as many rows as there were records.

    Args:
        chosen: int64, shape (m,), ascending.
        records: n; each is copied ⌊n / m⌋ times, n mod m of them once more.
        context: for the draw of these.
    """
    times = np.full(len(chosen), records // len(chosen))
    generator = context.streams.generator("reconstruction copies")
    times[generator.choice(len(chosen), records % len(chosen), replace=False)] += 1
    return np.repeat(chosen, times)


def shares(strata: Integers, chosen: int) -> Integers:
    """How many of each stratum are chosen, by largest remainders; the lower number in a tie."""
    counts = np.bincount(strata)
    sizes = counts * chosen // len(strata)
    rests = counts * chosen % len(strata)
    sizes[np.argsort(-rests, kind="stable")[: chosen - int(sizes.sum())]] += 1
    return sizes.astype(np.int64)


def _masked(
    method: Reconstruction, table: WholeTable, confidential: Confidential, context: Context
) -> Masked:
    space, values, n = table.space, table.values, len(table.values)
    axes = axes_of(space, values, confidential, method.k, method.cuts)
    groups = partition(axes.values, axes.widths, min(n, method.mask_size))
    ends = finishing(space.attributes, space.domains, values, method.k, "clip", "grid")
    moved = masked(space, values, groups.labels, method.numeric, context.streams)
    tuples, _ = ends.finish(values, moved)
    strata = confidential.labels if method.stratify else np.zeros(n, np.int64)
    sizes = shares(strata, n // method.k)
    exact = equals_unique(tuples, values)
    spared = np.bincount(strata, ~exact, minlength=len(sizes)) >= sizes
    return Masked(tuples, exact, strata, sizes, np.flatnonzero(~exact | ~spared[strata]))


def _problem(
    method: Reconstruction,
    confidential: Confidential,
    masks: Masked,
    asking: Asking,
    folds: Folds,
    context: Context,
) -> Problem:
    answers = confidential.labels
    if confidential.steps is not None:
        answers = np.maximum(confidential.steps, 0)
    elif method.fitness == "expected":
        answers = SCALE * np.eye(confidential.n_labels, dtype=np.int64)[confidential.labels]
    optimizer = SubsetGenetic(
        len(masks.records),
        method.tournament,
        method.mutation,
        method.elite,
        masks.strata[masks.records].astype(np.uint16),
        masks.sizes,
    )
    fitness = Fitness(method.fitness, method.neighbors, confidential.is_number)
    questions = asking.questions(folds.search, context)
    return Problem(optimizer, questions, asking.candidates, answers[masks.records], None, fitness)


def _published(
    table: WholeTable,
    tuples: Floats,
    sources: Integers,
    context: Context,
    counts: dict[str, int],
    private: dict[str, object],
) -> Release:
    """The rows of the sources with their masked tuples, block by block."""
    people = np.unique(sources)
    rows = table.dataset.select(people).read()
    schema = table.dataset.schema
    pieces = []
    for start in range(0, len(sources), BLOCK):
        own = sources[start : start + BLOCK]
        piece = rows.take(pa.array(np.searchsorted(people, own)))
        piece = table.replaced(piece, tuples[own], schema)
        numbered = publishable(piece, schema).append_column(SOURCE, pa.array(own))
        name = f"reconstruction-{start}-{start + len(own)}"
        pieces.append(context.scratch.write(name, numbered))
    return Release(tuple(pieces), schema, counts, private)
