"""anonypy's Mondrian. Settings: quasi_identifiers, sensitive, k; l or t where wanted.

Columns that hold no numbers become categories, as it asks for.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from anonypy import Preserver


def work(data: pd.DataFrame, settings: dict[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Its output: a row for each group and sensitive value, with a count."""
    names = settings["quasi_identifiers"]
    for name in names:
        if not pd.api.types.is_numeric_dtype(data[name]):
            data[name] = data[name].astype("category")
    preserver = Preserver(data, names, settings["sensitive"])
    k = settings["k"]
    if "l" in settings:
        rows = preserver.anonymize_l_diversity(k, settings["l"])
    elif "t" in settings:
        rows = preserver.anonymize_t_closeness(k, settings["t"])
    else:
        rows = preserver.anonymize_k_anonymity(k)
    return pd.DataFrame(rows), {}


def records(made: pd.DataFrame) -> pd.DataFrame:
    """A row for each record: intervals as `17-25`, sets as `a,b`."""
    columns = {
        name: made[name].map(lambda cell: cell[0] if isinstance(cell, list) else cell)
        for name in made.columns
    }
    rows = pd.DataFrame(columns)
    return rows.loc[rows.index.repeat(rows["count"])].drop(columns="count")
