import runpy
import sys

import pytest


def test_the_package_runs_as_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["distanon", "--version"])
    with pytest.raises(SystemExit) as caught:
        runpy.run_module("distanon", run_name="__main__")
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("distanon ")
