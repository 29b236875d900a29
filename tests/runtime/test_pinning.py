from __future__ import annotations

import json
import subprocess
import sys

import pytest

from distanon.runtime import pinning

SHOW = """
from distanon.runtime.pinning import pin
import json, sys
early = "numpy" in sys.modules
pin(cpus=2)
import warnings
warnings.simplefilter("error")
import numpy as np, numba, threadpoolctl
from numba.core.codegen import initialize_llvm
np.ones((9, 9)) @ np.ones((9, 9))
blas = [each for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas"]
print(json.dumps({
    "early": early,
    "blas": sorted({(each["architecture"], each["num_threads"]) for each in blas}),
    "numba": [numba.config.CPU_NAME, numba.config.CPU_FEATURES, numba.config.NUMBA_NUM_THREADS],
    "numpy": [name for name, on in np._core._multiarray_umath.__cpu_features__.items() if on],
}))
"""


@pytest.mark.skipif(not pinning.instructions(), reason="the CPU has no AVX2")
def test_a_pinned_process_uses_the_instructions_and_threads_that_all_workers_use():
    done = subprocess.run(
        [sys.executable, "-c", SHOW], capture_output=True, text=True, check=True, timeout=120
    )
    seen = json.loads(done.stdout)
    assert not seen["early"], "importing the pins must not load numpy"
    assert seen["blas"] == [["Haswell", 2]]
    assert seen["numba"] == ["x86-64-v3", "", 2]
    assert not {"X86_V4", "AVX512_ICL", "AVX512_SPR"} & set(seen["numpy"])


def test_threads_are_whole_and_at_least_one():
    assert set(pinning.threads(0.25).values()) == {"1"}
    assert set(pinning.threads(3).values()) == {"3"}


def test_the_cache_of_compiled_kernels_is_passed_on(monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/somewhere")
    assert pinning.worker_environment(1)["NUMBA_CACHE_DIR"] == "/somewhere"
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert "NUMBA_CACHE_DIR" not in pinning.worker_environment(1)


def test_threads_are_left_alone_where_nobody_asked():
    environment = {"OMP_NUM_THREADS": "8"}
    pinning.pin(environment, cpus=None)
    assert environment["OMP_NUM_THREADS"] == "8"
    pinning.pin(environment)
    assert environment["OMP_NUM_THREADS"] == "1"


@pytest.mark.parametrize(
    ("machine", "flags", "disabled"),
    [
        ("x86_64", "sse2 avx avx2 fma", ""),
        ("x86_64", "sse2 avx avx2 avx512f avx512_vbmi2", "X86_V4,AVX512_ICL"),
        ("x86_64", "sse2 avx", None),
        ("arm64", "avx2", None),
    ],
)
def test_instructions_are_pinned_where_the_cpu_has_them(
    monkeypatch, tmp_path, machine, flags, disabled
):
    (tmp_path / "cpuinfo").write_text(f"model name\t: avx2\nflags\t\t: {flags} \n")
    monkeypatch.setattr(pinning, "_CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(pinning.platform, "machine", lambda: machine)
    pins = pinning.instructions()
    assert bool(pins) is (disabled is not None)
    assert pins.get("NPY_DISABLE_CPU_FEATURES", "") == (disabled or "")
