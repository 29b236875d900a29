from __future__ import annotations

import pytest
import ray

from distanon.errors import ClusterError
from distanon.runtime import room as room_module
from distanon.runtime.limits import NodeGroup
from distanon.runtime.room import Room
from distanon.runtime.settings import RuntimeSettings


@pytest.fixture
def groups(monkeypatch):
    """What the autoscaler reported, as a list to change; empty: nothing."""
    found = []
    monkeypatch.setattr(room_module, "node_groups", lambda: tuple(found) or None)
    return found


@pytest.fixture
def nodes(monkeypatch, groups):
    """The cluster's nodes, as a list to change."""
    alive = []
    monkeypatch.setattr(room_module, "head_answers", lambda: True)
    monkeypatch.setattr(
        ray,
        "nodes",
        lambda: [
            {"Alive": cpu is not None, "Resources": {"CPU": cpu, "memory": 100.0}} for cpu in alive
        ],
    )
    return alive


def room(grows=True, **settings):
    return Room(RuntimeSettings(**settings), grows=grows)


def test_auto_is_what_the_living_nodes_hold(nodes):
    nodes[:] = [4.0, 3.0, None]
    assert room(cpus_per_worker=2).workers == 3
    assert room(cpus_per_worker=0.5).workers == 14
    assert room(memory_per_worker=60).workers == 2


def test_auto_waits_with_one_worker_for_the_first_node_and_follows_the_cluster(nodes):
    nodes[:] = [0.0]
    growing = room()
    assert growing.workers == 1
    nodes.append(8.0)
    growing._asked -= 60
    assert growing.workers == 8


def test_a_head_that_does_not_answer_is_not_asked_for_nodes(nodes, monkeypatch):
    nodes[:] = [2.0]
    standing = room()
    nodes.append(8.0)
    monkeypatch.setattr(room_module, "head_answers", lambda: False)
    standing._asked -= 60
    assert standing.workers == 2
    monkeypatch.setattr(room_module, "head_answers", lambda: True)
    standing._asked -= 60
    assert standing.workers == 10


def test_a_number_of_workers_is_what_was_asked_for(nodes):
    nodes[:] = [1.0]
    assert room(workers=5).workers == 5


@pytest.mark.parametrize(
    ("cpus", "settings", "text"),
    [
        ([1.0], {"cpus_per_worker": 2}, "waiting for 2 CPUs, the cluster has 1"),
        ([], {}, "waiting for 1 CPU, the cluster has 0"),
        (
            [1.0, 1.0],
            {"cpus_per_worker": 2},
            "waiting for 2 CPUs, the cluster has 2 (the largest of 2 nodes has 1)",
        ),
        ([4.0], {"memory_per_worker": 200}, "waiting for 200 bytes of memory on one node"),
    ],
)
def test_what_is_lacking_is_named_and_refused_where_no_node_can_join(nodes, cpus, settings, text):
    nodes[:] = cpus
    assert room(**settings).lacking() == text
    with pytest.raises(ClusterError) as caught:
        room(grows=False, **settings)
    assert str(caught.value).startswith(text)


def test_a_full_cluster_is_told_from_a_small_one(nodes):
    nodes[:] = [2.0]
    assert "all 2 of the cluster are taken" in room().lacking()


def test_auto_is_what_an_autoscaler_may_bring_and_no_more_than_there_is_to_do(nodes, groups):
    nodes[:] = [0.0]
    groups[:] = [NodeGroup({"CPU": 8.0}, 2), NodeGroup({"CPU": 3.0}, 1), NodeGroup({"CPU": 0.0}, 1)]
    growing = room(cpus_per_worker=2)
    assert growing.is_elastic
    assert growing.workers == 9
    assert [growing.wanted(backlog) for backlog in (0, 1, 5, 100)] == [0, 1, 5, 9]
    assert room(workers=4).wanted(2) == 2


def test_a_cluster_that_nobody_scales_keeps_its_workers(nodes):
    nodes[:] = [4.0]
    assert [room().wanted(backlog) for backlog in (0, 100)] == [4, 4]
    assert not room().is_elastic


def test_a_cluster_whose_autoscaler_states_no_limits_grows_with_demand(monkeypatch):
    made = {"Alive": True, "Resources": {"CPU": 0.0}, "Labels": {"ray.io/node-group": "head"}}
    monkeypatch.setattr(room_module, "node_groups", lambda: None)
    monkeypatch.setattr(ray, "nodes", lambda: [made])
    assert room().is_elastic
    assert room().wanted(3) == 3
    assert room().wanted(10_000) == room().workers == 32


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"cpus_per_worker": 16}, "asks for 16 CPUs, and no node has or will have more than 8,"),
        (
            {"memory_per_worker": 200},
            "asks for 1 CPU and 200 bytes of memory, and no node has both",
        ),
    ],
)
def test_what_no_autoscaler_can_bring_is_refused_at_once_and_named(nodes, groups, settings, text):
    nodes[:] = [4.0]
    groups[:] = [
        NodeGroup({"CPU": 8.0, "memory": 150.0}, 10),
        NodeGroup({"CPU": 64.0, "memory": 9e9}, 0),
    ]
    with pytest.raises(ClusterError, match=text):
        room(**settings)


def test_limits_without_a_bound_refuse_nothing_that_fits_one_node(nodes, groups):
    nodes[:] = []
    groups[:] = [NodeGroup({"CPU": 8.0}, None)]
    assert room(cpus_per_worker=4).workers >= 32


class Said:
    """What an autoscaler has answered, without Ray."""

    def __init__(self, feasible):
        self.feasible, self.taken = feasible, 0

    def take(self, _):
        self.taken += 1


@pytest.mark.parametrize(("feasible", "cpus", "refused"), [
    (False, 0.0, True),
    (False, 4.0, False),  # it is only at its limits
    (True, 0.0, False),
    (None, 0.0, False),
])  # fmt: skip
def test_what_the_autoscaler_refuses_while_a_worker_waits_ends_the_run(
    monkeypatch, feasible, cpus, refused
):
    made = {"Alive": True, "Resources": {"CPU": cpus}, "Labels": {"ray.io/node-group": "head"}}
    monkeypatch.setattr(room_module, "node_groups", lambda: None)
    monkeypatch.setattr(room_module, "head_answers", lambda: True)
    monkeypatch.setattr(room_module.feasibility, "status", lambda: None)
    monkeypatch.setattr(ray, "nodes", lambda: [made])
    waiting = room(cpus_per_worker=2)
    waiting._answers = Said(feasible)
    if refused:
        with pytest.raises(ClusterError, match=r"waiting for 2 CPUs.*no node which it may bring"):
            waiting.check_refusal()
    else:
        waiting.check_refusal()
    assert waiting._answers.taken == 1
    waiting._answers.feasible = None
    waiting.check_refusal()
    assert waiting._answers.taken == 1, "it is asked every few seconds"


def test_nobody_is_asked_where_nobody_scales(nodes, monkeypatch):
    nodes[:] = [0.0]
    monkeypatch.setattr(room_module.feasibility, "status", lambda: pytest.fail("asked"))
    room().check_refusal()
