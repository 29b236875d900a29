"""Reconstruction on Adult beside Mondrian, MDAV, tree leaves, anonypy, anonypyx and anjana.

30,000 rows are released and 2,561 tested; k is 10. Accuracies are of what a release teaches, paired
over seeds of method and learner; figures called "quoted" were measured elsewhere, on another split
of the same size. With --quick one seed, no peers and one generation in ten.

    python benchmarks/bench_reconstruction.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from distanon.runtime.pinning import pin

pin()

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import peers  # noqa: E402
import pyarrow as pa  # noqa: E402
from adult_rows import LABEL, QUASI, Judge, adult, dataset_of, in_our_words  # noqa: E402
from rows import Row, Sheet, at_least, at_most, beside, shown, times_more  # noqa: E402

from distanon.attacks import identity  # noqa: E402
from distanon.data.evidence import Evidence  # noqa: E402
from distanon.data.schema import SOURCE  # noqa: E402
from distanon.data.streams import Streams  # noqa: E402
from distanon.data.table import Dataset, MemoryPartition, MemoryScratch  # noqa: E402
from distanon.kernels.first_chosen import Candidates, Questions, hits, nearest_lists  # noqa: E402
from distanon.kernels.neighbors import NeighborIndex, distinct  # noqa: E402
from distanon.methods.base import Context, Method  # noqa: E402
from distanon.methods.baselines.decision_tree_leaves import DecisionTreeLeaves  # noqa: E402
from distanon.methods.baselines.mdav import MDAV  # noqa: E402
from distanon.methods.baselines.mondrian import Mondrian  # noqa: E402
from distanon.methods.baselines.whole_table import WholeTable  # noqa: E402
from distanon.methods.reconstruction.method import Reconstruction  # noqa: E402
from distanon.methods.reconstruction.problem import Parents, Problem, make_and_count  # noqa: E402
from distanon.runtime.crew import Crew, SerialCrew  # noqa: E402

K = 10
TIE = 0.016  # what 2,561 tested rows can tell apart
NAMES = ("random forest", "logistic regression", "1-NN")
QUOTED = {
    "original": (None, 30_000, 0.827, 0.812, 0.781),
    "ARX, 5 % suppression": (6.6, 28_506, 0.783, 0.783, 0.727),
    "ARX, local recoding": (15.0, 30_000, 0.797, 0.805, 0.761),
    "anonypy": (50.0, 30_000, 0.818, 0.813, 0.761),
    "anonypyx": (61.0, 30_000, 0.817, 0.813, 0.761),
    "a 25-line Mondrian": (0.12, 30_000, 0.816, 0.808, 0.747),
    "decision-tree leaves": (0.32, 30_000, 0.820, 0.815, 0.746),
}
"""CPU seconds, rows, and the accuracies of `NAMES`, as quoted."""


@dataclass(frozen=True)
class Made:
    """A release of this process."""

    spent: float
    frame: pd.DataFrame
    sources: np.ndarray
    counts: dict[str, int]


def made(method: Method, dataset: Dataset, seed: int = 1) -> Made:
    """Releases the table; CPU seconds of all that the method does."""
    context = Context(SerialCrew(), MemoryScratch(), Streams(seed))
    start = time.process_time()
    release = method.release(dataset, method.default_promises(), context)
    spent = time.process_time() - start
    table = pa.concat_tables([piece.read() for piece in release.pieces])
    frame = table.drop_columns([SOURCE]).to_pandas()
    return Made(spent, frame, table.column(SOURCE).to_numpy(), dict(release.counts))


def compared(quick: bool) -> Iterator[Row]:  # noqa: FBT001 - of the command line
    """All methods in one table, and the goals of reconstruction."""
    train, test = adult()
    judge, dataset = Judge(train, test), dataset_of(pa.Table.from_pandas(train))
    seeds = range(1 if quick else 5)
    short = {"generations": 15} if quick else {}
    methods: dict[str, Method] = {
        "reconstruction strict": Reconstruction(k=K, **short),
        "reconstruction paper": Reconstruction(k=K, mode="paper", **short),
        "Mondrian": Mondrian(k=K),
        "Mondrian, value recoding": Mondrian(k=K, recoding="value"),
        "MDAV": MDAV(k=K),
        "decision-tree leaves": DecisionTreeLeaves(k=K),
    }
    originals = judge.accuracies(train)
    found: dict[str, list[list[float]]] = {}
    for label, method in methods.items():
        is_drawn = isinstance(method, Reconstruction)
        releases = [made(method, dataset, seed) for seed in (seeds if is_drawn else [0])]
        scores = [judge.accuracies(releases[seed % len(releases)].frame, seed) for seed in seeds]
        found[label] = [[score[name] for name in NAMES] for score in scores]
        yield shown(f"{label}: CPU seconds", statistics.median(one.spent for one in releases))
        for place, name in enumerate(NAMES):
            mean = float(np.mean([score[place] for score in found[label]]))
            yield beside(f"{label}: accuracy of {name}", "original", mean, originals[name])
        if is_drawn:
            yield from linkage(label, dataset, releases[0])
    yield from goals(found, originals)


def goals(found: Mapping[str, list[list[float]]], originals: Mapping[str, float]) -> Iterator[Row]:
    """Differences of pairs with their 95 % intervals."""
    strict = np.array(found["reconstruction strict"])
    for other in ("Mondrian", "Mondrian, value recoding"):
        for place, name in enumerate(NAMES):
            gaps = strict[:, place] - np.array(found[other])[:, place]
            mean, half = float(gaps.mean()), half_width(gaps)
            goal = 0.0 if name == "1-NN" else -half
            yield at_least(f"strict less {other}, {name} (± {half:.4f})", mean, goal)
    paper = float(np.mean([score[2] for score in found["reconstruction paper"]]))
    yield at_least("paper less original, 1-NN", paper - originals["1-NN"], -0.005)


def half_width(gaps: np.ndarray) -> float:
    """Of the t interval of a mean; 0 of a single pair."""
    from scipy import stats

    if len(gaps) < 2:
        return TIE
    return float(stats.t.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps)))


def linkage(label: str, dataset: Dataset, release: Made) -> Iterator[Row]:
    """What the identity attack finds, by the upper end of its interval."""
    table = pa.Table.from_pandas(release.frame, preserve_index=False)
    shown_rows = Dataset(dataset.schema, (MemoryPartition(table),))
    evidence = Evidence(
        shown_rows, dataset, release.sources, replicates=label == "reconstruction paper"
    )
    rates = identity.measure(evidence, crew=SerialCrew(), streams=Streams(0))
    upper, worst = max((one.ci_high, one.value) for one in rates if one.ci_high is not None)
    yield shown(f"{label}: linkage, the worst variant", worst)
    if label == "reconstruction strict":
        yield at_most(f"{label}: linkage, upper end", upper, 1 / K)
    for name in ("exact_tuple", "source_people", "groups"):
        if name in release.counts:
            yield shown(f"{label}: {name}", release.counts[name])


def beside_peers(folder: Path) -> Iterator[Row]:
    """What users have today, on the same rows."""
    if peers.lacking():
        print(peers.lacking(), file=sys.stderr)
        return
    train, test = adult()
    judge = Judge(train, test)
    train.to_parquet(folder / "table.parquet", index=False)
    settings = {"quasi_identifiers": list(QUASI), "sensitive": LABEL, "k": K}
    for peer in ("anonypy", "anonypyx"):
        out = str(folder / f"{peer}.parquet")
        done = peers.run(peer, str(folder / "table.parquet"), out, settings)
        yield from told(peer, done.cpu_seconds, judge, in_our_words(pd.read_parquet(out)))
    hierarchies = {name: hierarchy(folder, train, name) for name in QUASI}
    more = settings | {"suppression": 5, "hierarchies": hierarchies}
    out = str(folder / "anjana.parquet")
    done = peers.run("anjana", str(folder / "table.parquet"), out, more)
    theirs = pd.read_parquet(out)
    yield shown("anjana: rows", len(theirs))
    yield from told("anjana", done.cpu_seconds, judge, theirs)


def told(peer: str, spent: float, judge: Judge, release: pd.DataFrame) -> Iterator[Row]:
    """A peer's lines of the table."""
    yield shown(f"{peer}: CPU seconds", spent)
    for name, value in judge.accuracies(release).items():
        yield shown(f"{peer}: accuracy of {name}", value)


