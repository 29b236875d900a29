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
        cluster = Cluster()
        for left in (2, 1, 0):  # a node aborts where its agents take more than 15 s to come up
            try:
                cluster.add_node(
                    num_cpus=4,
                    object_store_memory=256 << 20,
                    include_dashboard=False,
                    _system_config=detection,
                )
                break
            except Exception as error:
                if not left or "timed out" not in str(error):
                    raise
        try:
            yield cluster
        finally:
            cluster.shutdown()


@pytest.fixture(scope="session")
def ray_address(ray_cluster) -> str:
    """Where to join a Ray that stands for all tests: `RuntimeSettings(address=ray_address)`."""
    return ray_cluster.address


# --- Evidence ----------------------------------------------------------------------------------


def _dataset_of(columns: Any, ordinal: Any, sensitive: Any = (), kinds: Any = None) -> Any:
    import pyarrow as pa

    from distanon.data.schema import Attribute, AttributeType, Role, Schema
    from distanon.data.table import Dataset, MemoryPartition

    table = pa.table(columns)
    attributes = []
    for field in table.schema:
        kind = AttributeType.NOMINAL if pa.types.is_string(field.type) else AttributeType.NUMERIC
        if field.name in ordinal:
            kind = AttributeType.ORDINAL
        if kinds is not None:  # a column generalized to text stays what it was
            kind = kinds.setdefault(field.name, kind)
        role = Role.SENSITIVE if field.name in sensitive else Role.QUASI_IDENTIFIER
        attributes.append(Attribute(field.name, role, kind, field.type))
    return Dataset(Schema(tuple(attributes)), (MemoryPartition(table),))


@pytest.fixture
def evidence() -> Any:
    """A maker of evidence on tables: the original, and released rows in any order."""
    import numpy as np

    from distanon.data.evidence import Evidence

    def make(original, release, sources=None, *, ordinal=(), **settings):
        """Columns by name, or matrices whose columns are all numeric quasi-identifiers."""
        tables = [
            table
            if isinstance(table, dict)
            else {"abcdefgh"[place]: column for place, column in enumerate(np.asarray(table).T)}
            for table in (original, release)
        ]
        old, new = (_dataset_of(table, ordinal) for table in tables)
        sources = np.arange(len(new)) if sources is None else np.asarray(sources)
        return Evidence(new, old, sources, **settings)

    return make


@pytest.fixture
def sensitive_evidence() -> Any:
    """A maker of evidence with columns by name, of which s and v are sensitive.

    Columns of text where the original has numbers keep their type numeric.
    """
    import numpy as np

    from distanon.data.evidence import Evidence

    def make(
        original, release, sources=None, *, control=None, population=None, ordinal=(), **settings
    ):
        kinds: dict[str, Any] = {}
        old, new, held, all_people = (
            None if table is None else _dataset_of(table, ordinal, "sv", kinds)
            for table in (original, release, control, population)
        )
        sources = np.arange(len(new)) if sources is None else np.asarray(sources)
        return Evidence(new, old, sources, held, population=all_people, **settings)

    return make


# --- Data sets ---------------------------------------------------------------------------------

_EDGES = {
    "ego-facebook": ("facebook_combined.txt", None, 0),
    "email-eu-core": ("email-Eu-core.txt", None, 0),
    "lastfm-asia": ("lastfm_asia_edges.csv", ",", 1),
}


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the data sets that distanon does not ship; skips where it is missing."""
    usual = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("DISTANON_DATA", usual))
    if not folder.is_dir():
        pytest.skip(f"no data sets in {folder}; set DISTANON_DATA")
    return folder


@pytest.fixture(scope="session")
def graphs_folder(data_folder) -> Path:
    """Its graphs; skips where they are missing."""
    if not (data_folder / "graphs").is_dir():
        pytest.skip("needs the graphs of DISTANON_DATA")
    return data_folder / "graphs"


@pytest.fixture(scope="session")
def shared_graph(graphs_folder) -> Any:
    """A maker of real graphs, `shared_graph("ego-facebook")`; skips where they are missing."""
    import numpy as np

    from distanon.data.graph import Graph

    @cache
    def make(name: str) -> Graph:
        file, delimiter, heading = _EDGES[name]
        path = graphs_folder / name / file
        pairs = np.loadtxt(path, dtype=np.int64, delimiter=delimiter, skiprows=heading)
        return Graph.from_pairs(int(pairs.max()) + 1, pairs)

    return make


@pytest.fixture(scope="session")
def ego_facebook(graphs_folder) -> Any:
    """A data set of 4,039 nodes with gender and locale, missing as null."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    from distanon.data.graph import Graph, GraphColumns, GraphDataset
    from distanon.data.schema import Attribute, AttributeType, Role, Schema

    folder, names = graphs_folder / "ego-facebook", ("gender", "locale")
    options = pa_csv.ConvertOptions(
        include_columns=["node", *names],
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
    )
    rows = pa_csv.read_csv(folder / "nodes.csv", convert_options=options).sort_by("node")
    pairs = pa_csv.read_csv(
        folder / "facebook_combined.txt",
        read_options=pa_csv.ReadOptions(column_names=["a", "b"]),
        parse_options=pa_csv.ParseOptions(delimiter=" "),
    )
    graph = Graph.from_pairs(rows.num_rows, pairs.to_pandas().to_numpy())
    schema = Schema(
        tuple(
            Attribute(name, Role.QUASI_IDENTIFIER, AttributeType.NOMINAL, pa.string())
            for name in names
        )
    )
    ids = pa.array(range(rows.num_rows))
    return GraphDataset(graph, rows.select(list(names)), schema, GraphColumns(), ids)


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
