import numpy as np
import pytest

from distanon.data.domain import scan
from distanon.data.finishing import finishing, is_unchanged
from distanon.data.space import AttributeSpace
from distanon.kernels.neighbors import NeighborIndex, distinct
from distanon.methods.dptpe.substitutes import (
    Source,
    Substitutes,
    displacements,
    find_differing,
    finished,
    first_choice,
    is_far_enough,
)

NAN = np.nan


def space_of(make, columns):
    data = make.dataset(columns)
    return data, AttributeSpace.of(data.schema.quasi_identifiers, scan(data))


def found(make, columns, means, k=1, least=0.0):
    data, space = space_of(make, columns)
    values = space.encode(data.read())
    points = distinct(space.embed(values))
    own = values[points.records[points.starts[:-1]]]
    context = make.context()
    index = context.crew.put(NeighborIndex.build(points))
    finish = finishing(space.attributes, space.domains, values, k, "clip", "grid")
    means = np.array(means, dtype=float)
    source = first_choice(own, np.arange(len(own)), means, finish, space, least)
    finished, _ = finish.finish(own, means)
    pending = np.flatnonzero(source == Source.NONE)
    found, others = find_differing(context, index, points, own, pending, finish, space, least)
    source[found], finished[found] = Source.NEAREST_DIFFERING, others
    return Substitutes(finished, source)


def test_the_mean_is_taken_where_it_differs_after_rounding(make):
    result = found(make, {"x": [1, 4, 8]}, [[1.2], [5.6], [8.0]])
    assert result.values[:, 0].tolist() == [4, 6, 4]
    assert result.source.tolist() == [
        Source.NEAREST_DIFFERING,
        Source.NEIGHBORS_MEAN,
        Source.NEAREST_DIFFERING,
    ]


def test_copies_are_passed_over_however_many_there_are(make):
    result = found(make, {"x": [5] * 200 + [1] * 3 + [2] * 150}, [[5], [1], [2]])
    assert result.values[:, 0].tolist() == [2, 2, 1]


def test_candidates_that_the_domain_makes_equal_are_passed_over(make):
    columns = {"x": [0] * 40 + [1], "y": [0] * 20 + [9] * 20 + [0]}
    result = found(make, columns, [[0, 0], [0, 9], [1, 0]], k=3)
    assert result.values[0].tolist() == [0, 9]  # (1, 0) is nearer, and becomes (0, 0)


def test_without_any_other_value_inside_the_domain_there_is_none(make):
    result = found(make, {"x": [0] * 40 + [1]}, [[0], [1]], k=3)
    assert result.source[0] == Source.NONE


def test_the_least_displacement_is_reached_by_going_farther(make):
    result = found(make, {"x": list(range(101))}, np.arange(101)[:, None], least=0.3)
    assert (np.abs(result.values[:, 0] - np.arange(101)) == 30).all()


def test_displacement_counts_missing_values_as_one(make):
    _, space = space_of(make, {"x": [0, 10, None], "c": ["a", "b", "a"]})
    original = np.array([[0.0, 0], [0.0, 0], [NAN, 0], [NAN, 1]])
    released = np.array([[5.0, 0], [NAN, 0], [NAN, 0], [5.0, 0]])
    np.testing.assert_allclose(displacements(space, original, released), [0.5, 1, 0, np.sqrt(2)])
    assert is_far_enough(original, released, space, 0.0).tolist() == [True, True, False, True]
    assert is_far_enough(original, released, space, 0.9).tolist() == [False, True, False, True]


@pytest.mark.parametrize("rule", ["clip", "reflect", "free"])
@pytest.mark.parametrize("decimals", ["grid", "full"])
def test_tables_of_numbers_are_finished_to_the_same_bits_in_one_pass(make, rule, decimals):
    random = np.random.default_rng(1)
    columns = {"x": random.normal(size=300).round(3), "y": random.integers(-9, 9, 300) / 2.0}
    columns["z"] = [None if i % 7 == 0 else i / 8 for i in range(300)]
    data, space = space_of(make, columns)
    original = space.encode(data.read())
    finish = finishing(space.attributes, space.domains, original, 5, rule, decimals)
    perturbed = original + random.normal(size=original.shape) * random.integers(0, 2, (300, 3))
    perturbed[::11] = -0.0
    perturbed[1::13, 1] = NAN
    perturbed[::5] = original[::5]
    values, outside = finish.finish(original, perturbed)
    found = finished(finish, original, perturbed)
    assert np.ascontiguousarray(values).tobytes() == np.ascontiguousarray(found[0]).tobytes()
    assert found[1].tolist() == outside.tolist()
    assert found[2].tolist() == is_unchanged(original, values).tolist()
    assert 0 < found[2].sum() < 300
