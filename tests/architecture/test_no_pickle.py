"""What comes out of a bucket is data and never code: nothing unpickles or evaluates it."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import distanon
from distanon import job as jobs
from distanon.spec import parse

PACKAGE = Path(distanon.__file__).parent
LOADERS = {"pickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "jsonpickle"}
RUNS = {"eval", "exec", "compile", "__import__"}
BETWEEN_PROCESSES = {"runtime/pool.py", "runtime/worker.py"}
"""Errors of our own workers come over Ray's channel, which carries pickles anyway."""


def faults(source: str) -> list[str]:
    """What in a module could turn bytes into code."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [one.name for one in node.names if one.name.split(".")[0] in LOADERS]
        if isinstance(node, ast.ImportFrom):
            names = {*(node.module or "").split("."), *(one.name for one in node.names)}
            found += sorted(names & LOADERS)
        if isinstance(node, ast.Attribute) and node.attr in {"read_pickle", "unsafe_load"}:
            found.append(node.attr)
        if isinstance(node, ast.Call):
            found += called(node)
    return found


def called(node: ast.Call) -> list[str]:
    asked = node.func
    if isinstance(asked, ast.Name):
        return [asked.id] if asked.id in RUNS else []
    if not isinstance(asked, ast.Attribute):
        return []
    given = {one.arg: ast.unparse(one.value) for one in node.keywords}
    whose = ast.unparse(asked.value)
    if given.get("allow_pickle", "False") != "False":
        return ["allow_pickle"]
    if whose == "yaml" and asked.attr in {"load", "load_all"}:
        return [] if given.get("Loader", "").endswith(("SafeLoader", "_CoreLoader")) else ["yaml"]
    return []


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_nothing_turns_bytes_into_code(path):
    where = str(path.relative_to(PACKAGE))
    found = faults(path.read_text())
    if where in BETWEEN_PROCESSES:
        assert set(found) <= {"pickle", "cloudpickle"}
        return
    assert found == [], where


def test_the_loader_of_specs_is_a_safe_one():
    import yaml

    from distanon.spec.document import _CoreLoader

    assert issubclass(_CoreLoader, yaml.SafeLoader)


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from ray import cloudpickle",
        "from ray.cloudpickle import loads",
        "import joblib.numpy_pickle",
        "pd.read_pickle(path)",
        "np.load(file, allow_pickle=True)",
        "np.load(file, allow_pickle=flag)",
        "yaml.load(text)",
        "yaml.load(text, Loader=yaml.Loader)",
        "yaml.unsafe_load(text)",
        "eval(text)",
    ],
)
def test_each_way_of_doing_so_is_found(source):
    assert faults(source)


@pytest.mark.parametrize(
    "source", ["np.load(file)", "np.load(f, allow_pickle=False)", "re.compile(text)"]
)
def test_what_is_harmless_is_let_through(source):
    assert not faults(source)


class Trap:
    """Makes a file where somebody unpickles it."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return Path.touch, (self.place,)


def test_code_hidden_in_the_types_of_an_input_is_not_run(tmp_path):
    sprung = tmp_path / "sprung"
    trap = pickle.dumps(Trap(sprung))
    hidden = {
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": trap,
    }
    fields = [pa.field("age", pa.int64(), metadata=hidden), pa.field("income", pa.float64())]
    ages = pa.array([20 + number % 40 for number in range(80)])
    incomes = pa.array([float(number) for number in range(80)])
    table = pa.Table.from_arrays([ages, incomes], schema=pa.schema(fields))
    pq.write_table(table, tmp_path / "people.parquet")
    spec = f"""
spec: 1
name: trapped
seed: 3
input: {{table: {{path: {tmp_path}/people.parquet, default_role: quasi_identifier}}}}
method: {{name: mondrian, k: 4}}
measure: {{draws: 1}}
output: {tmp_path}/release
private: {tmp_path}/private
"""
    jobs.run_job(parse(spec), serial=True)
    assert (tmp_path / "release" / "_SUCCESS").exists()
    assert not sprung.exists()
    pickle.loads(trap)
    assert sprung.exists(), "the trap would have sprung"
