"""The queue of calls: sent to workers, sent again when a worker is lost, results made again.

Ray's own retries are off: a restarted actor repeats calls out of order, and hangs silently when
no node has room for it.
"""

from __future__ import annotations

import contextlib
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from distanon.data.ports import WORK, Progress, observe
from distanon.errors import ClusterError
from distanon.runtime.calls import Call, Result
from distanon.runtime.crew import Losses
from distanon.runtime.faults import BLAMELESS, RESUMABLE, kind_of, task_error
from distanon.runtime.gauges import Gauges
from distanon.runtime.head import HeadWatch, head_address
from distanon.runtime.roster import IDLE_S, Member, Roster, Sent
from distanon.runtime.settings import RuntimeSettings
from distanon.runtime.under_way import UnderWay
from distanon.runtime.worker import Outcome

_STEP_S = 1.0
_SHORT_S = 0.25  # shorter calls wait in pairs at a worker: sending one takes milliseconds
_WINDOW = 4  # calls in the pool for each worker, finished ones that wait for their turn included
_LOOK_AHEAD = 8  # queued calls among which one is chosen whose inputs are near
_WATCH_S = 5.0
_VALUE_S = 5.0
_LOOK_S = 1e-5  # for each call under way: between two looks for results, which ask of all
_MOST_LOSSES = 20  # of one result: more means that it can't be stored, not that nodes go


