"""People and regions in one domain, whoever works."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from distanon.runtime import crew as ray_crew
from distanon.runtime.crew import SerialCrew
from distanon.runtime.settings import RuntimeSettings
from distanon.sharded import people
from distanon.sharded.people import ReleasedRegions, people_of, regions_of

PEOPLE = {"age": [20, 24, 30, 40], "job": ["a", "b", "a", "c"]}
ROWS = {"age": ["[20, 24]", "[20, 24]", "30", "*"], "job": ["{a, b}", "{a, b}", "a", "c"]}


@pytest.fixture
def given(sensitive_evidence):
    control = {"age": [22, 60, 30], "job": ["b", "a", "z"]}
    return sensitive_evidence(PEOPLE, ROWS, control=control)


def test_the_scale_is_that_of_all_people_together(given):
    found = people_of(given)
    assert found.space.spreads[0] == 40.0  # 20 to 60
    assert found.space.domains[1].categories == ("a", "b", "c", "z")
    assert people_of(given) is found
    assert found.population is None


def test_distances_to_regions_by_hand(given):
    found, crew = people_of(given), SerialCrew()
    released = ReleasedRegions.of(found.space, regions_of(given))
    assert released.rows.tolist() == [2, 1, 1]
    near = people.nearest_to(crew, crew.put(released), released, found.control, 2)
    # 22 b in the first; 60 a: 36/40 from it, 30/40 from the second, job 1 from the third;
    # 30 z: job 1 from the second, and from the third, whose age is anything.
    assert near.distances.tolist() == [0.0, 0.75, 1.0]
    lists = np.split(near.regions, near.starts[1:-1])
    assert [one.tolist() for one in lists] == [[0], [1], [1, 2]]


def test_few_attributes_make_fewer_regions(given):
    found = people_of(given)
    released = ReleasedRegions.of(found.space, regions_of(given), [1])
    assert released.regions.shape == (3, 1)
    ages = ReleasedRegions.of(found.space, regions_of(given), [0])
    crew = SerialCrew()
    around = people.around(crew, crew.put(ages), ages, found.originals[:, :1], 3)
    assert around.rows.tolist() == [3, 3, 2, 1]  # the suppressed age is around everybody
    assert around.people.tolist() == [2, 1, 4]


def test_how_the_work_is_cut_changes_nothing(given, monkeypatch):
    found, crew = people_of(given), SerialCrew()
    released = ReleasedRegions.of(found.space, regions_of(given))
    shared = crew.put(released)
    whole = people.nearest_to(crew, shared, released, found.originals, 1)
    monkeypatch.setattr(people, "_CELLS", 1)
    cut = people.nearest_to(crew, shared, released, found.originals, 1)
    for name in ("starts", "regions", "distances"):
        assert getattr(whole, name).tolist() == getattr(cut, name).tolist()


def test_missing_numbers_lie_in_regions_that_may_be_missing(sensitive_evidence):
    original = {"age": [20.0, None, 30.0]}
    rows = {"age": ["[20, 30] or missing", "[20, 30] or missing", "30"]}
    evidence = sensitive_evidence(original, rows)
    found, crew = people_of(evidence), SerialCrew()
    released = ReleasedRegions.of(found.space, regions_of(evidence))
    around = people.around(crew, crew.put(released), released, found.originals, 1)
    assert around.rows.tolist() == [2, 2, 3]
    near = people.nearest_to(
        crew, crew.put(released.only(np.array([1]))), released, found.originals, 1
    )
    assert near.distances.tolist() == [1.0, 1.0, 0.0]  # missing is 1 from a value


class PicklingCrew(SerialCrew):
    """A crew whose function, items, shared value and results travel, as between processes."""

    def put(self, value):
        return super().put(pickle.loads(pickle.dumps(value, protocol=5)))

    def map(self, function, items, **settings):
        function, items = pickle.loads(pickle.dumps((function, list(items))))
        for result in super().map(function, items, **settings):
            yield pickle.loads(pickle.dumps(result))


def bits(crew, evidence):
    known = people_of(evidence)
    released = ReleasedRegions.of(known.space, regions_of(evidence))
    shared = crew.put(released)
    near = people.nearest_to(crew, shared, released, known.control, 3)
    around = people.around(crew, shared, released, known.originals, 3)
    found = (near.starts, near.regions, near.distances, around.rows, around.people)
    return [array.tobytes() for array in found]


def test_travelling_changes_no_bit(given):
    assert bits(PicklingCrew(), given) == bits(SerialCrew(), given)


@pytest.mark.ray
def test_ray_changes_no_bit(ray_address, given):
    with ray_crew(RuntimeSettings(address=ray_address, workers=2)) as crew:
        assert bits(crew, given) == bits(SerialCrew(), given)
