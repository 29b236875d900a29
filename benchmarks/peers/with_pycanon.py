"""pycanon's measures. Settings: quasi_identifiers, sensitive (list), figures (else all).

`others_known: true` adds the other sensitive columns to the quasi-identifiers of each.
`index` sets the labels of the rows, which must mean nothing.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from pycanon import anonymity


def work(data: pd.DataFrame, settings: dict[str, Any]) -> tuple[None, dict[str, Any]]:
    """The figures asked for; what it can't tell is None, with its error beside it."""
    if "index" in settings:
        data.index = pd.Index(settings["index"])
    names, sensitive = settings["quasi_identifiers"], settings["sensitive"]
    gen = not settings.get("others_known", False)
    measures = {
        "k": lambda: anonymity.k_anonymity(data, names),
        "alpha": lambda: anonymity.alpha_k_anonymity(data, names, sensitive, gen)[0],
        "l_distinct": lambda: anonymity.l_diversity(data, names, sensitive, gen),
        "l_entropy": lambda: anonymity.entropy_l_diversity(data, names, sensitive, gen),
        "recursive": lambda: anonymity.recursive_c_l_diversity(
            data, names, sensitive, imp=False, gen=gen
        ),
        "t": lambda: anonymity.t_closeness(data, names, sensitive, gen),
        "beta_basic": lambda: anonymity.basic_beta_likeness(data, names, sensitive, gen),
        "beta_enhanced": lambda: anonymity.enhanced_beta_likeness(data, names, sensitive, gen),
        "delta": lambda: anonymity.delta_disclosure(data, names, sensitive, gen),
    }
    figures: dict[str, Any] = {}
    for name in settings.get("figures", measures):
        try:
            figures[name] = measures[name]()
        except Exception as error:  # noqa: BLE001 - what it fails on is what is asked
            figures[name] = None
            figures[f"{name}_error"] = f"{type(error).__name__}: {error}"
    return None, figures
