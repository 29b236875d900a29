"""The jobs that the repository ships."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from distanon import job
from distanon.spec import load

JOBS = Path(__file__).parents[2] / "jobs"
SPECS = sorted([*JOBS.glob("*.yaml"), *JOBS.glob("smoke/*.yaml")])


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("DISTANON_INPUT", "builtin:magic")
    monkeypatch.setenv("DISTANON_OUTPUT", str(tmp_path / "releases"))
    monkeypatch.setenv("DISTANON_PRIVATE", str(tmp_path / "private"))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_job_is_right_against_its_data(path, elsewhere, request, monkeypatch):
    if "DISTANON_DATA" in path.read_text():
        folder = request.getfixturevalue("graphs_folder").parent
        monkeypatch.setenv("DISTANON_DATA", str(folder))
    spec = load(path)
    assert job.validate(spec)
    spec.require_single_run()


@pytest.mark.parametrize(
    ("name", "records"), [("forest-fires", 517), ("magic", 19_020), ("poker-hand", 25_010)]
)
def test_each_data_set_of_the_paper_is_compared_with_baselines_and_ablation(name, records):
    spec = load(JOBS / f"{name}.yaml")
    assert list(spec.comparisons()) == [
        "noise (rms: match)",
        "rbt (decimals: full)",
        "nends (variant: attribute)",
        "nends (variant: tuple)",
        "dptpe (rule: reversed)",
        "dptpe (rule: random)",
        "dptpe (rule: krad)",
    ]
    assert job.validate(spec)[0].startswith(f"{records:,} records")


def test_the_ablation_follows_the_methods_k():
    spec = load(JOBS / "magic.yaml", ["method.k=25"])
    assert {other.k for other in spec.compare if other.name == "dptpe"} == {25}


def test_the_demo_keeps_public_and_private_files_apart():
    spec = load(JOBS / "forest-fires.yaml")
    assert spec.output == "./demo/release/"
    assert spec.private_prefix() == f"./demo/private/forest-fires/{spec.run_id}/"


def test_smoke_jobs_write_to_places_of_their_own():
    specs = [load(path) for path in JOBS.glob("smoke/*.yaml")]
    places = [place for spec in specs for place in (spec.output, spec.private_prefix())]
    assert len(set(places)) == len(places) == 2 * len(specs)


def test_the_entry_point_of_a_cluster_is_the_run_command(tmp_path):
    answer = subprocess.run(
        [sys.executable, JOBS / "run_job.py", "nowhere.yaml"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "DISTANON_DEBUG": ""},
        timeout=120,
    )
    assert answer.returncode == 2
    assert answer.stderr.startswith("distanon: ")
    assert "nowhere.yaml" in answer.stderr


@pytest.fixture(scope="module")
def tables():
    place = importlib.util.spec_from_file_location("jobs_tables", JOBS / "tables.py")
    module = importlib.util.module_from_spec(place)
    sys.modules["jobs_tables"] = module
    place.loader.exec_module(module)
    yield module
    del sys.modules["jobs_tables"]


def test_the_tables_of_the_paper_are_reproduced_on_forest_fires(tables):
    """Figures by independent code: stability .723; RBT keeps all; F is read beside its floor."""
    rows = list(tables.figures("forest-fires", [10], as_paper=True))
    found = {(row.figure, row.method): row.value for row in rows}
    assert found["stability", "dptpe"] == pytest.approx(0.723, abs=0.01)
    assert found["stability", "rbt"] == pytest.approx(1.0, abs=1e-3)
    assert found["stability", "nends (tuple)"] < found["stability", "dptpe"]
    assert found["F", "rbt"] == pytest.approx(1.0, abs=1e-3)
    assert 0.8 < found["F", "floor"] <= 1
    assert {row.k for row in rows if row.figure == "stability"} == {10}


def test_tables_are_printed_with_one_column_a_k(tables, capsys):
    rows = [
        tables.Row("d", "stability", "dptpe", 5, 0.71234),
        tables.Row("d", "stability", "dptpe", 10, 0.5),
        tables.Row("d", "stability", "rbt", None, 1.0),
    ]
    tables.print_table(rows, [5, 10], "title")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "title"
    assert lines[2].split() == ["k", "5", "10"]
    assert lines[3].split() == ["dptpe", "0.712", "0.500"]
    assert lines[4].split() == ["rbt", "1.000", "1.000"]


def test_figures_can_be_had_as_json(tables, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["tables.py", "--quick", "--json", "--k", "5"])
    monkeypatch.setattr(
        tables,
        "figures",
        lambda name, ks, *, as_paper: [tables.Row(name, "F", "floor", None, 0.9 + as_paper)],
    )
    tables.main()
    assert json.loads(capsys.readouterr().out) == {
        "data": "forest-fires",
        "figure": "F",
        "method": "floor",
        "k": None,
        "value": 1.9,
    }