def hierarchy(folder: Path, train: pd.DataFrame, name: str) -> str:
    """Two levels: ages in decades, then nothing; of categories nothing at once."""
    values = sorted(train[name].unique())
    path = folder / f"{name}.csv"
    if name == "age":
        lines = [f'{v},"[{v // 10 * 10}, {v // 10 * 10 + 9}]",*' for v in values]
    else:
        lines = [f"{v},*" for v in values]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def one_evaluation() -> Iterator[Row]:
    """Fitting and scoring a 1-NN on a subset of 3,000, against a scan of lists."""
    from sklearn.neighbors import KNeighborsClassifier

    train, _ = adult()
    table = WholeTable.read(dataset_of(pa.Table.from_pandas(train)))
    points = table.space.embed(table.values)
    labels = (train[LABEL] == train[LABEL].iloc[0]).to_numpy().astype(np.int64)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(points))
    judges, rest = order[:10_000], np.sort(order[10_000:])
    index = NeighborIndex.build(distinct(points[rest]))
    asked = distinct(points[judges])
    weights = np.zeros((len(asked), 2), np.int64)
    np.add.at(weights, (asked.point_of, labels[judges]), 1)
    none = np.full(len(asked), -1, np.int32)
    questions = Questions(asked.rows, none, nearest_lists(index, asked.rows, 60), weights)
    candidates = Candidates(index.points.rows, index.points.point_of)
    chosen = np.zeros(len(rest), np.uint8)
    chosen[rng.choice(len(rest), 3_000, replace=False)] = 1
    who = np.flatnonzero(chosen)
    hits(questions, candidates, chosen, labels[rest])  # compiles
    ours, theirs, right, score = [], [], 0, 0.0
    for _ in range(3):
        start = time.process_time()
        for _ in range(30):
            right = int(np.trace(hits(questions, candidates, chosen, labels[rest])))
        ours.append((time.process_time() - start) / 30)
        start = time.process_time()
        peer = KNeighborsClassifier(1, algorithm="auto", n_jobs=1)
        peer.fit(points[rest][who], labels[rest][who])
        score = peer.score(points[judges], labels[judges])
        theirs.append(time.process_time() - start)
    rates = 1 / statistics.median(ours), 1 / statistics.median(theirs)
    yield times_more("fitness evaluations a CPU second", "scikit-learn", *rates, 100)
    yield at_most("accuracy apart from scikit-learn's", abs(right / 10_000 - score), 0.005)
    squares = (points[rest][who] ** 2).sum(axis=1)
    direct = 0
    for start in range(0, 10_000, 1_000):
        block = judges[start : start + 1_000]
        near = squares - 2 * points[block] @ points[rest][who].T
        near = np.round(near, 9).argmin(axis=1)  # the first of those at equal distance
        direct += int((labels[rest][who][near] == labels[block]).sum())
    yield at_most("hits apart from a direct 1-NN's", abs(right - direct), 0)


