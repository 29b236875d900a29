"""Memory that a worker frees and needs again a moment later stays with it."""

from __future__ import annotations

import ctypes

_KEPT = 2**28  # bytes: the arrays of a call; what is free beyond that goes back
_MOST_BEFORE = 2**25  # bytes: the largest threshold that older versions of glibc take
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)


def keep_freed_memory() -> bool:
    """Lets malloc reuse what large arrays leave, up to 256 MB, where it would give it back at once.

    An older glibc does so with arrays of 32 MB or less alone.

    Each page that comes from the system is cleared first, and a virtual machine may have to ask
    its host for it: of calls that fill some hundred megabytes that took a quarter of the time,
    more where two processes did so at once.

    Returns:
        Whether malloc was told: only glibc's can be.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    is_taken = any(mallopt(_MMAP_THRESHOLD, size) == 1 for size in (_KEPT, _MOST_BEFORE))
    # Alone it would end the threshold's own growth, and be worse than nothing.
    return is_taken and mallopt(_TRIM_THRESHOLD, _KEPT) == 1
