"""What tests of the deployment share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def s3_module():
    """The module of the real S3 server, which lies beside the tests and in no package."""
    if "s3_server" not in sys.modules:
        file = Path(__file__).parents[1] / "s3_server.py"
        spec = importlib.util.spec_from_file_location("s3_server", file)
        sys.modules["s3_server"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["s3_server"])
    return sys.modules["s3_server"]


@pytest.fixture(scope="session")
def brought():
    """Asks the scheduler of Ray's autoscaler which nodes it would start.

    `brought({KIND: (most, CPUs, priority)}, workers, failed=[KIND])`, where each worker asks for
    what distanon's ask for on a cluster that grows: one CPU, of any market.
    """
    from ray.autoscaler.v2.instance_manager.config import NodeTypeConfig
    from ray.autoscaler.v2.scheduler import ResourceDemandScheduler, SchedulingRequest
    from ray.core.generated import autoscaler_pb2

    def ask(kinds, workers, failed=()):
        request = autoscaler_pb2.ResourceRequest(resources_bundle={"CPU": 1})
        asked = SchedulingRequest(
            disable_launch_config_check=True,
            node_type_configs={
                name: NodeTypeConfig(name, 0, most, resources={"CPU": cpus}, priority=priority)
                for name, (most, cpus, priority) in kinds.items()
            },
            max_num_nodes=sum(most for most, _, _ in kinds.values()),
            resource_requests=[
                autoscaler_pb2.ResourceRequestByCount(request=request, count=workers)
            ],
            recoverable_resource_availabilities=dict.fromkeys(failed, 0.0),
        )
        found = ResourceDemandScheduler(None).schedule(asked).to_launch
        return {one.instance_type: one.count for one in found}

    return ask
