"""Where work runs: `crew` opens the workers of a run; Ray is imported when it is called.

Importing this package loads nothing heavy: `pinning` counts only before numpy is loaded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from distanon.data.ports import Progress, Silent
from distanon.errors import ClusterError

# The module of the same name is imported before the function is defined: never the other way.
from distanon.runtime.crew import Crew

if TYPE_CHECKING:
    from distanon.runtime.settings import RuntimeSettings

__all__ = ["crew"]


@contextlib.contextmanager
def crew(
    settings: RuntimeSettings,
    progress: Progress | None = None,
    loads: Sequence[Callable[[], None]] = (),
) -> Iterator[Crew]:
    """Workers on a Ray cluster for the time of the block; one crew a run, since Ray starts slowly.

    Args:
        settings: on which cluster, how many workers.
        progress: where phases, losses and waiting are shown.
        loads: importable functions that each worker runs as it starts, while the caller reads its
            data: loading compiled code takes seconds.

    Yields:
        The crew, usable at once: work starts with the first worker that is ready.

    Raises:
        ClusterError: no cluster answers, a worker can never fit into it, or it failed for good.
        KeyboardInterrupt: on SIGTERM too; a session of its own leaves no process behind.
    """
    from ray.exceptions import RayError

    from distanon.runtime.faults import RESUMABLE
    from distanon.runtime.ray_crew import RayCrew
    from distanon.runtime.session import session

    with (
        session(settings) as own,
        RayCrew(settings, progress or Silent(), own=own, loads=loads) as workers,
    ):
        try:
            yield workers
        except RayError as error:
            raise ClusterError(
                f"the cluster failed ({type(error).__name__}); {RESUMABLE}"
            ) from error
