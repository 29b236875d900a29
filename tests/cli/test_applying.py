from types import SimpleNamespace

import pytest

from distanon.errors import InputError, PromiseBrokenError


@pytest.fixture
def applied(job, monkeypatch):
    """`job.apply` as the command sees it."""
    answer = SimpleNamespace(
        run_id="a-1-applied-0",
        output="out-applied/",
        private="private/a/a-1/applied/0",
        verdicts=job.answer.verdicts,
        measurements=(),
        counts={"records": 90, "suppressed": 10, "unseen_values": 2},
        seconds=0.5,
        report="private/a/a-1/applied/0/report.html",
    )

    def call(*args, **kwargs):
        job.calls.append(SimpleNamespace(name="apply", args=args, kwargs=kwargs))
        if isinstance(job.answer, BaseException):
            raise job.answer
        return answer

    monkeypatch.setattr(job, "apply", call, raising=False)
    return job


def test_apply_says_what_was_released_and_what_left_out(applied, command):
    done = command("apply", "private/a/a-1", "new.csv", "--on-breach", "suppress")
    assert done.exit_code == 0, done.stderr
    assert "records 90, suppressed 10, unseen values 2" in done.stdout
    assert "out-applied/" in done.stdout
    assert "report   private/a/a-1/applied/0/report.html" in done.stdout
    (call,) = applied.calls
    assert call.args == ("private/a/a-1", "new.csv")
    assert call.kwargs["on_breach"] == "suppress"
    assert call.kwargs["output"] is None


def test_apply_refuses_by_default_and_prints_json(applied, command):
    done = command("apply", "private/a/a-1", "new.csv", "--output", "there/", "--json")
    assert '"suppressed": 10' in done.stdout
    assert applied.calls[0].kwargs["on_breach"] == "refuse"
    assert applied.calls[0].kwargs["output"] == "there/"


@pytest.mark.parametrize(
    ("error", "code"), [(PromiseBrokenError("3 of 9 records"), 3), (InputError("no column"), 2)]
)
def test_apply_ends_with_the_code_of_its_reason(applied, command, error, code):
    applied.answer = error
    done = command("apply", "private/a/a-1", "new.csv")
    assert done.exit_code == code
    assert str(error) in done.stderr


def test_another_choice_is_refused(applied, command):
    assert command("apply", "private/a/a-1", "new.csv", "--on-breach", "hide").exit_code == 2
    assert not applied.calls
