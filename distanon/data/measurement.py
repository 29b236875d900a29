"""One measured figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Measurement:
    """One figure of a release: what an intruder gains or an analyst keeps.

    Attributes:
        name: dotted, the field's own words: "identity.release_to_original".
        value: NaN where it could not be measured; `note` then says why.
        ci_low: lower end of the 95 % interval, where the figure is an estimate.
        ci_high: upper end.
        goal: which direction is better.
        unit: "share", "1", "column unit", "s", …
        n: how many records or draws it rests on.
        note: what a reader must know beside it.
        is_public: whether the public report may show it (contract: attack and utility rates).
    """

    name: str
    value: float
    ci_low: float | None = None
    ci_high: float | None = None
    goal: Literal["lower", "higher", "none"] = "none"
    unit: str = "share"
    n: int | None = None
    note: str = ""
    is_public: bool = True
