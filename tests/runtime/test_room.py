from __future__ import annotations

import pytest
import ray

from distanon.errors import ClusterError
from distanon.runtime.room import Room
from distanon.runtime.settings import RuntimeSettings


@pytest.fixture
def nodes(monkeypatch):
    """The cluster's nodes, as a list to change."""
    alive = []
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
