"""What Ray's exceptions mean to a run; their texts (frames, addresses) are not passed on."""

from __future__ import annotations

import re
from typing import Any

from distanon.errors import ClusterError

NODE_LOST = "node lost"
OUT_OF_REACH = "worker out of reach"
BLAMELESS = frozenset({NODE_LOST, OUT_OF_REACH})
"""Causes that no item is blamed for: its node has gone, or Ray has yet to find out that it has."""
RESUMABLE = "what is finished is kept: `distanon resume` goes on from there"
_NODE_SIGNS = ("node has died", "node was", "node is dead", "Node was", "drained", "preempted")
_MEMORY_SIGN = "running low on memory"


def kind_of(error: BaseException) -> str:
    """A word for the cause, as it stands in run.json."""
    import ray.exceptions as faults

    text = str(error)
    if isinstance(error, faults.OutOfMemoryError) or _MEMORY_SIGN in text:
        return "out of memory"
    if isinstance(error, faults.NodeDiedError) or getattr(error, "preempted", False):
        return NODE_LOST
    if isinstance(error, faults.ObjectLostError):
        return "result lost"
    if isinstance(error, faults.RayActorError) and any(sign in text for sign in _NODE_SIGNS):
        return NODE_LOST
    if isinstance(error, faults.ActorUnavailableError):
        return OUT_OF_REACH
    return "worker died"


def task_error(error: Any) -> BaseException:
    """What to raise for a RayTaskError: the exception behind it.

    A call catches what its function raises, so this is about its arguments or its result:
    they can't be pickled, opened or imported.
    """
    import ray.exceptions as faults

    cause: BaseException | None = error.cause
    if (lacking := _lacking_package(str(cause))) is not None:
        return lacking
    if isinstance(cause, faults.RaySystemError):
        # What a worker could not open came from a process whose code is not the same.
        return ClusterError(
            "a worker could not open what it was sent: the cluster's workers have another version "
            f"of distanon or of a package than this process; install the same there; {RESUMABLE}"
        )
    if isinstance(cause, faults.RayError) or cause is None:
        reason = kind_of(cause or error)
        return ClusterError(f"a worker could not be given its data ({reason}); {RESUMABLE}")
    return cause


def start_failure(error: BaseException) -> ClusterError | None:
    """Why no worker will ever start; None where another try may succeed."""
    import ray.exceptions as faults

    text = str(error)
    if isinstance(error, faults.RuntimeEnvSetupError):
        return ClusterError("the cluster could not set up the workers' environment variables")
    if (lacking := _lacking_package(text)) is not None:
        return lacking
    if getattr(error, "actor_init_failed", False):
        return ClusterError(f"workers fail as they start: {text.strip().rsplit(chr(10), 1)[-1]}")
    return None


def _lacking_package(text: str) -> ClusterError | None:
    found = re.search(r"No module named '[\w.]+'", text)
    if found is None:
        return None
    return ClusterError(
        f"the cluster's workers lack a package ({found[0]}); install the same distanon there, "
        "or submit the job with it"
    )
