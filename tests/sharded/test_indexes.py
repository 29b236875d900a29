import numpy as np
import pyarrow as pa

from distanon.data.evidence import Evidence
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, MemoryPartition
from distanon.sharded.indexes import original_index, release_index


def dataset(values):
    attribute = Attribute("x", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.float64())
    partition = MemoryPartition(pa.table({"x": pa.array(values, pa.float64())}))
    return Dataset(Schema((attribute,)), (partition,))


def test_the_originals_are_indexed_once_for_all_releases_and_each_release_by_itself():
    first = Evidence(dataset([1, 2, 4]), dataset([0, 2, 10]), np.arange(3))
    second = first.beside(dataset([3, 3, 3]), np.arange(3))
    assert original_index(second) is original_index(first)
    assert original_index(first).points.rows[:, 0].tolist() == [0.0, 0.2, 1.0]
    assert release_index(first) is release_index(first)
    assert release_index(first).points.rows[:, 0].tolist() == [0.1, 0.2, 0.4]
    assert release_index(second).points.rows[:, 0].tolist() == [0.3]
