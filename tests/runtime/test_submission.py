"""A job server that is too busy to answer is asked again; one that refuses a stranger is not."""

from __future__ import annotations

import pytest

pytest.importorskip("ray")

from ray.exceptions import AuthenticationError

from distanon.errors import ClusterError
from distanon.runtime import submission
from distanon.runtime.submission import JobServer


class Busy:
    """A client whose server fails a few times."""

    def __init__(self, *failures):
        self.failures = list(failures)

    def list_jobs(self):
        if self.failures:
            raise self.failures.pop(0)
        return []


@pytest.fixture
def asked(monkeypatch):
    """A job server whose client is given; seconds pass at once."""
    clock = [0.0]

    def sleep(seconds):
        clock[0] += seconds

    monkeypatch.setattr(submission.time, "sleep", sleep)
    monkeypatch.setattr(submission.time, "monotonic", lambda: clock[0])

    def of(client):
        server = JobServer.__new__(JobServer)
        server.address, server._client = "http://head:8265", client
        return server

    return of


def test_a_head_that_keeps_silent_for_a_while_is_asked_again(asked):
    busy = Busy(ConnectionError(), RuntimeError("Request failed with status code 500"), OSError())
    assert asked(busy).find("run") is None
    assert not busy.failures


def test_a_head_that_keeps_silent_for_a_minute_is_given_up(asked):
    busy = Busy(*[ConnectionError()] * 100)
    with pytest.raises(ClusterError, match="no job server answers at http://head:8265"):
        asked(busy).find("run")
    assert len(busy.failures) == 100 - 61
    busy = Busy(*[RuntimeError("failed\nlong text")] * 100)
    with pytest.raises(ClusterError, match=r"^http://head:8265 refused: failed$"):
        asked(busy).find("run")


def test_a_refused_token_and_a_run_that_begins_are_not_tried_again(asked):
    busy = Busy(AuthenticationError("no"), AuthenticationError("no"))
    with pytest.raises(ClusterError, match="asks for a token"):
        asked(busy).find("run")
    assert len(busy.failures) == 1
    silent = Busy(ConnectionError(), ConnectionError())
    with pytest.raises(ClusterError, match="no job server answers"):
        asked(silent)._asked(silent.list_jobs)
    assert len(silent.failures) == 1
