"""Promises as a caller writes them: `{"k_anonymity": {"k": 5}}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from distanon.data.setting_faults import fault_lines, unknown
from distanon.errors import SpecError
from distanon.promises import PROMISES
from distanon.promises.base import Promise

Asked = Mapping[str, Promise | Mapping[str, Any] | None]
"""A promise, or its parameters, by name; None takes a default promise away."""


def asked_promises(asked: Asked) -> dict[str, Promise | None]:
    """The promises by name.

    Raises:
        SpecError: all names that are none, and parameters that can't be.
    """
    faults: list[str] = []
    found: dict[str, Promise | None] = {}
    for name, given in asked.items():
        if name not in PROMISES:
            faults.append(f"promises: {unknown(name, 'promise', PROMISES)}")
        elif given is None or isinstance(given, PROMISES[name]):
            found[name] = given
        elif not isinstance(given, Mapping):
            fields = ", ".join(PROMISES[name].model_fields)
            faults.append(f"promises.{name}: expected a mapping of its parameters: {fields}")
        else:
            try:
                found[name] = PROMISES[name].model_validate(dict(given))
            except ValidationError as error:
                inside = f"promises.{name}"
                faults += fault_lines(error, dict(given), PROMISES[name], inside=inside)
    if faults:
        raise SpecError(*faults)
    return found
