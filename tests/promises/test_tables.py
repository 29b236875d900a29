"""Class tables are made once, and never from the whole release at once."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.evidence import Evidence
from distanon.promises import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    TCloseness,
)
from distanon.promises.gate import verify
from distanon.promises.tables import original_totals, tables_over
from distanon.runtime.crew import SerialCrew

PROMISES = {
    "k_anonymity": KAnonymity(k=4),
    "l_diversity": LDiversity(l=3, columns={"w": {"l": 2.1, "kind": "entropy"}}),
    "t_closeness": TCloseness(t=0.2),
    "beta_likeness": BetaLikeness(beta=1),
    "delta_disclosure": DeltaDisclosure(delta=2),
    "alpha_k": AlphaK(alpha=0.5, k=3),
}


class PicklingCrew(SerialCrew):
    """A crew of many whose function, items and shared value travel, as between processes."""

    workers = 3

    def __init__(self):
        super().__init__()
        self.phases = []

    def put(self, value):
        return super().put(pickle.loads(pickle.dumps(value, protocol=5)))

    def map(self, function, items, **settings):
        self.phases.append(settings.get("phase"))
        function, items = pickle.loads(pickle.dumps((function, list(items))))
        return super().map(function, items, **settings)


@pytest.fixture
def evidence(dataset):
    def make(pieces, order=None):
        generator = np.random.default_rng(8)
        table = pa.table(
            {
                "x": generator.integers(0, 6, 200),
                "y": generator.choice(["[1, 2]", "*"], 200),
                "s": pa.array(generator.choice([*"pqrst", None], 200), pa.string()),
                "w": generator.integers(0, 4, 200),
            }
        )
        original = dataset(table, sensitive=["s", "w"], pieces=pieces)
        sources = np.arange(200) if order is None else order
        release = dataset(table.take(sources), sensitive=["s", "w"], pieces=pieces)
        return Evidence(release, original, sources)

    return make


def test_no_verdict_depends_on_the_cut_or_on_who_works(evidence):
    alone = verify(PROMISES, evidence(1))
    assert alone == verify(PROMISES, evidence(7), PicklingCrew())
    assert [one.kept for one in alone] == [
        promise.verify(evidence(2)).kept for promise in PROMISES.values()
    ]


def test_the_order_of_rows_changes_the_numbers_of_classes_alone(evidence):
    order = np.random.default_rng(2).permutation(200)
    for one, other in zip(
        verify(PROMISES, evidence(3)), verify(PROMISES, evidence(3, order)), strict=True
    ):
        assert one.measured == other.measured
        assert one.kept == other.kept


def test_the_release_is_never_read_as_a_whole(evidence):
    judged = evidence(5)
    verdicts = verify(PROMISES, judged, PicklingCrew())
    assert not all(one.kept for one in verdicts)  # so that tuples were listed too
    assert "release_table" not in vars(judged)
    assert "original_table" not in vars(judged)


def test_promises_share_one_count(evidence):
    judged, crew = evidence(4), PicklingCrew()
    verify(PROMISES, judged, crew)
    # one count over the release, and one of each sensitive column of the original
    assert crew.phases.count("values") == 3
    assert tables_over(crew, judged, ["x", "y"]) is tables_over(crew, judged, ("x", "y"))
    assert crew.phases.count("values") == 3


def test_an_original_without_the_column_has_no_totals(evidence):
    assert original_totals(SerialCrew(), evidence(1), "nowhere") is None
