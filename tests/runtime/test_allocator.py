import platform
import subprocess
import sys

import pytest

_COUNTED = """
import resource
from distanon.runtime.allocator import keep_freed_memory
if {told}:
    keep_freed_memory()
faults = []
for _ in range(2):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    array = bytearray(b"1") * 100_000_000
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    del array
print(*faults)
"""


def faults(*, told: bool) -> list[int]:
    program = _COUNTED.format(told=told)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return [int(count) for count in done.stdout.split()]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's malloc can be told")
def test_a_large_array_is_given_the_pages_that_another_has_left():
    first, second = faults(told=True)
    assert second <= first / 10
    assert min(faults(told=False)) > first / 2
