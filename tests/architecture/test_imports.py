"""The order of the house: each part imports only what stands before it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "distanon"

RANKS = {
    "errors": 0,
    "data": 1,
    "kernels": 2,
    "runtime": 2,
    "storage": 2,
    "sharded": 3,
    "utility": 4,
    "optimizers": 4,
    "attacks": 4,
    "promises": 5,
    "methods": 6,
    "auditing": 7,
    "spec": 8,
    "report": 8,
    "job": 9,
    "sweep": 10,
    "cli": 11,
}
EXEMPT = {"__init__", "__main__"}

PLACES = {
    "ray": ("runtime/",),
    "s3fs": ("storage/",),
    "fsspec": ("storage/",),
    "pyarrow.dataset": ("storage/",),
    "networkx": ("data/graph.py", "utility/topology.py", "storage/graphs.py"),
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += [f"{node.module}.{name.name}" for name in node.names]
    return found


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def ours(name: str) -> str | None:
    head, _, rest = name.partition(".")
    return rest.split(".")[0] if head == "distanon" and rest else None


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_part_imports_only_what_stands_before_it(path):
    part = part_of(path)
    if part in EXEMPT:
        return
    for name in imports(path):
        other = ours(name)
        if other is None or other == part or other not in RANKS:
            continue
        assert RANKS[other] < RANKS[part], f"{part} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_library_stays_in_its_place(path):
    where = str(path.relative_to(PACKAGE))
    for name in imports(path):
        for library, places in PLACES.items():
            if name == library or name.startswith(library + "."):
                assert where.startswith(places), f"{where} imports {name}"


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "methods").rglob("*.py")), ids=lambda path: path.stem
)
def test_methods_import_no_storage_no_judge_and_not_one_another(path):
    relative = path.relative_to(PACKAGE / "methods")
    for name in imports(path):
        assert ours(name) not in {"storage", "attacks", "auditing"}, f"{path} imports {name}"
        if relative.name == "__init__.py" and len(relative.parts) == 1:
            continue
        if name.startswith("distanon.methods."):
            other = name.removeprefix("distanon.methods.").split(".")
            own = relative.parts[0].removesuffix(".py")
            # The last part may be the name of a class; a shared base is no method.
            # What stands around every method: they hand over to each other in this order.
            around = {"base": {"in_memory", "graphs_in_memory"}, "graphs_in_memory": {"in_memory"}}
            # What methods that group records share; the table in memory all of them.
            shared = {"base", "grouping", "groups", "limits", "joining", "fitted"}
            if other[:2] == ["baselines", "whole_table"]:
                continue
            assert other[0] in {own} | shared | around.get(own, set()), f"{path} imports {name}"
        if name.startswith("distanon.promises.gate"):
            # The caller of every method: it stands between a method and the user.
            assert relative == Path("in_memory.py"), f"{path} grades its own release"


def test_optimizers_know_nothing_of_ours():
    for path in (PACKAGE / "optimizers").rglob("*.py"):
        assert [name for name in imports(path) if ours(name) not in (None, "optimizers")] == []


def test_importing_the_package_loads_no_heavy_library():
    heavy = "{'ray', 's3fs', 'pandas', 'sklearn', 'matplotlib', 'numba', 'scipy'}"
    code = f"import sys, distanon; print(sorted({heavy} & set(sys.modules)))"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
