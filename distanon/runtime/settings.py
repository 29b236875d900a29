"""The `runtime:` part of a job spec: where the work runs and how hard it tries."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

WORKER_WAIT_S = 300.0
"""How long a run waits without a single worker, where `timeout_s` says nothing."""

_UNITS = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12} | {
    f"{prefix}{suffix}": factor**power
    for power, prefix in enumerate("kmgt", start=1)
    for suffix, factor in (("b", 1000), ("ib", 1024))
}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)


def _size(value: object) -> object:
    """Bytes from "512MiB", "1.5 GB" or a number; anything else is left for pydantic to refuse."""
    if not isinstance(value, str) or value == "auto":
        return value
    match = _SIZE.fullmatch(value.strip())
    unit = _UNITS.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise ValueError(f"expected 'auto', bytes or a size such as '512MiB', got {value!r}")
    return int(float(match[1]) * unit)


def _joinable(value: str | None) -> str | None:
    """Refuses the addresses that can't be joined from a process outside the cluster."""
    if value is not None and "://" in value:
        raise ValueError(
            f"expected the address of the cluster's head, HOST:PORT, got {value!r}; "
            "for a job server (http://…) use `distanon submit`"
        )
    return value or None


def _schedulable(value: float) -> float:
    """Refuses CPUs that Ray can't count: above one they are whole."""
    if value > 1 and value != int(value):
        raise ValueError(f"expected a part of one CPU or a whole number of them, got {value}")
    return value


class RuntimeSettings(BaseModel):
    """How many workers, how large, on which cluster. None of it changes a bit of the release.

    Attributes:
        address: HOST:PORT of a running cluster; None: the cluster of the submitted job that
            this process belongs to, else a session of its own on this machine.
        workers: worker processes; auto: as many as the cluster's CPUs hold.
        partitions: into how many ranges the records are cut.
        checkpoint_every: steps between two checkpoints of an optimizer.
        max_failures: how often an item may take its worker down before the run gives up.
        memory_per_worker: bytes that a worker asks of its node; auto: nothing is asked.
        cpus_per_worker: CPUs of a worker, and threads of the numeric libraries in it.
        timeout_s: seconds to wait without a single worker; None: 300.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    address: Annotated[str | None, AfterValidator(_joinable)] = None
    workers: Annotated[int, Field(ge=1)] | Literal["auto"] = "auto"
    partitions: Annotated[int, Field(ge=1)] | Literal["auto"] = "auto"
    checkpoint_every: Annotated[int, Field(ge=1)] = 10
    max_failures: Annotated[int, Field(ge=0)] = 3
    memory_per_worker: Annotated[
        Annotated[int, Field(ge=1)] | Literal["auto"], BeforeValidator(_size)
    ] = "auto"
    cpus_per_worker: Annotated[
        float, Field(gt=0, allow_inf_nan=False), AfterValidator(_schedulable)
    ] = 1
    timeout_s: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None
