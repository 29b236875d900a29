"""What members of a cluster agree on: their commonest value, or the lowest label above them."""

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.graph import Graph, GraphColumns, GraphDataset
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryPartition, MemoryScratch
from distanon.errors import SpecError
from distanon.methods.base import Context
from distanon.methods.kmfc_gwo.method import KMFCGWO
from distanon.promises.gate import verify
from distanon.runtime.crew import SerialCrew

NOMINAL, NUMERIC = AttributeType.NOMINAL, AttributeType.NUMERIC
ROWS = (
    ("Bonn", "West", "Germany", "*"),
    ("Köln", "West", "Germany", "*"),
    ("Jena", "East", "Germany", "*"),
    ("Graz", "Styria", "Austria", "*"),
)
RING = {"knowledge": "attributes", "unchanged_edges": "accept", "wolves": 2, "iterations": 1}


def ring(towns, jobs=None):
    """People in a ring: no edge needs an edit."""
    n = len(towns)
    columns = {"town": pa.array(towns, pa.string())}
    hierarchy = Hierarchy.from_rows(ROWS, "towns")
    attributes = [
        Attribute("town", Role.QUASI_IDENTIFIER, NOMINAL, pa.string(), hierarchy=hierarchy)
    ]
    if jobs is not None:
        columns["job"] = pa.array(jobs)
        attributes.append(Attribute("job", Role.SENSITIVE, NOMINAL, pa.string()))
    graph = Graph.from_pairs(n, np.array([(one, (one + 1) % n) for one in range(n)]))
    ids = pa.array(range(n))
    return GraphDataset(graph, pa.table(columns), Schema(tuple(attributes)), GraphColumns(), ids)


def released(dataset, crew=None, **parameters):
    method = KMFCGWO(**(RING | {"agreement": "hierarchy"} | parameters))
    promises = method.default_promises()
    context = Context(crew or SerialCrew(), MemoryScratch(), Streams(7))
    release = method.release(dataset, promises, context)
    nodes = Dataset(release.schema, (MemoryPartition(release.nodes),), "the release")
    evidence = GraphEvidence.of(
        nodes,
        release.graph,
        method.knowledge,
        original=dataset,
        sources=release.sources,
        clusters=release.classes,
    )
    return release, verify(promises, evidence), evidence


@pytest.mark.parametrize(
    ("agreement", "shown", "loss"),
    [
        # Up to Germany, two of three levels: each of four cells moves by 2/3.
        ("hierarchy", "Germany", 2 / 3),
        # Köln: Bonn moves by 1/3, Jena by 2/3, of four cells.
        ("mode", "Köln", 1 / 4),
    ],
)
def test_the_loss_of_one_cluster_by_hand(agreement, shown, loss):
    towns = ["Bonn", "Köln", "Köln", "Jena"]
    release, verdicts, _ = released(ring(towns), k=4, agreement=agreement)
    assert release.nodes.column("town").to_pylist() == [shown] * 4
    assert release.private["IL_A"] == pytest.approx(loss)
    assert all(verdict.kept for verdict in verdicts)


def test_the_loss_of_two_clusters_and_a_sensitive_column_by_hand():
    towns = ["Bonn", "Köln", "Köln", "Graz", "Graz", "Graz"]
    jobs = ["p", "q", "p", "q", "p", "q"]
    release, verdicts, _ = released(ring(towns, jobs), k=3)
    assert release.nodes.column("town").to_pylist() == ["West"] * 3 + ["Graz"] * 3
    # Three cells move by 1/3, of six nodes with two attributes.
    assert release.private["IL_A"] == pytest.approx(1 / 12)
    assert release.counts["quasi_identifier_cells_generalized"] == 3
    assert release.counts["quasi_identifier_cells_changed"] == 0
    assert all(verdict.kept for verdict in verdicts)


