"""DPTPE: what it takes beside its neighborhoods, on more workers, in pieces, and as tables grow.

    python benchmarks/bench_dptpe.py [--quick] [--full] [--growth] [--workers] [--most N] [--json]

Ray's start-up is left out where workers are compared. With `--full` whole jobs run from parquet
to verified parquet: the Poker stand-in, and mixtures of 10⁴ to 10⁷ records.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from distanon.runtime.pinning import pin

pin()  # one thread for all, before numpy is imported

import measured_jobs  # noqa: E402
import neighbor_tables  # noqa: E402
import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from rows import Row, Sheet, at_least, at_most, beside, shown, times_less  # noqa: E402

from distanon.data.domain import scan  # noqa: E402
from distanon.data.ports import Silent  # noqa: E402
from distanon.data.schema import Attribute, Role, Schema, infer_type  # noqa: E402
from distanon.data.space import AttributeSpace  # noqa: E402
from distanon.data.streams import Streams  # noqa: E402
from distanon.data.table import Dataset, MemoryScratch, cut  # noqa: E402
from distanon.kernels.neighbors import NeighborIndex, distinct  # noqa: E402
from distanon.kernels.potential import best_sigma  # noqa: E402
from distanon.methods.base import Context  # noqa: E402
from distanon.methods.dptpe import DPTPE  # noqa: E402
from distanon.methods.dptpe.passes import sigma_sample  # noqa: E402
from distanon.runtime import crew  # noqa: E402
from distanon.runtime.allocator import keep_freed_memory  # noqa: E402
from distanon.runtime.crew import Crew, Kept, SerialCrew, Shared  # noqa: E402
from distanon.runtime.settings import RuntimeSettings  # noqa: E402
from distanon.sharded.piece_neighbors import neighborhoods_in_pieces  # noqa: E402
from distanon.sharded.pieces import cut_into_pieces  # noqa: E402

Floats = NDArray[np.float64]

K = 10
BLOCKS = 16
PARTS = ("shares", "pieces", "workers", "poker", "growth")
OWN_PHASES = ("entropies", "dispersion", "nearest records", "release")


class Stopwatch(Silent):
    """Progress that takes the CPU time of each phase in this process."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._phase, self._since = "", time.process_time()

    def start(self, phase: str, total: int) -> None:
        """A phase begins; the one before it has ended."""
        del total
        now = time.process_time()
        self.seconds[self._phase] += now - self._since
        self._phase, self._since = phase, now


class ThreadCrew(SerialCrew):
    """Two threads of one process: what two actors are compared with."""

    @property
    def workers(self) -> int:
        """Two."""
        return 2

    def map(
        self,
        function: Callable[[Any, Any], Any],
        items: Iterable[Any],
        *,
        shared: Shared | None = None,
        keep: bool = False,
        phase: str = "",
    ) -> Iterator[Any]:
        """As `SerialCrew.map`."""

        def one(item: Any) -> list[Any]:
            # Each thread has a crew of its own: their progress would be mixed up.
            return list(SerialCrew().map(function, [item], shared=shared, keep=keep, phase=phase))

        with ThreadPoolExecutor(2) as pool:
            yield from itertools.chain.from_iterable(pool.map(one, items))


def dataset(matrix: Floats, partitions: int = BLOCKS) -> Dataset:
    """The table of a matrix, its columns quasi-identifiers."""
    table = pa.table({f"x{place}": column for place, column in enumerate(matrix.T)})
    attributes = tuple(
        Attribute(field.name, Role.QUASI_IDENTIFIER, infer_type(field.type), field.type)
        for field in table.schema
    )
    data = Dataset(Schema(attributes), cut(table, partitions), "the benchmark's table")
    return Dataset(data.schema, data.partitions, data.source, scan(data))


def release(data: Dataset, workers: Crew, watch: Silent | None = None) -> float:
    """Seconds for a release, from a data set in memory to written pieces in memory."""
    context = Context(workers, MemoryScratch(), Streams(1), watch or Silent(), BLOCKS, pieces=1)
    started = time.perf_counter()
    DPTPE(k=K).release(data, {}, context)
    return time.perf_counter() - started


