from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.spatial.distance import pdist

from distanon.data.schema import AttributeType
from distanon.errors import InfeasibleError, SpecError
from distanon.methods.baselines.rbt import RBT


def test_the_release_keeps_scaled_distances_exactly_with_full_decimals(make):
    generator = np.random.default_rng(1)
    values = generator.normal(size=(80, 5)) * [1, 10, 100, 0.1, 5]
    dataset = make.dataset({f"c{i}": column for i, column in enumerate(values.T)}, pieces=3)
    for scale, spreads in (("range", np.ptp(values, axis=0)), ("zscore", values.std(axis=0))):
        table, release = make.released(RBT(scale=scale, decimals="full"), dataset)
        turned = np.column_stack([column.to_numpy() for column in table.columns])
        assert pdist(turned / spreads) == pytest.approx(pdist(values / spreads), rel=1e-9)
        assert release.counts["unchanged"] == 0


def test_numbers_are_rounded_to_the_grid_and_leave_their_range(make):
    generator = np.random.default_rng(1)
    dataset = make.dataset(
        {
            "whole": pa.array(generator.integers(0, 9, 50), pa.uint8()),
            "tenths": np.round(generator.random(50) * 10, 1),
        }
    )
    table, release = make.released(RBT(threshold=1.0), dataset)
    whole, tenths = (column.to_numpy() for column in table.columns)
    assert release.schema["whole"].arrow_type == pa.float64()  # rotated values may be negative
    assert (whole == np.rint(whole)).all()
    assert (tenths == np.round(tenths, 1)).all()


def test_what_has_no_number_stays(make):
    dataset = make.dataset(
        {
            "a": pa.array([1.0, 2.0, None, 4.0, 9.0]),
            "b": [5.0, 3.0, 8.0, 1.0, 2.0],
            "constant": [7.0] * 5,
            "text": ["x", "y", "x", None, "z"],
        }
    )
    table, release = make.released(RBT(), dataset)
    assert table.column("text").to_pylist() == ["x", "y", "x", None, "z"]
    assert table.column("constant").to_pylist() == [7.0] * 5
    assert table.column("a").to_pylist()[2] is None
    assert table.column("a").null_count == 1
    assert release.counts["missing_cells_kept"] == 2
    assert release.counts["kept_columns"] == 2


def test_angles_are_private(make):
    dataset = make.dataset({"a": [1.0, 2.0, 5.0], "b": [5.0, 3.0, 8.0]})
    _, release = make.released(RBT(), dataset)
    assert len(release.private["rotations"]) == 1
    assert all(isinstance(count, int) for count in release.counts.values())


def test_the_seed_decides_and_nothing_else(make):
    columns = {f"c{i}": np.random.default_rng(i).random(40) for i in range(4)}
    first = make.released(RBT(), make.dataset(columns))[0]
    assert make.released(RBT(), make.dataset(columns, pieces=7))[0].equals(first)
    assert not make.released(RBT(), make.dataset(columns), seed=8)[0].equals(first)


def test_fewer_than_two_numeric_quasi_identifiers_are_refused(make):
    dataset = make.dataset({"a": [1.0, 2.0], "rank": [1, 2]}, rank={"type": AttributeType.ORDINAL})
    with pytest.raises(SpecError, match="has 1, expected at least 2"):
        RBT().check(dataset, {})
    constant = make.dataset({"a": [1.0, 2.0], "b": [1.0, 1.0]})
    with pytest.raises(InfeasibleError, match="1 of the numeric"):
        RBT().release(constant, {}, make.context())


@pytest.mark.parametrize("columns", [2, 3])
def test_a_threshold_that_no_angle_reaches_names_one_that_works(make, columns):
    values = {f"c{i}": np.random.default_rng(i).random(30) for i in range(columns)}
    dataset = make.dataset(values)
    with pytest.raises(InfeasibleError, match="largest that works is") as refused:
        RBT(threshold=9.0).release(dataset, {}, make.context())
    works = float(str(refused.value).rsplit(" ", 1)[1])
    assert works > 0.5
    assert RBT(threshold=works).release(dataset, {}, make.context()).pieces
