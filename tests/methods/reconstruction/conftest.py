"""People of mixed attributes, and what a method needs beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from distanon.data.domain import scan
from distanon.data.schema import Attribute, Role, Schema, infer_type
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryScratch, cut
from distanon.methods.base import Context
from distanon.runtime.crew import SerialCrew

ROLES = {"sick": Role.SENSITIVE, "kept": Role.INSENSITIVE}


def _people(seed: int, n: int, gaps: float = 0.1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n).astype(float)
    frame = pd.DataFrame(
        {
            "age": age,
            "job": rng.choice(["cook", "clerk", "smith", "nurse"], n),
            "town": rng.choice(["A", "B", "C"], n),
            "kept": np.arange(n) % 3,
            "sick": np.where(rng.random(n) * 90 < age, "yes", "no"),
        }
    )
    for name in ("age", "job"):
        frame.loc[rng.random(n) < gaps, name] = None
    return frame


def _dataset(frame: pd.DataFrame, pieces: int = 1, **roles: Role) -> Dataset:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    known = ROLES | roles
    attributes = tuple(
        Attribute(
            field.name,
            known.get(field.name, Role.QUASI_IDENTIFIER),
            infer_type(field.type),
            field.type,
        )
        for field in table.schema
    )
    dataset = Dataset(Schema(attributes), cut(table, pieces))
    return replace(dataset, domain=scan(dataset))


def _context(seed: int = 7, **settings: Any) -> Context:
    given = {"crew": SerialCrew(), "scratch": MemoryScratch()} | settings
    return Context(streams=Streams(seed), **given)


@pytest.fixture(scope="session")
def people():
    return _people


@pytest.fixture(scope="session")
def dataset_of():
    return _dataset


@pytest.fixture(scope="session")
def context():
    return _context
