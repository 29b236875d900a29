import json

import pytest

from distanon.cli.catalogue import _kind
from distanon.methods import METHODS


def test_methods_are_listed_with_promises_and_limits(command):
    answer = command("methods")
    assert answer.exit_code == 0
    assert all(name in answer.stdout for name in METHODS)
    found = json.loads(command("methods", "--json").stdout)
    assert [method["name"] for method in found] == list(METHODS)
    assert all(method["limits"] and method["summary"] for method in found)


def test_a_method_is_shown_with_its_parameters(command):
    answer = command("methods", "nends")
    assert answer.exit_code == 0
    assert "variant" in answer.stdout
    assert "attribute | tuple" in answer.stdout


def test_every_parameter_of_every_method_is_described(command):
    for method in json.loads(command("methods", "--json").stdout):
        for name, parameter in method["parameters"].items():
            assert parameter["description"], f"{method['name']}.{name}"


def test_a_method_that_is_not_there_exits_with_2(command):
    assert "did you mean 'noise'" in command("methods", "noisy").stderr
    assert "did you mean 'mondrian'" in command("methods", "mondrain").stderr
    assert command("methods", "mondrain").exit_code == 2


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1}, "whole number ≥ 1"),
        ({"type": "number", "exclusiveMinimum": 0.0, "maximum": 1}, "number > 0 ≤ 1"),
        ({"enum": ["a", "b"]}, "a | b"),
        (
            {"anyOf": [{"type": "number"}, {"const": "auto"}, {"type": "null"}]},
            "number | auto | null",
        ),
        ({"type": "boolean"}, "true | false"),
        ({"$ref": "#/x"}, "mapping"),
    ],
)
def test_the_values_of_a_parameter_are_told_in_words(schema, words):
    assert _kind(schema) == words
