import json

import pytest
import typer

from distanon.cli.failures import explained
from distanon.errors import InfeasibleError


@explained
def fail(error):
    """Fails."""
    raise error


def code_of(error):
    with pytest.raises(typer.Exit) as caught:
        fail(error)
    return caught.value.exit_code


def test_a_defect_shows_its_type_and_place_and_not_its_message(capsys):
    assert code_of(ValueError("could not convert 'Meier'")) == 1
    message = capsys.readouterr().err
    assert "a defect of distanon: ValueError at " in message
    assert "Meier" not in message
    assert "Traceback" not in message


def test_a_defect_is_placed_in_distanon_and_not_in_a_library(capsys):
    from distanon.spec.document import override

    @explained
    def command():
        override({}, [3])

    with pytest.raises(typer.Exit):
        command()
    assert "document.py:" in capsys.readouterr().err


def test_a_traceback_is_shown_where_it_is_asked_for(capsys, monkeypatch):
    monkeypatch.setenv("DISTANON_DEBUG", "1")
    assert code_of(ValueError("could not convert")) == 1
    assert "Traceback" in capsys.readouterr().err
    assert code_of(InfeasibleError("too few records")) == 3
    assert "Traceback" in capsys.readouterr().err


def test_too_little_memory_is_no_defect(capsys):
    assert code_of(MemoryError()) == 4
    assert "out of memory" in capsys.readouterr().err


def test_a_closed_pipe_and_an_exit_pass_through():
    with pytest.raises(BrokenPipeError):
        fail(BrokenPipeError())
    assert code_of(typer.Exit(5)) == 5


def test_a_command_keeps_its_name_and_help():
    assert fail.__name__ == "fail"
    assert fail.__doc__ == "Fails."


def test_a_failure_is_one_object_where_programs_read_the_log(capsys, monkeypatch):
    monkeypatch.setenv("DISTANON_LOG", "json")
    assert code_of(InfeasibleError("too few records")) == 3
    entry = json.loads(capsys.readouterr().err)
    assert (entry["level"], entry["message"]) == ("error", "too few records")
