import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.graph import Graph, GraphColumns, GraphDataset
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryPartition, MemoryScratch
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.base import Context
from distanon.methods.kmfc_gwo.method import KFCFA, KMFCGWO
from distanon.promises.gate import verify
from distanon.runtime.crew import SerialCrew

QUICK = {"wolves": 4, "iterations": 2, "edit_budget": 1000.0}
NOMINAL, NUMERIC = AttributeType.NOMINAL, AttributeType.NUMERIC


def context(seed=7, scratch=None, crew=None, every=10):
    return Context(
        crew or SerialCrew(), scratch or MemoryScratch(), Streams(seed), checkpoint_every=every
    )


def people(graph, seed=0):
    """Nodes with two quasi-identifiers and a sensitive attribute."""
    rng, n = np.random.default_rng(seed), graph.nodes
    table = pa.table(
        {
            "town": pa.array(rng.choice(["x", "y", None], n).tolist(), pa.string()),
            "age": rng.integers(0, 5, n).astype(float),
            "job": pa.array(rng.choice(["p", "q", "r"], n, p=[0.6, 0.3, 0.1]).tolist()),
        }
    )
    schema = Schema(
        (
            Attribute("town", Role.QUASI_IDENTIFIER, NOMINAL, pa.string()),
            Attribute("age", Role.QUASI_IDENTIFIER, NUMERIC, pa.float64()),
            Attribute("job", Role.SENSITIVE, NOMINAL, pa.string()),
        )
    )
    return GraphDataset(graph, table, schema, GraphColumns(), pa.array(range(n)))


def bare(graph):
    return GraphDataset(graph, None, Schema(()), GraphColumns(), pa.array(range(graph.nodes)))


def random_graph(nodes, edges, seed=0):
    return Graph.from_pairs(nodes, np.random.default_rng(seed).integers(0, nodes, (edges, 2)))


def verdicts(method, dataset, release, promises):
    table = release.nodes
    if table is None:
        table = pa.table({"": pa.nulls(release.graph.nodes)}).select([])
    nodes = Dataset(release.schema, (MemoryPartition(table),), "the release")
    evidence = GraphEvidence.of(
        nodes,
        release.graph,
        method.knowledge,
        original=dataset,
        sources=release.sources,
        clusters=release.classes,
    )
    return verify(promises, evidence)


def released(dataset, seed=7, **parameters):
    method = KMFCGWO(**(QUICK | parameters))
    promises = method.default_promises()
    method.check(dataset, promises)
    release = method.release(dataset, promises, context(seed))
    return method, promises, release


SHAPES = {
    "star": lambda n: np.array([(0, i) for i in range(1, n)]),
    "clique": lambda n: np.array([(i, j) for i in range(n) for j in range(i)]),
    "empty": lambda n: np.empty((0, 2), np.int64),
    "edge": lambda n: np.array([(0, 1)]),
    "path": lambda n: np.array([(i, i + 1) for i in range(n - 1)]),
}


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_promise_is_kept_on_any_graph(data):
    k = data.draw(st.integers(2, 5))
    nodes = data.draw(st.integers(k, 36))
    graph = random_graph(nodes, data.draw(st.integers(0, 3 * nodes)), data.draw(st.integers(0, 99)))
    dataset = people(graph, 1)
    many = len(set(dataset.nodes.column("job").to_pylist()))
    method, promises, release = released(
        dataset,
        k=k,
        l=2 if many > 1 and data.draw(st.booleans()) else None,
        knowledge=data.draw(
            st.sampled_from(["cluster", "attributes", "degree", "attributes+degree"])
        ),
        degree_groups=data.draw(st.sampled_from(["classes", "clusters"])),
        unchanged_edges="accept",
    )
    assert [
        verdict for verdict in verdicts(method, dataset, release, promises) if not verdict.kept
    ] == []
    assert release.graph.nodes == nodes
    assert release.nodes.column_names == dataset.nodes.column_names
    assert np.bincount(release.classes).min() >= k


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("nodes", [3, 5, 8])
def test_odd_shapes_without_attributes_get_shared_degrees(shape, nodes):
    graph = Graph.from_pairs(nodes, SHAPES[shape](nodes))
    _, _, release = released(bare(graph), k=3, unchanged_edges="accept")
    counts = np.bincount(release.graph.degrees())
    assert counts[counts > 0].min() >= 3


