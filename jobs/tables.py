"""The paper's two comparisons: neighborhood stability and F-measure, for k = 5 … 50.

    python jobs/tables.py                 # all three data sets, about a quarter of an hour
    python jobs/tables.py --quick         # Forest Fires, k = 5, 10, 20
    python jobs/tables.py --defaults      # distanon's defaults instead of the paper's letter

Both are in the owner's scale, on the numeric columns. Noise has the size of DPTPE's own
displacement at the same k. RBT and NeNDS know no k: their F-measure is one figure. The floor is
what k-means reaches on the original against itself from other seeds: an F near it says that
nothing was lost, however low it is.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import distanon as da
from distanon.data.builtin import path_of
from distanon.data.evidence import Evidence
from distanon.data.finishing import Decimals, DomainRule
from distanon.data.release import publishable_schema, sort_for_release
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryPartition, MemoryScratch, cut
from distanon.methods.base import Context, Method
from distanon.runtime.crew import SerialCrew
from distanon.spec import TableInput
from distanon.utility import neighborhoods
from distanon.utility.clustering import FLOOR_SEEDS, f_measure
from distanon.utility.information_loss import displacement_rms

NOT_NUMERIC = {
    "forest-fires": ("month", "day"),
    "magic": ("class",),
    "poker-hand": ("class",),
}
PAPER = {
    "ties": "truncate",
    "rsn": "paper",
    "domain": "free",
    "decimals": "full",
    "on_unchanged": "keep",
}
"""DPTPE to the letter of its source."""

CLUSTERS = 5
SEED = 1


@dataclass(frozen=True)
class Row:
    """One figure of the tables; `k` is None where it does not depend on k."""

    data: str
    figure: str
    method: str
    k: int | None
    value: float


def read(name: str) -> Dataset:
    """The numeric columns of a built-in data set, all as quasi-identifiers."""
    table = pq.read_table(path_of(name)).drop_columns(list(NOT_NUMERIC[name]))
    settings = TableInput.model_validate(
        {"path": f"builtin:{name}", "default_role": "quasi_identifier"}
    )
    return Dataset(settings.schema_for(table.schema, name), cut(table, 8), name)


def release(method: Method, dataset: Dataset, seed: int = SEED) -> Evidence:
    """A release beside its originals."""
    context = Context(SerialCrew(), MemoryScratch(), Streams(seed))
    made = method.release(dataset, {}, context)
    rows, sources = sort_for_release(pa.concat_tables([piece.read() for piece in made.pieces]))
    published = Dataset(publishable_schema(made.schema), (MemoryPartition(rows),), "the release")
    return Evidence(published, dataset, sources)


def stability(evidence: Evidence, k: int, *, as_paper: bool) -> float:
    """The mean share of a record's k-neighborhood that the release keeps."""
    figures = neighborhoods.measure(
        evidence,
        crew=SerialCrew(),
        streams=Streams(SEED),
        k=k,
        ties="truncate" if as_paper else "include",
    )
    by_name = {figure.name: figure.value for figure in figures}
    return by_name["neighborhoods.stability_owner"]


def clusters(points: NDArray[np.float64], seed: int = 0) -> NDArray[np.int64]:
    """Labels by k-means."""
    from sklearn.cluster import KMeans

    labels = KMeans(CLUSTERS, n_init=4, random_state=seed).fit(points).labels_
    return np.asarray(labels, dtype=np.int64)


def figures(name: str, ks: Sequence[int], *, as_paper: bool) -> Iterator[Row]:
    """All figures of one data set, as they are measured."""
    dataset = read(name)
    decimals: Decimals = "full" if as_paper else "grid"
    domain: DomainRule = "free" if as_paper else "clip"
    fixed = {
        "rbt": release(da.RBT(decimals=decimals), dataset),
        "nends (attribute)": release(da.NeNDS(variant="attribute"), dataset),
        "nends (tuple)": release(da.NeNDS(variant="tuple"), dataset),
    }
    original = next(iter(fixed.values())).original_points
    labels = clusters(original)

    def agreement(evidence: Evidence) -> float:
        in_record_order = np.argsort(np.asarray(evidence.sources))
        return f_measure(labels, clusters(evidence.release_points[in_record_order]))

    floor = [f_measure(labels, clusters(original, seed)) for seed in FLOOR_SEEDS]
    yield Row(name, "F", "floor", None, math.fsum(floor) / len(floor))
    for label, evidence in fixed.items():
        yield Row(name, "F", label, None, agreement(evidence))
    for k in ks:
        dptpe = da.DPTPE.model_validate({"k": k, **(PAPER if as_paper else {})})
        perturbed = release(dptpe, dataset)
        noise = da.Noise(rms=displacement_rms(perturbed), domain=domain, decimals=decimals)
        varying = {"dptpe": perturbed, "noise (same size)": release(noise, dataset)}
        for label, evidence in varying.items():
            yield Row(name, "F", label, k, agreement(evidence))
        for label, evidence in (varying | fixed).items():
            yield Row(name, "stability", label, k, stability(evidence, k, as_paper=as_paper))


def print_table(rows: Sequence[Row], ks: Sequence[int], title: str) -> None:
    """One line a method, one column a k."""
    values = {(row.method, row.k): row.value for row in rows}
    print(f"\n{title}")
    print(f"{'k':<20}" + "".join(f"{k:>7}" for k in ks))
    for method in dict.fromkeys(row.method for row in rows):
        shown = [values.get((method, k), values.get((method, None), math.nan)) for k in ks]
        print(f"{method:<20}" + "".join(f"{value:>7.3f}" for value in shown))


def main() -> None:
    """Prints the tables of the chosen data sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="Forest Fires, k = 5, 10, 20")
    parser.add_argument("--data", choices=NOT_NUMERIC, action="append", help="may be repeated")
    parser.add_argument("--k", type=int, action="append", help="may be repeated")
    parser.add_argument("--defaults", action="store_true", help="not the paper's letter")
    parser.add_argument("--json", action="store_true", help="one object a figure")
    asked = parser.parse_args()
    names = asked.data or (["forest-fires"] if asked.quick else list(NOT_NUMERIC))
    ks = asked.k or ([5, 10, 20] if asked.quick else list(range(5, 55, 5)))
    for name in names:
        rows: list[Row] = []
        for row in figures(name, ks, as_paper=not asked.defaults):
            rows.append(row)
            if asked.json:
                print(json.dumps(vars(row)), flush=True)
        if not asked.json:
            stable = [row for row in rows if row.figure == "stability"]
            print_table(stable, ks, f"{name}: neighborhood stability")
            agreeing = [row for row in rows if row.figure == "F"]
            print_table(agreeing, ks, f"{name}: F-measure of k-means, {CLUSTERS} clusters")


if __name__ == "__main__":
    main()
