"""Promises in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from distanon.promises.base import Promise, Verdict


def in_words(values: Any) -> str:
    """Parameters or figures in one line: "k 10, counted people"; without one that has no value."""
    if isinstance(values, Mapping):
        parts = [_pair(key, value) for key, value in values.items() if value is not None]
        return ", ".join(parts) or "–"
    if isinstance(values, bool):
        return "yes" if values else "no"
    if isinstance(values, float):
        return f"{values:g}"
    if isinstance(values, Sequence) and not isinstance(values, str):
        return ", ".join(map(in_words, values)) or "–"
    return "–" if values is None else str(values)


def refusal(promises: Mapping[str, Promise], verdicts: Sequence[Verdict]) -> str:
    """For every broken promise what was asked, what the files show and what would help.

    Returns:
        Lines without a value of the data; "" where every promise is kept.
    """
    lines = []
    for promise, verdict in zip(promises.values(), verdicts, strict=True):
        if verdict.kept:
            continue
        lines.append(
            f"promises.{verdict.promise}: asked {in_words(verdict.asked)}; measured "
            f"{in_words(verdict.measured)}: {verdict.reason}"
        )
        lines.append(f"  what would help: {promise.remedy}")
    return "\n".join(lines)


def _pair(key: Any, value: Any) -> str:
    text = in_words(value)
    return f"{key} ({text})" if isinstance(value, Mapping | list | tuple) else f"{key} {text}"
