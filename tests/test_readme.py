"""What the README says can be done, can be done."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from distanon.spec import parse

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_there_are_blocks_to_try():
    assert blocks("python")
    assert blocks("yaml")


def test_python_blocks_run_in_their_order():
    namespace: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), namespace)


@pytest.mark.parametrize("block", blocks("yaml"))
def test_yaml_blocks_are_job_specs(block):
    assert parse(block).run_id.startswith("patients-")


def test_commands_of_make_exist():
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z0-9-]+)`", README))
    assert named
    assert named <= targets


def test_commands_of_distanon_exist():
    import typer.main

    from distanon.cli import app

    commands = set(typer.main.get_command(app).commands)
    named = set(re.findall(r"`distanon ([a-z]+)", README))
    assert named
    assert named <= commands


def test_linked_files_exist():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_method_is_in_the_table():
    from distanon.methods import METHODS

    for name in METHODS:
        assert f"| `{name}` |" in README
