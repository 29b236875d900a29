"""Whole jobs on small tables, and the bytes that they leave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon.spec import JobSpec
from distanon.spec import parse as parse_spec


@pytest.fixture(scope="session")
def mixed_table() -> pa.Table:
    """900 records: ties, duplicates, missing values, every kind of attribute."""
    draw = np.random.default_rng(5)
    age = draw.integers(18, 80, 900).astype(float)
    age[draw.random(900) < 0.03] = np.nan
    grade = draw.choice(["low", "mid", "high"], 900)
    town = draw.choice(["Ulm", "Jena", "Köln", "Bonn"], 900, p=[0.4, 0.3, 0.2, 0.1])
    table = pa.table(
        {
            "person": [f"person-{number}" for number in range(900)],
            "age": pa.array(age, from_pandas=True),
            "rooms": draw.integers(1, 5, 900),
            "income": np.round(draw.lognormal(8, 0.4, 900), 2),
            "grade": grade,
            "town": pa.array(town).dictionary_encode(),
            "sick": draw.random(900) < 0.2,
            "note": draw.choice(["a", "b"], 900),
        }
    )
    return pa.concat_tables([table.slice(0, 850), table.slice(0, 50)])


@pytest.fixture(scope="session")
def mixed_parts(tmp_path_factory, mixed_table) -> Path:
    """The table as three parquet parts of different sizes."""
    folder = tmp_path_factory.mktemp("input")
    for place, (start, stop) in enumerate([(0, 300), (300, 310), (310, 900)]):
        pq.write_table(mixed_table.slice(start, stop - start), folder / f"part-{place}.parquet")
    return folder


@pytest.fixture
def job(mixed_parts, tmp_path):
    """Makes a spec for the mixed table: `job("name", {"method.k": 7}, …)`."""

    def make(place: str = "run", *settings: str, compare: str = "[]") -> JobSpec:
        text = f"""
spec: 1
name: mixed
seed: 20240229000000000000000000000000000001
input:
  table:
    path: {mixed_parts}
    columns:
      person: identifier
      age: quasi_identifier
      rooms: quasi_identifier
      income: quasi_identifier
      grade: {{role: quasi_identifier, type: ordinal, order: [low, mid, high]}}
      town: quasi_identifier
      sick: sensitive
      note: insensitive
method: {{name: dptpe, k: 6}}
compare: {compare}
measure: {{draws: 2}}
output: {tmp_path / place / "release"}
private: {tmp_path / place / "private"}
"""
        return parse_spec(text, settings)

    return make


def _public_bytes(folder: Path) -> dict[str, bytes]:
    """Every public file but the marks, which name the attempt."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and path.name not in ("_CLAIM", "_SUCCESS")
    }


@pytest.fixture
def public_bytes():
    return _public_bytes
