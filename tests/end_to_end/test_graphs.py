"""Graph jobs from files to a verified release: every format, mode, cut, loss and crash."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from distanon import job as jobs
from distanon.job.journal import Journal
from distanon.storage.store import Store


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """Where the serial run publishes; made once."""
    return tmp_path_factory.mktemp("whole") / "release"


@pytest.fixture
def undisturbed(graph_job, public_bytes, whole):
    """The bytes of the serial run."""
    if not whole.exists():
        jobs.run_job(graph_job("serial", f"output={whole}"), serial=True)
    return public_bytes(whole)


def counted(spec) -> tuple[int, int]:
    """Nodes and edges of a release, whose ids are checked."""
    nodes = pq.read_table(Path(spec.output) / "nodes")
    edges = pq.read_table(Path(spec.output) / "edges")
    ends = np.stack([edges["source"].to_numpy(), edges["target"].to_numpy()])
    assert nodes["node"].to_pylist() == list(range(len(nodes)))
    assert (ends[0] < ends[1]).all(), "a loop, or an edge with its ends in the wrong order"
    assert len(set(zip(*ends.tolist(), strict=True))) == len(edges), "an edge twice"
    assert ends.max() < len(nodes)
    return len(nodes), len(edges)


def test_a_release_is_a_simple_graph_with_a_certificate(graph_job):
    spec = graph_job()
    result = jobs.run_job(spec, serial=True)
    nodes, edges = counted(spec)
    assert nodes == 300
    assert edges > 300
    assert {one.promise for one in result.verdicts} == {
        "k_anonymity",
        "k_degree",
        "l_diversity",
        "t_closeness",
    }
    assert all(one.kept and one.verified_from != "asserted" for one in result.verdicts)
    table = pq.read_table(Path(spec.output) / "nodes")
    assert table.column_names == ["node", "gender", "town", "school"]
    shown = nx.read_graphml(Path(spec.output) / "graph.graphml")
    assert (len(shown), shown.number_of_edges()) == (nodes, edges)
    names = {one.name for one in result.measurements if one.name.endswith(".k")}
    assert {"reached.degree_and_triangles.k", "reached.neighbor_degrees.k"} <= names


# --- Formats -----------------------------------------------------------------------------------


def as_text(folder: Path, social, delimiter: str, name: str) -> str:
    options = pyarrow.csv.WriteOptions(delimiter=delimiter)
    for part, table in zip(("edges", "nodes"), social, strict=True):
        pyarrow.csv.write_csv(table, folder / f"{part}.{name}", options)
    return f"edges: {folder}/edges.{name}, nodes: {folder}/nodes.{name}"


def as_networkx(social) -> nx.Graph:
    edges, nodes = social
    graph = nx.Graph()
    for row in nodes.to_pylist():
        graph.add_node(row.pop("node"), **row)
    graph.add_edges_from(
        zip(*(edges[name].to_pylist() for name in edges.column_names), strict=True)
    )
    return graph


@pytest.fixture
def written(tmp_path, social):
    def write(form: str) -> str:
        if form in ("csv", "tsv"):
            return as_text(tmp_path, social, {"csv": ",", "tsv": "\t"}[form], form)
        path = tmp_path / f"graph.{form}"
        {"graphml": nx.write_graphml, "gml": nx.write_gml}[form](as_networkx(social), path)
        return f"path: {path}"

    return write


@pytest.mark.parametrize("form", ["csv", "tsv", "graphml", "gml"])
@pytest.mark.usefixtures("undisturbed")
def test_formats_change_no_value(graph_job, whole, written, form):
    more = ["input.graph.columns.label=identifier"] if form == "gml" else []
    spec = graph_job(form, *more, given=written(form))
    jobs.run_job(spec, serial=True)
    for part in ("nodes", "edges"):
        found = pq.read_table(Path(spec.output) / part)
        wanted = pq.read_table(whole / part)
        # The ids' column is called as in the file.
        assert found.rename_columns(wanted.column_names).equals(wanted), part


# --- Modes and knowledge -----------------------------------------------------------------------


@pytest.mark.parametrize("knowledge", ["cluster", "attributes", "degree"])
def test_every_knowledge_is_promised_and_verified(graph_job, knowledge):
    spec = graph_job(knowledge, f"method.knowledge={knowledge}", "method.unchanged_edges=accept")
    result = jobs.run_job(spec, serial=True)
    assert counted(spec)[0] == 300
    assert all(one.kept for one in result.verdicts)
    reached = {one.name: one for one in result.measurements}
    if knowledge != "cluster":
        assert reached[f"reached.{knowledge}.k"].value >= 4
        assert reached[f"reached.{knowledge}.k"].note == "the promised knowledge"


def test_supernodes_hold_at_least_k_people(graph_job):
    spec = graph_job("general", "method.publish=generalize")
    result = jobs.run_job(spec, serial=True)
    assert all(one.kept for one in result.verdicts)
    folders = {path.name for path in Path(spec.output).iterdir() if path.is_dir()}
    assert folders == {"supernodes", "superedges"}
    table = pq.read_table(Path(spec.output) / "supernodes")
    size = next(name for name in table.column_names if name in ("size", "nodes"))
    assert table[size].to_numpy().min() >= 4
    assert table[size].to_numpy().sum() == 300


def test_a_sampled_graph_keeps_its_promises(graph_job):
    spec = graph_job("sample", "method.publish=sample")
    result = jobs.run_job(spec, serial=True)
    assert all(one.kept for one in result.verdicts)
    assert counted(spec)[0] == 300


# --- Same bytes --------------------------------------------------------------------------------


@pytest.mark.parametrize("partitions", [1, 7])
def test_partitions_change_no_byte(graph_job, public_bytes, undisturbed, partitions):
    spec = graph_job("cut", f"runtime.partitions={partitions}")
    jobs.run_job(spec, serial=True)
    assert public_bytes(spec.output) == undisturbed


@pytest.mark.ray
@pytest.mark.parametrize(("workers", "partitions"), [(1, 7), (2, 5), (4, 1)])
def test_workers_change_no_byte(
    graph_job, public_bytes, undisturbed, ray_address, workers, partitions
):
    spec = graph_job(
        "ray",
        f"runtime.address={ray_address}",
        f"runtime.workers={workers}",
        f"runtime.partitions={partitions}",
    )
    jobs.run_job(spec)
    assert public_bytes(spec.output) == undisturbed


@pytest.mark.ray
def test_a_worker_killed_in_mid_search_changes_no_byte(
    graph_job, public_bytes, undisturbed, ray_cluster, killer_in
):
    spec = graph_job("killed", f"runtime.address={ray_cluster.address}", "runtime.workers=2")
    killer = killer_in("wolves")
    result = jobs.run_job(spec, progress=killer)
    assert killer.killed
    assert public_bytes(spec.output) == undisturbed
    assert Journal(Store(result.private)).read_run()["survived"]["workers_lost"] >= 1


@pytest.mark.parametrize("turn", [1, 3])
def test_a_killed_driver_is_resumed_to_the_same_bytes(
    graph_job, public_bytes, undisturbed, tmp_path, turn
):
    spec = graph_job("driver", "runtime.checkpoint_every=2")
    file = tmp_path / "job.yaml"
    file.write_text(spec.to_yaml())
    # The run kills its own process, as SIGKILL from outside would, in a turn of the search.
    code = f"""
import os, signal
from distanon import job
from distanon.data.ports import Silent
from distanon.spec import load
from distanon.runtime.pinning import pin
pin()

class Suicide(Silent):
    turns = 0
    def start(self, phase, total):
        self.turns += phase == "wolves"
        if self.turns == {turn}:
            os.kill(os.getpid(), signal.SIGKILL)

job.run_job(load({str(file)!r}), progress=Suicide(), serial=True)
"""
    killed = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, timeout=200
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()[-2000:]
    jobs.resume(spec, serial=True)
    assert public_bytes(spec.output) == undisturbed
    private = Path(spec.private_prefix())
    assert not (private / "staging").exists()
    assert not (private / "checkpoint").exists()


@pytest.mark.s3
def test_local_disk_and_s3_hold_the_same_bytes(graph_job, undisturbed, s3_environment):
    bucket, hidden = s3_environment.bucket(), s3_environment.bucket()
    spec = graph_job("s3", f"output=s3://{bucket}/release/", f"private=s3://{hidden}/private/")
    jobs.run_job(spec, serial=True)
    store = Store(spec.output)
    names = [entry.name for entry in store.list()]
    assert "_SUCCESS" in names
    assert {name: store.read(name) for name in names if name != "_SUCCESS"} == undisturbed
