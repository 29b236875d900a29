"""Fixtures that more than one part of the tests needs. Slow ones start when first asked for."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from distanon.runtime.pinning import pin

pin()  # before numpy: this process computes what Ray workers are compared with

# --- Ray ---------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[Any]:
    """A `ray.cluster_utils.Cluster`: a head of 4 logical CPUs; nodes may be added and killed."""
    from ray.cluster_utils import Cluster

    from distanon.runtime.seclusion import secluded

    detection = {
        "health_check_initial_delay_ms": 0,
        "health_check_period_ms": 500,
        "health_check_timeout_ms": 2000,
        "health_check_failure_threshold": 3,
    }
    with secluded():
        cluster = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 4,
                "object_store_memory": 256 << 20,
                "include_dashboard": False,
                "_system_config": detection,
            },
        )
        try:
            yield cluster
        finally:
            cluster.shutdown()


@pytest.fixture(scope="session")
def ray_address(ray_cluster) -> str:
    """Where to join a Ray that stands for all tests: `RuntimeSettings(address=ray_address)`."""
    return ray_cluster.address


# --- Graphs ------------------------------------------------------------------------------------

_EDGES = {
    "ego-facebook": ("facebook_combined.txt", None, 0),
    "email-eu-core": ("email-Eu-core.txt", None, 0),
    "lastfm-asia": ("lastfm_asia_edges.csv", ",", 1),
}


@pytest.fixture(scope="session")
def shared_graph() -> Any:
    """A maker of real graphs, `shared_graph("ego-facebook")`; skips where they are missing."""
    import numpy as np

    from distanon.data.graph import Graph

    root = Path(__file__).parents[1]
    folder = Path(os.environ.get("DISTANON_DATA", root.parent / "shared" / "data")) / "graphs"

    @cache
    def make(name: str) -> Graph:
        file, delimiter, heading = _EDGES[name]
        path = folder / name / file
        if not path.exists():
            pytest.skip("needs the graphs of DISTANON_DATA")
        pairs = np.loadtxt(path, dtype=np.int64, delimiter=delimiter, skiprows=heading)
        return Graph.from_pairs(int(pairs.max()) + 1, pairs)

    return make


# --- S3 ----------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def s3() -> Iterator[Any]:
    """A real S3 server: `s3.endpoint`, `s3.bucket()`, `s3.environment(s3.reader)`."""
    with _beside("s3_server").S3Server() as server:
        yield server


@pytest.fixture
def s3_environment(s3, monkeypatch) -> Any:
    """The server, with the environment of somebody who may read and write all of it."""
    for name, value in s3.environment(s3.writer).items():
        monkeypatch.setenv(name, value)
    return s3


@pytest.fixture
def fault_proxy() -> Iterator[Any]:
    """Makes proxies in front of a server: `fault_proxy(endpoint, rule)`."""
    made: list[Any] = []

    def make(endpoint: str, rule: Any) -> Any:
        made.append(_beside("fault_proxy").FaultProxy(endpoint, rule).start())
        return made[-1]

    yield make
    for proxy in made:
        proxy.stop()


def _beside(name: str) -> Any:
    """A module of this folder, which is no package."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
