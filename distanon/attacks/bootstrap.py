"""The interval of a mean over draws, by drawing the draws again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_RESAMPLES = 2_000


def bootstrap(
    values: Sequence[float], generator: np.random.Generator, confidence: float = 0.95
) -> tuple[float | None, float | None]:
    """Percentile interval of the mean; none for a single draw.

    Args:
        values: one for each draw.
        generator: draws the resamples.
        confidence: two-sided, in (0, 1).

    Source: Efron, Annals of Statistics 7 (1979) 1-26.
    """
    if len(values) < 2:
        return None, None
    chosen = generator.integers(0, len(values), (_RESAMPLES, len(values)))
    means = np.asarray(values, dtype=np.float64)[chosen].mean(axis=1)
    low, high = np.quantile(means, [0.5 - confidence / 2.0, 0.5 + confidence / 2.0])
    return float(low), float(high)
