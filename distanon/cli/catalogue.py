"""The methods as a user chooses among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticUndefined

from distanon.cli.figures import console_of_plain_text
from distanon.errors import SpecError

if TYPE_CHECKING:
    from distanon.methods.base import Method


def described(name: str | None = None) -> list[dict[str, Any]]:
    """Each method (or the one named): summary, promises, limits and parameters.

    Raises:
        SpecError: there is no method of this name in this version.
    """
    from distanon.data.setting_faults import unknown
    from distanon.methods import METHODS

    if name is not None and name not in METHODS:
        raise SpecError(unknown(name, "method", METHODS))
    chosen = METHODS if name is None else {name: METHODS[name]}
    return [_described(each, method) for each, method in chosen.items()]


def _described(name: str, method: type[Method]) -> dict[str, Any]:
    from distanon.spec import json_schema

    properties = json_schema(method)["properties"]
    return {
        "name": name,
        "summary": method.summary,
        "can_promise": sorted(method.keeps),
        "limits": method.limits,
        "parameters": {
            parameter: {
                "type": _kind(properties[parameter]),
                "required": field.is_required(),
                "default": None if field.default is PydanticUndefined else field.default,
                "description": properties[parameter].get("description", ""),
            }
            for parameter, field in method.model_fields.items()
            if parameter != "name"
        },
    }


def _kind(schema: dict[str, Any]) -> str:
    """A parameter's values in words: "include | truncate", "number from 0 on | auto"."""
    if "anyOf" in schema:
        return " | ".join(_kind(part) for part in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    names = {
        "integer": "whole number",
        "boolean": "true | false",
        "string": "text",
        "array": "list",
    }
    kind = str(schema.get("type", "mapping"))
    bounds = {
        "minimum": "≥ {:g}",
        "exclusiveMinimum": "> {:g}",
        "maximum": "≤ {:g}",
        "exclusiveMaximum": "< {:g}",
    }
    limits = [text.format(schema[key]) for key, text in bounds.items() if key in schema]
    return " ".join((names.get(kind, kind), *limits))


def print_methods(methods: list[dict[str, Any]]) -> None:
    """One row a method."""
    from rich.table import Table

    table = Table("method", "what it does", "can promise", "does not protect", show_lines=True)
    for method in methods:
        promises = ", ".join(method["can_promise"]) or "nothing"
        table.add_row(method["name"], method["summary"], promises, method["limits"])
    console_of_plain_text().print(table)
    print("`distanon methods NAME` shows the parameters of one.")


def print_method(method: dict[str, Any]) -> None:
    """One method with its parameters."""
    from rich.table import Table

    print(f"{method['name']}: {method['summary']}")
    print(f"can promise: {', '.join(method['can_promise']) or 'nothing'}")
    print(f"does not protect: {method['limits']}")
    table = Table("parameter", "values", "default", "")
    for name, parameter in method["parameters"].items():
        default = "required" if parameter["required"] else str(parameter["default"])
        table.add_row(name, parameter["type"], default, parameter["description"])
    console_of_plain_text().print(table)
