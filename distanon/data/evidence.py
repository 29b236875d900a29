"""What a release is judged on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.data.table import Dataset


@dataclass(frozen=True)
class Evidence:
    """The files read back and, where the judge has them, the originals."""

    release: Dataset
    original: Dataset | None = None
    sources: NDArray[np.int64] | None = None
