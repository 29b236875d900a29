"""docs/methods.md names functions and tests that exist, for every method, promise and measure."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from distanon.methods import METHODS
from distanon.promises import PROMISES

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if line.startswith("|") and "`" in line
]
QUOTED = re.compile(r"`([^`]+)`")


def found(name: str) -> object:
    """What a dotted name below the package stands for."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            place = import_module(".".join(["distanon", *parts[:length]]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            place = getattr(place, part)
        return place
    raise LookupError(name)


@cache
def functions_in(file: Path) -> frozenset[str]:
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return frozenset(part.name for part in body if isinstance(part, ast.FunctionDef))


def test_rows_are_read():
    assert len(ROWS) > 40


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[-1].partition("::")[2].strip("`"))
def test_each_row_names_a_function_and_a_test_that_exist(row):
    (function,), (test,) = QUOTED.findall(row[-2]), QUOTED.findall(row[-1])
    assert callable(found(function))
    file, _, name = test.partition("::")
    assert name in functions_in(ROOT / "tests" / file)


def test_every_method_promise_attack_and_measure_has_its_rows():
    headings = set(re.findall(r"^### (\w+)$", TEXT, flags=re.MULTILINE))
    assert set(METHODS) <= headings
    assert set(PROMISES) <= {row[0] for row in ROWS}
    functions = {QUOTED.findall(row[-2])[0].rpartition(".")[0] for row in ROWS}
    for folder in ("attacks", "utility"):
        modules = {
            f"{folder}.{path.stem}"
            for path in (ROOT / "distanon" / folder).glob("*.py")
            if path.stem != "__init__"
        }
        assert modules <= functions
