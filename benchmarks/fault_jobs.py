"""Small jobs of the three methods, from and to S3, and what of them may be seen at any moment."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from distanon.errors import InputError
from distanon.spec import JobSpec, parse
from distanon.storage.releases import open_any_graph, open_release
from distanon.storage.store import Store

METHODS = {
    "dptpe": ("table", "{name: dptpe, k: 6}"),
    "kmfc_gwo": ("graph", "{name: kmfc_gwo, k: 4, l: 2, t: 0.5, wolves: 6, iterations: 6}"),
    "reconstruction": ("table", "{name: reconstruction, k: 4, individuals: 6, generations: 6}"),
}
"""Each method's input and settings."""

SUCCESS = "_SUCCESS"
_REPORT = "report-public.html"
_INPUTS = {
    "table": """
  table:
    path: s3://{bucket}/table/
    columns:
      person: identifier
      age: quasi_identifier
      rooms: quasi_identifier
      income: quasi_identifier
      town: quasi_identifier
      sick: sensitive""",
    "graph": """
  graph:
    edges: s3://{bucket}/graph/edges.parquet
    nodes: s3://{bucket}/graph/nodes.parquet
    columns: {{passport: identifier, gender: quasi_identifier, town: quasi_identifier,
      school: sensitive}}""",
}
_SPEC = """
spec: 1
name: {name}
seed: 20240229000000000000000000000000000001
input:{input}
method: {method}
measure: {{draws: 1, budget_s: 1.0e-9}}
runtime: {{address: "{address}", workers: 2, partitions: 12, checkpoint_every: 2, max_failures: 10}}
output: s3://{bucket}/release/{place}/
private: s3://{hidden}/{place}/
"""


def beside_tests(name: str) -> Any:
    """A module of `tests/`, where the S3 server and the proxy of faults stand."""
    folder = str(Path(__file__).resolve().parents[1] / "tests")
    if folder not in sys.path:
        sys.path.append(folder)
    return __import__(name)


def upload(server: Any, bucket: str, folder: Path) -> None:
    """Puts the input of all jobs where they look for it."""
    table = people()
    for place, (start, stop) in enumerate([(0, 150), (150, 160), (160, 400)]):
        pq.write_table(table.slice(start, stop - start), folder / f"part-{place}.parquet")
        server.upload(folder / f"part-{place}.parquet", f"{bucket}/table/part-{place}.parquet")
    for name, table in zip(("edges", "nodes"), acquaintances(), strict=True):
        pq.write_table(table, folder / f"{name}.parquet")
        server.upload(folder / f"{name}.parquet", f"{bucket}/graph/{name}.parquet")


def people() -> pa.Table:
    """400 records with ties, duplicates and missing values."""
    draw = np.random.default_rng(5)
    age = draw.integers(18, 80, 400).astype(float)
    age[draw.random(400) < 0.03] = np.nan
    return pa.table(
        {
            "person": [f"person-{number}" for number in range(400)],
            "age": pa.array(age, from_pandas=True),
            "rooms": draw.integers(1, 5, 400),
            "income": np.round(draw.lognormal(8, 0.4, 400), 2),
            "town": draw.choice(["Ulm", "Jena", "Köln", "Bonn"], 400, p=[0.4, 0.3, 0.2, 0.1]),
            "sick": draw.random(400) < 0.2,
        }
    )


def acquaintances() -> tuple[pa.Table, pa.Table]:
    """Edges and nodes of 200 people in circles of friends."""
    draw = np.random.default_rng(17)
    count, circles = 200, 8
    circle = np.arange(count) % circles
    pairs = []
    for one in range(count):
        mates = np.flatnonzero((circle == circle[one]) & (np.arange(count) != one))
        pairs += [(one, int(mate)) for mate in draw.choice(mates, 3, replace=False)]
        pairs.append((one, int((one + draw.integers(1, count)) % count)))
    ends = np.array(pairs)
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


def spec_of(method: str, place: str, buckets: tuple[str, str], address: str) -> JobSpec:
    """A job of its own place; its release has the same bytes as every other of its method.

    Args:
        method: one of METHODS.
        place: folder in both buckets.
        buckets: of input and output, and of all that is private.
        address: of the cluster's head.
    """
    kind, settings = METHODS[method]
    text = _SPEC.format(
        name=method.replace("_", "-"),
        input=_INPUTS[kind].format(bucket=buckets[0]),
        method=settings,
        address=address,
        bucket=buckets[0],
        hidden=buckets[1],
        place=place,
    )
    return parse(text)


def released(url: str) -> dict[str, bytes]:
    """All files below an output but `_SUCCESS`, which names the attempt."""
    store = Store(url)
    names = [entry.name for entry in store.list(leftovers=True)]
    return {name: store.read(name) for name in names if name != SUCCESS}


def _is_taken_for_one(url: str) -> bool:
    """Whether a reader of distanon takes these files for a finished release."""
    for opening in (open_release, open_any_graph):
        try:
            if opening(url) is not None:
                return True
        except InputError:
            continue
    return False


def seen(url: str, expected: dict[str, bytes]) -> str:
    """What a reader finds at an output: "nothing", "whole", "partial" or "wrong".

    Args:
        url: of the output.
        expected: the files of the undisturbed release.
    """
    found = released(url)
    if not Store(url).exists(SUCCESS):
        return "partial" if found and _is_taken_for_one(url) else "nothing"
    if any(expected.get(name) != content for name, content in found.items()):
        return "wrong"
    return "partial" if expected.keys() - found.keys() - {_REPORT} else "whole"
