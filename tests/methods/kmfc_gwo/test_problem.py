"""The incremental evaluation against a dense one, and what the repair leaves."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.agreement import agreed_values
from distanon.data.domain import scan
from distanon.data.graph import Graph, GraphColumns, GraphDataset
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace
from distanon.data.streams import Streams
from distanon.methods.kmfc_gwo.candidates import enumerate_candidates
from distanon.methods.kmfc_gwo.cells import grouped, sensitive_columns
from distanon.methods.kmfc_gwo.objective import Objective, Shares
from distanon.methods.kmfc_gwo.problem import Problem, complete, edited_pairs
from distanon.methods.kmfc_gwo.targets import (
    classes_of,
    degree_groups,
    level_starts,
)
from distanon.optimizers.population import random_genome, set_bits
from distanon.promises.l_diversity import LDiversity

SHARES = Shares(1.0, 0.7, 0.4, 0.3, 2.0, 1.5)


def problem_of(seed, nodes, edges, k, edge_weight="uniform", rule="classes", shares=SHARES):
    """A problem over a random graph, with all that a dense evaluation needs."""
    rng = np.random.default_rng(seed)
    graph = Graph.from_pairs(nodes, rng.integers(0, nodes, (edges, 2)))
    table = pa.table(
        {
            "town": pa.array(rng.choice(["x", "y"], nodes).tolist()),
            "age": rng.integers(0, 5, nodes).astype(float),
            "job": pa.array(rng.choice(["p", "q", "r"], nodes, p=[0.7, 0.2, 0.1]).tolist()),
        }
    )
    nominal = AttributeType.NOMINAL
    schema = Schema(
        (
            Attribute("town", Role.QUASI_IDENTIFIER, nominal, pa.string()),
            Attribute("age", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.float64()),
            Attribute("job", Role.SENSITIVE, nominal, pa.string()),
        )
    )
    dataset = GraphDataset(graph, table, schema, GraphColumns(), pa.array(range(nodes)))
    domain = scan(dataset.node_dataset())
    space = AttributeSpace.of(schema.quasi_identifiers, domain)
    values = space.encode(table)
    order = np.lexsort((graph.degrees(), values[:, 1], values[:, 0]))
    labels = np.empty(nodes, np.int64)
    for place, part in enumerate(np.array_split(order, max(1, nodes // k))):
        labels[part] = place
    published = agreed_values(labels, values, space)[labels]
    class_of = classes_of(published)
    groups = degree_groups(graph.degrees(), labels, class_of, k, rule)
    none = np.empty((0, 2), np.int64)
    listed = enumerate_candidates(graph, groups, labels, 10**6, none)
    objective = Objective.of(graph, labels, space, (values, published), 3, edge_weight, shares)
    costs = objective.pair_costs(listed.inc.ends.astype(np.int64), listed.inc.sign)
    columns = sensitive_columns(
        dataset, domain, {"l_diversity": LDiversity(l=2)}, labels, 2, Streams(1)
    )
    problem = Problem(
        graph,
        none,
        (0.0, 0.0, 0),
        class_of,
        groups,
        level_starts(class_of, groups.options, groups.group_of),
        k,
        listed,
        *costs,
        columns,
        objective,
        10**6,
        "rules",
        with_decoys=True,
    )
    return problem, space, values, published


def dense(problem, space, values, published, graph, cells):
    """F by matrices of N × N and N × M, straight from its definition."""
    objective, n = problem.objective, graph.nodes
    before, after = (adjacency(one) for one in (objective.graph, graph))
    shared = before @ before
    degrees = before.sum(1)
    either = degrees[:, None] + degrees[None, :] - shared
    similarity = shared / np.maximum(either, 1)
    weight = np.ones((n, n))
    if objective.edge_weight == "neighborhood":
        weight = np.where(before > 0, 0.5 + similarity, 1.5 - similarity)
    loss_g = (np.abs(after - before) * weight)[np.triu_indices(n, 1)].sum()
    loss_g /= max(1, objective.graph.edges)
    loss_a = cells.sum()
    for a, b in zip(values, published, strict=True):
        for place, is_nominal in enumerate(space.nominal):
            spread = space.spreads[place] or 1.0
            loss_a += (
                float(a[place] != b[place]) if is_nominal else abs(a[place] - b[place]) / spread
            )
    loss_a /= n * 3
    shares = objective.shares

    def rows(matrix, codes):
        return np.concatenate(
            [
                shares.feature_edges * matrix,
                shares.feature_attributes * space.embed(codes),
                shares.feature_degree * np.log1p(matrix.sum(1))[:, None],
            ],
            axis=1,
        )

    original, edited = rows(before, values), rows(after, published)
    labels = objective.labels
    centroids = np.stack([original[labels == c].mean(0) for c in range(labels.max() + 1)])
    spread = ((original - original.mean(0)) ** 2).sum()
    error = ((edited - centroids[labels]) ** 2).sum() / spread if spread else 0.0
    return shares.graph * loss_g + shares.attributes * loss_a + shares.clustering * error


def adjacency(graph):
    matrix = np.zeros((graph.nodes, graph.nodes))
    pairs = graph.pairs()
    matrix[pairs[:, 0], pairs[:, 1]] = matrix[pairs[:, 1], pairs[:, 0]] = 1.0
    return matrix


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    edge_weight=st.sampled_from(["uniform", "neighborhood"]),
    density=st.sampled_from([0.0, 0.05, 0.5]),
)
def test_the_incremental_objective_is_the_dense_one(seed, edge_weight, density):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(6, 40))
    k = int(rng.integers(2, 6))
    problem, *attributes = problem_of(seed, nodes, 3 * nodes, k, edge_weight)
    one = complete(problem, random_genome(problem.bits, density, rng), rng, 0.2)
    graph = problem.graph.edited(*edited_pairs(problem, one))
    moved = np.array([change.loss for change in one.extra.cells])
    assert one.fitness[-1] == pytest.approx(dense(problem, *attributes, graph, moved), rel=1e-9)
    edits = len(set(map(tuple, graph.pairs())) ^ set(map(tuple, problem.graph.pairs())))
    assert one.extra.edits == edits


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), rule=st.sampled_from(["classes", "clusters"]))
def test_a_completed_solution_shares_degrees_and_values(seed, rule):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    problem, *_ = problem_of(seed, int(rng.integers(k, 50)), 120, k, rule=rule)
    one = complete(problem, random_genome(problem.bits, 0.1, rng), rng, 0.1)
    if one.fitness[0]:
        return
    graph = problem.graph.edited(*edited_pairs(problem, one))
    key = problem.class_of * 1000 + graph.degrees()
    found, sizes = np.unique(key, return_counts=True)
    assert sizes.min() >= k
    column, change = problem.columns[0], one.extra.cells[0]
    job = column.original.copy()
    job[change.nodes] = change.values
    for member in found:
        assert len(np.unique(job[key == member])) >= 2


def test_a_completed_genome_keeps_its_edits():
    problem, *_ = problem_of(3, 60, 200, 4)
    rng = np.random.default_rng(0)
    once = complete(problem, random_genome(problem.bits, 0.02, rng), rng, 0.0)
    again = complete(problem, once.genome, rng, 0.0)
    count = len(problem.candidates)
    first, second = (set_bits(one.genome) for one in (once, again))
    kept = np.intersect1d(first[first < count], second[second < count])
    assert len(kept) >= 0.9 * np.count_nonzero(first < count)
    assert again.fitness <= once.fitness or again.fitness[1] <= once.fitness[1] * 1.1


def test_a_violation_orders_before_the_objective_and_as_a_penalty_after():
    problem, *_ = problem_of(3, 60, 200, 4)
    tight = Problem(**{name: getattr(problem, name) for name in Problem.__slots__} | {"budget": 1})
    genome = np.packbits(np.zeros(problem.bits, np.uint8))
    free = complete(problem, genome, np.random.default_rng(0), 0.0)
    bound = complete(tight, genome, np.random.default_rng(0), 0.0)
    assert free.fitness[0] == 0
    assert bound.fitness[0] == bound.extra.edits - 1
    soft = Problem(
        **{name: getattr(tight, name) for name in Problem.__slots__} | {"constraints": "penalty"}
    )
    assert complete(soft, genome, np.random.default_rng(0), 0.0).fitness[0] > 1


def test_members_are_grouped_by_class():
    starts, members = grouped(np.array([1, 0, 1, 0, 2]))
    assert starts.tolist() == [0, 2, 4, 5]
    assert members.tolist() == [1, 3, 0, 2, 4]
