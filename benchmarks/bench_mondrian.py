"""Mondrian beside anonypy and anonypyx on the same rows of Adult, and on larger tables.

CPU time is of the work alone, on one core: neither imports nor reading and writing. With --quick
the peers get 2,000 rows and the large table has 200,000; with --full 10 million rows go from
parquet to a verified release by a job on all CPUs, with the memory of all its processes.

    python benchmarks/bench_mondrian.py [--quick] [--full] [--json]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from distanon.runtime.pinning import pin

pin()

import pandas as pd  # noqa: E402
import peers  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from adult_rows import LABEL, QUASI, Judge, adult, dataset_of, in_our_words, larger  # noqa: E402
from measured_jobs import run  # noqa: E402
from rows import (  # noqa: E402
    Row,
    Sheet,
    at_least,
    at_most,
    beside,
    shown,
    times_less,
    times_more,
)

from distanon.data.streams import Streams  # noqa: E402
from distanon.data.table import Dataset, MemoryScratch  # noqa: E402
from distanon.methods.base import Context  # noqa: E402
from distanon.methods.baselines.mondrian import Mondrian  # noqa: E402
from distanon.runtime.crew import SerialCrew  # noqa: E402

K = 10
MARGIN = 0.016  # what 2,561 tested rows can tell apart
PEERS = ("anonypy", "anonypyx")
GIGA = 1e9


def made(method: Mondrian, dataset: Dataset) -> tuple[float, pa.Table]:
    """CPU seconds of a release in this process, and its rows."""
    context = Context(SerialCrew(), MemoryScratch(), Streams(1))
    start = time.process_time()
    release = method.release(dataset, method.default_promises(), context)
    spent = time.process_time() - start
    return spent, pa.concat_tables([piece.read() for piece in release.pieces])


def beside_peers(folder: Path, rows: int) -> Iterator[Row]:
    """CPU time, penalty and accuracy on the same rows."""
    train, test = adult()
    sample = train.iloc[:rows]
    judge = Judge(sample, test)
    method = Mondrian(k=K)
    dataset = dataset_of(pa.Table.from_pandas(sample, preserve_index=False))
    made(method, dataset)  # compiles
    runs = [made(method, dataset) for _ in range(5)]
    spent = statistics.median(seconds for seconds, _ in runs)
    release = runs[0][1].to_pandas()
    ours, penalty = judge.accuracies(release), judge.ncp(release)
    yield shown(f"CPU seconds, {rows:,} rows", spent)
    yield at_most("NCP, range recoding", penalty, 0.060 if rows == len(train) else 1.0)
    originals = judge.accuracies(sample)
    for name, value in ours.items():
        yield beside(f"accuracy of {name}", "original", value, originals[name])
    if peers.lacking():
        print(peers.lacking(), file=sys.stderr)
        return
    sample.to_parquet(folder / "table.parquet", index=False)
    settings = {"quasi_identifiers": list(QUASI), "sensitive": LABEL, "k": K}
    for peer in PEERS:
        done = peers.run(
            peer, str(folder / "table.parquet"), str(folder / f"{peer}.parquet"), settings
        )
        theirs = in_our_words(pd.read_parquet(folder / f"{peer}.parquet"))
        rates = len(sample) / spent, len(theirs) / done.cpu_seconds
        yield times_more("records a CPU second", peer, *rates, 100 if rows == len(train) else 10)
        yield times_less("NCP", peer, penalty, judge.ncp(theirs), 1.0)
        for name, value in judge.accuracies(theirs).items():
            yield at_least(f"accuracy of {name} less {peer}'s", ours[name] - value, -MARGIN)


def orders() -> Iterator[Row]:
    """What the order of categories is worth."""
    train, test = adult()
    judge = Judge(train, test)
    dataset = dataset_of(pa.Table.from_pandas(train, preserve_index=False))
    for order in ("frequency", "label_rate", "alphabetical"):
        _, release = made(Mondrian(k=K, category_order=order), dataset)
        frame = release.to_pandas()
        yield shown(f"NCP, categories by {order}", judge.ncp(frame))
        yield shown(f"accuracy of 1-NN, categories by {order}", judge.accuracies(frame)["1-NN"])


def large(rows: int) -> Iterator[Row]:
    """A large table on one core."""
    dataset = dataset_of(larger(rows), pieces=8)
    spent, release = made(Mondrian(k=K), dataset)
    yield at_most(f"CPU seconds, {rows:,} rows x 8, k {K}", spent, 15 * max(rows / 1e6, 0.2))
    spent, release = made(Mondrian(k=K, l=2, t=0.4), dataset)
    yield shown(f"CPU seconds, {rows:,} rows x 8, k {K}, l 2, t 0.4", spent)
    yield shown("rows released", release.num_rows)


def end_to_end(folder: Path, rows: int) -> Iterator[Row]:
    """From parquet to a verified release in parquet, by a job on Ray."""
    folder.mkdir()
    pq.write_table(larger(rows), folder / "table.parquet", row_group_size=1_000_000)
    spec = {
        "spec": 1,
        "name": "mondrian-large",
        "seed": 1,
        "input": {
            "table": {
                "path": str(folder / "table.parquet"),
                "columns": {LABEL: "sensitive"},
                "default_role": "quasi_identifier",
            }
        },
        "method": {"name": "mondrian", "k": K},
        "measure": {"budget_s": 1},
        "output": "./release/",
        "private": "./private/",
    }
    job = run(spec, folder / "job")
    yield shown(f"seconds to the verified release, {rows:,} rows", job.seconds)
    yield shown(f"CPU seconds of all processes, {rows:,} rows", job.cpu)
    yield at_most(f"GB of all processes at most, {rows:,} rows", job.peak / GIGA, 22)
    yield at_least("promises kept", float(job.kept), 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="smaller tables")
    parser.add_argument("--full", action="store_true", help="10 million rows end to end too")
    parser.add_argument("--json", action="store_true", help="one object a line")
    asked = parser.parse_args()
    sheet = Sheet(asked.json)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sheet.add(*large(200_000 if asked.quick else 1_000_000))
        for row in beside_peers(folder, 2_000 if asked.quick else 30_000):
            sheet.add(row)
        if not asked.quick:
            sheet.add(*orders())
        if asked.full:
            sheet.add(*end_to_end(folder / "large", 10_000_000))
    return sheet.status()


if __name__ == "__main__":
    sys.exit(main())