def shares(name: str, data: Dataset, rounds: int = 5) -> list[Row]:
    """What entropies, dispersion and replacement take beside the neighborhoods, CPU seconds.

    The neighborhoods' time is that of their index and of the search. The width of influence is
    found while others search, so that it is timed once more by itself; what all of them take
    with it stands in a row of its own, without a goal.
    """
    keep_freed_memory()  # as workers do
    found = [_spent(data) for _ in range(rounds)]
    spent = {phase: min(one[phase] for one in found) for phase in found[0]}
    own = sum(spent[phase] for phase in OWN_PHASES)
    label = f"{name}: entropies, dispersion and replacement, CPU s, beside neighborhoods"
    with_sigma = f"{name}: the same and the width of influence, CPU s, beside neighborhoods"
    parts = [shown(f"{name}: {phase}, CPU s", seconds) for phase, seconds in spent.items()]
    neighbors = spent["index"] + spent["neighborhoods"]
    return [
        *parts,
        times_less(label, "index and search", own, neighbors, 0.15),
        beside(with_sigma, "index and search", own + spent["sigma"], neighbors),
    ]


def _spent(data: Dataset) -> dict[str, float]:
    """CPU seconds of each phase of one release."""
    watch = Stopwatch()
    release(data, SerialCrew(watch), watch)
    watch.start("", 0)
    space = AttributeSpace.of(data.schema.quasi_identifiers, scan(data))
    points = distinct(space.embed(space.encode(data.read())))
    sample = points.rows[points.point_of[sigma_sample(len(data), Streams(1))]]
    alone = {}
    for part, work in (
        ("index", lambda: NeighborIndex.build(points)),
        ("sigma", lambda: best_sigma(sample)),
    ):
        started = time.process_time()
        work()
        alone[part] = time.process_time() - started
    phases = {phase: watch.seconds[phase] for phase in ("reading", "neighborhoods", *OWN_PHASES)}
    phases["reading"] -= alone["index"]
    phases["neighborhoods"] -= alone["sigma"]
    return phases | alone


def workers(name: str, data: Dataset, *, with_threads: bool, rounds: int = 5) -> list[Row]:
    """Two workers against one and against two threads: medians of interleaved rounds.

    Ray is up already, and so is the memory of its store: each crew makes the release twice, and
    the second is compared. What the first took, whose every page the system has yet to give,
    stands in rows of its own.
    """
    spent: dict[int, list[float]] = {1: [], 2: [], 0: []}
    first: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for count, times in first.items():
            with crew(RuntimeSettings(workers=count)) as opened:
                warm_up(opened)
                times.append(release(data, opened))
                spent[count].append(release(data, opened))
        if with_threads:
            spent[0].append(release(data, ThreadCrew()))
    one, two = statistics.median(spent[1]), statistics.median(spent[2])
    rows = [at_least(f"{name}: two workers, times as fast as one", one / two, 1.7)]
    for count, times in first.items():
        label = f"{name}: a crew's first release, s on {count} worker{'s' * (count > 1)}"
        rows.append(shown(label, statistics.median(times)))
    if with_threads:
        label = f"{name}: two actors, s"
        rows.append(times_less(label, "two threads", two, statistics.median(spent[0]), 1.15))
    return rows


def warm_up(workers: Crew) -> None:
    """Imports and compiled code, in every worker, before the clock runs."""
    release(dataset(np.random.default_rng(0).random((20_000, 8))), workers)


def pieces(name: str, matrix: Floats, count: int, goal: float | None) -> list[Row]:
    """Distance evaluations of a table in pieces against one tree."""
    points = distinct(matrix)
    index = NeighborIndex.build(points)
    whole = 0
    for start in range(0, len(points), 8192):
        places = np.arange(start, min(start + 8192, len(points)))
        whole += int(index.proposer.to_places(places, K)[2])
    data, serial = dataset(matrix), SerialCrew()
    space = AttributeSpace.of(data.schema.quasi_identifiers, scan(data), "none")
    made = cut_into_pieces(serial, MemoryScratch(), data, space, Streams(1), count)
    found: list[Kept] = neighborhoods_in_pieces(serial, made, K, "include")
    told = [serial.fetch(one) for one in found]
    evaluated = sum(one.evaluated for one in told)
    visits = sum(one.visits for one in told) / sum(made.points)
    label = f"{name}, {len(made)} pieces"
    visited = shown(f"{label}: remote visits to a point", visits)
    label = f"{label}: distances / 32"
    if goal is None:
        return [beside(label, "one tree", evaluated, whole), visited]
    return [times_less(label, "one tree", evaluated, whole, goal), visited]


