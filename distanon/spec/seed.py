"""The seed of a run, which no log, error, dump or public file may show."""

from __future__ import annotations

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, SerializationInfo

from distanon.data.setting_faults import refused
from distanon.errors import SpecError

WEAK_BELOW = 2**64
"""A smaller seed can be found by trying all."""

_BITS = 128
_SOURCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|file:.+")
_EXPECTED = (
    "expected null, a whole number from 0 on, env:NAME or file:PATH (the value is not shown)"
)


@dataclass(frozen=True, slots=True, repr=False)
class Seed:
    """Where the seed comes from.

    Attributes:
        source: "system", "integer", "env:NAME" or "file:PATH".
        number: for "integer", the seed itself. Secret.
    """

    source: str = "system"
    number: int | None = None

    def __repr__(self) -> str:
        """Without the number, which must never reach a log."""
        return "Seed(…)"

    def resolve(self) -> int:
        """The seed: a non-negative integer, drawn anew for "system" (128 bits).

        Raises:
            SpecError: the variable or the file holds no whole number.
        """
        kind, _, name = self.source.partition(":")
        if kind == "system":
            return secrets.randbits(_BITS)
        if self.number is not None:
            return self.number
        text = os.environ.get(name) if kind == "env" else _read(name)
        if text is None:
            raise SpecError(f"seed: the environment has no {name}; set it to a whole number")
        if not re.fullmatch(r"[0-9]+", text.strip()):
            raise SpecError(f"seed: {self.source} holds no whole number (its content is not shown)")
        return int(text)

    def __str__(self) -> str:
        """Where it comes from, without the number."""
        return self.source


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"seed: file:{path} can't be read: {type(error).__name__}") from None


def _parse(value: Any) -> Seed:
    if isinstance(value, Seed):
        return value
    if value is None:
        return Seed()
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return Seed("integer", value)
    if isinstance(value, str) and _SOURCE.fullmatch(value):
        return Seed(value)
    raise refused(_EXPECTED)


def _dump(seed: Seed, info: SerializationInfo) -> int | str | None:
    """The source alone, unless the context asks for the seed, as the private spec.yaml does."""
    if seed.source == "system":
        return None
    if seed.number is None:
        return seed.source
    return seed.number if (info.context or {}).get("with_seed") else "integer"


SeedChoice = Annotated[
    Seed,
    PlainValidator(_parse, json_schema_input_type=int | str | None),
    PlainSerializer(_dump, return_type=int | str | None),
]
"""`seed:` in a spec."""
