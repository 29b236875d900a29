"""DPTPE on a table that no process holds: the same two passes, piece by piece, the same bytes.

Records travel twice: into the pieces where their neighbors are, and what is known of them back to
the partitions that they were read from. The driver holds a few numbers to a record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distanon.data.domain import scan
from distanon.data.ports import Partition
from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.data.table import Dataset
from distanon.kernels.pieces import Found, Piece
from distanon.kernels.potential import best_sigma, entropies
from distanon.methods.base import Context
from distanon.methods.dptpe.extremes import deviations, ends_of, extremes_of
from distanon.methods.dptpe.kinds import gets_mean, is_dispersed
from distanon.methods.dptpe.passes import (
    Choice,
    Field,
    Known,
    sigma_sample,
    swaps_of,
    traits_of,
)
from distanon.methods.dptpe.publication import Counts, Outcome
from distanon.methods.dptpe.refusals import refuse_equal
from distanon.methods.dptpe.returned import Return, release_partition, send
from distanon.methods.dptpe.substitutes import Source, first_far_enough, seek
from distanon.promises.base import Promise
from distanon.runtime.crew import Kept
from distanon.sharded.piece_neighbors import (
    Asking,
    neighborhoods_and_more,
    neighborhoods_in_pieces,
)
from distanon.sharded.pieces import Pieces, cut_into_pieces

if TYPE_CHECKING:
    from distanon.methods.dptpe.method import DPTPE

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


class Told(NamedTuple):
    """A few numbers of each of the m records of a piece.

    Attributes:
        numbers: int64 (m,): of the records.
        dispersed: bool (m,).
        radius: float64 (m,); empty where the rule does not ask.
        dominated: bool (m,).
    """

    numbers: Integers
    dispersed: Booleans
    radius: Floats
    dominated: Booleans


class Seeking(NamedTuple):
    """The points of a piece whose neighbors' mean will not do.

    Attributes:
        points: int64 (s,): points of the piece.
        leads: int64 (s,): the lowest record number of each.
        counts: int64 (s,): records of each.
    """

    points: Integers
    leads: Integers
    counts: Integers


def in_pieces(
    method: DPTPE,
    dataset: Dataset,
    promises: Mapping[str, Promise],
    context: Context,
    count: int,
) -> Outcome:
    """The release of a table in at most `count` pieces.

    Raises:
        InfeasibleError: as `DPTPE.release`.
    """
    crew, streams = context.crew, context.streams
    space = _space(method, dataset, context)
    sample = sigma_sample(len(dataset), streams) if method.sigma == "auto" else None
    look = partial(ends_of, k=method.k)
    pieces = cut_into_pieces(
        crew, context.scratch, dataset, space, streams, count, picks=sample, look=look
    )
    refuse_equal(promises, all_equal=sum(pieces.points) == 1)
    method.note_kept(promises, context)
    choice = method.choice(space, extremes_of(list(pieces.seen), method.k))
    known, sigma = _surveyed(method, context, pieces, choice, f"neighborhoods-{count}")
    chosen, told = _chosen(method, context, pieces, known, len(dataset))
    spans = tuple((part.start, part.stop) for part in dataset.partitions)
    back = Return(spans, context.scratch, f"dptpe-known-{count}")
    sent = _sent(context, pieces, known, choice, back, len(dataset))
    plan = method.plan(dataset.schema, choice, streams)
    items = [
        (part, context.scratch, chosen[part.start : part.stop], choice.is_asked, *tables)
        for part, tables in zip(dataset.partitions, sent, strict=True)
    ]
    made = list(crew.map(release_partition, items, shared=crew.put(plan), phase="release"))
    return Outcome(
        tuple(piece for piece, _ in made),
        Counts.total([counts for _, counts in made]),
        space,
        sigma,
        int(told.dispersed.sum()),
        int(chosen.sum()),
        int((chosen & told.dominated).sum()),
    )


def _space(method: DPTPE, dataset: Dataset, context: Context) -> AttributeSpace:
    """The space of the quasi-identifiers."""
    attributes, domain = dataset.schema.quasi_identifiers, scan(dataset)
    space = AttributeSpace.of(attributes, domain)
    if method.scale == "range":
        return space
    spreads = deviations(context.crew, dataset, space) if method.scale == "zscore" else None
    return AttributeSpace.of(attributes, domain, method.scale, spreads)


def _surveyed(
    method: DPTPE,
    context: Context,
    pieces: Pieces,
    choice: Choice,
    name: str,
) -> tuple[list[Kept], float]:
    """Both passes, neighborhoods under a name.

    Returns:
        What is known of each piece's points, kept; and sigma, found while others search.
    """
    crew, is_auto = context.crew, method.sigma == "auto"
    asking = Asking(method.k, method.ties, scratch=context.scratch, name=name)
    beside = [(best_sigma, choice.space.embed(pieces.picked))] if is_auto else []
    found, others = neighborhoods_and_more(crew, pieces, asking, beside)
    sigma = float(others[0] if is_auto else method.sigma)
    both = list(zip(pieces.kept, found, strict=True))
    # By lowest record number; no other record's number is looked at.
    every = np.full(pieces.records, np.nan)
    items = [(piece, lists, sigma) for piece, lists in both]
    for leads, some in crew.map(_entropies, items, phase="entropies"):
        every[leads] = some
    shared = crew.put((every, choice, context.streams, method.rsn_nominal))
    return list(crew.map(_known, both, shared=shared, keep=True, phase="dispersion")), sigma


def _chosen(
    method: DPTPE, context: Context, pieces: Pieces, known: list[Kept], records: int
) -> tuple[Booleans, Told]:
    """Which records get their neighbors' mean, bool (n,); the numbers of all records."""
    asks = method.rule == "krad"
    items = [(piece, one, method.t, asks) for piece, one in zip(pieces.kept, known, strict=True)]
    numbers = np.arange(records)
    whole = Told(
        numbers,
        np.zeros(records, np.bool_),
        np.zeros(records if asks else 0),
        np.zeros(records, np.bool_),
    )
    for part in context.crew.map(_told, items, phase="dispersion"):
        whole.dispersed[part.numbers] = part.dispersed
        whole.dominated[part.numbers] = part.dominated
        if asks:
            whole.radius[part.numbers] = part.radius
    chosen = gets_mean(method.rule, whole.dispersed, whole.radius, numbers, context.streams)
    return chosen, whole


