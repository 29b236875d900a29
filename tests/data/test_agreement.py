import numpy as np
import pyarrow as pa

from distanon.data.agreement import agreed_values
from distanon.data.domain import scan
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset, MemoryPartition


def test_clusters_agree_on_mode_and_median_and_on_missing_where_most_are():
    table = pa.table(
        {
            "town": ["x", "y", "y", None, None, "x"],
            "age": [1.0, 2.0, 9.0, None, None, 4.0],
        }
    )
    schema = Schema(
        (
            Attribute("town", Role.QUASI_IDENTIFIER, AttributeType.NOMINAL, pa.string()),
            Attribute("age", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.float64()),
        )
    )
    space = AttributeSpace.of(schema, scan(Dataset(schema, (MemoryPartition(table),))))
    agreed = agreed_values(np.array([0, 0, 0, 1, 1, 1]), space.encode(table), space)
    town, age = space.decode(agreed)
    assert town.to_pylist() == ["y", None]
    assert age.to_pylist() == [2.0, None]
