"""What is wrong with settings, one line a fault: path, value found, what was expected, near match.

They come from a spec, or from a call such as `DPTPE(k=0)`.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError
from pydantic_core.core_schema import ErrorType

from distanon.errors import SpecError

_LONGEST = 60
_CREDENTIALS = re.compile(r"://[^/@\s]*@")
_PYDANTICS_OWN = frozenset(get_args(ErrorType))
_QUOTED = re.compile(r"'([^']*)'")

_EXPECTED = {
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "string_too_short": "text",
    "string_pattern_mismatch": "text that matches {pattern}",
    "too_short": "{min_length} or more entries",
}


def refused(message: str) -> PydanticCustomError:
    """A validator's error whose message is the whole fault, without the value that was found."""
    return PydanticCustomError("refused", "{message}", {"message": message})


def between(path: tuple[str, ...], message: str) -> InitErrorDetails:
    """A fault between parts, at the path of the part to change, which need not be written."""
    kind = PydanticCustomError("between", "{message}", {"message": message})
    return InitErrorDetails(type=kind, loc=path, input=None)


def once_more(error: ValidationError) -> list[InitErrorDetails]:
    """The faults of a failed validation, to be raised together with others."""
    return [_once_more(details) for details in error.errors(include_url=False)]


def _once_more(details: ErrorDetails) -> InitErrorDetails:
    kind: str | PydanticCustomError = details["type"]
    if kind not in _PYDANTICS_OWN or kind in ("value_error", "assertion_error"):
        message = details["msg"].removeprefix("Value error, ")
        kind = PydanticCustomError(
            "between" if kind == "between" else "refused", "{message}", {"message": message}
        )
    return InitErrorDetails(
        type=kind, loc=details["loc"], input=details["input"], ctx=details.get("ctx", {})
    )


def unknown(found: object, kind: str, options: Iterable[str]) -> str:
    """The fault of a name that is none of the options.

    Args:
        found: the name in the spec.
        kind: what it should name: "method".
        options: the names that there are.
    """
    known = sorted(options)
    return f"no such {kind} {shown(found)}; expected {', '.join(known)}{near(found, known)}"


def near(found: object, options: Iterable[str]) -> str:
    """`; did you mean 'k'?`, or nothing."""
    if not isinstance(found, str):
        return ""
    by_lower = {option.lower(): option for option in options}
    match = difflib.get_close_matches(found.lower(), by_lower, n=1, cutoff=0.6)
    if not match and len(found) > 1:
        # difflib judges short names harshly: 'kk' is nearer to 'k' than its ratio says.
        match = [option for option in by_lower if set(found.lower()) == set(option)][:1]
    return f"; did you mean {by_lower[match[0]]!r}?" if match else ""


def shown(value: object) -> str:
    """A value of the spec as it may stand in a message: short."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, str):
        text = repr(value)
    elif isinstance(value, Sequence):
        return "a list"
    else:
        text = json.dumps(value, default=lambda other: type(other).__name__)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def called(model: type[BaseModel], error: ValidationError, arguments: Any) -> SpecError:
    """The error of a call that gave these arguments: no call from Python shows pydantic's own."""
    lines = fault_lines(error, arguments, model, whole="")
    return SpecError(*(f"{model.__name__}: {line}" for line in lines))


def fault_lines(
    error: ValidationError,
    document: Any,
    model: type[BaseModel],
    *,
    whole: str = "the spec",
    inside: str = "",
) -> tuple[str, ...]:
    """The faults of a failed validation, in the order of the model, without repetition.

    Args:
        error: what pydantic found.
        document: the values that were validated.
        model: what they should have been.
        whole: what all of it is called; "": nothing.
        inside: path of the document in a larger one.
    """
    by_path: dict[str, list[ErrorDetails]] = {}
    for details in error.errors(include_url=False):
        by_path.setdefault(".".join(_path(details, document)), []).append(details)
    lines: dict[str, None] = {}
    for where, group in by_path.items():
        place = ".".join(filter(None, (inside, where))) or whole
        for line in _lines(place, group, document, model):
            lines[_CREDENTIALS.sub("://…@", line)] = None
    return tuple(lines)


def _path(details: ErrorDetails, document: Any) -> list[str]:
    """The steps that stand in the document, without the branches of unions."""
    path: list[str] = []
    value = document
    last = len(details["loc"]) - 1
    for number, step in enumerate(details["loc"]):
        names_missing = number == last and details["type"] == "missing"
        if isinstance(value, Mapping) and (step in value or names_missing):
            value = value.get(step)
        elif isinstance(value, list | tuple) and isinstance(step, int) and step < len(value):
            value = value[step]
        elif not (names_missing or details["type"] == "between"):
            continue
        path.append(_quoted(step))
    return path


def _quoted(step: str | int) -> str:
    text = str(step)
    return f'"{text}"' if "." in text or not text else text


def _lines(
    where: str, group: list[ErrorDetails], document: Any, model: type[BaseModel]
) -> Iterable[str]:
    """One line for the alternatives that a value failed together, or one for each other fault."""
    place = f"{where}: " if where else ""
    expected: list[str] = []
    for details in group:
        kind = details["type"]
        if kind == "extra_forbidden":
            *parents, key = details["loc"]
            names = _settings(model, document, parents)
            yield f"{place}no such setting{near(key, names) or _choice(names)}"
        elif kind == "missing":
            yield f"{place}missing"
        elif kind in _EXPECTED:
            expected.append(_EXPECTED[kind].format(**_limits(details)))
        else:
            yield f"{place}{details['msg'].removeprefix('Value error, ')}"
    if expected:
        value = group[0]["input"]
        wanted = " or ".join(dict.fromkeys(expected))
        hint = near(value, _QUOTED.findall(wanted))
        if wanted == "text" and isinstance(value, int | float):
            hint = f"; write it in quotes: '{json.dumps(value)}'"
        yield f"{place}found {shown(value)}; expected {wanted}{hint}"


def _limits(details: ErrorDetails) -> dict[str, Any]:
    """What a message is filled with: 1, not 1.0."""
    return {
        name: f"{value:g}" if isinstance(value, float) else value
        for name, value in details.get("ctx", {}).items()
    }


def _choice(names: Sequence[str]) -> str:
    return f"; there are {', '.join(names)}" if names else ""


def _settings(model: Any, document: Any, steps: Sequence[str | int]) -> list[str]:
    """The names of the settings at a place of the document."""
    models = _models(model, document)
    if not steps:
        return [name for found in models for name in found.model_fields]
    step, *rest = steps
    value = document
    if isinstance(document, Mapping):
        value = document.get(step)
    elif isinstance(document, list | tuple) and isinstance(step, int):
        value = document[step]
    for found in models:
        if step in found.model_fields:
            return _settings(found.model_fields[str(step)].annotation, value, rest)
    return _settings(model, value, rest)


def _models(annotation: Any, value: Any) -> list[type[BaseModel]]:
    """The models in an annotation, through unions and containers; of methods the one named."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    models = [found for part in get_args(annotation) for found in _models(part, value)]
    name = value.get("name") if isinstance(value, Mapping) else None
    named = [
        found
        for found in models
        if "name" in found.model_fields and found.model_fields["name"].default == name
    ]
    return named or models
