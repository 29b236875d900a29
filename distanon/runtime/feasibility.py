"""Whether an autoscaler can ever bring a node for a worker: asked of the autoscaler itself.

It keeps the kinds of its nodes to itself, but says which of the requests that wait no node can
hold that it may bring. So a request of a worker's size is made, and its answer read. Run on the
head, as a small job, before a run is submitted:

    python -m distanon.runtime.feasibility '{"cpus": 8, "memory": null}'
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
import time
from collections.abc import Mapping
from typing import Any

from distanon.runtime.session import session
from distanon.runtime.settings import RuntimeSettings

ANSWER_S = 30.0
"""Seconds for which an answer is waited for; an autoscaler looks every 5 s."""
_STEP_S = 0.5
_HEAD_S = 5.0
_SURE = 2
_SAYS = "feasibility "


class Answers:
    """What the autoscaler has said so far of a request of one size that waits for a node.

    Args:
        cpus: that each worker asks for.
        memory: bytes that it asks for; None: it asks for none.
        sure: reports of the autoscaler, one after another, that have to agree.
    """

    def __init__(self, cpus: float, memory: float | None, sure: int = _SURE) -> None:
        self._sure = sure
        self._asked = {"CPU": float(cpus)} | ({} if memory is None else {"memory": float(memory)})
        self._waits_since: int | None = None
        self._last_report = -1
        self._refusals = self._consents = 0

    def take(self, report: Any) -> None:
        """Takes in one `GetClusterStatusReply` of Ray."""
        cluster, autoscaler = report.cluster_resource_state, report.autoscaling_state
        waiting = [one.request.resources_bundle for one in cluster.pending_resource_requests]
        if self._waits_since is None and any(map(self._is_it, waiting)):
            self._waits_since = cluster.cluster_resource_state_version
        # Ray numbers what it tells the autoscaler, anew each time; the autoscaler's own number
        # stands still while it starts and ends nothing.
        seen = autoscaler.last_seen_cluster_resource_state_version
        if self._waits_since is None or seen < self._waits_since or seen == self._last_report:
            return  # it had not seen the request yet, or says nothing new
        self._last_report = seen
        refused = [one.resources_bundle for one in autoscaler.infeasible_resource_requests]
        if any(map(self._is_it, refused)):
            self._refusals, self._consents = self._refusals + 1, 0
        else:
            self._refusals, self._consents = 0, self._consents + 1

    @property
    def feasible(self) -> bool | None:
        """Whether a node for it will come; None: the autoscaler has not said so."""
        if self._refusals >= self._sure:
            return False
        return True if self._consents >= self._sure else None

    def _is_it(self, bundle: Mapping[str, float]) -> bool:
        return set(bundle) == set(self._asked) and all(
            math.isclose(bundle[name], amount, rel_tol=1e-3) for name, amount in self._asked.items()
        )


def status() -> Any:
    """What the cluster and its autoscaler report now, as Ray's `GetClusterStatusReply`.

    Without an answer of the head it is empty: whether the head is lost, others find out.
    """
    import ray
    from ray._private.worker import global_worker
    from ray.core.generated import autoscaler_pb2

    messages: Any = autoscaler_pb2
    process: Any = global_worker
    reply = messages.GetClusterStatusReply()
    with contextlib.suppress(ray.exceptions.RayError):
        reply.ParseFromString(process.gcs_client.get_cluster_status(timeout_s=_HEAD_S))
    return reply


def ask(cpus: float, memory: float | None, seconds: float = ANSWER_S) -> bool | None:
    """Asks the cluster that this process is connected to; a node may come of it.

    Args:
        cpus: that a worker asks for.
        memory: bytes that it asks for.
        seconds: how long an answer is waited for.

    Returns:
        Whether a worker has room, now or on a node to come; None: nobody said.
    """
    import ray

    waiting = _nothing(cpus, memory).remote()
    answers, deadline = Answers(cpus, memory), time.monotonic() + seconds
    try:
        while time.monotonic() < deadline:
            if ray.wait([waiting], timeout=_STEP_S)[0]:
                return True
            answers.take(status())
            if answers.feasible is not None:
                return answers.feasible
        return None
    finally:
        ray.cancel(waiting)


def answer_of(log: str) -> bool | None:
    """What a job that asked has printed; None: nothing of use."""
    said = [line.removeprefix(_SAYS) for line in log.splitlines() if line.startswith(_SAYS)]
    found = json.loads(said[-1]) if said else None
    return found if isinstance(found, bool) else None


def _nothing(cpus: float, memory: float | None) -> Any:
    import ray

    def nothing() -> None:
        """Room for a worker."""

    options: dict[str, Any] = {"num_cpus": cpus, "max_retries": 0}
    if memory is not None:
        options["memory"] = memory
    return ray.remote(**options)(nothing)


def main(asked: str) -> int:
    """Asks, and prints the answer for `answer_of`."""
    size = json.loads(asked)
    with session(RuntimeSettings()):
        found = ask(size["cpus"], size["memory"])
    sys.stdout.write(f"{_SAYS}{json.dumps(found)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
