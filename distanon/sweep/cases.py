"""The cases of a sweep: one spec for each combination of values."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from distanon.errors import SpecError
from distanon.spec import JobSpec, parse
from distanon.spec.places import RUN_ID


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a sweep.

    Attributes:
        spec: without a sweep.
        changes: what it sets, by the path of the setting.
    """

    spec: JobSpec
    changes: Mapping[str, Any]

    @property
    def run_id(self) -> str:
        """Of its run: the name and a digest of its spec."""
        return self.spec.run_id

    @property
    def private(self) -> str:
        """Its private prefix."""
        return self.spec.private_prefix()


def cases(spec: JobSpec) -> list[Case]:
    """Every combination of a sweep's values, the last setting changing fastest.

    Each has a private prefix of its own, by its run id, also where the spec does not say so.

    Raises:
        SpecError: no sweep; or all that is wrong with the single cases.
    """
    if not spec.sweep:
        raise SpecError("sweep: missing; expected the values to combine: {method.k: [5, 10]}")
    text = spec.to_yaml()
    alone = ["sweep=null"]
    if spec.private is not None and RUN_ID not in spec.private:
        place = f"{spec.private.rstrip('/')}/{RUN_ID}/"
        alone.append(f"private={json.dumps(place)}")
    found, faults = [], []
    for values in itertools.product(*spec.sweep.values()):
        changes = dict(zip(spec.sweep, values, strict=True))
        told = ", ".join(f"{path}={json.dumps(value)}" for path, value in changes.items())
        overrides = [f"{path}={json.dumps(value)}" for path, value in changes.items()]
        try:
            found.append(Case(parse(text, [*alone, *overrides]), changes))
        except SpecError as error:
            faults += [f"sweep ({told}): {fault}" for fault in error.faults]
    if faults:
        raise SpecError(*faults)
    if len({case.run_id for case in found}) < len(found):
        raise SpecError("sweep: two combinations are the same run; name each value once")
    return found
