"""What methods that group records must keep in every group, and what is refused beforehand.

Groups show sensitive values as they are. Joined groups are at least as diverse and as close as
their parts (each diversity is monotone, each distance convex), and all records together are at
distance 0 from the whole: so one group of all is the last resort, and only a k above the number
of records or people, and an l that not even this group has, are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data.classes import encode, equivalence_classes
from distanon.data.domain import scan
from distanon.data.schema import Attribute, Role
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset
from distanon.errors import InfeasibleError, SpecError
from distanon.kernels.closeness import equal_distances, hierarchical_distances, ordered_distances
from distanon.kernels.counts import Counts, exact
from distanon.kernels.distributions import (
    distinct_values,
    entropies,
    entropy_diverse,
    recursive_diverse,
)
from distanon.kernels.partition import Limit
from distanon.promises.alpha_k import AlphaK
from distanon.promises.base import Promise
from distanon.promises.beta_likeness import BetaLikeness
from distanon.promises.delta_disclosure import DeltaDisclosure
from distanon.promises.k_anonymity import KAnonymity
from distanon.promises.l_diversity import LDiversity
from distanon.promises.sensitive import SensitivePromise
from distanon.promises.t_closeness import Distance, TCloseness

OF_GROUPS = frozenset(
    {
        "k_anonymity",
        "l_diversity",
        "t_closeness",
        "beta_likeness",
        "delta_disclosure",
        "alpha_k",
    }
)
"""Promises that a method keeps by its groups, whatever it publishes of them."""

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Diverse:
    """Whether groups are l-diverse, from counts of the values of one attribute.

    Attributes:
        is_marker: bool, shape (V,): missing or suppressed; they don't count.
        asked: settings of this attribute.
    """

    is_marker: Booleans
    asked: LDiversity

    def __call__(self, counts: Counts) -> Booleans:
        """Of each group, shape (c,)."""
        known, asked = counts.without(self.is_marker), self.asked
        if asked.kind == "distinct":
            return np.asarray(distinct_values(known) >= asked.l)
        if asked.kind == "entropy":
            return entropy_diverse(known, asked.l)
        return recursive_diverse(known, exact(asked.c or 1.0), int(asked.l))


@dataclass(frozen=True, slots=True, eq=False)
class Close:
    """Whether groups are close to the whole; values that have an order are numbered in it.

    Attributes:
        is_marker: bool, shape (V,).
        ancestors: int64, shape (H + 1, V), as `closeness.hierarchical_distances` takes them.
        whole: int64, shape (V,): counts of the whole release.
        distance: between values.
        t: the limit.
    """

    is_marker: Booleans
    ancestors: Integers
    whole: Integers
    distance: Distance
    t: float

    def __call__(self, counts: Counts) -> Booleans:
        """Of each group, shape (c,)."""
        if self.distance == "hierarchical":
            ratios = hierarchical_distances(counts, self.whole, self.ancestors)
        elif self.distance == "ordered":
            ratios = ordered_distances(counts, self.whole, self.is_marker)
        else:
            ratios = equal_distances(counts, self.whole)
        return ratios.at_most(exact(self.t))


@dataclass(frozen=True, slots=True, eq=False)
class Likely:
    """Whether no value is much more, or less, likely in a group than in the whole.

    Attributes:
        asked: settings of this attribute.
        whole: int64, shape (V,): counts of the whole release.
    """

    asked: BetaLikeness | DeltaDisclosure
    whole: Integers

    def __call__(self, counts: Counts) -> Booleans:
        """Of each group, shape (c,)."""
        return ~self.asked.fails(counts, self.whole)


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Whether no protected value fills a group.

    Attributes:
        asked: settings of this attribute.
        protected: bool, shape (V,).
    """

    asked: AlphaK
    protected: Booleans

    def __call__(self, counts: Counts) -> Booleans:
        """Of each group, shape (c,)."""
        return ~self.asked.fails(counts, self.protected)


