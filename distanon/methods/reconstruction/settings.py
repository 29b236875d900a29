"""What can be asked of a reconstruction: light, since every spec loads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NumericMask = Literal["mean", "median"]
CutRule = Literal["label", "range"]
Figure = Literal["expected", "hits", "accuracy", "balanced_accuracy", "macro_f1"]
"""`expected`: of the accuracy where a representative answers with any of its people's labels."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How long is searched.

    Attributes:
        individuals: of a generation.
        generations: after the first one, at most.
        patience: generations without a better one on the fold that stops, then the search ends.
    """

    individuals: int
    generations: int
    patience: int
