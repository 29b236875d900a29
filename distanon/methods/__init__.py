"""How a release is made: the registry of methods. A new method is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distanon.methods.base import Method

    METHODS: Mapping[str, type[Method]]

_PLACES = {
    "dptpe": ("distanon.methods.dptpe", "DPTPE"),
    "rbt": ("distanon.methods.baselines.rbt", "RBT"),
    "nends": ("distanon.methods.baselines.nends", "NeNDS"),
    "noise": ("distanon.methods.baselines.noise", "Noise"),
}


def __getattr__(name: str) -> Any:
    """`METHODS`, name -> class, made when it is first asked for: methods import heavy kernels."""
    if name != "METHODS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    methods = {
        method: getattr(import_module(module), attribute)
        for method, (module, attribute) in _PLACES.items()
        if find_spec(module) is not None and hasattr(import_module(module), attribute)
    }
    globals()["METHODS"] = methods
    return methods
