"""Intervals for rates that an attack estimates."""

from __future__ import annotations

import math
from statistics import NormalDist


def wilson(hits: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The score interval of a binomial rate.

    Args:
        hits: successes among `n` independent targets, in [0, n]; a target whose c candidates tie
            counts 1/c, so that sums need not be whole.
        n: targets.
        confidence: two-sided, in (0, 1).

    Returns:
        Lower and upper limit, 0 ≤ lower ≤ hits / n ≤ upper ≤ 1; (0, 1) where n = 0, since no
        target says nothing.

    Raises:
        ValueError: hits outside [0, n], n below 0, or confidence outside (0, 1).

    Source: Wilson, Journal of the American Statistical Association 22 (1927) 209-212.
    Deviation: fractional hits. A target that counts 1/c varies less than a hit or miss of the
    same rate, so the interval is if anything too wide.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
    if n == 0:
        return 0.0, 1.0
    # Σ 1/c may end a rounding error above n: that much is forgiven, not more.
    if not -1e-9 * n <= hits <= n * (1.0 + 1e-9):
        raise ValueError(f"hits must lie between 0 and n = {n}, got {hits}")
    hits = min(max(hits, 0.0), float(n))
    rate = hits / n
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    weight = 1.0 + z * z / n
    centre = (rate + z * z / (2.0 * n)) / weight
    half = z / weight * math.sqrt(rate * (1.0 - rate) / n + z * z / (4.0 * n * n))
    # At 0 and n one limit equals the rate; rounding must not move it.
    low = 0.0 if hits == 0.0 else max(0.0, min(rate, centre - half))
    high = 1.0 if hits == n else min(1.0, max(rate, centre + half))
    return low, high


def wilson_bounded(
    hits: float, n: int, most: float, independent: int, confidence: float = 0.95
) -> tuple[float, float]:
    """The score interval of a mean of scores none of which can exceed `most`.

    Where every target hides among k equal rows no score can exceed 1/k, and a rate of 1/k is no
    estimate of anything larger: scores / most lie in [0, 1], and their interval, times most, ends
    at most at 1/k.

    Args:
        hits: sum of the scores, in [0, n · most].
        n: targets.
        most: in (0, 1]: what a score can be at the most, known before the attack.
        independent: how many of the targets are independent, in 1 … n: groups of equal rows count
            once where they stand and fall together.
        confidence: as for `wilson`, which this is for most = 1 and independent = n.

    Returns:
        Lower and upper limit, 0 ≤ lower ≤ hits / n ≤ upper ≤ most.
    """
    if n == 0:
        return 0.0, most
    share = min(1.0, hits / (n * most))
    low, high = wilson(share * independent, independent, confidence)
    return low * most, high * most
