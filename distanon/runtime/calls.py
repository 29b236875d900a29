"""One call of a function on an item, from the queue to its result, and how to make it again."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from distanon.runtime.crew import Kept, Shared
from distanon.runtime.worker import Slot


@dataclass(eq=False, slots=True, weakref_slot=True)
class Result:
    """A finished call's value in the cluster. `Kept.reference` of a Ray crew is one of these.

    Attributes:
        call: what makes it again when its node is lost.
        reference: the ObjectRef; replaced when it was made again.
        node: where it lies.
    """

    call: Call
    reference: Any
    node: str


def _unknown() -> Result | None:
    return None


@dataclass(eq=False, slots=True)
class Call:
    """A recipe and its progress.

    A result that nobody holds any more leaves the cluster's memory, its recipe stays with the
    recipes built on it: a lost result can always be made again, from `put` values upwards.

    Attributes:
        function: as in `Crew.map`.
        shared: as in `Crew.map`.
        item: with a `Slot` for each kept result.
        sources: the calls behind the slots.
        inputs: their results, held while this call needs them.
        wanted: a map has yet to yield it.
        failures: how often its worker died under it.
        losses: how often its result was lost.
        state: how far it is.
        error: failed: what to raise.
        result: done: the value, held until it is taken.
    """

    function: Callable[[Any, Any], Any]
    shared: Shared | None
    item: Any
    sources: Sequence[Call]
    inputs: list[Result]
    wanted: bool = True
    failures: int = 0
    losses: int = 0
    state: Literal["queued", "running", "done", "failed", "dropped"] = "queued"
    error: BaseException | None = None
    result: Result | None = None
    _known: Callable[[], Result | None] = field(default=_unknown, repr=False)

    @staticmethod
    def of(function: Callable[[Any, Any], Any], shared: Shared | None, item: Any) -> Call:
        """A call on an item that may hold `Kept` results."""
        inputs: list[Result] = []
        template = _with_slots(item, inputs)
        return Call(function, shared, template, [result.call for result in inputs], inputs)

    @property
    def settled(self) -> bool:
        """Whether nothing more will happen to it by itself."""
        return self.state in {"done", "failed"}

    def finish(self, reference: Any, node: str) -> None:
        """Its value is there; whoever held the lost one finds the new one in its place."""
        result = self._known() or Result(self, reference, node)
        result.reference, result.node = reference, node
        self._known = weakref.ref(result)
        self.result, self.inputs, self.state = result, [], "done"

    def fail(self, error: BaseException) -> None:
        """It can't be had."""
        self.error, self.inputs, self.state = error, [], "failed"

    def standing(self) -> Result | None:
        """The value, where somebody holds it and it is not known to be lost."""
        return self.result or self._known() if self.state == "done" else None

    def take(self) -> Result | None:
        """The value, for one who holds it from now on."""
        result, self.result, self.wanted = self.standing(), None, False
        return result


def _with_slots(item: Any, inputs: list[Result]) -> Any:
    """The item with its kept results replaced by slots; they are appended to `inputs`."""
    if isinstance(item, Kept):
        inputs.append(item.reference)
        return Slot(len(inputs) - 1)
    if isinstance(item, tuple) and _holds_kept(item):
        return tuple(_with_slots(part, inputs) for part in item)
    return item


def _holds_kept(item: tuple[Any, ...]) -> bool:
    """As the serial twin looks: a tuple that holds none itself is passed on as it is."""
    return any(isinstance(part, Kept) for part in item)
