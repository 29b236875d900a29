"""What groups must keep, beside the promises that judge the release."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.data.domain import scan
from distanon.data.evidence import Evidence
from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, cut
from distanon.errors import InfeasibleError, SpecError
from distanon.kernels.counts import Counts
from distanon.methods.limits import (
    default_promises,
    limits_of,
    people_of,
    refuse_disagreement,
    refuse_infeasible,
)
from distanon.promises.alpha_k import AlphaK
from distanon.promises.beta_likeness import BetaLikeness
from distanon.promises.delta_disclosure import DeltaDisclosure
from distanon.promises.k_anonymity import KAnonymity
from distanon.promises.l_diversity import LDiversity
from distanon.promises.t_closeness import TCloseness

TREE = Hierarchy.from_rows([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")], "h")
ASKED = [
    LDiversity(l=2),
    LDiversity(l=1.7, kind="entropy"),
    LDiversity(l=2, kind="recursive", c=2),
    TCloseness(t=0.3, distance="equal"),
    TCloseness(t=0.3, distance="ordered"),
    TCloseness(t=0.3, distance="hierarchical"),
    BetaLikeness(beta=0.6),
    BetaLikeness(beta=1.5, kind="basic"),
    DeltaDisclosure(delta=0.8),
    AlphaK(alpha=0.5, k=2),
    AlphaK(alpha=0.25, k=2, columns={"s": {"values": ("a",), "alpha": 0.6}}),
]


def dataset_of(classes, values, kind=AttributeType.NOMINAL, hierarchy=None, who=None):
    table = pa.table({"q": pa.array(classes, pa.int64()), "s": values})
    roles = [Role.QUASI_IDENTIFIER, Role.SENSITIVE]
    types = [AttributeType.NUMERIC, kind]
    if who is not None:
        table = table.append_column("who", pa.array(who))
        roles.append(Role.SUBJECT)
        types.append(AttributeType.NOMINAL)
    schema = Schema(
        tuple(
            Attribute(
                field.name,
                role,
                one,
                field.type,
                hierarchy=hierarchy if role == "sensitive" else None,
            )
            for field, role, one in zip(table.schema, roles, types, strict=True)
        )
    )
    dataset = Dataset(schema, cut(table, 1))
    return Dataset(schema, dataset.partitions, domain=scan(dataset))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9999), st.sampled_from(ASKED))
def test_a_group_keeps_a_limit_where_the_promise_finds_it_kept(seed, promise):
    rng = np.random.default_rng(seed)
    classes = np.sort(rng.integers(0, 3, 24))
    values = rng.choice(np.array(["a", "b", "c", None], object), 24, p=[0.5, 0.2, 0.2, 0.1])
    ordered = getattr(promise, "distance", None) == "ordered"
    kind = AttributeType.ORDINAL if ordered else AttributeType.NOMINAL
    dataset = dataset_of(classes, pa.array(values), kind, None if ordered else TREE)
    (limit,) = limits_of(dataset, {promise.name: promise})
    limit = pickle.loads(pickle.dumps(limit))
    number = np.unique(classes, return_inverse=True)[1].astype(np.int64)
    counts = Counts.of(number, limit.codes, int(number.max()) + 1, limit.n_values)
    if promise.name == "alpha_k" and counts.totals.min() < 2:
        return  # its k is the method's own
    judged = promise.verify(Evidence(dataset, dataset, np.arange(24)))
    assert bool(limit.holds(counts).all()) == judged.kept


def test_t_is_measured_against_the_records_that_are_released():
    dataset = dataset_of([0] * 4, pa.array(["a", "a", "b", "c"]))
    kept = np.array([True, True, False, False])
    (limit,) = limits_of(dataset, {"t_closeness": TCloseness(t=0)}, kept)
    counts = Counts.of(np.zeros(2, np.int64), limit.codes[kept], 1, limit.n_values)
    assert limit.holds(counts).all()


def test_parameters_stand_for_promises():
    found = default_promises(5, 3, 0.2)
    assert found["k_anonymity"] == KAnonymity(k=5)
    assert found["l_diversity"] == LDiversity(l=3)
    assert found["t_closeness"] == TCloseness(t=0.2)
    assert default_promises(5, 2.5, None)["l_diversity"] == LDiversity(l=2.5, kind="entropy")


def test_people_are_counted_unless_the_promise_counts_rows():
    dataset = dataset_of([0] * 4, pa.array(["a"] * 4), who=["x", "y", "x", None])
    assert people_of(dataset, {}).tolist() == [0, 1, 0, 2]
    assert people_of(dataset, {"k_anonymity": KAnonymity(k=2, distinct_sources=False)}) is None
    assert people_of(dataset_of([0], pa.array(["a"])), {}) is None


@pytest.mark.parametrize(
    ("promise", "told"),
    [
        (LDiversity(l=3), "2 different values; the largest l that works is 2"),
        (LDiversity(l=1.9, kind="entropy"), "too little entropy"),
        (LDiversity(l=2, kind="recursive", c=1), "not recursive"),
    ],
)
def test_an_l_that_all_records_lack_is_refused(promise, told):
    dataset = dataset_of([0] * 6, pa.array(["a"] * 5 + ["b"]))
    with pytest.raises(InfeasibleError, match=told):
        refuse_infeasible(dataset, 2, {"l_diversity": promise})


def test_missing_values_are_no_diversity():
    dataset = dataset_of([0] * 4, pa.array(["a", "a", None, None]))
    with pytest.raises(InfeasibleError, match="1 different value; no l works"):
        refuse_infeasible(dataset, 2, {"l_diversity": LDiversity(l=2)})


def test_a_share_that_all_records_exceed_is_refused():
    dataset = dataset_of([0] * 4, pa.array(["a", "a", "a", "b"]))
    with pytest.raises(InfeasibleError, match="larger share of all records"):
        refuse_infeasible(dataset, 2, {"alpha_k": AlphaK(alpha=0.7, k=2)})
    refuse_infeasible(dataset, 2, {"alpha_k": AlphaK(alpha=0.7, k=2, values=("b",))})
    with pytest.raises(SpecError, match=r"alpha_k.k: found 3.*raise method.k"):
        refuse_disagreement("mdav", {"k": 2}, {"alpha_k": AlphaK(alpha=0.7, k=3)})