def mixed(nodes, seed):
    """A random graph with towns, some missing, ages and jobs."""
    rng = np.random.default_rng(seed)
    towns = rng.choice(["Bonn", "Köln", "Jena", "Graz", None], nodes, p=[0.3, 0.3, 0.2, 0.1, 0.1])
    jobs = rng.choice(["p", "q", "r"], nodes, p=[0.5, 0.3, 0.2])
    base = ring(towns.tolist(), jobs.tolist())
    age = Attribute("age", Role.QUASI_IDENTIFIER, NUMERIC, pa.float64())
    table = base.nodes.append_column("age", pa.array(rng.integers(0, 3, nodes).astype(float)))
    graph = Graph.from_pairs(nodes, rng.integers(0, nodes, (3 * nodes, 2)))
    schema = Schema((*base.schema, age))
    return GraphDataset(graph, table, schema, GraphColumns(), pa.array(range(nodes)))


FULL = {"knowledge": "attributes+degree", "k": 4, "l": 2, "wolves": 4, "iterations": 3}


@pytest.mark.parametrize("seed", range(4))
def test_promises_are_kept_on_the_labels_and_no_cell_is_false(seed):
    dataset = mixed(40, seed)
    release, verdicts, evidence = released(dataset, edit_budget=9, t=0.6, **FULL)
    assert {verdict.promise for verdict in verdicts} >= {"k_degree", "l_diversity", "t_closeness"}
    assert all(verdict.kept for verdict in verdicts)
    shown = set(release.nodes.column("town").to_pylist())
    assert shown - {"Bonn", "Köln", "Jena", "Graz", None}
    assert evidence.is_generalized
    place = evidence.space.names.index("town")
    region = evidence.release_regions[place]
    truth = evidence.original_values[evidence.sources, place]
    assert region.contains(truth, region.code_of).all()
    labels = [one for one in shown if one not in ("Bonn", "Köln", "Jena", "Graz", None)]
    cells = sum(release.nodes.column("town").to_pylist().count(one) for one in labels)
    assert release.counts["quasi_identifier_cells_generalized"] == cells


def test_other_modes_of_publication_are_as_they_were():
    dataset = mixed(40, 1)
    for publish in ("generalize", "sample"):
        one, other = (
            KMFCGWO(**(FULL | {"publish": publish, "agreement": agreement})).release(
                dataset, {}, Context(SerialCrew(), MemoryScratch(), Streams(7))
            )
            for agreement in ("mode", "hierarchy")
        )
        assert one.counts == other.counts
        if publish == "generalize":
            assert one.supernodes == other.supernodes
        else:
            assert one.nodes == other.nodes


@pytest.mark.ray
def test_workers_give_the_same_labels(ray_address):
    from distanon.runtime import crew
    from distanon.runtime.settings import RuntimeSettings

    dataset = mixed(60, 4)
    serial, _, _ = released(dataset, edit_budget=9, **FULL)
    with crew(RuntimeSettings(address=ray_address, workers=2)) as workers:
        spread, _, _ = released(dataset, crew=workers, edit_budget=9, **FULL)
    assert serial.nodes == spread.nodes
    assert serial.graph.pairs().tolist() == spread.graph.pairs().tolist()
    assert serial.counts == spread.counts
    assert serial.private["IL_A"] == spread.private["IL_A"]


def test_labels_are_refused_where_no_quasi_identifier_has_any():
    bare = ring(["Bonn"] * 4)
    flat = Schema((Attribute("town", Role.QUASI_IDENTIFIER, NOMINAL, pa.string()),))
    dataset = GraphDataset(bare.graph, bare.nodes, flat, GraphColumns(), bare.ids)
    with pytest.raises(SpecError, match="no quasi-identifier has a hierarchy"):
        KMFCGWO(agreement="hierarchy", k=4).check(dataset, {})


def test_labels_are_refused_where_values_stay_as_they_are():
    with pytest.raises(SpecError, match="knowledge degree leaves"):
        KMFCGWO(agreement="hierarchy", k=4, knowledge="degree").check(ring(["Bonn"] * 4), {})
