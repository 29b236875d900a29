import platform
import subprocess
import sys
from types import SimpleNamespace

import pytest

from distanon.runtime import allocator

_COUNTED = """
import resource
from distanon.runtime.allocator import keep_freed_memory
if {told}:
    keep_freed_memory()
faults = []
for _ in range(2):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    array = bytearray(b"1") * 30_000_000
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


@pytest.mark.parametrize("most", [2**25, 2**40])
def test_an_older_library_that_refuses_so_large_a_threshold_is_told_what_it_takes(
    monkeypatch, most
):
    told = {}

    def mallopt(name, value):
        if name == -3 and value > most:
            return 0
        told[name] = value
        return 1

    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda _: SimpleNamespace(mallopt=mallopt))
    assert allocator.keep_freed_memory()
    assert told == {-3: min(most, 2**28), -1: 2**28}


def test_what_cant_be_told_is_left_as_it_is(monkeypatch):
    told = []
    refusing = SimpleNamespace(mallopt=lambda name, _: told.append(name) or 0)
    for library in (SimpleNamespace(), refusing):
        monkeypatch.setattr(allocator.ctypes, "CDLL", lambda _, library=library: library)
        assert not allocator.keep_freed_memory()
    assert set(told) == {-3}
