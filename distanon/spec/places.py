"""Where things are: paths and URLs in a spec, and which of them lie inside one another."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from distanon.data.setting_faults import refused

BUILTIN = "builtin:"
"""Prefix of the data sets that the package ships."""

RUN_ID = "${RUN_ID}"
"""In `private`, stands for the run's id."""

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*)://")
_LOCAL_SCHEMES = ("file", "local")
_SAME_STORE = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}


def expand(text: str) -> str:
    """The path with `${NAME}` replaced from the environment (`${RUN_ID}` stays).

    Raises:
        PydanticCustomError: the environment lacks a name.
    """
    missing = [
        name for name in _VARIABLE.findall(text) if name != "RUN_ID" and not os.environ.get(name)
    ]
    if missing:
        names = ", ".join(dict.fromkeys(missing))
        raise refused(_advice(names))
    return _VARIABLE.sub(lambda match: os.environ.get(match[1], match[0]), text)


def _advice(names: str) -> str:
    advice = f"the environment has no {names}; set it, or write the path out"
    if "DISTANON_DATA" in names.split(", "):
        advice += (
            ". DISTANON_DATA is the folder of the data sets that distanon does not ship: "
            "the head of the job's file says where each comes from"
        )
    return advice


Place = Annotated[str, Field(min_length=1), AfterValidator(expand)]
"""A path or URL."""


def is_remote(place: str) -> bool:
    """Whether a place is reached through a URL, such as s3://bucket/key."""
    scheme = _SCHEME.match(place)
    return scheme is not None and scheme[1].lower() not in _LOCAL_SCHEMES


def contains(outer: str, inner: str) -> bool:
    """Whether `inner` is `outer` or lies inside it, compared segment by segment."""
    whole, part = _segments(outer), _segments(inner)
    return part[: len(whole)] == whole


def folder_of(path: str) -> str:
    """What an input path covers: its folder up to the first wildcard, else the path itself."""
    fixed = re.split(r"[*?\[]", path, maxsplit=1)[0]
    return path if fixed == path else fixed.rpartition("/")[0] or "."


def _segments(place: str) -> tuple[str, ...]:
    scheme = _SCHEME.match(place)
    if scheme is not None and is_remote(place):
        name = scheme[1].lower()
        rest = place[scheme.end() :]
        return (_SAME_STORE.get(name, name), *(part for part in rest.split("/") if part))
    path = place[scheme.end() :] if scheme else place
    return ("file", *Path(os.path.realpath(path)).parts)
