from __future__ import annotations

import os
import signal
import threading

import pytest

from distanon.runtime.signals import Signals

HANDLED = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def _as_before():
    earlier = [signal.getsignal(number) for number in HANDLED]
    yield
    assert [signal.getsignal(number) for number in HANDLED] == earlier


def send(signals, number, times, reached):
    with signals.held():
        for _ in range(times):
            os.kill(os.getpid(), number)
        reached.append(number)


@pytest.mark.parametrize("number", HANDLED)
def test_a_signal_waits_for_the_end_of_the_held_block(number):
    reached = []
    with Signals() as signals, pytest.raises(KeyboardInterrupt):
        send(signals, number, 1, reached)
    assert reached


def test_the_third_signal_does_not_wait():
    reached = []
    with Signals() as signals, pytest.raises(KeyboardInterrupt):
        send(signals, signal.SIGINT, 3, reached)
    assert not reached


def test_sigterm_interrupts_after_a_held_block_whoever_took_it_over_inside():
    with Signals() as signals:
        with signals.held():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)  # as Ray does
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)


def test_the_same_sigterm_from_two_senders_interrupts_once():
    with Signals() as signals:
        with signals.held():
            pass
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)  # while what was interrupted cleans up


def test_the_same_sigterm_from_two_senders_is_held_once():
    reached = []
    with Signals() as signals, pytest.raises(KeyboardInterrupt):
        send(signals, signal.SIGTERM, 5, reached)
    assert reached


def test_an_error_in_a_held_block_is_what_is_seen():
    with Signals() as signals, pytest.raises(OSError, match="first"), signals.held():
        raise OSError("first")


def test_other_threads_set_no_handlers():
    seen = []

    def elsewhere():
        with Signals() as signals, signals.held():
            seen.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [before]
