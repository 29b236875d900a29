"""anjana's full-domain generalization. Settings: quasi_identifiers, k, suppression, hierarchies.

`suppression` is a percentage; `hierarchies` names a headerless CSV for each quasi-identifier.
With `l` or `t`, and `sensitive`, it goes on generalizing for these.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pandas as pd
from anjana.anonymity import k_anonymity, l_diversity, t_closeness


def work(data: pd.DataFrame, settings: dict[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Its output: suppressed records are left out."""
    names, sensitive = settings["quasi_identifiers"], settings.get("sensitive")
    hierarchies = {
        name: dict(pd.read_csv(path, header=None, dtype={0: data[name].dtype}))
        for name, path in settings["hierarchies"].items()
    }
    rest = (settings["k"], settings["suppression"], hierarchies)
    with contextlib.redirect_stdout(io.StringIO()):  # it says how far it is
        if "l" in settings:
            k, *others = rest
            made = l_diversity(data, [], names, sensitive, k, settings["l"], *others)
        elif "t" in settings:
            k, *others = rest
            made = t_closeness(data, [], names, sensitive, k, settings["t"], *others)
        else:
            made = k_anonymity(data, [], names, *rest)
    return made, {"records": len(made)}


def records(made: pd.DataFrame) -> pd.DataFrame:
    """As it is, without the old row numbers; cells of many types as text."""
    rows = made.drop(columns="index", errors="ignore")
    mixed = rows.select_dtypes("object").columns
    return rows.astype(dict.fromkeys(mixed, str))
