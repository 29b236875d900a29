"""Memory that a worker frees and needs again a moment later stays with it."""

from __future__ import annotations

import ctypes

_KEPT = 2**28  # bytes: the arrays of a call; what is free beyond that goes back
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)


def keep_freed_memory() -> bool:
    """Lets malloc reuse what large arrays leave, up to 256 MB, where it would give it back at once.

    Each page that comes from the system is cleared first, and a virtual machine may have to ask
    its host for it: of calls that fill some hundred megabytes that took a quarter of the time,
    more where two processes did so at once.

    Returns:
        Whether malloc was told: only glibc's can be.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return all(mallopt(name, _KEPT) == 1 for name in (_MMAP_THRESHOLD, _TRIM_THRESHOLD))
