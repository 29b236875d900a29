"""The neighbor indexes of a release and of its originals: built once, whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distanon.data.evidence import Evidence
from distanon.kernels.neighbors import NeighborIndex, distinct

_NAME = "neighbor index"


def original_index(evidence: Evidence) -> NeighborIndex:
    """All originals in the owner's scale; one for all releases that stand beside one another."""
    return _once(evidence.made_of_original, lambda: evidence.original_points)


def release_index(evidence: Evidence) -> NeighborIndex:
    """The released rows in the owner's scale."""
    return _once(evidence.made_of_release, lambda: evidence.release_points)


def _once(made: dict[str, Any], points: Callable[[], NDArray[np.float64]]) -> NeighborIndex:
    if _NAME not in made:
        made[_NAME] = NeighborIndex.build(distinct(points()))
    index: NeighborIndex = made[_NAME]
    return index