def actors() -> Iterator[Row]:
    """Children made and evaluated a second by one and by two workers: the best of the rounds."""
    from distanon.methods.reconstruction import paper as mode
    from distanon.runtime import crew
    from distanon.runtime.settings import RuntimeSettings

    caught: list[Problem] = []

    def catch(problem: Problem, *_: object) -> None:
        caught.append(problem)
        raise InterruptedError

    original = vars(mode)["search"]
    vars(mode)["search"] = catch
    train, _ = adult()
    try:
        made(Reconstruction(k=K, mode="paper"), dataset_of(pa.Table.from_pandas(train)))
    except InterruptedError:
        pass
    finally:
        vars(mode)["search"] = original
    rates: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(3):
        for workers, found in rates.items():
            with crew(RuntimeSettings(workers=workers)) as opened:
                found.extend(rate(opened, caught[0]) for _ in range(2))
    two, one = max(rates[2]), max(rates[1])
    yield times_more("children a second, two workers", "one worker", two, one, 1.7)


def rate(opened: Crew, problem: Problem) -> float:
    """Children a second in batches of 200."""
    shared = opened.put(problem)
    draw = np.random.default_rng(0)
    genomes = np.stack([problem.optimizer.random(draw) for _ in range(10)])
    losses = [float(place) for place in range(10)]
    parents = [opened.put(Parents(genomes, losses, turn, Streams(1))) for turn in range(12)]
    batches = [(one, 0, 200) for one in parents]
    list(opened.map(make_and_count, batches[:2], shared=shared))  # compiled, and at hand
    start = time.perf_counter()
    list(opened.map(make_and_count, batches, shared=shared))
    return 200 * len(batches) / (time.perf_counter() - start)


def quoted() -> Iterator[Row]:
    """Figures that were measured elsewhere, on another split of the same size."""
    for label, (spent, count, *accuracies) in QUOTED.items():
        if spent is not None:
            yield shown(f"quoted, {label}: CPU seconds", spent)
        yield shown(f"quoted, {label}: rows", count)
        for name, value in zip(NAMES, accuracies, strict=True):
            yield shown(f"quoted, {label}: accuracy of {name}", value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one seed, no peers")
    parser.add_argument("--json", action="store_true", help="one object a line")
    asked = parser.parse_args()
    sheet = Sheet(asked.json)
    sheet.add(*one_evaluation())
    sheet.add(*quoted())
    for row in compared(asked.quick):
        sheet.add(row)
    sheet.add(*actors())
    if not asked.quick:
        with tempfile.TemporaryDirectory() as folder:
            for row in beside_peers(Path(folder)):
                sheet.add(row)
    return sheet.status()


if __name__ == "__main__":
    sys.exit(main())
