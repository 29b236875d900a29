from __future__ import annotations

import socket
import time

import pytest

from distanon.errors import ClusterError
from distanon.runtime import head as head_module
from distanon.runtime.head import HeadWatch, answers


@pytest.fixture
def listener(monkeypatch):
    """Somebody who listens, and hurried watches."""
    monkeypatch.setattr(head_module, "_ASK_S", 0.02)
    monkeypatch.setattr(head_module, "LOST_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def address_of(server):
    return "{}:{}".format(*server.getsockname())


def test_a_head_that_listens_answers_and_one_that_is_gone_does_not(listener):
    address = address_of(listener)
    assert answers(address)
    listener.close()
    assert not answers(address)
    assert not answers("nonsense")


def test_a_lost_head_ends_the_run_with_advice(listener):
    watch = HeadWatch(address_of(listener))
    time.sleep(1.3)
    watch.check()  # it answers all the time
    listener.close()
    deadline = time.monotonic() + 30
    while not watch.is_lost and time.monotonic() < deadline:
        time.sleep(0.02)
    with pytest.raises(ClusterError, match=r"answered for 1 s; .* `distanon resume`"):
        watch.check()
    watch.close()


def test_a_process_that_could_not_ask_takes_no_head_for_lost(listener, monkeypatch):
    watch = HeadWatch(address_of(listener))
    clock = time.monotonic() + 3600
    monkeypatch.setattr(head_module.time, "monotonic", lambda: clock)
    watch.check()
    watch.close()