def default_promises(
    k: int,
    l: float | None,  # noqa: E741
    t: float | None,
) -> dict[str, Promise]:
    """The promises that the parameters k, l and t of a method stand for; null: none."""
    return {"k_anonymity": KAnonymity(k=k), **sensitive_promises(l, t)}


def sensitive_promises(l: float | None, t: float | None) -> dict[str, Promise]:  # noqa: E741
    """Those of l and t alone."""
    found: dict[str, Promise] = {}
    if l is not None:
        is_whole = l == int(l)
        found["l_diversity"] = LDiversity(l=int(l)) if is_whole else LDiversity(l=l, kind="entropy")
    if t is not None:
        found["t_closeness"] = TCloseness(t=t)
    return found


def limits_of(
    dataset: Dataset, promises: Mapping[str, Promise], kept: Booleans | None = None
) -> tuple[Limit, ...]:
    """What every group must keep: one limit for each promise and sensitive attribute.

    Args:
        dataset: n records; sensitive columns are read.
        promises: those of `OF_GROUPS` count, with their settings by column.
        kept: bool, shape (n,): the records that are released, which t is measured against;
            None: all.
    """
    limits: list[Limit] = []
    diverse, close = promises.get("l_diversity"), promises.get("t_closeness")
    asked = [one for one in promises.values() if isinstance(one, SensitivePromise)]
    if not asked:
        return ()
    for attribute in dataset.schema.sensitive:
        codes, values, is_marker = _ordered_codes(dataset, attribute)
        released = codes if kept is None else codes[kept]
        whole = np.bincount(released, minlength=len(is_marker)).astype(np.int64)
        if isinstance(diverse, LDiversity):
            test = Diverse(is_marker, diverse.settings_for(attribute.name))
            limits.append(Limit(codes, len(is_marker), test))
        if isinstance(close, TCloseness):
            own = close.settings_for(attribute.name)
            distance = own.distance_for(attribute)
            ancestors = np.zeros((1, len(is_marker)), np.int64)
            if distance == "hierarchical" and attribute.hierarchy is not None:
                texts = values.cast(pa.string()).to_pylist()
                ancestors = attribute.hierarchy.ancestors(texts, is_marker)
            near = Close(is_marker, ancestors, whole, distance, own.t)
            limits.append(Limit(codes, len(is_marker), near))
        for one in (each.settings_for(attribute.name) for each in asked):
            if isinstance(one, BetaLikeness | DeltaDisclosure):
                limits.append(Limit(codes, len(is_marker), Likely(one, whole)))
            elif isinstance(one, AlphaK):
                shares = Shared(one, one.protected(values, is_marker))
                limits.append(Limit(codes, len(is_marker), shares))
    return tuple(limits)


def people_of(dataset: Dataset, promises: Mapping[str, Promise]) -> Integers | None:
    """A number for the person behind each record, int64 (n,); None: each record is a person.

    A promise of k_anonymity with `distinct_sources: false` counts records.
    """
    asked = promises.get("k_anonymity")
    names = [attribute.name for attribute in dataset.schema.with_role(Role.SUBJECT)]
    if not names or (isinstance(asked, KAnonymity) and asked.distinct_sources is False):
        return None
    return equivalence_classes(dataset.read(names), names).class_of


def refuse_disagreement(
    name: str,
    own: Mapping[str, float | None],
    promises: Mapping[str, Promise],
) -> None:
    """Refuses promises that are not what the method's own parameters say.

    Args:
        name: of the method.
        own: its k, l and t by name; None: not given.
        promises: what is promised.

    Raises:
        SpecError: with one line for each disagreement.
    """
    faults = []
    for promise, parameter in (("k_anonymity", "k"), ("l_diversity", "l"), ("t_closeness", "t")):
        asked = getattr(promises.get(promise), parameter, None)
        given = own.get(parameter)
        if asked is not None and given is not None and asked != given:
            faults.append(
                f"promises.{promise}.{parameter}: found {asked:g}, but method.{parameter} is "
                f"{given:g}; they must agree"
            )
    shared, k = promises.get("alpha_k"), own.get("k")
    if isinstance(shared, AlphaK) and k is not None and shared.k > k:
        faults.append(
            f"promises.alpha_k.k: found {shared.k}, but method.k is {k:g}; raise method.k"
        )
    diverse = promises.get("l_diversity")
    if isinstance(diverse, LDiversity) and diverse.others == "known":
        faults.append(f"promises.l_diversity.others: {name} can't be asked for known; use unknown")
    if faults:
        raise SpecError(*faults)


