"""What representatives are to predict: one label of each record, or one number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distanon.data.domain import scan
from distanon.data.schema import AttributeType
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset
from distanon.kernels.first_chosen import SCALE

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_LABELS = 256
"""Rarer labels of a compound share the last one: they decide no search."""


@dataclass(frozen=True, slots=True, eq=False)
class Confidential:
    """The confidential attribute, or several joined into one compound attribute.

    Attributes:
        labels: int64, shape (n,), from 0: of a number its bin.
        n_labels: how many.
        steps: int64, shape (n,): a single number in steps of 1 / `SCALE` of its range, −1 where
            it is missing; None: the attribute is not a number.

    Source: Zhu, Li & Wu, Decision Support Systems 48 (2009): several confidential attributes are
        one compound attribute; numbers are their future work.
    Deviation: numbers are predicted by the mean squared error, and inside a compound by their bin.
    """

    labels: Integers
    n_labels: int
    steps: Integers | None

    @staticmethod
    def of(dataset: Dataset, bins: int) -> Confidential:
        """Reads the sensitive columns.

        Args:
            dataset: with at least one sensitive column.
            bins: of equally many records, that a number inside a compound is put into.
        """
        attributes = dataset.schema.sensitive
        space = AttributeSpace.of(attributes, scan(dataset))
        values = space.encode(dataset.read(list(space.names)))
        columns = [
            _bins(values[:, place], bins)
            if attribute.type is AttributeType.NUMERIC
            else np.where(np.isnan(values[:, place]), -1.0, values[:, place])
            for place, attribute in enumerate(attributes)
        ]
        _, labels = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        labels = _joined_if_rare(labels.ravel().astype(np.int64))
        alone = len(attributes) == 1 and attributes[0].type is AttributeType.NUMERIC
        steps = _steps(values[:, 0], space.domains[0].span) if alone else None
        return Confidential(labels, int(labels.max(initial=-1)) + 1, steps)

    @property
    def is_number(self) -> bool:
        """Whether the squared error counts."""
        return self.steps is not None

    def weights(self, point_of: Integers, records: Integers, points: int) -> Integers:
        """What questions have to answer, as `Questions.weights`.

        Args:
            point_of: int64, shape (m,): the question of each record.
            records: int64, shape (m,): record numbers.
            points: how many questions.
        """
        if self.steps is None:
            result = np.zeros((points, self.n_labels), np.int64)
            np.add.at(result, (point_of, self.labels[records]), 1)
            return result
        result = np.zeros((points, 3), np.int64)
        steps = self.steps[records]
        known = steps >= 0
        moments = np.stack([np.ones_like(steps), steps, steps * steps], axis=1)
        np.add.at(result, point_of[known], moments[known])
        return result

    def shares(self, labels: Integers, groups: int, records: Integers) -> Integers:
        """The shares of the labels in each group, int64 (groups, w), in steps of `SCALE`.

        As in `answers`, a group without any of the records has the shares of all of them.
        """
        counts = np.zeros((groups, self.n_labels), np.int64)
        np.add.at(counts, (labels[records], self.labels[records]), 1)
        counts[counts.sum(axis=1) == 0] = counts.sum(axis=0)
        result: Integers = counts * SCALE // np.maximum(1, counts.sum(axis=1, keepdims=True))
        return result

    def answers(self, labels: Integers, groups: int, records: Integers) -> Integers:
        """What each group answers: its most frequent label, or its mean in whole steps.

        Args:
            labels: int64, shape (n,): group of each record.
            groups: how many; one without any of the records answers as all of them together.
            records: int64, shape (m,): those that count.
        """
        own = labels[records]
        if self.steps is None:
            counts = np.zeros((groups, self.n_labels), np.int64)
            np.add.at(counts, (own, self.labels[records]), 1)
            result: Integers = counts.argmax(axis=1)
            empty = counts.sum(axis=1) == 0
            result[empty] = counts.sum(axis=0).argmax()
            return result
        steps = self.steps[records]
        known = steps >= 0
        sums, many = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
        np.add.at(sums, own[known], steps[known])
        np.add.at(many, own[known], 1)
        overall = int(sums.sum()) // max(1, int(many.sum()))
        return np.where(many > 0, sums // np.maximum(many, 1), overall)


def _bins(column: Floats, bins: int) -> Floats:
    """The bin of each number, −1 where it is missing; equal numbers are in one bin."""
    present = ~np.isnan(column)
    result = np.full(len(column), -1.0)
    if present.any():
        borders = np.quantile(column[present], np.arange(1, bins) / bins, method="lower")
        result[present] = np.searchsorted(np.unique(borders), column[present], side="left")
    return result


def _joined_if_rare(labels: Integers) -> Integers:
    counts = np.bincount(labels)
    if len(counts) <= MOST_LABELS:
        return labels
    number = np.full(len(counts), MOST_LABELS - 1, np.int64)
    often = np.sort(np.argsort(-counts, kind="stable")[: MOST_LABELS - 1])
    number[often] = np.arange(len(often))
    return number[labels]


def _steps(column: Floats, span: tuple[float, float] | None) -> Integers:
    low, high = span or (0.0, 0.0)
    shares = (column - low) / (high - low) if high > low else column * 0.0
    return np.where(np.isnan(column), -1.0, np.rint(shares * SCALE)).astype(np.int64)
