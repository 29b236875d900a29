"""Diversity and likeness of the values in classes of records, decided on integer counts.

`counts` holds the counts, `closeness` the earth mover's distances of t-closeness.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from distanon.kernels.counts import Counts, Ratios, excess, segment_sums, wide

_SLACK = 1e-12  # of entropies, which are floats


def distinct_values(counts: Counts) -> NDArray[np.int64]:
    """Number of different values in each class, int64, shape (c,)."""
    return np.diff(counts.starts)


def entropies(counts: Counts) -> NDArray[np.float64]:
    """Entropy of the values of each class in nats, shape (c,); −inf where a class has none.

    exp of it is the largest l of entropy l-diversity.
    """
    result = np.full(len(counts), -np.inf)
    filled = np.flatnonzero(counts.totals)
    if len(filled) == 0:
        return result
    # Summed from the smallest count, so that the numbering of values can't change a bit.
    sizes = counts.counts[np.lexsort((counts.counts, counts.classes))].astype(np.float64)
    sums = np.add.reduceat(sizes * np.log(sizes), counts.starts[:-1][filled])
    totals = counts.totals[filled].astype(np.float64)
    result[filled] = np.maximum(0.0, np.log(totals) - sums / totals)
    return result


def entropy_diverse(counts: Counts, l: float) -> NDArray[np.bool_]:  # noqa: E741
    """Whether each class is entropy l-diverse: H ≥ ln l − 1e-12, shape (c,).

    Source: Machanavajjhala et al., ACM TKDD 1 (2007) 3, Definition 4.1.
    """
    return np.asarray(entropies(counts) >= np.log(float(l)) - _SLACK)


def recursive_ratios(counts: Counts, l: int) -> Ratios:  # noqa: E741
    """(r_l + … + r_m) / r₁ of each class, where r₁ ≥ r₂ ≥ … are its counts; 0 for an empty one."""
    order = np.lexsort((-counts.counts, counts.classes))
    sizes = counts.counts[order]
    place = np.arange(len(sizes)) - counts.starts[counts.classes]
    tails = segment_sums(np.where(place >= l - 1, sizes, 0), counts.starts)
    largest = np.ones(len(counts), np.int64)
    filled = counts.totals > 0
    largest[filled] = sizes[counts.starts[:-1][filled]]
    return Ratios(tails, largest)


def recursive_diverse(counts: Counts, c: Fraction, l: int) -> NDArray[np.bool_]:  # noqa: E741
    """Whether each class is recursive (c, l)-diverse: r₁ < c·(r_l + … + r_m), shape (c,).

    Source: Machanavajjhala et al., ACM TKDD 1 (2007) 3, Definition 4.2.
    """
    return ~recursive_ratios(counts, l).at_most(1 / c)


def likeness_gains(counts: Counts, reference: NDArray[np.int64]) -> Ratios:
    """(q − p) / p for each triplet, shape (m,): what seeing its class adds to a value's odds.

    q is the value's share of the class, p its share of the whole (above 0 for values that occur).

    Source: Cao & Karras, PVLDB 5 (2012) 1388-1399 (β-likeness).
    """
    sizes = counts.totals[counts.classes]
    bases = sizes * wide(reference[counts.values], int(reference.sum()), int(sizes.max(initial=0)))
    return Ratios(excess(counts, reference), bases)


def disclosures(counts: Counts, reference: NDArray[np.int64]) -> NDArray[np.float64]:
    """The largest |ln(q / p)| over all values, of each class, shape (c,); inf: a value is absent.

    Source: Brickell & Shmatikov, KDD 2008 (δ-disclosure privacy).
    """
    result = np.zeros(len(counts))
    shares = counts.counts / counts.totals[counts.classes]
    whole = reference[counts.values] / reference.sum()
    np.maximum.at(result, counts.classes, np.abs(np.log(shares / whole)))
    lacks = (distinct_values(counts) < int((reference > 0).sum())) & (counts.totals > 0)
    result[lacks] = np.inf
    return result
