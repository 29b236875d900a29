from __future__ import annotations

import pytest

from distanon.runtime.limits import NodeGroup, is_scaled, node_groups


@pytest.fixture
def reported(monkeypatch):
    """Lets the cluster hold this report; None: none."""
    from ray._private.state import state

    def hold(config):
        monkeypatch.setattr(state, "get_cluster_config", lambda: config)

    return hold


def test_a_report_is_read_group_by_group(reported):
    from ray.core.generated.autoscaler_pb2 import ClusterConfig

    config = ClusterConfig()
    for name, most in (("spot", 5), ("unbounded", -1)):
        group = config.node_group_configs.add(name=name, max_count=most)
        group.resources["CPU"] = 8
    reported(config)
    assert node_groups() == (NodeGroup({"CPU": 8.0}, 5), NodeGroup({"CPU": 8.0}, None))


def test_no_report_is_no_limit(reported):
    from ray.core.generated.autoscaler_pb2 import ClusterConfig

    for config in (None, ClusterConfig()):
        reported(config)
        assert node_groups() is None


def test_nodes_of_a_group_tell_that_somebody_scales_the_cluster():
    plain = {"Labels": {"ray.io/node-id": "a"}}
    assert not is_scaled([plain, {"Labels": None}, {}])
    assert is_scaled([plain, {"Labels": {"ray.io/node-group": "workers"}}])
