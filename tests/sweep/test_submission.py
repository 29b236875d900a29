"""Submitting: the same run twice is one run, a sweep is bounded, one failure leaves the rest."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import pytest

from distanon.errors import ClusterError, SpecError
from distanon.runtime.submission import SubmittedRun
from distanon.spec import load, parse
from distanon.sweep import Order, resume_on, submit

SPEC = """
spec: 1
name: many
seed: 3
input: {{table: {{path: builtin:magic, default_role: quasi_identifier}}}}
method: {{name: dptpe, k: 10}}
output: {0}/out
private: {0}/private/
"""


@dataclass
class Cluster:
    """Stands for the Jobs API: runs end after some looks, some of them fail."""

    looks: int = 3
    failing: tuple[str, ...] = ()
    cpus: float = 2.0
    has_autoscaler: bool = False
    would_hold: bool | None = None
    asked: list[tuple[float, float | None]] = field(default_factory=list)
    address: str = "http://head:8265"
    jobs: dict[str, SubmittedRun] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    started: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    most_at_once: int = 0

    def nodes(self):
        return [{"CPU": 0.0, "memory": 1e9}, {"CPU": self.cpus, "memory": 8e9}]

    def grows(self):
        return self.has_autoscaler

    def holds(self, cpus, memory, modules=()):
        self.asked.append((cpus, memory))
        return self.would_hold

    def find(self, run_id):
        run = self.jobs.get(run_id)
        if run is not None and run.is_under_way:
            self.seen[run_id] = self.seen.get(run_id, 0) + 1
            if self.seen[run_id] >= self.looks:
                failed = any(word in " ".join(self.arguments_of(run_id)) for word in self.failing)
                status, code = ("failed", 3) if failed else ("succeeded", 0)
                run = self.jobs[run_id] = replace(run, status=status, exit_code=code)
        return run

    def start(self, run_id, arguments, private, *, modules=()):
        run = SubmittedRun(run_id, run_id, private, "running", None, "")
        self.jobs[run_id] = run
        self.seen[run_id] = 0
        self.started.append((run_id, tuple(arguments)))
        self.most_at_once = max(
            self.most_at_once, sum(one.is_under_way for one in self.jobs.values())
        )
        return run

    def log(self, run_id):
        return "read 10 records\ndistanon: k_anonymity can't be met; the largest k is 4\n"

    def arguments_of(self, run_id):
        return next(arguments for one, arguments in reversed(self.started) if one == run_id)


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    for module in ("carrying_out", "outcomes"):
        monkeypatch.setattr(f"distanon.sweep.{module}.POLL_S", 0.0)


def spec_at(folder, *more):
    return parse(SPEC.format(folder) + "\n".join(more))


def test_a_run_is_started_on_its_merged_spec_in_the_private_prefix(tmp_path):
    cluster, spec = Cluster(), spec_at(tmp_path)
    done = submit(spec, cluster)
    ((run_id, arguments),) = cluster.started
    assert run_id == spec.run_id == done.runs[0].run_id
    assert arguments[0] == "run"
    assert load(arguments[1]).run_id == spec.run_id
    assert arguments[2:4] == ("--run-id", run_id)
    assert done.exit_code is None


def test_submitting_twice_starts_once(tmp_path):
    cluster, spec = Cluster(), spec_at(tmp_path)
    submit(spec, cluster)
    again = submit(spec, cluster)
    assert len(cluster.started) == 1
    assert "submitted before" in again.notes[0]


def test_another_spec_under_the_same_id_is_refused(tmp_path):
    cluster = Cluster()
    submit(spec_at(tmp_path), cluster, Order(run_id="mine"))
    with pytest.raises(SpecError, match="another spec"):
        submit(spec_at(tmp_path, "keep_mapping: true"), cluster, Order(run_id="mine"))


def test_a_run_that_failed_is_not_begun_anew_but_resumed_when_asked(tmp_path):
    cluster, spec = Cluster(failing=("run",)), spec_at(tmp_path)
    waited = submit(spec, cluster, Order(wait=True))
    assert waited.exit_code == 3
    assert waited.runs[0].reason == "k_anonymity can't be met; the largest k is 4"
    again = submit(spec, cluster)
    assert "distanon resume" in again.notes[0]
    assert len(cluster.started) == 1
    resumed = resume_on(cluster, waited.runs[0].private, waited.runs[0].run_id)
    assert resumed.status == "running"
    assert cluster.started[-1][1][:2] == ("resume", waited.runs[0].private)


def test_a_sweep_runs_a_bounded_number_at_once_and_one_failure_leaves_the_rest(tmp_path):
    spec = spec_at(tmp_path, f"sweep: {{method.k: {list(range(2, 22))}}}", "runtime: {workers: 1}")
    cluster = Cluster()
    failing = 7

    def start(run_id, arguments, private, *, modules=()):
        run = Cluster.start(cluster, run_id, arguments, private, modules=modules)
        if load(arguments[1]).method.k == failing:
            cluster.failing = (run_id,)
        return run

    cluster.start = start
    done = submit(spec, cluster, Order(wait=True))
    assert len(cluster.started) == 20
    assert cluster.most_at_once == 2  # CPUs, with one worker a run
    assert all("--hold" in arguments for _, arguments in cluster.started)
    failed = [run for run in done.runs if run.status == "failed"]
    assert [run.changes for run in failed] == [{"method.k": failing}]
    assert done.exit_code == 3
    assert sum(run.status == "succeeded" for run in done.runs) == 19


def test_a_head_too_busy_to_take_a_run_is_asked_again_while_others_run(tmp_path):
    spec = spec_at(tmp_path, "sweep: {method.k: [2, 3, 4]}")
    cluster, refusals = Cluster(), [ClusterError("refused"), ClusterError("refused")]

    def start(run_id, arguments, private, *, modules=()):
        if cluster.started and refusals:
            raise refusals.pop()
        return Cluster.start(cluster, run_id, arguments, private, modules=modules)

    cluster.start = start
    done = submit(spec, cluster, Order(wait=True, at_once=3))
    assert [run.status for run in done.runs] == ["succeeded"] * 3
    assert len(cluster.started) == 3
    cluster, refusals = Cluster(), []

    def refuse(*_, **__):
        raise ClusterError("the head is gone")

    cluster.start = refuse
    with pytest.raises(ClusterError, match="the head is gone"):
        submit(spec_at(tmp_path / "other", "sweep: {method.k: [2]}"), cluster, Order(wait=True))


def test_a_sweep_goes_on_where_it_was_broken_off(tmp_path):
    spec = spec_at(tmp_path, "sweep: {method.k: [2, 3, 4]}")
    first = Cluster()
    done = submit(spec, first, Order(wait=True))
    (record,) = tmp_path.rglob("sweep.json")
    document = json.loads(record.read_text())
    document["runs"][2] |= {"status": "waiting", "exit_code": None}
    record.write_text(json.dumps(document))
    second = Cluster()
    assert submit(spec, second, Order(wait=True)).exit_code == 0
    assert [run_id for run_id, _ in second.started] == [done.runs[2].run_id]


def test_a_sweep_nobody_waits_for_is_carried_out_by_a_run_on_the_cluster(tmp_path):
    spec = spec_at(tmp_path, "sweep: {method.k: [2, 3]}")
    cluster = Cluster()
    done = submit(spec, cluster, Order(at_once=1))
    ((run_id, arguments),) = cluster.started
    assert run_id == spec.run_id
    assert arguments[0] == "submit"
    assert load(arguments[1]).sweep == {"method.k": (2, 3)}
    assert arguments[2:] == ("--wait", "--at-once", "1")
    assert [run.status for run in done.runs] == ["waiting", "waiting"]


def test_places_that_only_this_machine_knows_are_refused_together(tmp_path):
    text = SPEC.format(".").replace("builtin:magic", "data/magic.parquet")
    with pytest.raises(SpecError) as caught:
        submit(parse(text), Cluster())
    assert {fault.split(":")[0] for fault in caught.value.faults} == {
        "output",
        "private",
        "input.table.path",
    }


def test_a_worker_that_no_node_can_hold_is_refused_before_anything_is_written(tmp_path):
    spec = spec_at(tmp_path, "runtime: {cpus_per_worker: 4}")
    with pytest.raises(ClusterError, match=r"4 CPUs.*largest of 2 has 2"):
        submit(spec, Cluster())
    assert not any(tmp_path.iterdir())
    assert submit(spec, Cluster(has_autoscaler=True)).runs


@pytest.mark.parametrize("would_hold", [True, None])
def test_an_autoscaler_is_asked_about_workers_that_no_node_holds_yet(tmp_path, would_hold):
    spec = spec_at(tmp_path, "runtime: {cpus_per_worker: 4, memory_per_worker: 1kB}")
    cluster = Cluster(has_autoscaler=True, would_hold=would_hold)
    assert submit(spec, cluster).runs
    assert cluster.asked == [(4.0, 1000.0)]
    fitting = Cluster(has_autoscaler=True, cpus=8)
    submit(spec, fitting)
    assert fitting.asked == []


def test_workers_that_an_autoscaler_can_bring_no_node_for_are_refused_before_anything_starts(
    tmp_path,
):
    spec = spec_at(tmp_path, "runtime: {cpus_per_worker: 4}")
    cluster = Cluster(has_autoscaler=True, would_hold=False)
    text = r"4 CPUs.*largest of 2 has 2.*its autoscaler may bring none.*bring larger nodes"
    with pytest.raises(ClusterError, match=text) as caught:
        submit(spec, cluster)
    assert caught.value.exit_code == 4
    assert not cluster.started
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"level": "error", "message": "too few records"}', "too few records"),
        ('{"level": "info", "message": "release: done"}', ""),
        ("{no object", ""),
    ],
)
def test_the_reason_of_a_failure_is_found_in_a_log_for_programs(tmp_path, line, reason):
    cluster, spec = Cluster(failing=("run",)), spec_at(tmp_path)
    cluster.log = lambda _: f"{line}\n"
    assert submit(spec, cluster, Order(wait=True)).runs[0].reason == reason
