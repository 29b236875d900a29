"""From a spec to runs on a cluster: one, or all cases of a sweep, a bounded number at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from distanon.data.ports import Progress, Silent
from distanon.errors import ClusterError, SpecError
from distanon.job.journal import HELD, SPEC, Journal
from distanon.runtime.submission import SubmittedRun
from distanon.spec import JobSpec, parse
from distanon.spec.places import BUILTIN, RUN_ID, is_remote
from distanon.storage.store import Store
from distanon.sweep.carrying_out import CarriedOut
from distanon.sweep.cases import Case, cases
from distanon.sweep.outcomes import ended, recorded
from distanon.sweep.records import RunRecord, SweepRecord, read_sweep
from distanon.sweep.server import Server


@dataclass(frozen=True, slots=True)
class Order:
    """How a spec is submitted.

    Attributes:
        run_id: of the run, instead of the spec's own; not for a sweep.
        wait: until all runs have ended.
        at_once: runs of a sweep at the same time; None: as many as the cluster's CPUs hold.
        modules: wheels to bring along, for development.
        overwrite: replace a release that is already there.
    """

    run_id: str | None = None
    wait: bool = False
    at_once: int | None = None
    modules: tuple[str, ...] = ()
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class Submission:
    """What was submitted.

    Attributes:
        runs: of the spec, or of all cases of its sweep, with their status so far.
        exit_code: of what was waited for: 0, or that of the first run that failed; None: nothing
            was waited for.
        notes: what the user should know.
    """

    runs: tuple[RunRecord, ...]
    exit_code: int | None = None
    notes: tuple[str, ...] = ()


def submit(
    spec: JobSpec, server: Server, order: Order | None = None, progress: Progress | None = None
) -> Submission:
    """Submits a spec. The same run twice is the same run.

    Args:
        spec: what to run; with a sweep: one private, held run for each combination.
        server: the cluster's.
        order: how.
        progress: told of runs that end, where they are waited for.

    Raises:
        SpecError: places that the cluster can't reach; another run has this id.
        ClusterError: the cluster can't be reached, or can never hold a worker.
        AccessError: the private prefix can't be written.
    """
    order, watcher = order or Order(), progress or Silent()
    _refuse_local(spec)
    _check_room(spec, server, order)
    if spec.sweep:
        if order.run_id is not None:
            raise SpecError("--run-id names one run, and this spec has a sweep")
        return _submit_sweep(spec, server, order, watcher)
    run_id = order.run_id or spec.run_id
    private = spec.private_prefix(run_id)
    started, notes = _start(spec, run_id, private, server, order)
    if not order.wait:
        return Submission((recorded(started, {}),), None, notes)
    last = ended(server, started)
    return Submission((last,), last.exit_code, notes)


def _submit_sweep(spec: JobSpec, server: Server, order: Order, progress: Progress) -> Submission:
    """Runs the cases here, or submits a run that does so on the cluster."""
    found = cases(spec)
    sweep_id = spec.run_id
    place = _place(spec, sweep_id)
    store = Store(place, spec.storage, private=True)
    known = read_sweep(store)
    runs = tuple(RunRecord(case.run_id, case.private, dict(case.changes)) for case in found)
    record = known if known is not None else SweepRecord(sweep_id, runs)
    if known is None:
        record.write(store)
    if order.wait:
        return _carried_out(found, record, store, server, order, progress)
    if server.find(sweep_id) is None:
        store.write(SPEC, spec.to_yaml().encode())
        arguments = ["submit", store.place(SPEC), "--wait", *_options(order)]
        server.start(sweep_id, arguments, place, modules=order.modules)
    return Submission(record.runs, None, (f"the sweep itself is run {sweep_id}",))


def _carried_out(
    found: Sequence[Case],
    record: SweepRecord,
    store: Store,
    server: Server,
    order: Order,
    progress: Progress,
) -> Submission:
    specs = {case.run_id: case.spec for case in found}

    def start(run: RunRecord) -> SubmittedRun:
        spec = specs[run.run_id]
        return _start(spec, run.run_id, run.private, server, order, hold=True)[0]

    at_once = order.at_once or _holds(found[0].spec, server)
    done = CarriedOut(record, store, server, start, at_once, progress).to_the_end()
    codes = [run.exit_code for run in done.runs if run.exit_code]
    return Submission(done.runs, codes[0] if codes else 0)


def _start(
    spec: JobSpec, run_id: str, private: str, server: Server, order: Order, *, hold: bool = False
) -> tuple[SubmittedRun, tuple[str, ...]]:
    """Submits a run, unless it was submitted or begun before."""
    journal = Journal(Store(private, spec.storage, private=True))
    if journal.store.exists(SPEC) and parse(journal.read_spec()).run_id != spec.run_id:
        raise SpecError(
            f"--run-id {run_id}: {private} is of a run with another spec; name another id"
        )
    known = server.find(run_id)
    if known is not None:
        if known.private != private:
            raise SpecError(f"--run-id {run_id}: a run with another private prefix has this id")
        advice = f"; `distanon resume {private}` goes on" if _broke_off(known) else ""
        return known, (f"{run_id} was submitted before, it is {known.status}{advice}",)
    status = journal.read_run()["status"] if journal.has_run else ""
    if status in ("done", HELD) and not order.overwrite:
        done = SubmittedRun(run_id, run_id, private, "succeeded", 0, "")
        return done, (f"{run_id} is {status} already",)
    journal.write_spec(spec.to_yaml())
    place = journal.store.place(SPEC)
    arguments = ["run", place, "--run-id", run_id, *(["--hold"] if hold else [])]
    if order.overwrite:
        arguments.append("--overwrite")
    return server.start(run_id, arguments, private, modules=order.modules), ()


def resume_on(server: Server, private: str, run_id: str, modules: Sequence[str] = ()) -> RunRecord:
    """Submits the resumption of a run that was broken off; of one under way nothing.

    Raises:
        ClusterError: the cluster does not take it.
    """
    known = server.find(run_id)
    if known is None or not known.is_under_way:
        known = server.start(run_id, ["resume", private], private, modules=modules)
    return recorded(known, {})


def _broke_off(run: SubmittedRun) -> bool:
    return run.status in ("failed", "stopped")


def _refuse_local(spec: JobSpec) -> None:
    """Refuses places that lie where this process stands: the cluster has other folders."""
    places = {"output": spec.output, "private": spec.private}
    if spec.input.table is not None and not spec.table.path.startswith(BUILTIN):
        places["input.table.path"] = spec.table.path
    if spec.input.graph is not None:
        places |= {
            f"input.graph.{name}": path
            for name, path in zip(("edges", "nodes"), spec.graph.files, strict=False)
            if not path.startswith(BUILTIN)
        }
    faults = []
    for name, place in places.items():
        if place is None or not (is_remote(place) or place.startswith(("/", "file://"))):
            found = "missing" if place is None else f"{place} is relative"
            faults.append(
                f"{name}: {found}; a submitted job needs a URL, or an absolute path on a file "
                "system that all nodes share"
            )
    if faults:
        raise SpecError(*faults)


def _check_room(spec: JobSpec, server: Server, order: Order) -> None:
    """Refuses workers that no node can ever hold, which would wait for ever.

    The entry point needs no look: it asks for no CPU, so the head that answers has room for it.

    Raises:
        ClusterError: naming what is missing.
    """
    cpus, memory = spec.runtime.cpus_per_worker, spec.runtime.memory_per_worker
    nodes = server.nodes()
    if any(
        node.get("CPU", 0.0) >= cpus and (memory == "auto" or node.get("memory", 0.0) >= memory)
        for node in nodes
    ):
        return
    grows = server.grows()
    asked_memory = None if memory == "auto" else float(memory)
    if grows and server.holds(cpus, asked_memory, order.modules) is not False:
        return
    largest = max((node.get("CPU", 0.0) for node in nodes), default=0.0)
    asked = f"{cpus:g} CPUs" + ("" if memory == "auto" else f" and {memory} bytes of memory")
    brings = "its autoscaler may bring none that has" if grows else "no autoscaler brings others"
    fix = ", or let the autoscaler bring larger nodes" if grows else ""
    raise ClusterError(
        f"{server.address}: a worker asks for {asked}, no node has that (the largest of "
        f"{len(nodes)} has {largest:g} CPUs), and {brings}; set "
        f"runtime.cpus_per_worker or runtime.memory_per_worker to less{fix}"
    )


def _holds(spec: JobSpec, server: Server) -> int:
    """How many runs find all their workers at once; one where a run takes what there is."""
    if spec.runtime.workers == "auto":
        return 1
    cpus = sum(node.get("CPU", 0.0) for node in server.nodes())
    return max(1, int(cpus / (spec.runtime.workers * spec.runtime.cpus_per_worker)))


def _place(spec: JobSpec, sweep_id: str) -> str:
    """Where a sweep keeps what it knows of its runs."""
    private = spec.private or ""
    if RUN_ID in private:
        return private.replace(RUN_ID, sweep_id)
    return f"{private.rstrip('/')}/{sweep_id}/"


def _options(order: Order) -> list[str]:
    options = [] if order.at_once is None else ["--at-once", str(order.at_once)]
    return [*options, "--overwrite"] if order.overwrite else options
