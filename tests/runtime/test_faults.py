from __future__ import annotations

import pytest
from ray import exceptions as ray_faults

from distanon.errors import ClusterError
from distanon.runtime.faults import kind_of, start_failure, task_error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ray_faults.OutOfMemoryError("node at 99 %"), "out of memory"),
        (
            ray_faults.RayActorError(None, "killed due to the node running low on memory"),
            "out of memory",
        ),
        (ray_faults.NodeDiedError("gone"), "node lost"),
        (ray_faults.RayActorError(None, "the actor died because its node has died."), "node lost"),
        (ray_faults.RayActorError(None, "gone", preempted=True), "node lost"),
        (ray_faults.ObjectLostError("00", None, ""), "result lost"),
        (ray_faults.OwnerDiedError("00", None, ""), "result lost"),
        (ray_faults.ActorUnavailableError("network", None), "worker out of reach"),
        (ray_faults.ActorDiedError(), "worker died"),
        (ray_faults.WorkerCrashedError(), "worker died"),
    ],
)
def test_each_fault_has_a_word(error, kind):
    assert kind_of(error) == kind


def test_a_package_that_workers_lack_is_named():
    error = ray_faults.RayTaskError(
        "call", "text", ModuleNotFoundError("No module named 'distanon.x'"), pid=1, ip="x"
    )
    failure = task_error(error)
    assert isinstance(failure, ClusterError)
    assert "No module named 'distanon.x'" in str(failure)
    assert "No module named 'ray'" in str(start_failure(RuntimeError("… No module named 'ray' …")))


@pytest.mark.parametrize(
    ("cause", "says"),
    [
        (ray_faults.RaySystemError("cannot import name"), "another version of distanon"),
        (ray_faults.ObjectLostError("00", None, ""), "could not be given its data (result lost)"),
        (None, "could not be given its data (worker died)"),
    ],
)
def test_a_worker_that_could_not_begin_says_why_and_how_to_go_on(cause, says):
    failure = task_error(ray_faults.RayTaskError("call", "text", cause, pid=1, ip="x"))
    assert isinstance(failure, ClusterError)
    assert says in str(failure)
    assert "distanon resume" in str(failure)


def test_what_could_not_be_pickled_stays_what_it_is():
    cause = TypeError("cannot pickle")
    assert task_error(ray_faults.RayTaskError("call", "text", cause, pid=1, ip="x")) is cause


def test_a_start_that_may_succeed_next_time_is_no_failure():
    assert start_failure(ray_faults.ActorDiedError()) is None
    assert isinstance(start_failure(ray_faults.RuntimeEnvSetupError("x")), ClusterError)
