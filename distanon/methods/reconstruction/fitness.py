"""How good a choice is, from integer counts of what its representatives answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.kernels.first_chosen import (
    SCALE,
    Candidates,
    Questions,
    expected_hits,
    hits,
    squared_error,
)
from distanon.methods.reconstruction.settings import Figure

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fitness:
    """What is measured.

    Attributes:
        figure: of the labels.
        neighbors: representatives that answer together.
        is_number: whether numbers are answered, whose mean squared error counts instead.
    """

    figure: Figure
    neighbors: int
    is_number: bool

    def count(
        self,
        questions: Questions,
        candidates: Candidates,
        chosen: NDArray[np.uint8],
        answers: Integers,
    ) -> Integers:
        """What is added up over shards of questions.

        Args:
            questions: to be answered.
            candidates: that may be chosen.
            chosen: uint8 (c,).
            answers: int64 (c,), labels or steps; (c, w), with `expected`: shares of the labels.

        Returns:
            int64: (w, w), records by answered and true label; (1, 2), with `expected` right
            answers in steps, of numbers squared errors in steps, and the records that count.
        """
        if self.is_number:
            error = squared_error(questions, candidates, chosen, answers, self.neighbors)
            return np.array([[error, questions.weights[:, 0].sum()]], np.int64)
        if self.figure == "expected":
            right = expected_hits(questions, candidates, chosen, answers, self.neighbors)
            return np.array([[right, questions.weights.sum()]], np.int64)
        return hits(questions, candidates, chosen, answers, self.neighbors)

    def loss(self, counts: Integers) -> float:
        """What the search makes small: the figure, negative, or the mean squared error."""
        value = self.value(counts)
        return value if self.is_number else -value

    def value(self, counts: Integers) -> float:
        """The figure: a count, or in [0, 1].

        Of numbers it is the mean squared error, where their range is 1.
        """
        if self.is_number or self.figure == "expected":
            total, records = counts[0].tolist()
            return float(total / max(1, records) / (SCALE**2 if self.is_number else SCALE))
        right, records = int(np.trace(counts)), int(counts.sum())
        if self.figure == "hits":
            return float(right)
        if self.figure == "accuracy":
            return right / max(1, records)
        return self._by_label(counts)

    def _by_label(self, counts: Integers) -> float:
        """The mean recall, or F1, of the labels that occur."""
        own, true, answered = np.diagonal(counts), counts.sum(axis=0), counts.sum(axis=1)
        asked = true > 0
        if not asked.any():
            return 0.0
        if self.figure == "balanced_accuracy":
            return float((own[asked] / true[asked]).mean())
        return float((2 * own[asked] / (true + answered)[asked]).mean())
