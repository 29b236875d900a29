"""What a pool of workers is at, for those who watch the cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence

from distanon.data.ports import Progress, observe
from distanon.runtime.crew import Losses
from distanon.runtime.roster import Member

_EVERY_S = 0.1


class Gauges:
    """Tells what has changed, some times a second: results may come by the thousand.

    Args:
        progress: leads to those who watch.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._told: dict[str, int] = {}
        self._told_at = -_EVERY_S

    def tell(self, backlog: int, members: Sequence[Member], losses: Losses) -> None:
        """How things stand; at once where nothing is left to do.

        Args:
            backlog: items that are under way or wait.
            members: workers.
            losses: so far.
        """
        now = time.monotonic()
        if backlog and now - self._told_at < _EVERY_S:
            return
        self._told_at = now
        ready = sum(member.ready for member in members)
        figures = {
            "backlog": backlog,
            "workers": ready,
            "workers_starting": len(members) - ready,
            "workers_lost": losses.workers_lost,
            "items_repeated": losses.items_repeated,
        }
        for name, value in figures.items():
            if self._told.get(name) != value:
                observe(self._progress, name, value)
        self._told = figures
