import math
from dataclasses import replace

from distanon.cli.figures import print_figures, print_json
from distanon.data.measurement import Measurement


def test_infinities_and_nan_are_null_in_json(capsys):
    print_json({"a": [math.nan, math.inf, 1.5], "b": (True, None, "x")})
    assert capsys.readouterr().out == '{"a": [null, null, 1.5], "b": [true, null, "x"]}\n'


def test_a_broken_promise_shows_its_reason_and_no_value_of_the_data(capsys, broken, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    print_figures(broken)
    shown = capsys.readouterr().out
    assert "no: 25 % of the records equal their source" in shown
    assert "a value of the data" not in shown


def test_a_release_without_promises_says_so(capsys, broken):
    broken.verdicts.clear()
    print_figures(broken)
    assert "none were asked" in capsys.readouterr().out


def test_brackets_and_colons_of_names_are_shown_as_they_are(capsys, broken, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    reason = "column '[bold]a[/bold] :smile:' has one value"
    broken.verdicts[0] = replace(broken.verdicts[0], reason=reason)
    print_figures(broken)
    assert reason in capsys.readouterr().out


def test_no_python_value_is_printed_raw(capsys, broken, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    measured = {"l": None, "columns": {"job": {"l": 2, "t": None}}, "suspected": True}
    broken.verdicts[0] = replace(broken.verdicts[0], measured=measured)
    print_figures(broken)
    shown = capsys.readouterr().out
    assert "columns (job (l 2)), suspected yes" in shown
    assert not any(raw in shown for raw in ("{", "None", "True"))


def test_every_figure_of_an_audit_has_its_words(capsys, broken, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    broken.measurements[:] = [
        Measurement("identity.journalist", 1.0),
        Measurement("classes.l_distinct.job", 1.0, unit="1"),
    ]
    print_figures(broken, every=True)
    shown = capsys.readouterr().out
    assert "(journalist)" in shown
    assert "job: different values in every such group" in shown
