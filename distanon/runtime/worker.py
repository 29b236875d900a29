"""What runs inside a worker process: a pure function on an item, and nothing that lasts."""

from __future__ import annotations

import contextlib
import pickle
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from distanon.runtime.allocator import keep_freed_memory
from distanon.runtime.crew import Shared

_SHARED_HELD = 3
"""Shared values that a worker keeps deserialized: a method uses one or two at a time."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Stands in an item for the kept result of this number."""

    number: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call went; small, so that it travels with the reply itself.

    Attributes:
        kind: done | raised (by the function) | missing (an object could not be had).
        seconds: how long the function ran.
        error: raised: the pickled exception.
        missing: missing: numbers of the kept results that are gone.
    """

    kind: Literal["done", "raised", "missing"]
    seconds: float = 0.0
    error: bytes = b""
    missing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a worker says of itself when it is ready."""

    node: str
    pid: int
    versions: str


class Worker:
    """Runs calls one after another; what it remembers is a memo of shared values, no state."""

    def __init__(self) -> None:
        self._shared: OrderedDict[str, Any] = OrderedDict()
        keep_freed_memory()

    def greet(self) -> Greeting:
        """Says where it is, once it is up."""
        import os

        import ray

        return Greeting(ray.get_runtime_context().get_node_id(), os.getpid(), versions())

    def prepare(self, loads: Sequence[Callable[[], None]]) -> None:
        """Loads what calls will need, while the driver still reads its data."""
        for load in loads:
            load()

    def call(
        self,
        function: Callable[[Any, Any], Any],
        shared: Sequence[Any],
        item: Any,
        kept: Sequence[Any],
    ) -> tuple[Outcome, Any]:
        """`function(shared, item)`.

        Args:
            function: pure.
            shared: the reference of the shared value, or nothing.
            item: holds a `Slot` for each kept result.
            kept: the references behind the slots. They come inside a list, not as arguments:
                a lost one must be named to the driver, which can make it again.

        Returns:
            How it went, and the result (None unless done).
        """
        values, missing = _values(kept)
        if missing:
            return Outcome("missing", missing=missing), None
        value = self._open(shared[0]) if shared else None
        whole = filled(item, values, self._open)
        started = time.perf_counter()
        try:
            result = function(value, whole)
        except Exception as error:  # noqa: BLE001  whatever it is, the driver raises it
            return Outcome("raised", time.perf_counter() - started, pickled(error)), None
        return Outcome("done", time.perf_counter() - started), result

    def _open(self, reference: Any) -> Any:
        import ray

        name = reference.hex()
        if name not in self._shared:
            while len(self._shared) >= _SHARED_HELD:
                self._shared.popitem(last=False)
            self._shared[name] = ray.get(reference)
        self._shared.move_to_end(name)
        return self._shared[name]


def _as_it_is(reference: Any) -> Any:
    return reference


def versions() -> str:
    """The versions that bits depend on."""
    import platform

    import numpy as np

    return f"Python {platform.python_version()}, numpy {np.__version__}"


def filled(item: Any, values: Sequence[Any], opened: Callable[[Any], Any] = _as_it_is) -> Any:
    """The item with its slots replaced by values, and what is shared by what it stands for.

    Args:
        item: that may hold both.
        values: of the slots, by their numbers.
        opened: finds what a reference of something shared stands for.
    """
    if isinstance(item, Slot):
        return values[item.number]
    if isinstance(item, Shared):
        return opened(item.reference)
    if type(item) is tuple and any(isinstance(part, Slot | Shared) for part in item):
        return tuple(filled(part, values, opened) for part in item)
    return item


def pickled(error: Exception) -> bytes:
    """The exception with the place where it was raised as a note, without local values."""
    from ray import cloudpickle

    place = "".join(traceback.format_tb(error.__traceback__)[1:])
    error.add_note(f"raised in a worker:\n{place}")
    try:
        blob: bytes = cloudpickle.dumps(error)  # type: ignore[no-untyped-call]
        pickle.loads(blob)  # noqa: S301  our own: some exceptions can't be rebuilt
    except Exception:  # noqa: BLE001  what it holds may be anything
        stand_in = RuntimeError(f"{type(error).__qualname__} (its text can't be sent)")
        stand_in.add_note(f"raised in a worker:\n{place}")
        return pickle.dumps(stand_in)
    return blob


def _values(kept: Sequence[Any]) -> tuple[list[Any], tuple[int, ...]]:
    """The values behind references, and the numbers of those that are gone."""
    import ray

    with contextlib.suppress(ray.exceptions.RayError):
        return ray.get(list(kept)), ()  # all at once: one by one each takes its time
    values: list[Any] = []
    missing: list[int] = []
    for number, reference in enumerate(kept):
        try:
            values.append(ray.get(reference))
        except ray.exceptions.RayError:
            values.append(None)
            missing.append(number)
    return values, tuple(missing)
