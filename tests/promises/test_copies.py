"""Copies are counted by rows; the people behind them are told beside it."""

import numpy as np
import pyarrow as pa

from distanon.data.evidence import Evidence
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, MemoryPartition
from distanon.promises.copies import Copies
from distanon.promises.k_anonymity import KAnonymity


def dataset(*ages):
    table = pa.table({"age": list(ages)})
    attribute = Attribute("age", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.int64())
    return Dataset(Schema((attribute,)), (MemoryPartition(table),))


def test_copies_of_one_person_are_copies_and_no_k_anonymity():
    sources = np.array([0, 0, 0, 2, 2, 2])
    evidence = Evidence(
        dataset(30, 30, 30, 40, 40, 40), dataset(31, 35, 41), sources, replicates=True
    )
    verdict = Copies(k=3).verify(evidence)
    assert verdict.kept
    assert verdict.measured["copies"] == 3
    assert verdict.measured["source_people"] == 2
    assert verdict.measured["distinct_source_k"] == 1
    assert verdict.verified_from == "release+private"
    assert not KAnonymity(k=3).verify(evidence).kept


def test_too_few_rows_break_it():
    verdict = Copies(k=3).verify(Evidence(dataset(30, 30, 30, 40, 40)))
    assert not verdict.kept
    assert verdict.reason == "1 of 2 classes have fewer than 3 rows: class 2 (2 records)"
    assert verdict.measured["distinct_source_k"] is None
