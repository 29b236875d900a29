"""anonypyx. Settings: quasi_identifiers, k; sensitive, l, t, algorithm where wanted.

Columns that hold no numbers become categories, as it asks for; numbers must be whole.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from anonypyx import Anonymiser


def work(data: pd.DataFrame, settings: dict[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Its output for people to read, with a count of equal rows."""
    names = settings["quasi_identifiers"]
    for name in names:
        if not pd.api.types.is_numeric_dtype(data[name]):
            data[name] = data[name].astype("category")
    own = {name: settings[name] for name in ("k", "l", "t", "algorithm") if name in settings}
    anonymiser = Anonymiser(
        data,
        feature_columns=names,
        sensitive_column=settings.get("sensitive"),
        generalisation_strategy="human-readable",
        **own,
    )
    return anonymiser.anonymise(), {}


def records(made: pd.DataFrame) -> pd.DataFrame:
    """A row for each record: intervals as `17-25`, sets as `a,b`."""
    return made.loc[made.index.repeat(made["count"])].drop(columns="count")
