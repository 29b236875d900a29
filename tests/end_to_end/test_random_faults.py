"""A hundred seeded faults over the three methods, in parts; the benchmark judges them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "benchmarks" / "bench_faults.py"
PART = 20


@pytest.mark.ray
@pytest.mark.s3
@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("first", range(0, 100, PART))
def test_no_fault_leaves_a_wrong_or_partial_release_or_a_job_that_hangs(first):
    done = subprocess.run(
        [sys.executable, str(BENCH), "--seeds", str(first), str(first + PART)],
        check=False,
        capture_output=True,
        text=True,
        timeout=1400,
    )
    print(done.stderr, done.stdout)  # noqa: T201 - the table of a drill
    assert done.returncode == 0, (done.stderr + done.stdout)[-4000:]
