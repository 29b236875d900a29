"""The area under the ROC curve, with its interval."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def auc(
    positives: Floats, negatives: Floats, confidence: float = 0.95
) -> tuple[float, float, float]:
    """How often a positive scores above a negative, ties counting half.

    Args:
        positives: float64, shape (p,), p ≥ 1: scores of what is to be found.
        negatives: float64, shape (q,), q ≥ 1.
        confidence: two-sided, in (0, 1).

    Returns:
        The area, in [0, 1], and the limits of its interval. Where no score varies (an area of 0
        or 1, or a single score) the variance can't be estimated: the limits then are those of
        the least favourable hit among min(p, q).

    Source: DeLong, DeLong & Clarke-Pearson, Biometrics 44 (1988) 837-845; computed by ranks as in
        Sun & Xu, IEEE Signal Processing Letters 21 (2014) 1389-1393.
    """
    wins = _wins(positives, negatives)
    losses = _wins(negatives, positives)
    p, q = len(positives), len(negatives)
    area = math.fsum(wins.tolist()) / p
    variance = _variance(wins) / p + _variance(losses) / q
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    half = z * math.sqrt(variance)
    if half == 0.0:
        # Rule of three: what n trials without a miss leave open.
        half = min(1.0, -math.log(1.0 - confidence) / min(p, q))
    return area, max(0.0, area - half), min(1.0, area + half)


def _wins(one: Floats, other: Floats) -> Floats:
    """For each score the share of the others that it beats, ties counting half."""
    ordered = np.sort(other)
    below = np.searchsorted(ordered, one, side="left")
    not_above = np.searchsorted(ordered, one, side="right")
    share: Floats = (below + not_above) / (2.0 * len(other))
    return share


def _variance(values: Floats) -> float:
    if len(values) < 2:
        return 0.0
    mean = math.fsum(values.tolist()) / len(values)
    return math.fsum(np.square(values - mean).tolist()) / (len(values) - 1)
