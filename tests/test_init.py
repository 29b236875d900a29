import subprocess
import sys
from pathlib import Path

import pytest

import distanon as da
from distanon.errors import SpecError
from distanon.spec import load

SMOKE = Path(__file__).parents[1] / "jobs" / "smoke" / "dptpe.yaml"


def test_every_public_name_is_there_and_has_its_own_name():
    for name in da.__all__:
        assert getattr(da, name).__name__ == name
    assert set(dir(da)) == {*da.__all__, "__version__"}


def test_the_version_is_that_of_the_distribution():
    assert da.__version__.split(".")[0].isdigit()


def test_another_name_is_refused_like_any_attribute():
    with pytest.raises(AttributeError, match="no attribute 'KMFCGWOO'"):
        _ = da.KMFCGWOO


def test_a_name_is_looked_up_when_it_is_first_used():
    code = (
        "import sys, distanon as da; before = 'distanon.spec' in sys.modules; da.JobSpec; "
        "print(before, 'distanon.spec' in sys.modules, 'JobSpec' in vars(da))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["False", "True", "True"]


def test_a_sweep_is_refused_before_anything_starts(tmp_path):
    with pytest.raises(SpecError, match="sweep"):
        da.run(SMOKE, settings=["sweep={method.k: [5, 10]}"])


def test_a_run_from_python_is_the_run_of_the_command(tmp_path):
    settings = [
        f"output={tmp_path}/a/",
        f"private={tmp_path}/private-a/",
        "compare=[]",
        "measure.budget_s=20",
    ]
    from_path = da.run(SMOKE, settings=settings, serial=True)
    spec = load(SMOKE, [*settings, f"output={tmp_path}/b/", f"private={tmp_path}/private-b/"])
    from_spec = da.run(spec, run_id="mine", serial=True)
    assert from_spec.run_id == "mine"
    assert all(verdict.kept for verdict in from_path.verdicts)
    first, second = (
        [part.read_bytes() for part in sorted((tmp_path / side / "data").iterdir())]
        for side in ("a", "b")
    )
    assert first == second
    assert (tmp_path / "a" / "_SUCCESS").exists()
