"""Whole jobs on small tables, and the bytes that they leave."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon.data.ports import Silent
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


class _Killer(Silent):
    """Kills one worker when the first item of a phase is done."""

    def __init__(self, phase: str, cluster) -> None:
        self.phase = phase
        self.cluster = cluster
        self.killed: list[int] = []
        self._now = ""

    def start(self, phase: str, total: int) -> None:
        self._now = phase

    def advance(self, items: int = 1) -> None:
        if self._now == self.phase and not self.killed:
            victim = _workers_of(self.cluster)[0]
            os.kill(victim, signal.SIGKILL)
            self.killed.append(victim)


def _workers_of(cluster) -> list[int]:
    """Process ids of the crew's workers in this cluster, and in no other on the machine."""
    raylets = {
        entry.process.pid
        for node in cluster.list_all_nodes()
        for entry in node.all_processes["raylet"]
    }
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            title = (folder / "cmdline").read_bytes()
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent in raylets and title.startswith(b"ray::") and b"Worker" in title.split(b"\0")[0]:
            found.append(int(folder.name))
    return sorted(found)


@pytest.fixture
def killer_in(ray_cluster):
    """Makes progress that kills a worker in the named phase: `killer_in("release").killed`."""
    return lambda phase: _Killer(phase, ray_cluster)


@pytest.fixture(scope="session")
def social() -> tuple[pa.Table, pa.Table]:
    """Edges and nodes of 300 people: circles of friends, loners, duplicates and self-loops."""
    draw = np.random.default_rng(17)
    count, circles = 300, 12
    circle = np.arange(count) % circles
    pairs = []
    for one in range(count - 6):  # the last six know nobody
        mates = np.flatnonzero(circle[: count - 6] == circle[one])
        pairs += [(one, int(mate)) for mate in draw.choice(mates, 3)]  # some are loops
        pairs.append((one, int(draw.integers(0, count - 6))))
    ends = np.array([*pairs, pairs[0], pairs[1][::-1]])
    name = np.array([f"person-{number:03d}" for number in range(count)])
    edges = pa.table({"source": name[ends[:, 0]], "target": name[ends[:, 1]]})
    nodes = pa.table(
        {
            "node": name,
            "passport": [f"passport-{number}" for number in range(count)],
            "gender": draw.choice(["f", "m"], count),
            "town": draw.choice(["Ulm", "Jena", "Köln"], count, p=[0.5, 0.3, 0.2]),
            "school": draw.choice(["none", "high", "college"], count, p=[0.4, 0.35, 0.25]),
        }
    )
    return edges, nodes


@pytest.fixture(scope="session")
def social_files(tmp_path_factory, social) -> Path:
    """The graph as parquet."""
    folder = tmp_path_factory.mktemp("social")
    for name, table in zip(("edges", "nodes"), social, strict=True):
        pq.write_table(table, folder / f"{name}.parquet")
    return folder


@pytest.fixture
def graph_job(social_files, tmp_path):
    """Makes a spec for the social graph: `graph_job("name", "method.k=4", edges=…)`."""

    def make(place: str = "run", *settings: str, given: str = "", seed: int = 77) -> JobSpec:
        given = given or f"edges: {social_files}/edges.parquet, nodes: {social_files}/nodes.parquet"
        text = f"""
spec: 1
name: social
seed: {seed}
input:
  graph:
    {{{given}, columns: {{
      passport: identifier, gender: quasi_identifier, town: quasi_identifier, school: sensitive}}}}
method: {{name: kmfc_gwo, k: 4, l: 2, t: 0.5, wolves: 3, iterations: 4}}
measure: {{draws: 1}}
output: {tmp_path / place / "release"}
private: {tmp_path / place / "private"}
"""
        return parse_spec(text, settings)

    return make
