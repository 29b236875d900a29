import sys
from dataclasses import dataclass, field, replace
from types import ModuleType, SimpleNamespace

import pytest
from typer.testing import CliRunner

import distanon
from distanon.cli import app
from distanon.data.measurement import Measurement
from distanon.promises.base import Verdict


@dataclass
class Finished:
    """What `job` hands back, as the commands read it."""

    run_id: str = "a-1"
    output: str = "out/"
    private: str = "private/a/a-1/"
    report: str | None = "private/a/a-1/report.html"
    seconds: float = 1.25
    verdicts: list = field(default_factory=list)
    measurements: list = field(default_factory=list)
    compared: dict = field(default_factory=dict)
    held: bool = False


def verdict(*, kept=True):
    return Verdict(
        promise="unchanged",
        asked={"at_most": 0.0},
        measured={"share": 0.0 if kept else 0.25},
        kept=kept,
        verified_from="release+private",
        reason="" if kept else "25 % of the records equal their source",
        private={"tuples": ["a value of the data"]},
    )


FIGURES = [
    Measurement("identity.highest", 0.83, 0.8, 0.86, goal="lower", note="the best attack: x"),
    Measurement("identity.release_to_original", 0.79, 0.75, 0.82, goal="lower", n=517),
    Measurement("neighborhoods.stability_owner", float("nan"), note="too few records"),
    Measurement("some.other", 3.0),
]


@pytest.fixture
def job(monkeypatch):
    """Stands for `distanon.job`: every call is kept, and `answer` is handed back or raised."""
    module = ModuleType("distanon.job")
    module.calls = []
    module.answer = Finished(verdicts=[verdict()], measurements=list(FIGURES))

    def standing_for(name):
        def call(*args, **kwargs):
            module.calls.append(SimpleNamespace(name=name, args=args, kwargs=kwargs))
            if isinstance(module.answer, BaseException):
                raise module.answer
            return module.answer

        return call

    for name in ("run_job", "resume", "audit", "rewrite_report", "validate", "clean"):
        setattr(module, name, standing_for(name))
    monkeypatch.setitem(sys.modules, "distanon.job", module)
    monkeypatch.setattr(distanon, "job", module, raising=False)
    return module


@pytest.fixture
def command():
    """Runs a command line; the answer has exit_code, stdout and stderr."""
    runner = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1", "DISTANON_DEBUG": ""})
    return lambda *arguments: runner.invoke(app, list(arguments))


@pytest.fixture
def spec_file(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(
        "spec: 1\n"
        "name: a\n"
        "seed: 918273645\n"
        "input: {table: {path: 'builtin:magic', default_role: quasi_identifier}}\n"
        "method: {name: rbt}\n"
        "output: out/\n"
    )
    return str(path)


@pytest.fixture
def broken():
    return Finished(verdicts=[verdict(kept=False)], measurements=list(FIGURES))


@pytest.fixture
def figures():
    return FIGURES


@pytest.fixture
def asserted():
    unverified = replace(
        verdict(kept=False),
        measured={},
        verified_from="asserted",
        reason="not verified: that needs the originals",
    )
    return Finished(verdicts=[unverified], measurements=FIGURES[2:])