def test_all_nodes_as_one_class():
    graph = random_graph(9, 20)
    _, _, release = released(people(graph), k=9)
    assert len(np.unique(release.graph.degrees())) == 1


def test_equal_degrees_and_values_need_no_edit():
    ring = np.array([(i, (i + 1) % 12) for i in range(12)])
    graph = Graph.from_pairs(12, ring)
    with pytest.raises(InfeasibleError, match=r"unchanged_edges: accept.*edge_floor"):
        released(bare(graph), k=4)
    _, _, release = released(bare(graph), k=4, unchanged_edges="accept")
    assert (release.graph.pairs() == graph.pairs()).all()
    assert release.private["IL_G"] == 0
    assert release.counts["edit_bound"] == 0


def test_the_bound_holds_and_what_is_counted_is_what_changed():
    graph = random_graph(80, 300, 3)
    dataset = people(graph)
    _, _, release = released(dataset, k=5, l=2)
    before, after = (set(map(tuple, one.pairs().tolist())) for one in (graph, release.graph))
    counts = release.counts
    assert len(before - after) == counts["edges_removed"]
    assert len(after - before) == counts["edges_added"]
    edits = counts["edges_removed"] + counts["edges_added"]
    assert counts["edit_bound_free_of_clusters"] <= counts["edit_bound"]
    assert edits >= counts["edit_bound_free_of_clusters"]
    assert release.private["IL_G"] == pytest.approx(edits / graph.edges)
    changed = [
        sum(
            a != b
            for a, b in zip(
                dataset.nodes[name].to_pylist(), release.nodes[name].to_pylist(), strict=True
            )
        )
        for name in ("town", "age", "job")
    ]
    assert sum(changed[:2]) == counts["quasi_identifier_cells_changed"]
    assert changed[2] == counts["sensitive_cells_changed"]


def test_the_search_is_never_worse_than_the_greedy_solution_nor_than_itself_before():
    _, _, release = released(people(random_graph(80, 300, 3)), k=5, iterations=6)
    course = release.private["objective_course"]
    assert course == sorted(course, reverse=True)
    assert release.private["objective"] <= release.private["greedy_objective"]


@pytest.mark.parametrize("optimizer", ["grey_wolf", "firefly", "genetic", "random"])
def test_a_resumed_search_ends_in_the_same_bytes(optimizer):
    dataset = people(random_graph(60, 200, 4))
    method = KMFCGWO(k=4, l=2, optimizer=optimizer, wolves=4, iterations=6, edit_budget=9)
    promises, scratch = method.default_promises(), MemoryScratch()
    whole = method.release(dataset, promises, context(every=2, scratch=scratch))

    class Stopping(SerialCrew):
        calls = 0

        def map(self, function, items, **settings):
            self.calls += settings.get("phase") == "wolves"
            if self.calls == 6:
                raise KeyboardInterrupt
            return super().map(function, items, **settings)

    scratch = MemoryScratch()
    with pytest.raises(KeyboardInterrupt):
        method.release(dataset, promises, context(every=2, scratch=scratch, crew=Stopping()))
    counted = Counting()
    resumed = method.release(dataset, promises, context(every=2, scratch=scratch, crew=counted))
    assert counted.phases.count("wolves") == 2
    same(whole, resumed)


class Counting(SerialCrew):
    def __init__(self):
        super().__init__()
        self.phases = []

    def map(self, function, items, **settings):
        self.phases.append(settings.get("phase"))
        return super().map(function, items, **settings)


def same(one, other):
    assert one.graph.pairs().tolist() == other.graph.pairs().tolist()
    assert one.nodes.equals(other.nodes)
    assert one.classes.tolist() == other.classes.tolist()
    assert one.private["objective_course"] == other.private["objective_course"]


