"""The attacks of `nearest_record` on tables that no process holds: the same scores, in parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from distanon.attacks.nearest_record import Setting
from distanon.data.evidence import Evidence
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset
from distanon.kernels.neighbors import distinct
from distanon.sharded.classes import rows_at
from distanon.sharded.large import is_large
from distanon.sharded.nearest_parts import (
    View,
    equal_rows_of,
    holds_values,
    rows_like,
    scores_of_nearest,
)
from distanon.sharded.pieces import values_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class InParts:
    """The tables under attack.

    Attributes:
        release: the released rows.
        original: the records.
        space: of the quasi-identifiers, in the owner's scale.
        setting: the workers, and who is attacked.
    """

    release: Dataset
    original: Dataset
    space: AttributeSpace
    setting: Setting

    @staticmethod
    def of(evidence: Evidence, setting: Setting) -> InParts | None:
        """None where the tables are small enough for one process, or rows are generalized."""
        if evidence.original is None or not is_large(evidence):
            return None
        if not holds_values(setting.crew, evidence.release, evidence.space):
            return None
        return InParts(evidence.release, evidence.original, evidence.space, setting)

    def release_to_original(self) -> tuple[Floats, int]:
        """As `nearest_record.release_to_original`, and how many different rows are attacked."""
        view, setting, crew = View.of(self.space), self.setting, self.setting.crew
        asked = distinct(view.points(values_of(crew, self.release, self.space, setting.rows)))
        rows, place = rows_like(crew, view, self.release, asked.rows)
        truth = setting.sources[rows]
        scores = scores_of_nearest(crew, view, self.original, asked.rows, place, truth)
        alike = np.bincount(place, minlength=len(asked))
        return (scores / alike)[asked.point_of], len(asked)

    def original_to_release(self, known: tuple[int, ...] | None = None) -> Floats:
        """As `nearest_record.original_to_release`, with some attributes known; None: all."""
        view, setting, crew = View.of(self.space, known), self.setting, self.setting.crew
        queries = view.points(values_of(crew, self.original, self.space, setting.targets))
        owners = self._owners()
        rows = np.flatnonzero(owners >= 0)
        return scores_of_nearest(crew, view, self.release, queries, owners[rows], rows)

    def exact_matches(self) -> Floats:
        """As `nearest_record.exact_matches`."""
        names = list(self.space.names)
        known = rows_at(self.original, self.setting.targets, names)
        known = pa.table({name: known.column(name) for name in names})
        total, own = equal_rows_of(self.setting.crew, self.release, known, self._owners())
        scores: Floats = own / np.maximum(total, 1)
        return scores

    def _owners(self) -> Integers:
        """For each released row the place of its source among the targets; -1: it is none."""
        targets, sources = self.setting.targets, self.setting.sources
        place = np.minimum(np.searchsorted(targets, sources), len(targets) - 1)
        return np.where(targets[place] == sources, place, -1)
