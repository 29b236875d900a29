"""Gets compiled code ready before it is needed: numba's own parts take seconds to load."""

from __future__ import annotations


def load_compiler() -> None:
    """Loads what numba asks for with the first compiled function; then each takes milliseconds.

    A worker does it while the driver still reads its data.
    """
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
