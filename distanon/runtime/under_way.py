"""The calls that are at workers: whose each reply is, and which worker has room for another.

Nothing here looks at every worker: with hundreds of them, that for each result is what a driver
would spend its time on.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from distanon.runtime.calls import Call
from distanon.runtime.roster import Member, Sent

_DEEPEST = 2
"""Calls that a worker may have at once."""


class UnderWay:
    """Keeps the calls of all workers, and those workers who have room."""

    def __init__(self) -> None:
        self._member_of: dict[Any, Member] = {}
        # Those with none and those with one; who has gone or has another number of calls by now
        # is put out where one is looked for.
        self._shelves = tuple(OrderedDict[Member, None]() for _ in range(_DEEPEST))

    def __len__(self) -> int:
        return len(self._member_of)

    @property
    def replies(self) -> list[Any]:
        """References of the outcomes that are awaited; those of one worker in their order."""
        return list(self._member_of)

    def offer(self, member: Member) -> None:
        """A worker has room now."""
        if len(member.calls) < _DEEPEST:
            self._shelves[len(member.calls)][member] = None

    def least_busy(self, depth: int) -> Member | None:
        """A worker with the fewest calls, less than `depth`; it stays on offer."""
        for count, shelf in enumerate(self._shelves[:depth]):
            while shelf:
                member = next(iter(shelf))
                if member.ready and len(member.calls) == count:
                    return member
                del shelf[member]
        return None

    def add(self, member: Member, call: Call, replies: tuple[Any, Any], given: list[Any]) -> None:
        """A call was sent.

        Args:
            member: to whom.
            call: what.
            replies: references of its outcome and of its value.
            given: of its kept inputs.
        """
        outcome, value = replies
        member.calls[outcome] = Sent(call, value, given)
        self._member_of[outcome] = member
        self.offer(member)

    def owner(self, outcome: Any) -> Member | None:
        """Who was sent the call that this is the outcome of; None: it is settled, or was lost."""
        return self._member_of.get(outcome)

    def settle(self, outcome: Any) -> None:
        """A call has come back."""
        member = self._member_of.pop(outcome)
        del member.calls[outcome]
        self.offer(member)

    def strike(self, member: Member) -> None:
        """A worker is gone, with what it was at."""
        for outcome in member.calls:
            del self._member_of[outcome]
        for shelf in self._shelves:
            shelf.pop(member, None)