def job(name: str, matrix: Floats, folder: Path) -> measured_jobs.Finished:
    """A whole job, from parquet to verified parquet."""
    (folder / "input").mkdir(parents=True)
    for number, start in enumerate(range(0, len(matrix), 1_000_000)):
        part = matrix[start : start + 1_000_000]
        table = pa.table({f"x{place}": column for place, column in enumerate(part.T)})
        pq.write_table(table, folder / "input" / f"part-{number:03d}.parquet")
    spec = {
        "spec": 1,
        "name": name,
        "seed": 20_240_115,
        "input": {"table": {"path": "./input/", "default_role": "quasi_identifier"}},
        "method": {"name": "dptpe", "k": K},
        # What is timed ends with `_SUCCESS`; attacks and utility would take ten minutes more.
        "measure": {"budget_s": 0.001, "draws": 1},
        "output": "./release/",
        "private": "./private/",
    }
    return measured_jobs.run(spec, folder)


def growth(most: int) -> Iterator[Row]:
    """Time to the published release and memory against the number of records."""
    last: tuple[int, float] | None = None
    sizes = [n for n in (10_000, 100_000, 1_000_000, 10_000_000) if n <= most]
    for n in sizes:
        with tempfile.TemporaryDirectory() as place:
            done = job(f"mixture-{n}", neighbor_tables.mixture(n, 8), Path(place))
        label = f"mixture {n} x 8, whole job"
        seconds = measured_jobs.without_start(done)
        yield shown(f"{label}: s, start of Ray apart", seconds)
        yield at_most(f"{label}: GB of the largest process", done.largest / 1e9, 1.5)
        yield shown(f"{label}: GB in Ray's store of objects", done.shared / 1e9)
        if last is not None:
            exponent = math.log(seconds / last[1]) / math.log(n / last[0])
            yield shown(f"{label}: growth exponent", exponent)
        last = n, seconds


def main() -> int:
    """Prints the rows; 1 when one misses its goal."""
    parser = argparse.ArgumentParser(description="DPTPE beside its neighborhoods")
    parser.add_argument("--part", action="append", choices=PARTS, help="by default the first three")
    parser.add_argument("--quick", action="store_true", help="a tenth of the records, no Ray")
    parser.add_argument("--full", action="store_true", help="all parts")
    parser.add_argument("--most", type=int, default=10_000_000, help="records of growing jobs")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    quick, sheet = arguments.quick, Sheet(arguments.json)
    parts = arguments.part or (PARTS if arguments.full else PARTS[: 2 if quick else 3])
    n = 100_000 if quick else 1_000_000
    cards = neighbor_tables.poker(50_000 if quick else 1_025_010)
    mixture = neighbor_tables.mixture(n, 8)
    warm_up(SerialCrew())
    if "pieces" in parts:
        for name, matrix in ((f"mixture {n} x 8", mixture), (f"poker {len(cards)}", cards)):
            for count, goal in ((8, 1.1), (64, 1.3)):
                # Pieces of a small table are all border: no goal is stated for them.
                sheet.add(*pieces(name, matrix, count, None if quick and count == 64 else goal))
    if "workers" in parts:
        sheet.add(*workers(f"mixture {n} x 8", dataset(mixture), with_threads=True))
        sheet.add(*workers("poker stand-in", dataset(cards), with_threads=False))
    if "poker" in parts:
        with tempfile.TemporaryDirectory() as place:
            done = job("poker", cards, Path(place))
        sheet.add(shown("poker stand-in, parquet to verified parquet, s", done.seconds))
    if "shares" in parts:  # after what is timed in threads: it changes how this process allocates
        sheet.add(*shares(f"mixture {n} x 8", dataset(mixture)))
    if "growth" in parts:
        for row in growth(arguments.most):
            sheet.add(row)
    return sheet.status()


if __name__ == "__main__":
    sys.exit(main())
