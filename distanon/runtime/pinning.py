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
_AVX2 = {
    "OPENBLAS_CORETYPE": "Haswell",
    "NUMBA_CPU_NAME": "x86-64-v3",
    "NUMBA_CPU_FEATURES": "",
    "ARROW_USER_SIMD_LEVEL": "AVX2",
}
# numpy's names (2.4 and later), each with a CPU flag that stands for it; numpy warns of names
# that the CPU lacks.
_NEWER = {"X86_V4": "avx512f", "AVX512_ICL": "avx512_vbmi2", "AVX512_SPR": "avx512_fp16"}
_PASSED_ON = ("NUMBA_CACHE_DIR",)


def instructions() -> dict[str, str]:
    """The variables that pin the instruction set; none where the CPU has no AVX2."""
    flags = _cpu_flags()
    if "avx2" not in flags:
        return {}
    newer = ",".join(name for name, flag in _NEWER.items() if flag in flags)
    return _AVX2 | ({"NPY_DISABLE_CPU_FEATURES": newer} if newer else {})


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


def _cpu_flags() -> frozenset[str]:
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return frozenset()
    try:
        found = re.search(r"^flags\s*:(.*)$", _CPUINFO.read_text(), re.MULTILINE)
    except OSError:
        return frozenset()
    return frozenset(found[1].split()) if found else frozenset()
