from pathlib import Path

import pytest

from distanon.storage import patience
from distanon.storage.faults import TruncatedError
from distanon.storage.patience import longest, patiently

DOCS = Path(__file__).parents[2] / "docs" / "operations.md"


class Clock:
    def __init__(self, monkeypatch) -> None:
        self.now, self.waits = 100.0, []
        monkeypatch.setattr(patience.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(patience.time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.mark.parametrize(("running", "bound"), [(True, 60.0), (False, 5.0)])
def test_a_lasting_fault_is_borne_for_the_stated_time_and_no_longer(clock, running, bound):
    def operation():
        raise TruncatedError

    with pytest.raises(TruncatedError):
        patiently(operation, running=running)
    assert bound - 5 < clock.now - 100 <= bound
    assert len(set(clock.waits)) == len(clock.waits)  # drawn, not fixed


def test_what_no_repetition_helps_is_raised_at_once(clock):
    for error in (PermissionError(), FileNotFoundError(), ValueError(), KeyError()):

        def operation(error=error):
            raise error

        with pytest.raises(type(error)):
            patiently(operation, running=True)
    assert clock.waits == []


def test_the_time_begins_with_the_first_failure_and_not_with_a_long_transfer(clock):
    calls = []

    def operation():
        calls.append(clock.now)
        clock.now += 1000.0
        if len(calls) == 1:
            raise TimeoutError
        return "there"

    assert patiently(operation, running=True) == "there"


def test_the_bounds_are_those_that_the_documentation_states():
    text = DOCS.read_text()
    for seconds in (
        longest(running=True),
        longest(running=False),
        longest(running=True, silent=True),
        patience.PATIENCE_S,
        patience.EAGER_S,
        patience.SILENCE_S,
    ):
        assert f"{seconds:g} s" in text
