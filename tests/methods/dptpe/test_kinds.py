import numpy as np
import pytest

from distanon.data.streams import Streams
from distanon.kernels.neighbors import distinct
from distanon.methods.dptpe.kinds import gets_mean, is_dispersed

POINTS = distinct(np.array([[0.0], [0.0], [1.0], [2.0], [3.0]]))
RADIUS = np.array([4.0, 1.0, 3.0, 2.0])
DISPERSED = np.array([True, False, True, False])


def chosen(rule, seed=1):
    return gets_mean(rule, DISPERSED, RADIUS, POINTS.point_of, Streams(seed)).tolist()


def test_rounding_does_not_make_a_record_on_the_edge_dispersed():
    on_edge = np.array([1.0, 1.0 + 1e-12, 1.0 + 1e-6, np.inf])
    assert is_dispersed(on_edge, 1.0).tolist() == [False, False, True, True]
    assert is_dispersed(on_edge * 2.5, 2.5).tolist() == [False, False, True, True]


def test_the_papers_rule_and_its_reverse_split_the_records():
    assert chosen("dispersed") == [True, True, False, True, False]
    assert chosen("reversed") == [False, False, True, False, True]


def test_the_densest_records_get_the_mean_as_many_as_are_dispersed():
    assert chosen("krad") == [False, False, True, True, True]


@pytest.mark.parametrize("rule", ["random", "krad"])
def test_controls_replace_as_many_records_as_the_papers_rule(rule):
    assert sum(chosen(rule)) == 3


def test_the_random_rule_depends_on_the_seed():
    assert len({tuple(chosen("random", seed)) for seed in range(30)}) > 3
