"""Reconstruction: masked records, a genetic selection of them, and a release built from these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Literal

from pydantic import Field

from distanon.data.release import Release
from distanon.data.table import Dataset
from distanon.errors import SpecError
from distanon.methods.base import Context, Method
from distanon.methods.limits import (
    OF_GROUPS,
    default_promises,
    refuse_disagreement,
    refuse_infeasible,
)
from distanon.methods.reconstruction.settings import (
    CutRule,
    Figure,
    NumericMask,
    SearchSettings,
)
from distanon.promises.base import Promise
from distanon.promises.copies import Copies

_MASK = 3
"""Records of a mask group where nothing else is asked."""


class Reconstruction(Method):
    """k-anonymous data reconstruction by genetic instance selection.

    Source: Zhu, Li & Wu, Identity disclosure protection: a data reconstruction approach for
        privacy-preserving data mining, Decision Support Systems 48 (2009) 133-140.
    Deviation: only its abstract, introduction and conclusion are public: operators, parameters
        and folds are ours. `strict`, the default, keeps every record and has k different people
        in each class; `paper` copies chosen records, as the paper does.
    """

    summary: ClassVar[str] = (
        "masks records in small groups and selects, by a genetic algorithm, the tuples that let "
        "the class be predicted best"
    )
    limits: ClassVar[str] = (
        "strict: sensitive values are released as they are, so classes of one value disclose it "
        "unless l or t is promised; paper: each tuple is copied k times from one person, which is "
        "no k-anonymity"
    )
    keeps: ClassVar[frozenset[str]] = OF_GROUPS | {"copies", "linkage"}

    name: Literal["reconstruction"] = "reconstruction"
    k: int = Field(
        10, ge=2, description="people that share a tuple (strict), or copies of each tuple (paper)"
    )
    l: float | None = Field(  # noqa: E741
        None, gt=1, description="distinct sensitive values of each class; null: not promised"
    )
    t: float | None = Field(
        None, ge=0, le=1, description="distance of each class's sensitive values to all"
    )
    mode: Literal["strict", "paper"] = Field(
        "strict",
        description="every record shows the tuple of its group of k people, or chosen records are "
        "copied k times",
    )
    group_size: int | Literal["auto"] = Field(
        "auto",
        description="records of a mask group, at least; auto: 3, in strict mode k / 3 if more",
    )
    numeric: NumericMask = Field("mean", description="what masked numbers are of their group")
    nominal: Literal["permutation"] = Field(
        "permutation", description="masked categories change places within their group"
    )
    cuts: CutRule = Field(
        "label",
        description="of groups: categories in the order of their classes' shares, attributes by "
        "what they tell of the class; or categories as sorted, attributes by their range",
    )
    fitness: Figure = Field(
        "expected",
        description="figure of the predicted class; expected: of the accuracy where any label of "
        "a group may answer; of numbers it is the squared error",
    )
    neighbors: int = Field(
        1, ge=1, le=50, description="representatives that predict a record together"
    )
    stratify: bool = Field(True, description="paper mode: keep the classes' shares")
    bins: int = Field(4, ge=2, le=64, description="of a number inside a compound attribute")
    held_out: float = Field(
        0.5, gt=0, lt=1, description="share of the records that judge and stop the search"
    )
    individuals: int = Field(40, ge=2, description="choices of a generation")
    generations: int = Field(150, ge=0, description="of the search, at most")
    patience: int = Field(30, ge=1, description="generations without progress that end the search")
    mutation: float = Field(0.02, ge=0, le=1, description="share of a choice that is drawn anew")
    tournament: int = Field(3, ge=1, description="choices that draw lots to become a parent")
    elite: int = Field(1, ge=1, description="best choices that survive as they are")

    @property
    def mask_size(self) -> int:
        """Records of a mask group, at least."""
        if self.group_size != "auto":
            return self.group_size
        return max(_MASK, self.k // 3) if self.mode == "strict" else _MASK

    @property
    def settings(self) -> SearchSettings:
        """How long is searched."""
        return SearchSettings(self.individuals, self.generations, self.patience)

    @property
    def replicates(self) -> bool:
        """In paper mode one record stands behind several rows."""
        return self.mode == "paper"

    def default_promises(self) -> Mapping[str, Promise]:
        """Strict: k, and l and t if given. Paper: copies, which are no k-anonymity."""
        if self.mode == "paper":
            return {"copies": Copies(k=self.k)}
        return default_promises(self.k, self.l, self.t)

    def check(self, dataset: Dataset, promises: Mapping[str, Promise]) -> None:
        """Refuses what can't work, from the table and the promises.

        Raises:
            SpecError: no quasi-identifier or no sensitive column; settings that disagree.
            InfeasibleError: fewer than k records or people, or less than l values.
        """
        faults = self._faults(dataset, promises)
        if faults:
            raise SpecError(*faults)
        refuse_disagreement(self.name, {"k": self.k, "l": self.l, "t": self.t}, promises)
        refuse_infeasible(dataset, self.k, promises)

    def release(
        self, dataset: Dataset, promises: Mapping[str, Promise], context: Context
    ) -> Release:
        """Groups, masks, searches and publishes.

        Raises:
            SpecError, InfeasibleError: as `check`.
        """
        from distanon.methods.reconstruction.paper import release_paper
        from distanon.methods.reconstruction.strict import release_strict

        self.check(dataset, promises)
        if self.mode == "paper":
            return release_paper(self, dataset, context)
        return release_strict(self, dataset, promises, context)

    def loads(self) -> Sequence[Callable[[], None]]:
        """Beside what all methods need, the search's own code."""
        from distanon.methods.reconstruction.problem import load

        return (*super().loads(), load)

    def _faults(self, dataset: Dataset, promises: Mapping[str, Promise]) -> list[str]:
        faults = []
        if not dataset.schema.quasi_identifiers:
            faults.append("method.name: reconstruction needs at least one quasi-identifier")
        if not dataset.schema.sensitive:
            faults.append(
                "method.name: reconstruction needs at least one sensitive column: the class that "
                "its representatives are to predict"
            )
        if isinstance(self.group_size, int) and self.group_size < 2:
            faults.append(
                f"method.group_size: found {self.group_size}, expected at least 2: in a group of "
                "one record nothing is masked"
            )
        if self.mode == "strict":
            return faults
        faults += [
            f"promises.{name}: mode paper copies single people's records, which keeps copies "
            "alone; use mode: strict"
            for name in sorted(OF_GROUPS)
            if name in promises
        ]
        faults += [
            f"method.{name}: mode paper can't keep it; use mode: strict"
            for name in ("l", "t")
            if getattr(self, name) is not None
        ]
        return faults
