import os
import signal
import threading
import time

import pytest

from distanon.storage.abreast import _AT_ONCE, abreast


def test_what_comes_of_files_is_in_their_order_whichever_is_done_first():
    def work(file: int) -> int:
        time.sleep(0.002 * (6 - file))
        return file * file

    assert abreast(work, range(6)) == [0, 1, 4, 9, 16, 25]
    assert abreast(work, []) == []


def test_so_many_are_under_way_at_once_and_no_more():
    together, lock = threading.Barrier(_AT_ONCE), threading.Lock()
    under_way, most = 0, 0

    def work(_: int) -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        together.wait(30)
        time.sleep(0.01)
        with lock:
            under_way -= 1

    abreast(work, range(3 * _AT_ONCE))
    assert most == _AT_ONCE


def test_a_single_file_is_no_work_for_a_thread():
    assert abreast(lambda _: threading.current_thread(), ["a"]) == [threading.current_thread()]


def test_the_error_is_that_of_the_first_file_in_order_whichever_failed_first():
    failed = threading.Event()

    def work(file: int) -> None:
        if file == 3:
            failed.set()
            raise OSError("3")
        failed.wait(30)
        time.sleep(0.05)
        if file == 1:
            raise OSError("1")

    with pytest.raises(OSError, match="1"):
        abreast(work, range(8))


@pytest.mark.parametrize("how", ["a file fails", "the caller is interrupted"])
def test_what_is_under_way_is_waited_for_and_the_rest_is_not_begun(how):
    begun, done = [], []

    def work(file: int) -> None:
        begun.append(file)
        if file == 0:
            time.sleep(0.05)  # the caller waits by now, and others are under way
            if how == "a file fails":
                raise KeyboardInterrupt
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        done.append(file)

    with pytest.raises(KeyboardInterrupt):
        abreast(work, range(100))
    assert set(begun) - set(done) == ({0} if how == "a file fails" else set())
    assert len(done) >= _AT_ONCE - 1
    assert len(begun) <= 3 * _AT_ONCE
    before = len(begun)
    time.sleep(0.15)
    assert len(begun) == before
