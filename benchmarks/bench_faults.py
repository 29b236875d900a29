"""Seeded faults while small jobs run: a release that is right, or a clear failure and then one.

    .venv/bin/python benchmarks/bench_faults.py [--quick] [--seeds FIRST STOP] [--json]
        [--to FILE] [--seconds S]

One Ray cluster, one S3 server and one proxy of faults stand for all. Each seed says what goes
wrong, in which method's job and when; the moment is counted in finished items or in requests to
S3, so it is the same on a slow machine. Of the faults that spare workers two in three meet a job
that works in its own process ("alone"), which starts sooner. Every outcome is compared by bytes
with the release of an undisturbed run. Exit status 1 where a release is wrong or partial, a job
hangs, or a failure is not clear. With --to the outcomes are added to a file, seeds that are in it
are not injected again, and the table is of all in it; with --seconds no more are begun after so
long.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from distanon.runtime.pinning import pin

pin()

import drilling  # noqa: E402  after the pins, as numpy below it
import fault_jobs  # noqa: E402
from fault_jobs import METHODS, beside_tests, released, seen, spec_of  # noqa: E402
from rows import Sheet, at_most, shown  # noqa: E402

from distanon import job as jobs  # noqa: E402
from distanon.data.ports import Silent  # noqa: E402
from distanon.errors import DistanonError  # noqa: E402
from distanon.job.journal import RUN, Journal  # noqa: E402
from distanon.spec import JobSpec  # noqa: E402
from distanon.storage.store import Store  # noqa: E402

SEEDS = 100
QUICK = 8
HANG_S = 240.0
"""Seconds after which a job counts as hung; undisturbed it takes a few."""
KINDS = (
    "worker killed",
    "node killed",
    "node drained",
    "driver killed",
    "storage failing",
    "storage cut",
    "storage refuses",
    "checkpoint damaged",
)
GOOD = ("right", "resumed")
BAD = ("wrong", "partial", "hang", "unclear")
_ALONE = 2 / 3
_PASSING = ("DROP_REQUEST", "DROP_RESPONSE", "TRUNCATE", "SHORTENED", "SLOW_DOWN", "BROKEN")
_DRIVER = ("driver killed", "checkpoint damaged")
_STORAGE = ("storage failing", "storage cut", "storage refuses")
_IN_ONE_PROCESS = """
import sys
from distanon.runtime.pinning import pin
pin()
from distanon import job
from distanon.spec import load
job.run_job(load(sys.argv[1]), serial=True)
"""

Rule = Callable[[str, str, int], Any]


@dataclass(frozen=True)
class Outcome:
    """What came of one injection.

    Attributes:
        seed: of the injection.
        kind: what went wrong.
        method: of the job.
        moment: when, in the units of the injection.
        struck: whether the job was still there when it came.
        outcome: right | resumed (a clear failure, right after `resume`) | one of BAD.
        seconds: of the struck run.
        survived: run.json's word of it.
        said: of a failure, its message; of a bad outcome, what is wrong.
    """

    seed: int
    kind: str
    method: str
    moment: str
    struck: bool
    outcome: str
    seconds: float
    survived: dict[str, Any] = field(default_factory=dict)
    said: str = ""


@dataclass(frozen=True)
class Calm:
    """An undisturbed run: its release, and how much there is to count."""

    files: dict[str, bytes]
    items: int
    requests: int
    kept: int
    seconds: float


class Sky:
    """The rule of the proxy: counts requests and asks the weather of the moment."""

    def __init__(self) -> None:
        self.rule: Rule | None = None
        self.requests = self.kept = 0

    def clear(self, rule: Rule | None = None) -> None:
        """Begins to count anew, under a rule or none."""
        self.rule, self.requests, self.kept = rule, 0, 0

    def __call__(self, method: str, path: str, _number: int) -> Any:
        """What shall happen to a request."""
        self.requests += 1
        self.kept += is_kept(method, path)
        return None if self.rule is None else self.rule(method, path, self.requests)


def is_kept(method: str, path: str) -> bool:
    """Whether a request writes a table of a checkpoint."""
    return method == "PUT" and "/checkpoint/" in path and "HEADER" not in path


class Strike(Silent):
    """Acts a moment after an item of the job was done."""

    def __init__(self, item: int = -1, delay: float = 0.0, act: Callable[[], Any] = bool) -> None:
        self.done, self.struck = 0, False
        self._item, self._delay, self._act = item, delay, act
        self.timer: threading.Timer | None = None

    def advance(self, items: int = 1) -> None:
        """Counts."""
        self.done += items
        if 0 <= self._item <= self.done and self.timer is None:
            self.timer = threading.Timer(self._delay, self._strike)
            self.timer.start()

    def _strike(self) -> None:
        self.struck = self._act() is not False


class Bench:
    """The cluster, the storage and the undisturbed releases."""

    def __init__(self, cluster: Any, server: Any, sky: Sky, folder: Path) -> None:
        self.cluster, self.sky, self.folder = cluster, sky, folder
        self.buckets = server.bucket(), server.bucket()
        fault_jobs.upload(server, self.buckets[0], folder)
        self._faults = beside_tests("fault_proxy").Fault
        self._calm: dict[str, Calm] = {}
        self._is_alone = False

    def calm(self, method: str) -> Calm:
        """The undisturbed run of a method, made once."""
        if method not in self._calm:
            self.sky.clear()
            watch, began = Strike(), time.monotonic()
            spec = self._spec(method, f"calm-{method}")
            jobs.run_job(spec, progress=watch)
            seconds = time.monotonic() - began
            counts = watch.done, self.sky.requests, self.sky.kept
            self._calm[method] = Calm(released(spec.output), *counts, seconds)
        return self._calm[method]

    def _spec(self, method: str, place: str) -> JobSpec:
        return spec_of(method, place, self.buckets, self.cluster.address)

    def inject(self, seed: int) -> Outcome:
        """One injection, from a whole cluster to a whole release."""
        kind, method = KINDS[seed % len(KINDS)], list(METHODS)[seed // len(KINDS) % len(METHODS)]
        calm, draw = self.calm(method), random.Random(seed)
        drilling.fill_up(self.cluster, 2)
        self.sky.clear()
        self._is_alone = kind in (*_DRIVER, *_STORAGE) and random.Random(-seed).random() < _ALONE
        spec, began = self._spec(method, f"seed-{seed}"), time.monotonic()
        if kind in _DRIVER:
            moment, struck, failure = self._kill_driver(spec, kind, calm, draw)
        elif kind in _STORAGE:
            moment, struck, failure = self._spoil_storage(spec, kind, calm, draw)
        else:
            moment, struck, failure = self._take(spec, kind, calm, draw)
        seconds = time.monotonic() - began
        self.sky.clear()
        outcome, said = self._judged(spec, calm, failure)
        survived = {}
        if outcome in GOOD:
            survived = Journal(Store(spec.private_prefix(), private=True)).read_run()["survived"]
        moment += ", alone" if self._is_alone else ""
        return Outcome(
            seed, kind, method, moment, struck, outcome, round(seconds, 1), survived, said
        )

    def _take(
        self, spec: JobSpec, kind: str, calm: Calm, draw: random.Random
    ) -> tuple[str, bool, str]:
        """Takes a worker or a node away while the job runs."""
        item, delay, place = (
            draw.randint(0, calm.items * 9 // 10),
            draw.random() / 2,
            draw.randrange(2),
        )
        acts: dict[str, Callable[[], Any]] = {
            "worker killed": lambda: drilling.kill_worker(self.cluster, place),
            "node killed": lambda: drilling.take_node(self.cluster, place),
            "node drained": lambda: drilling.drain_node(self.cluster, place, notice_s=1.0),
        }
        strike = Strike(item, delay, acts[kind])
        failure = self._run(spec, strike)
        if strike.timer is not None:
            strike.timer.join()
        return f"item {item} + {delay:.2f} s", strike.struck, failure

    def _spoil_storage(
        self, spec: JobSpec, kind: str, calm: Calm, draw: random.Random
    ) -> tuple[str, bool, str]:
        """Lets requests fail: some at random, all for seconds, or all for good."""
        first = draw.randint(1, calm.requests * 9 // 10)
        rate, length = draw.uniform(0.05, 0.25), draw.uniform(1, 8)
        cut_until: list[float] = []

        def failing(_method: str, _path: str, number: int) -> str | None:
            is_hit = number >= first and draw.random() < rate
            return draw.choice(_PASSING) if is_hit else None

        def cut(_method: str, _path: str, number: int) -> str | None:
            if number < first:
                return None
            if not cut_until:
                cut_until.append(time.monotonic() + length)
            return "DROP_REQUEST" if time.monotonic() < cut_until[0] else None

        def refuses(_method: str, _path: str, number: int) -> str | None:
            return "EXPIRED" if number >= first else None

        rules = dict(zip(_STORAGE, (failing, cut, refuses), strict=True))
        hits = Counter[str]()

        def rule(method: str, path: str, number: int) -> Any:
            fault = rules[kind](method, path.partition("?")[0], number)
            hits.update([] if fault is None else [fault])
            return None if fault is None else self._faults[fault]

        self.sky.clear(rule)
        failure = self._run(spec, Strike())
        more = {"storage failing": f", {rate:.0%}", "storage cut": f", {length:.1f} s"}.get(
            kind, ""
        )
        return f"request {first}{more}", bool(hits), failure

    def _kill_driver(
        self, spec: JobSpec, kind: str, calm: Calm, draw: random.Random
    ) -> tuple[str, bool, str]:
        """Kills the process of the job at a request, and may damage its checkpoint."""
        is_damage = kind == "checkpoint damaged"
        number = draw.randint(1, calm.kept if is_damage else calm.requests)
        is_heard, file = draw.random() < 0.5 or is_damage, self.folder / f"{spec.name}.yaml"
        file.write_text(spec.to_yaml())
        killed = threading.Event()

        def rule(_method: str, _path: str, count: int) -> Any:
            if killed.is_set() or (self.sky.kept if is_damage else count) < number:
                return None
            killed.set()
            driver.send_signal(signal.SIGKILL)
            return None if is_heard else self._faults.DROP_REQUEST

        command = [sys.executable, "-m", "distanon", "run", str(file), "--quiet"]
        if self._is_alone:
            command = [sys.executable, "-c", _IN_ONE_PROCESS, str(file)]
        self.sky.clear(rule)
        with tempfile.TemporaryDirectory(dir=self.folder) as elsewhere:
            driver = subprocess.Popen(
                command, cwd=elsewhere, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            try:
                _, said = driver.communicate(timeout=HANG_S)
            except subprocess.TimeoutExpired:
                driver.kill()
                driver.communicate()
                return f"request {number}", True, "hang"
        if driver.returncode not in (0, -signal.SIGKILL):
            return f"request {number}", True, f"unclear: exit {driver.returncode}: {said[-300:]}"
        moment = f"{'table' if is_damage else 'request'} {number}"
        if is_damage:
            moment += self._damage(spec, draw)
        return moment, driver.returncode != 0, "killed" if driver.returncode else ""

    def _damage(self, spec: JobSpec, draw: random.Random) -> str:
        """Deletes or cuts one file of the checkpoint; says which."""
        folder = Store(spec.private_prefix(), private=True).child("checkpoint")
        names = sorted(entry.name for entry in folder.list(leftovers=True))
        if not names:
            return ", no checkpoint"
        name, share = draw.choice(names), draw.choice((None, 0.0, draw.random()))
        if share is None:
            folder.delete(name)
            return f", {name[:12]} deleted"
        content = folder.read(name)
        folder.write(name, content[: int(share * len(content))])
        return f", {name[:12]} cut to {share:.0%}"

    def _run(self, spec: JobSpec, strike: Strike) -> str:
        """Runs the job in this process.

        Returns:
            "" where it ended well, else what it said; "hang" where it did not end.
        """
        return _bounded(lambda: jobs.run_job(spec, progress=strike, serial=self._is_alone))

    def _judged(self, spec: JobSpec, calm: Calm, failure: str) -> tuple[str, str]:
        """The outcome, and what was said where it failed."""
        if failure == "hang" or failure.startswith("unclear"):
            return failure.partition(":")[0], failure
        found = seen(spec.output, calm.files)
        if found in ("wrong", "partial"):
            return found, failure
        if failure:
            again = _bounded(lambda: self._finish(spec))
            if again:
                return ("hang" if again == "hang" else "unclear"), f"resumed: {again}"
        there = released(spec.output)
        if there != calm.files:
            names = sorted(there.keys() | calm.files.keys())
            differing = [name for name in names if there.get(name) != calm.files.get(name)]
            return "wrong", f"{failure}; other bytes: {', '.join(differing)}"
        private = Store(spec.private_prefix(), private=True)
        names = [entry.name for entry in private.list(leftovers=True)]
        if any(name.startswith(("staging/", "checkpoint/")) for name in names):
            return "unclear", "staging or checkpoint is left behind"
        return ("resumed" if failure else "right"), failure

    def _finish(self, spec: JobSpec) -> None:
        """As a user would who has nothing but what lies in the storage."""
        private = spec.private_prefix()
        if Store(private, private=True).exists(RUN):
            jobs.resume(private, serial=self._is_alone)
        else:
            jobs.run_job(spec, serial=self._is_alone)


def _bounded(work: Callable[[], Any]) -> str:
    """Does something in a thread, for a bounded time.

    Returns:
        "" where it ended well, else a word for how it failed, and its message.
    """
    said = ["hang"]

    def body() -> None:
        try:
            work()
        except DistanonError as error:
            is_clear = error.exit_code == 2 or "distanon resume" in str(error)
            is_known = error.exit_code in (2, 4) and is_clear
            said[0] = f"{'' if is_known else 'unclear: '}exit {error.exit_code}: {error}"
        except BaseException as error:  # noqa: BLE001  a defect is an outcome too
            said[0] = f"unclear: {type(error).__name__}: {error}"
        else:
            said[0] = ""

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    thread.join(HANG_S)
    return said[0]


def hurry() -> None:
    """Waits of this process for the storage, shorter: four seconds of it are an outage."""
    import asyncio

    from aiobotocore.endpoint import AioEndpoint  # type: ignore[import-untyped]

    from distanon.storage import patience

    async def doze(_self: object, seconds: float) -> None:
        await asyncio.sleep(seconds / 10)

    AioEndpoint._sleep = doze  # noqa: SLF001
    patience.PATIENCE_S, patience.EAGER_S = 4.0, 1.0


@contextlib.contextmanager
def bench() -> Iterator[Bench]:
    """All that stands for the time of the block."""
    from distanon.runtime.session import session
    from distanon.runtime.settings import RuntimeSettings

    sky = Sky()
    with (
        tempfile.TemporaryDirectory(prefix="faults-") as folder,
        beside_tests("s3_server").S3Server() as server,
    ):
        proxy = beside_tests("fault_proxy").FaultProxy(server.endpoint, sky).start()
        os.environ |= server.environment() | {"AWS_ENDPOINT_URL_S3": proxy.url}
        os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_IGNORE_UNHANDLED_ERRORS": "1"}
        with drilling.head_alone() as cluster:
            drilling.fill_up(cluster, 2)
            with session(RuntimeSettings(address=cluster.address)):
                yield Bench(cluster, server, sky, Path(folder))
        proxy.stop()


def table(outcomes: list[Outcome]) -> list[str]:
    """Outcomes by kind and method: right / clear failure, then right / bad."""
    lines = [f"{'right / resumed / bad':22}" + "".join(f"{name:>18}" for name in METHODS)]
    for kind in KINDS:
        cells = []
        for method in METHODS:
            own = Counter(
                one.outcome for one in outcomes if (one.kind, one.method) == (kind, method)
            )
            bad = sum(own[name] for name in BAD)
            cells.append(f"{own['right']} / {own['resumed']} / {bad}")
        lines.append(f"{kind:22}" + "".join(f"{cell:>18}" for cell in cells))
    return lines


def told(one: Outcome) -> str:
    """One line of the log."""
    causes = ", ".join(
        f"{cause} {count}" for cause, count in one.survived.get("causes", {}).items()
    )
    missed = "" if one.struck else " (came too late)"
    said = one.said.replace("\n", " ")[:160]
    return (
        f"{one.seed:3} {one.kind:18} {one.method:14} {one.moment:34} {one.outcome:8}"
        f"{one.seconds:6.1f} s{missed}  {causes}  {said}"
    )


def known(file: Path | None) -> list[Outcome]:
    """The outcomes of earlier parts."""
    if file is None or not file.exists():
        return []
    return [Outcome(**json.loads(line)) for line in file.read_text().splitlines()]


def injected(seeds: list[int], file: Path | None, seconds: float) -> list[Outcome]:
    """Injects one after another; what came of them."""
    outcomes: list[Outcome] = []
    if not seeds:
        return outcomes
    hurry()
    began = time.monotonic()
    with bench() as standing:
        for seed in seeds:
            if time.monotonic() - began > seconds:
                break
            outcomes.append(standing.inject(seed))
            print(told(outcomes[-1]), file=sys.stderr, flush=True)
            if file is not None:
                with file.open("a") as log:
                    log.write(json.dumps(asdict(outcomes[-1])) + "\n")
            if outcomes[-1].outcome == "hang":
                break  # whatever hangs is still there
    return outcomes


def main() -> int:
    """Injects, prints, judges."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", nargs=2, type=int, metavar=("FIRST", "STOP"))
    parser.add_argument("--quick", action="store_true", help=f"the first {QUICK}")
    parser.add_argument("--full", action="store_true", help="all, as without it")
    parser.add_argument("--to", type=Path, help="a file of outcomes to add to")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    seeds = range(*asked.seeds) if asked.seeds else range(QUICK if asked.quick else SEEDS)
    outcomes = known(asked.to)
    left = [seed for seed in seeds if seed not in {one.seed for one in outcomes}]
    outcomes += injected(left, asked.to, asked.seconds)
    if not asked.json:
        print("\n".join(table(outcomes)))
    counts, sheet = Counter(one.outcome for one in outcomes), Sheet(asked.json)
    sheet.add(shown("faults injected", len(outcomes)))
    sheet.add(shown("of which came while the job ran", sum(one.struck for one in outcomes)))
    sheet.add(*(shown(f"outcome {name}", counts[name]) for name in GOOD))
    sheet.add(*(at_most(f"outcome {name}", counts[name], 0) for name in BAD))
    return sheet.status()


if __name__ == "__main__":
    sys.exit(main())
