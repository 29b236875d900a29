"""Which records get their neighbors' mean: the paper's rule, and those it is compared with.

Source: Zhang et al., Definition 8 and Algorithm 2.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from distanon.data.streams import Streams

Rule = Literal["dispersed", "reversed", "random", "krad"]

_SLACK = 1e-9  # many records sit on the edge: at sigma 1, 82 % of MAGIC within 1e-6 of it


def is_dispersed(dispersions: NDArray[np.float64], t: float) -> NDArray[np.bool_]:
    """Which points are dispersed: their entropy stands out from their neighbors'.

    Args:
        dispersions: float64, shape (u,), at least 0; may be infinite.
        t: the threshold, above 0.

    Source: Definition 8. Deviation: a relative slack of 1e-9, so that rounding decides nothing.
    """
    return dispersions > t * (1.0 + _SLACK)


def gets_mean(
    rule: Rule,
    dispersed: NDArray[np.bool_],
    radius: NDArray[np.float64],
    point_of: NDArray[np.int64],
    streams: Streams,
) -> NDArray[np.bool_]:
    """Which records get the mean of their neighbors; the others get a small random move.

    The rules `random` and `krad` are controls: they replace as many records as `dispersed`.

    Args:
        rule: dispersed (the paper's), reversed (the compact ones), random, or krad (those in
            the densest places: smallest distance to the k-th neighbor, lowest number first).
        dispersed: bool, shape (u,), by point.
        radius: float64, shape (u,), distance to the k-th nearest record, by point; only `krad`
            reads it.
        point_of: int64, shape (n,): the point of each record.
        streams: randomness of the rule `random`.

    Returns:
        bool, shape (n,), by record.
    """
    by_record = dispersed[point_of]
    if rule == "dispersed":
        return by_record
    if rule == "reversed":
        return ~by_record
    n = len(by_record)
    keys = streams.uniforms("dptpe rule", 0, n, 1)[:, 0] if rule == "random" else radius[point_of]
    chosen = np.zeros(n, dtype=np.bool_)
    chosen[np.argsort(keys, kind="stable")[: int(by_record.sum())]] = True
    return chosen