def test_the_same_seed_gives_the_same_release_and_another_seed_another():
    dataset = people(random_graph(60, 200, 4))
    releases = [released(dataset, seed, k=4)[2] for seed in (1, 1, 2)]
    same(releases[0], releases[1])
    assert releases[0].graph.pairs().tolist() != releases[2].graph.pairs().tolist()


@pytest.mark.ray
def test_workers_give_the_same_bytes(ray_address):
    from distanon.runtime import crew
    from distanon.runtime.settings import RuntimeSettings

    dataset = people(random_graph(60, 200, 4))
    method = KMFCGWO(k=4, l=2, wolves=5, iterations=3, edit_budget=9)
    promises = method.default_promises()
    serial = method.release(dataset, promises, context())
    with crew(RuntimeSettings(address=ray_address, workers=2)) as workers:
        spread = method.release(dataset, promises, context(crew=workers))
    same(serial, spread)


def test_the_preset_of_the_predecessor_searches_with_fireflies():
    assert KFCFA(k=5).optimizer == "firefly"
    release = KFCFA(k=4, **QUICK).release(bare(random_graph(30, 60)), {}, context())
    counts = np.bincount(release.graph.degrees())
    assert counts[counts > 0].min() >= 4


@pytest.mark.parametrize("kind", ["mates", "two_hop", "random"])
def test_an_edge_floor_moves_its_share_and_its_edits_stay(kind):
    graph = random_graph(80, 400, 5)
    dataset = people(graph)
    method, promises, release = released(
        dataset, k=5, knowledge="attributes", edge_floor={"kind": kind, "share": 0.2}
    )
    moved = release.counts["edges_moved_by_floor"]
    assert moved == pytest.approx(0.2 * graph.edges, abs=2)
    assert release.private["IL_G"] == pytest.approx(2 * moved / graph.edges)
    assert all(verdict.kept for verdict in verdicts(method, dataset, release, promises))


def test_the_floor_serves_degrees_and_the_search_completes_it():
    graph = random_graph(120, 700, 6)
    dataset = people(graph)
    method, promises, release = released(dataset, k=6, edge_floor={"share": 0.25})
    assert all(verdict.kept for verdict in verdicts(method, dataset, release, promises))
    assert 0.4 < release.private["IL_G"] < 0.6


@pytest.mark.parametrize("knowledge", ["cluster", "attributes"])
def test_a_release_without_one_edited_edge_is_refused_unless_accepted(knowledge):
    dataset = people(random_graph(20, 40))
    method = KMFCGWO(k=3, knowledge=knowledge, **QUICK)
    with pytest.raises(SpecError, match="unchanged_edges"):
        method.check(dataset, method.default_promises())
    accepted = method.model_copy(update={"unchanged_edges": "accept"})
    release = accepted.release(dataset, {}, context())
    assert release.graph.pairs().tolist() == dataset.graph.pairs().tolist()


def test_too_few_nodes_are_refused_with_the_largest_k():
    with pytest.raises(InfeasibleError, match="largest k that works is 6"):
        KMFCGWO(k=7).check(bare(random_graph(6, 9)), {})


def test_too_few_values_are_refused_with_the_largest_l():
    dataset = people(random_graph(30, 60))
    method = KMFCGWO(k=5, l=4)
    with pytest.raises(InfeasibleError, match="largest l that works is 3"):
        method.check(dataset, method.default_promises())


def test_one_value_can_not_be_made_two():
    dataset = people(random_graph(30, 60))
    table = dataset.nodes.set_column(2, "job", pa.array(["p"] * 30))
    dataset = GraphDataset(dataset.graph, table, dataset.schema, dataset.columns, dataset.ids)
    method = KMFCGWO(k=5, l=2)
    with pytest.raises(InfeasibleError, match="no l works"):
        method.check(dataset, method.default_promises())


