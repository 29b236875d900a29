"""The JSON Schema of a spec, with the words of the docstrings at each setting."""

from __future__ import annotations

import inspect
import re
from typing import Any

from pydantic import BaseModel

_SECTION = re.compile(r"^(\w+):$")
_SETTING = re.compile(r"^    (\w+): (.+)$")


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The model's JSON Schema, in which every setting has its description.

    Editors show them beside the setting. They are the `Attributes:` of the docstrings.
    """
    schema = model.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        described = part.get("description", "")
        part["description"] = _before_sections(described)
        for name, text in settings_described(described).items():
            if name in part.get("properties", {}):
                part["properties"][name].setdefault("description", text)
    return schema


def settings_described(docstring: str) -> dict[str, str]:
    """What the `Attributes:` section of a docstring says of each name, on one line each."""
    found: dict[str, str] = {}
    in_section = False
    name = ""
    for line in inspect.cleandoc(docstring).splitlines():
        section = _SECTION.match(line)
        setting = _SETTING.match(line)
        if section:
            in_section = section[1] == "Attributes"
        elif in_section and setting:
            name = setting[1]
            found[name] = setting[2]
        elif in_section and name and line.startswith("        "):
            found[name] += f" {line.strip()}"
    return found


def _before_sections(docstring: str) -> str:
    lines = inspect.cleandoc(docstring).splitlines()
    end = next((place for place, line in enumerate(lines) if _SECTION.match(line)), len(lines))
    return "\n".join(lines[:end]).strip()
