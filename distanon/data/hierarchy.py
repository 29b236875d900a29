"""Generalization hierarchies of nominal attributes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """For each value its generalizations, from the value itself to the one top."""

    levels: tuple[tuple[str, ...], ...]
