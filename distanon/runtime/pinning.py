"""The environment that makes numeric libraries give the same bits in every process.

The number of threads changes how a matrix product is cut, and the instruction set changes how
it and exp, log, sin are rounded. Both are pinned: threads to the worker's CPUs, instructions to
what every x86-64 server CPU since 2015 has (AVX2 and FMA), so that a mixed cluster agrees.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import MutableMapping
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_INSTRUCTIONS = {
    "OPENBLAS_CORETYPE": "Haswell",
    # numpy 2.4 names the levels, older ones name the extensions; it ignores names it lacks.
    "NPY_DISABLE_CPU_FEATURES": "X86_V4,AVX512F,AVX512CD,AVX512_SKX,AVX512_CLX,AVX512_CNL,"
    "AVX512_ICL,AVX512_SPR",
    "NUMBA_CPU_NAME": "x86-64-v3",
    "NUMBA_CPU_FEATURES": "",
    "ARROW_USER_SIMD_LEVEL": "AVX2",
}
_PASSED_ON = ("NUMBA_CACHE_DIR",)


def instructions() -> dict[str, str]:
    """The variables that pin the instruction set; none where the CPU has no AVX2."""
    return dict(_INSTRUCTIONS) if _has_avx2() else {}


def threads(cpus: float = 1) -> dict[str, str]:
    """The variables that pin the threads to so many CPUs."""
    return dict.fromkeys(_THREADS, str(max(1, int(cpus))))


def worker_environment(cpus: float) -> dict[str, str]:
    """All variables of a worker with so many CPUs."""
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return threads(cpus) | instructions() | passed_on


def pin(environment: MutableMapping[str, str] = os.environ, *, cpus: float | None = 1) -> None:
    """Pins this process; it counts for libraries that are imported afterwards.

    Args:
        environment: where the variables go.
        cpus: threads of the numeric libraries; None leaves them as they are.
    """
    environment.update(instructions())
    if cpus is not None:
        environment.update(threads(cpus))


def _has_avx2() -> bool:
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return False
    try:
        return re.search(r"^flags\b.*\bavx2\b", _CPUINFO.read_text(), re.MULTILINE) is not None
    except OSError:
        return False
