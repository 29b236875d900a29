import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.adjacent_joins import joined_in_order, mixed_ties
from distanon.kernels.degree_groups import grouped_by_degree


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 999), n=st.integers(1, 60), least=st.integers(1, 3))
def test_groups_keep_the_rule_in_the_order_of_degrees(seed, n, least):
    draw = np.random.default_rng(seed)
    degrees, values = draw.integers(0, 9, n), draw.choice(3, n, p=[0.8, 0.15, 0.05])

    def failing(groups):
        return np.array(
            [len(set(values[groups == one])) < least for one in range(groups.max() + 1)]
        )

    groups = grouped_by_degree(degrees, np.zeros(n, np.int64), min(3, n))
    found = joined_in_order(degrees, groups, failing)
    assert set(found) == set(range(found.max() + 1))
    assert len({*zip(groups, found, strict=True)}) == groups.max() + 1
    assert found.max() == 0 or not failing(found).any()
    for one in range(found.max()):
        assert degrees[found == one].max() <= degrees[found == one + 1].min()


def test_the_cheaper_neighbor_is_joined():
    degrees = np.array([1, 1, 4, 4, 5, 5])
    groups = np.array([0, 0, 1, 1, 2, 2])

    def middle_fails(its):
        return np.arange(its.max() + 1) == (1 if its.max() == 2 else -1)

    found = joined_in_order(degrees, groups, middle_fails)
    assert found.tolist() == [0, 0, 1, 1, 1, 1]


def test_ties_hold_values_in_their_shares_anywhere():
    degrees = np.array([3] * 40 + [1] * 20)
    values = np.array([0] * 30 + [1] * 10 + [0] * 10 + [1] * 10)
    order = mixed_ties(degrees, values)
    assert sorted(order.tolist()) == list(range(60))
    assert (np.diff(degrees[order]) >= 0).all()
    shown = values[order]
    assert [int(shown[start : start + 4].sum()) for start in range(0, 20, 4)] == [2] * 5
    assert {int(shown[start : start + 8].sum()) for start in range(20, 60, 8)} == {2}