def refuse_infeasible(
    dataset: Dataset, k: int, promises: Mapping[str, Promise], *, records: int | None = None
) -> None:
    """Refuses what one group of all records would not keep.

    Args:
        dataset: n records.
        k: records, or different subjects, of each group.
        promises: as in `limits_of`.
        records: how many are released at least, where some may be suppressed; None: all.

    Raises:
        InfeasibleError: which promise, and the largest k or l that works.
    """
    people = people_of(dataset, promises)
    if people is None:
        there, what = len(dataset) if records is None else records, "records"
    else:
        there, what = int(people.max(initial=-1)) + 1, "different subjects"
    if there < k:
        works = f"the largest k that works is {there}" if there > 1 else "no k works"
        raise InfeasibleError(
            f"method.k {k}: expected at least k {what} in {dataset.source}, got {there}; {works}"
        )
    refuse_as_a_whole(dataset, promises)


def refuse_as_a_whole(dataset: Dataset, promises: Mapping[str, Promise]) -> None:
    """Refuses an l, or an α, that all records together do not keep.

    Raises:
        InfeasibleError: says which, and the largest l that works.
    """
    asked, shared = promises.get("l_diversity"), promises.get("alpha_k")
    for attribute in dataset.schema.sensitive if asked or shared else ():
        codes, values, is_marker = _ordered_codes(dataset, attribute)
        whole = Counts.of(np.zeros(len(codes), np.int64), codes, 1, len(is_marker))
        if isinstance(shared, AlphaK):
            most = shared.settings_for(attribute.name)
            if most.fails(whole, most.protected(values, is_marker))[0]:
                raise _too_common(attribute.name, most.alpha)
        if not isinstance(asked, LDiversity):
            continue
        own = Diverse(is_marker, asked.settings_for(attribute.name))
        if not own(whole)[0]:
            raise _too_diverse(attribute.name, own.asked, whole.without(is_marker))


def _too_common(column: str, alpha: float) -> InfeasibleError:
    return InfeasibleError(
        f"promises.alpha_k: alpha is {alpha:g}, but a value of column {column!r} has a larger "
        "share of all records, and of some group then; raise alpha, or name the values to protect"
    )


def _too_diverse(column: str, asked: LDiversity, known: Counts) -> InfeasibleError:
    here = f"promises.l_diversity: l is {asked.l:g} ({asked.kind}), but column {column!r} "
    if asked.kind == "recursive":
        return InfeasibleError(
            f"{here}as a whole is not recursive ({asked.c:g}, {asked.l:g})-diverse, and no group "
            "can be expected to be more so than the whole; raise c, or lower l"
        )
    if asked.kind == "distinct":
        most = float(distinct_values(known)[0])
        what = f"has {most:g} different value{'' if most == 1 else 's'}"
    else:
        most = float(np.floor(1e4 * np.exp(max(0.0, float(entropies(known)[0])))) / 1e4)
        what = "has too little entropy as a whole"
    works = f"the largest l that works is {most:g}" if most > 1 else "no l works"
    return InfeasibleError(f"{here}{what}; {works}")


def _ordered_codes(dataset: Dataset, attribute: Attribute) -> tuple[Integers, pa.Array, Booleans]:
    """Numbers of each record's value, in the values' order, markers last; values; markers."""
    codes = encode(dataset.read([attribute.name]).column(attribute.name))
    space = AttributeSpace.of([attribute], scan(dataset))
    ranks = space.encode(pa.table([codes.values], names=[attribute.name]))[:, 0]
    order = np.argsort(np.where(codes.is_marker, np.inf, ranks), kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return number[codes.code_of], codes.values.take(pa.array(order)), codes.is_marker[order]
