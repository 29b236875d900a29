"""The text of a spec as plain values: YAML or JSON, with overrides from the command line.

YAML is read by the core rules of version 1.2: `no`, `on` and `off` are text, so is a date, `007`
is seven and `1e-3` is a number. A key is what is written, so a column may be called `2017` or
`true`. A key that stands twice is an error instead of the last one winning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import yaml

from distanon.errors import SpecError

_STEP = re.compile(r'"(?P<quoted>[^"]*)"|(?P<plain>[^."]+)')


class _CoreLoader(yaml.SafeLoader):
    """SafeLoader with the implicit types of YAML 1.2 and no key twice."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - the name is PyYAML's

    def construct_mapping(self, node: yaml.Node, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002, ARG002 - the signature is PyYAML's
        """A mapping whose keys are what is written."""
        if not isinstance(node, yaml.MappingNode):
            raise _fault_at(node, "expected a mapping")
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                for source in _merged_mappings(value):
                    merged = self.construct_mapping(source, deep=True) | merged
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise _fault_at(key, "a key must be text")
            if key.value in own:
                raise _fault_at(key, f"the key {key.value!r} stands twice in one mapping")
            own[key.value] = self.construct_object(value, deep=True)
        return merged | own


def _merged_mappings(node: yaml.Node) -> list[yaml.Node]:
    return list(node.value) if isinstance(node, yaml.SequenceNode) else [node]


def _fault_at(node: yaml.Node, problem: str) -> SpecError:
    mark = node.start_mark
    return SpecError(f"line {mark.line + 1}, column {mark.column + 1}: {problem}")


def _construct_mapping(loader: _CoreLoader, node: yaml.Node) -> dict[Any, Any]:
    return loader.construct_mapping(node, deep=True)


def _construct_int(loader: _CoreLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    if text.startswith(("0o", "0x")):
        return int(text, 0)
    return int(text)


def _construct_float(loader: _CoreLoader, node: yaml.ScalarNode) -> float:
    return float(str(loader.construct_scalar(node)).replace(".inf", "inf").replace(".nan", "nan"))


_RULES = (
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("merge", r"<<", "<"),
)
for _name, _pattern, _first in _RULES:
    _CoreLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_name}",
        re.compile(f"^(?:{_pattern})$"),
        ["" if sign == "\0" else sign for sign in _first],
    )
_CoreLoader.add_constructor("tag:yaml.org,2002:map", _construct_mapping)
_CoreLoader.add_constructor("tag:yaml.org,2002:int", _construct_int)
_CoreLoader.add_constructor("tag:yaml.org,2002:float", _construct_float)


def read_document(text: str, *, is_json: bool = False) -> dict[str, Any]:
    """The spec's text as nested mappings, lists and plain values.

    Raises:
        SpecError: the text is no YAML (JSON), holds a key twice, or is no mapping.
    """
    document = _read_json(text) if is_json else read_value(text)
    if not isinstance(document, dict):
        raise SpecError("expected a mapping with the keys spec, name, input, method, output …")
    return document


def read_value(text: str) -> Any:
    """One YAML value, as in `--set method.k=20`.

    Raises:
        SpecError: the text is no YAML.
    """
    try:
        return yaml.load(text, Loader=_CoreLoader)  # noqa: S506 - a SafeLoader with fewer types
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise SpecError(f"{place}this is no YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError):
        raise SpecError("this is no YAML: it holds a character or value that can't be") from None


def _read_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique_keys)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise SpecError(f"{place}: this is no JSON: {error.msg}") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise SpecError(f"the key {key!r} stands twice in one object")
        found[key] = value
    return found


def override(
    document: dict[str, Any], assignments: Sequence[str], *, option: str = "--set"
) -> dict[str, Any]:
    """The document with `PATH=VALUE` assignments made, in their order.

    Args:
        document: is left as it is.
        assignments: such as `method.k=20`, `compare.0.rms=0.1` or
            `input.table.columns."a.b"=sensitive`; the value is YAML.
        option: what the assignments are called on the command line.

    Raises:
        SpecError: all assignments that can't be made.
    """
    changed: Any = document
    faults: list[str] = []
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        steps = [
            match["quoted"] if match["quoted"] is not None else match["plain"]
            for match in _STEP.finditer(path)
        ]
        if not equals or not steps:
            faults.append(f"{option} {assignment}: expected PATH=VALUE, such as method.k=20")
            continue
        try:
            changed = _assigned(changed, steps, read_value(text))
        except (SpecError, LookupError) as error:
            faults.append(f"{option} {path}: {error.args[0]}")
    if faults:
        raise SpecError(*faults)
    return dict(changed)


def _assigned(place: Any, steps: Sequence[str], value: Any) -> Any:
    """A copy of `place` in which the value at `steps` is `value`; mappings are made as needed."""
    if not steps:
        return value
    step, *rest = steps
    if place is None:
        place = {}
    if isinstance(place, dict):
        return {**place, step: _assigned(place.get(step), rest, value)}
    if isinstance(place, list):
        if not step.isdigit() or int(step) >= len(place):
            raise LookupError(
                f"the list has no entry {step!r}; its entries are 0 … {len(place) - 1}"
            )
        number = int(step)
        return [*place[:number], _assigned(place[number], rest, value), *place[number + 1 :]]
    raise LookupError(f"{step!r} can't be set inside a plain value; set the whole of it")
