"""What the judges are given."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from distanon.data.domain import scan
from distanon.data.evidence import Evidence
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.table import Dataset, cut
from distanon.errors import InputError

NUMERIC, NOMINAL = AttributeType.NUMERIC, AttributeType.NOMINAL


def dataset(pieces=1, source="the table", **columns):
    table = pa.table(columns)
    schema = Schema(
        tuple(
            Attribute(
                field.name,
                Role.QUASI_IDENTIFIER if field.name != "s" else Role.SENSITIVE,
                NOMINAL if pa.types.is_string(field.type) else NUMERIC,
                field.type,
            )
            for field in table.schema
        )
    )
    return Dataset(schema, cut(table, pieces), source)


ORIGINAL = dataset(2, x=[0.0, 10.0, 5.0, None], city=["a", "b", "a", "c"], s=["u", "v", "u", "v"])
RELEASE = dataset(3, x=[1.0, 4.0, 20.0], city=["a", "a", "b"], s=["u", "u", "v"])
SOURCES = np.array([0, 2, 1])


def test_tables_are_read_in_order_whatever_the_partitions():
    evidence = Evidence(RELEASE, ORIGINAL, SOURCES)
    assert evidence.release_table.column("x").to_pylist() == [1.0, 4.0, 20.0]
    assert evidence.original_table.column("city").to_pylist() == ["a", "b", "a", "c"]
    assert evidence.quasi_identifiers == ("x", "city")


def test_tables_are_read_once():
    evidence = Evidence(RELEASE, ORIGINAL, SOURCES)
    assert evidence.release_table is evidence.release_table


@pytest.mark.parametrize(
    "sources",
    [np.array([0, 2]), np.array([0, 1, 4]), np.array([0, 1, -1]), np.array([0.0, 1.0, 2.0])],
)
def test_sources_that_fit_no_original_are_refused(sources):
    with pytest.raises(ValueError, match="source record number"):
        Evidence(RELEASE, ORIGINAL, sources)


def test_a_source_stands_for_several_rows_only_where_the_method_replicates():
    sources = np.array([0, 0, 1])
    with pytest.raises(ValueError, match="more than one release row"):
        Evidence(RELEASE, ORIGINAL, sources)
    assert Evidence(RELEASE, ORIGINAL, sources, replicates=True).sources is not None


@pytest.mark.parametrize("far", [0, 10**15])
def test_repeats_are_found_among_numbers_near_and_far(far):
    with pytest.raises(ValueError, match="more than one release row"):
        Evidence(RELEASE, None, np.array([far, 7, far]))
    assert Evidence(RELEASE, None, np.array([far, 7, far + 1])).sources is not None


def test_a_release_of_no_rows_has_no_sources_to_check():
    empty = Dataset(RELEASE.schema, cut(RELEASE.read().slice(0, 0), 1))
    assert len(Evidence(empty, ORIGINAL, np.empty(0, np.int64)).sources) == 0


def test_without_an_original_its_values_are_refused_with_the_reason():
    with pytest.raises(InputError, match="the original is needed"):
        _ = Evidence(RELEASE).original_table


def test_generalized_text_counts_as_its_middle_and_its_members():
    generalized = dataset(x=["[0, 10]", "[0, 10]", "20"], city=["a", "a", "b"])
    evidence = Evidence(generalized, ORIGINAL, SOURCES)
    assert evidence.release_table.num_rows == 3
    assert evidence.is_generalized
    assert evidence.release_values[:, 0].tolist() == [5.0, 5.0, 20.0]
    both = Evidence(dataset(x=["[0, 10]", "5", "5"], city=["{a, b}", "a", "b"]), ORIGINAL, SOURCES)
    assert np.isnan(both.release_values[0, 1])
    middle, one, other = both.release_points
    assert np.array_equal(middle, (one + other) / 2.0)
    assert both.release_regions[1].contains(np.array([0.0, 1.0]), np.array([0, 0])).all()


def test_text_that_is_no_region_is_refused():
    odd = Evidence(dataset(x=["[0, 10]", "many", "20"], city=["a", "a", "b"]), ORIGINAL, SOURCES)
    with pytest.raises(InputError, match="column 'x', row 2"):
        _ = odd.release_values


def test_values_are_not_generalized():
    assert not Evidence(RELEASE, ORIGINAL, SOURCES).is_generalized


def test_a_column_that_the_release_lacks_is_named():
    with pytest.raises(InputError, match="column 'city' of the original is not in the release"):
        _ = Evidence(dataset(x=[1.0]), ORIGINAL).release_points


def test_both_sides_are_points_in_the_scale_of_the_original():
    evidence = Evidence(RELEASE, ORIGINAL, SOURCES)
    # x ranges over 0 … 10 in the original, so 20 lies at 2; the city is worth 1 in all
    assert evidence.original_values[:, 0].tolist()[:3] == [0.0, 10.0, 5.0]
    assert np.isnan(evidence.original_values[3, 0])
    assert np.ptp(evidence.release_points[:, 0]) == pytest.approx(1.9)
    moved = np.linalg.norm(evidence.release_points[2] - evidence.original_points[1])
    assert moved == pytest.approx(1.0)
    swapped = np.linalg.norm(evidence.original_points[0] - evidence.original_points[1])
    assert swapped == pytest.approx(np.sqrt(2.0))


def test_the_analyst_scales_by_the_release_alone():
    evidence = Evidence(RELEASE, ORIGINAL, SOURCES)
    assert np.ptp(evidence.analyst_points[:, 0]) == pytest.approx(1.0)
    alone = Evidence(RELEASE)
    assert (alone.release_points == evidence.analyst_points).all()


def test_a_domain_that_is_given_is_not_scanned_again():
    wide = dataset(x=[0.0, 100.0], city=["a", "b"], s=["u", "v"])
    domain = scan(wide)
    # the categories of the original go beyond it, so use columns of numbers alone
    original = replace(dataset(x=[1.0, 3.0]), domain=domain)
    numbers = Evidence(dataset(x=[1.0, 2.0]), original, np.array([0, 1]))
    assert np.ptp(numbers.original_points[:, 0]) == pytest.approx(0.02)


def test_integers_that_became_floats_still_compare():
    original = dataset(x=[1, 2, 4])
    evidence = Evidence(dataset(x=[1.5, 2.0, 3.0]), original, np.arange(3))
    assert evidence.release_values[:, 0].tolist() == [1.5, 2.0, 3.0]
    assert evidence.original_values[:, 0].tolist() == [1.0, 2.0, 4.0]


def test_sensitive_columns_make_no_classes():
    assert Evidence(RELEASE).classes.sizes.tolist() == [1, 1, 1]
    same = dataset(x=[1.0, 1.0], city=["a", "a"], s=["u", "v"])
    assert Evidence(same).classes.sizes.tolist() == [2]


class CountedReads:
    """A partition that counts how often it is read."""

    def __init__(self, partition):
        self.partition, self.start, self.stop, self.reads = (
            partition,
            partition.start,
            partition.stop,
            0,
        )

    def read(self, columns=None):
        self.reads += 1
        return self.partition.read(columns)


def test_another_release_of_the_same_originals_reads_these_no_second_time():
    parts = tuple(CountedReads(part) for part in ORIGINAL.partitions)
    first = Evidence(RELEASE, replace(ORIGINAL, partitions=parts), SOURCES)
    assert len(first.original_points) == 4
    reads = [part.reads for part in parts]
    other = dataset(x=[9.0, 8.0, 7.0], city=["b", "c", "c"], s=["v", "v", "u"])
    second = first.beside(other, np.array([2, 1, 0]))
    assert second.original_table is first.original_table
    fresh = Evidence(other, ORIGINAL, np.array([2, 1, 0]))
    for name in ("original_values", "original_points", "release_points", "analyst_points"):
        np.testing.assert_array_equal(getattr(second, name), getattr(fresh, name))
    assert second.classes.sizes.tolist() == [1, 1, 1]
    second_reads = [part.reads for part in parts]
    assert max(b - a for a, b in zip(reads, second_reads, strict=True)) <= 1  # a scan of the domain