def test_a_t_that_no_class_reaches_is_refused_with_the_least():
    dataset = people(random_graph(31, 60))
    method = KMFCGWO(k=3, t=0)
    with pytest.raises(InfeasibleError, match=r"smallest t that works is .*, the smallest k"):
        method.check(dataset, method.default_promises())


def test_a_budget_below_the_bound_is_refused_with_the_least():
    graph = Graph.from_pairs(9, SHAPES["star"](9))
    method = KMFCGWO(k=9, edit_budget=0.01)
    with pytest.raises(InfeasibleError, match="smallest budget that may work"):
        method.release(bare(graph), {}, context())


def test_a_promise_above_the_methods_k_is_refused():
    from distanon.promises.k_anonymity import KAnonymity

    with pytest.raises(SpecError, match="they agree"):
        KMFCGWO(k=3).check(bare(random_graph(9, 9)), {"k_anonymity": KAnonymity(k=4)})


def test_supernodes_tell_sizes_edges_and_counts_alone():
    graph = random_graph(40, 120, 7)
    _, _, release = released(people(graph), k=5, l=2, publish="generalize")
    sizes = release.supernodes.column("size").to_numpy()
    inner = release.supernodes.column("inner_edges").to_numpy()
    between = release.superedges.column("edges").to_numpy()
    assert sizes.sum() == 40
    assert sizes.min() >= 5
    assert inner.sum() + between.sum() == graph.edges
    assert release.graph is None
    assert set(release.supernodes.column_names) == {"size", "inner_edges", "town", "age", "job"}


def test_a_sampled_graph_has_the_counts_of_the_supernodes():
    graph = random_graph(40, 120, 7)
    dataset = people(graph)
    method, promises, release = released(dataset, k=5, l=2, publish="sample")
    assert release.graph.edges == graph.edges
    assert release.sources is None
    seen = method.model_copy(update={"knowledge": "attributes"})
    judged = verdicts(seen, None, release, promises)
    assert all(verdict.kept for verdict in judged)


@pytest.mark.slow
def test_ego_facebook_reaches_its_goals(ego_facebook):
    dataset, _ = ego_facebook
    method = KMFCGWO(k=10, wolves=8, iterations=5)
    promises = method.default_promises()
    release = method.release(dataset, promises, context())
    assert all(verdict.kept for verdict in verdicts(method, dataset, release, promises))
    assert release.private["IL_G"] <= 0.09
    assert release.private["edits_over_bound"] <= 1.25
    assert release.private["wolf_bytes"] < 200_000
    cells = 2 * len(dataset)
    assert release.counts["quasi_identifier_cells_changed"] <= 0.03 * cells


@pytest.mark.parametrize("knowledge", ["cluster", "attributes", "degree", "attributes+degree"])
def test_link_confidence_is_kept(knowledge):
    graph = random_graph(60, 150, 8)
    dataset = people(graph)
    table = dataset.nodes.set_column(1, "age", pa.array(np.zeros(60)))
    dataset = GraphDataset(graph, table, dataset.schema, dataset.columns, dataset.ids)
    method, promises, release = released(
        dataset, k=6, knowledge=knowledge, link_confidence=0.25, unchanged_edges="accept"
    )
    assert "link_confidence" in promises
    assert all(verdict.kept for verdict in verdicts(method, dataset, release, promises))
    assert release.counts["edges_removed"] >= release.counts["edit_bound_of_links"]


def test_hubs_gain_more_edges_than_other_nodes_want():
    rng, nodes = np.random.default_rng(0), 6000
    ring = [(node, (node + step) % nodes) for node in range(nodes) for step in (1, 2)]
    hubs = [
        (hub, int(other))
        for hub, degree in enumerate((4500, 4000, 3000, 2500))
        for other in rng.choice(np.arange(4, nodes), degree, replace=False)
    ]
    dataset = bare(Graph.from_pairs(nodes, np.array(ring + hubs)))
    method = KMFCGWO(k=4, knowledge="degree", **QUICK)
    promises = method.default_promises()
    release = method.release(dataset, promises, context())
    assert all(verdict.kept for verdict in verdicts(method, dataset, release, promises))