def _sent(
    context: Context,
    pieces: Pieces,
    known: list[Kept],
    choice: Choice,
    back: Return,
    records: int,
) -> list[tuple[Partition, ...]]:
    """For each partition the tables that hold what is known of its records."""
    crew = context.crew
    both = list(zip(pieces.kept, known, strict=True))
    nothing = np.zeros(0, np.int64)
    seeking = [Seeking(nothing, nothing, nothing) for _ in both]
    given = [np.empty((0, len(choice.space.names))) for _ in both]
    found = [np.zeros(0, np.bool_) for _ in both]
    if choice.is_asked:
        seeking = list(crew.map(_seeking, both, phase="substitutes"))
        found, given = _substitutes(context, pieces, seeking, choice, records)
    items = [
        (piece, one, at, who.points[has], values[has])
        for at, ((piece, one), who, has, values) in enumerate(
            zip(both, seeking, found, given, strict=True)
        )
    ]
    shared = crew.put((choice, back))
    sent = list(crew.map(send, items, shared=shared, phase="return"))
    return [tuple(t for t in tables if t is not None) for tables in zip(*sent, strict=True)]


def _substitutes(
    context: Context, pieces: Pieces, seeking: Sequence[Seeking], choice: Choice, records: int
) -> tuple[list[Booleans], list[Floats]]:
    """Of the points of each piece that seek one: whether they have one, and its values."""
    leads = np.concatenate([one.leads for one in seeking])
    order = np.argsort(leads)
    piece_of = np.repeat(np.arange(len(seeking)), [len(one.leads) for one in seeking])[order]
    points = np.concatenate([one.points for one in seeking])[order]
    counts = np.concatenate([one.counts for one in seeking])[order]
    shared = context.crew.put(choice)

    def ask(asked: Integers, k: int) -> tuple[Integers, Floats]:
        where = [np.flatnonzero(piece_of[asked] == at) for at in range(len(pieces))]
        queries = [points[asked[places]] for places in where]
        lists = neighborhoods_in_pieces(
            context.crew, pieces, k, "truncate", queries=queries, left_out=False
        )
        items = [(pieces.kept[at], lists[at]) for at in range(len(pieces)) if len(queries[at])]
        places, values = [], []
        answers = context.crew.map(_far_enough, items, shared=shared, phase="substitutes")
        asking = [at for at in range(len(pieces)) if len(queries[at])]
        for at, (who, some) in zip(asking, answers, strict=True):
            by_point = np.argsort(queries[at])
            at_point = by_point[np.searchsorted(queries[at], who, sorter=by_point)]
            places.append(where[at][at_point])
            values.append(some)
        place = np.concatenate(places)
        ascending = np.argsort(place)
        return place[ascending], np.concatenate(values)[ascending]

    shape = (records, len(choice.space.names))
    found, candidates = seek(counts, shape, ask, choice.least)
    place_of = np.argsort(order)  # where each of the pieces' own points stands
    borders = np.cumsum([len(one.leads) for one in seeking])[:-1]
    places = np.split(place_of, borders)
    return [found[p] for p in places], [candidates[p] for p in places]


def _entropies(_: None, item: tuple[Piece, Found, float]) -> tuple[Integers, Floats]:
    piece, found, sigma = item
    lists = found.lists
    return piece.leads, entropies(lists.starts, lists.distances, lists.weights, sigma)


def _known(shared: tuple[Floats, Choice, Streams, float], item: tuple[Piece, Found]) -> Known:
    every, choice, streams, swap = shared
    piece, found = item
    points = piece.points
    field = Field(found.values, choice.space, streams, swap)
    traits = traits_of(found.lists, every[piece.leads], every[found.leads], field)
    swaps = swaps_of(field, piece.numbers[points.records], points.counts, found.lists)
    return Known(
        traits, swaps, choice.sources(piece.values, np.arange(len(piece.values)), traits.means)
    )


def _told(_: None, item: tuple[Piece, Known, float, bool]) -> Told:
    piece, known, t, asks_radius = item
    point_of, traits = piece.points.point_of, known.traits
    dispersed = is_dispersed(traits.dispersion, t)
    radius = traits.radius[point_of] if asks_radius else np.zeros(0)
    return Told(piece.numbers, dispersed[point_of], radius, traits.dominated[point_of])


def _seeking(_: None, item: tuple[Piece, Known]) -> Seeking:
    piece, known = item
    pending = np.flatnonzero(known.source == Source.NONE)
    return Seeking(pending, piece.leads[pending], piece.points.counts[pending])


def _far_enough(choice: Choice, item: tuple[Piece, Found]) -> tuple[Integers, Floats]:
    """Which points have a neighbor that will do, and its finished values."""
    piece, found = item
    own = piece.values[found.queries]
    place, values = first_far_enough(
        found.lists, own, found.values, choice.finish, choice.space, choice.least
    )
    return found.queries[place], values
