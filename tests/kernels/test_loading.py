"""After the loading, numba has nothing of its own left to load."""

import subprocess
import sys

_LOADS = """
import sys
from distanon.kernels.loading import load_compiler

load_compiler()
from distanon.kernels import first_chosen
import numpy as np
before = {name for name in sys.modules if name.startswith(("numba", "scipy"))}
assert before
near = np.full((1, 1), -1, np.int32)
first_chosen._scan(np.array([[1, 0]], np.int32), np.array([1, 0], np.uint8), near)
assert near.tolist() == [[0]]
after = {name for name in sys.modules if name.startswith("scipy")}
assert after <= before, sorted(after - before)
"""


def test_a_compiled_function_finds_all_that_it_needs():
    done = subprocess.run(
        [sys.executable, "-c", _LOADS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