class Pool:
    """Works off calls; nothing happens but in `step`.

    Args:
        settings: how many workers, how large, how often to try.
        progress: told of finished calls, losses and waiting.
        own: the session was started for this crew: no node joins, and its workers are pinned.
        loads: functions that each worker runs as it starts.
    """

    def __init__(
        self,
        settings: RuntimeSettings,
        progress: Progress,
        *,
        own: bool,
        loads: Sequence[Callable[[], None]] = (),
    ) -> None:
        self.losses = Losses()
        self.roster = Roster(settings, progress, self.losses, own=own, loads=loads)
        self._max_failures = settings.max_failures
        self._progress = progress
        self._queue: deque[Call] = deque()
        self._blocked: list[Call] = []
        self._under_way = UnderWay()
        self._seconds = _SHORT_S  # of a call, smoothed
        self._gauges = Gauges(progress)
        self._looked_at = 0.0
        self.failed = 0
        """Calls that can't be done."""
        self.held_back = 0
        """Items that maps have yet to submit."""
        self._members = threading.RLock()
        self._closed = threading.Event()
        self.roster.recruit(1)  # while the caller reads its data
        self._watch = self._watched() if self.roster.is_elastic else None
        self._head = None if own else HeadWatch(head_address())

    @property
    def window(self) -> int:
        """How many calls a map may have in the pool at once."""
        return _WINDOW * max(1, len(self.roster.members))

    @property
    def backlog(self) -> int:
        """Items that are under way or wait."""
        return len(self._queue) + len(self._blocked) + len(self._under_way) + self.held_back

    def close(self) -> None:
        """Ends all workers; where the head is lost, nobody can."""
        self._closed.set()
        if self._watch is not None:
            self._watch.join()
        if self._head is not None:
            self._head.close()
        if self._head is None or not self._head.is_lost:
            self.roster.close()

    def _watched(self) -> threading.Thread:
        """Gives idle workers back while the caller is busy with something else."""

        def watch() -> None:
            while not self._closed.wait(min(IDLE_S / 4, _WATCH_S)):
                with self._members:
                    self.roster.give_back(self.backlog)

        thread = threading.Thread(target=watch, name="distanon idle workers", daemon=True)
        thread.start()
        return thread

    def submit(self, call: Call) -> None:
        """Puts a call at the end of the queue."""
        self._queue.append(call)

    def drop(self, call: Call) -> None:
        """Forgets a call that nobody waits for; if it runs, it runs to its end."""
        call.wanted, call.result = False, None
        if call.state == "queued":
            for calls in (self._queue, self._blocked):
                with contextlib.suppress(ValueError):
                    calls.remove(call)
        if not call.settled:
            call.state = "dropped"

    def value(self, call: Call) -> Any:
        """The value of a call, in this process; a lost one is made again.

        Raises:
            ClusterError: it was lost too often.
            Exception: what the function raised.
        """
        import ray

        while True:
            result = self.complete(call)
            try:
                return ray.get(result.reference, timeout=_VALUE_S)
            except ray.exceptions.GetTimeoutError:
                self._check_head()
            except ray.exceptions.RayTaskError as error:
                raise task_error(error) from None
            except ray.exceptions.RayError as error:
                self._make_again(call, kind_of(error))

    def complete(self, call: Call) -> Result:
        """Works until a call is done.

        Raises:
            Exception: why it can't be done.
        """
        while (result := call.standing()) is None:
            if call.error is not None:
                raise call.error
            self.step()
        return result

    def look(self) -> None:
        """Sends what can be sent; takes in what has finished, unless it did so a moment ago."""
        if time.monotonic() - self._looked_at > _LOOK_S * len(self._under_way):
            self.step(0)
            return
        with self._members:
            self._send()

    def step(self, timeout: float = _STEP_S) -> None:
        """Sends what can be sent and takes in what finishes within the time.

        Raises:
            ClusterError: there was no worker for too long, workers die as they start, or the
                head is lost.
        """
        self._check_head()
        with self._members:
            self.roster.recruit(self.backlog)
            self._send()
            self._take_in(self._arrived(timeout))
            self._send()
            self.roster.give_back(self.backlog)
            self.roster.check_alone(self.backlog)
            self._gauges.tell(self.backlog, self.roster.members, self.losses)
        self._looked_at = time.monotonic()

    def _check_head(self) -> None:
        if self._head is not None:
            self._head.check()

    def _arrived(self, timeout: float) -> list[Any]:
        """References of greetings and outcomes that are there, those of a worker in their order."""
        import ray

        awaited = self.roster.greetings + self._under_way.replies
        if not awaited:
            time.sleep(min(timeout, 0.05))
            return []
        arrived, _ = ray.wait(awaited, num_returns=len(awaited), timeout=0, fetch_local=False)
        if not arrived and timeout:
            arrived, _ = ray.wait(awaited, timeout=timeout, fetch_local=False)
        return list(arrived)

    def _send(self) -> None:
        """Gives queued calls to the least busy workers."""
        while self._queue:
            depth = 2 if self._seconds < _SHORT_S else 1
            member = self._under_way.least_busy(depth)
            if member is None:
                return
            call = self._next_for(member)
            if self._supplied(call):
                self._send_to(member, call)

    def _next_for(self, member: Member) -> Call:
        """The first queued call whose kept inputs lie at the worker's node, if one is near."""
        for place, call in zip(range(_LOOK_AHEAD), self._queue, strict=False):
            if not call.inputs or any(result.node == member.node for result in call.inputs):
                del self._queue[place]
                return call
        return self._queue.popleft()

    def _send_to(self, member: Member, call: Call) -> None:
        given = [result.reference for result in call.inputs]
        shared = [] if call.shared is None else [call.shared.reference]
        try:
            replies = member.actor.call.remote(call.function, shared, call.item, given)
        except (TypeError, ValueError, AttributeError, pickle.PicklingError) as error:
            self._end(call, error)
            return
        call.state = "running"
        self._under_way.add(member, call, tuple(replies), given)

    def _supplied(self, call: Call) -> bool:
        """Holds the results that a call needs; where one is lost, queues its making first."""
        found = [source.standing() for source in call.sources]
        call.inputs = [result for result in found if result is not None]
        missing = [source for source, result in zip(call.sources, found, strict=True) if not result]
        for source in missing:
            if source.error is not None:
                self._end(call, source.error)
                return False
            if source.state in {"done", "dropped"}:
                self._requeue(source)
        if missing:
            self._blocked.append(call)
        return not missing

    def _take_in(self, arrived: list[Any]) -> None:
        for reference in arrived:
            member = self._under_way.owner(reference)
            if member is not None:
                self._settle(member, reference)
        for member in self.roster.welcomed(arrived):
            self._under_way.offer(member)

    def _settle(self, member: Member, reference: Any) -> None:
        """Takes in how one call went."""
        import ray

        sent = member.calls[reference]
        try:
            outcome: Outcome = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            self._under_way.settle(reference)
            self._end(sent.call, task_error(error))
            return
        except ray.exceptions.RayError as error:
            self._under_way.strike(member)
            self._lose(member, kind_of(error))
            return
        self._under_way.settle(reference)
        member.idle_since = time.monotonic()
        if outcome.kind == "missing":
            self._replace_inputs(sent, outcome.missing)
            return
        self._seconds = 0.5 * self._seconds + 0.5 * outcome.seconds
        observe(self._progress, WORK, outcome.seconds)
        if outcome.kind == "raised":
            self._end(sent.call, pickle.loads(outcome.error))  # noqa: S301  from our own worker
        elif sent.call.state != "dropped":
            sent.call.finish(sent.value, member.node)
            self._end(sent.call)

    def _end(self, call: Call, error: BaseException | None = None) -> None:
        """A call is settled: those that waited for it hold its result before it is let go."""
        if error is not None:
            call.fail(error)
            self.failed += 1
        if call.wanted and not call.losses:
            self._progress.advance()
        blocked, self._blocked = self._blocked, []
        for waiting in blocked:
            if self._supplied(waiting):
                self._queue.appendleft(waiting)
        if not call.wanted:
            call.result = None

    def _lose(self, member: Member, kind: str) -> None:
        """Sends the calls of a lost worker again; only the one that ran can have killed it."""
        unfinished = self.roster.lose(member, kind)
        for place, sent in reversed(list(enumerate(unfinished))):
            call = sent.call
            if call.state == "dropped":
                continue
            call.failures += place == 0 and kind not in BLAMELESS
            if call.failures > self._max_failures:
                message = f"an item took its worker down {call.failures} times ({kind})"
                self._end(call, ClusterError(f"{message}; {RESUMABLE}"))
                continue
            self.losses.items_repeated += 1
            self._requeue(call)

    def _replace_inputs(self, sent: Sent, missing: tuple[int, ...]) -> None:
        """A worker could not get inputs of a call: they are made again, then it is sent again."""
        for number in missing:
            source = sent.call.sources[number]
            standing = source.standing()
            if standing is not None and standing.reference == sent.given[number]:
                self._make_again(source, "result lost")
        if sent.call.state != "dropped":
            self._requeue(sent.call)

    def _make_again(self, call: Call, kind: str) -> None:
        call.losses += 1
        if call.losses > _MOST_LOSSES:
            raise ClusterError(f"a result was lost {call.losses} times ({kind}); {RESUMABLE}")
        self.losses.items_repeated += 1
        self.losses.causes[kind] = self.losses.causes.get(kind, 0) + 1
        self._requeue(call)

    def _requeue(self, call: Call) -> None:
        call.state, call.result = "queued", None
        self._queue.appendleft(call)
