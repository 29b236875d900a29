import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.neighborhood_means import neighborhood_means


def one_by_one(members, weights, values, column):
    """Mean and domination of one neighborhood in one column, in plain Python."""
    found = [(float(values[p, column]), int(w)) for p, w in zip(members, weights, strict=True)]
    present = [(v, w) for v, w in found if v == v]
    total = 0.0
    for v, w in present:
        total += w * abs(v)
    single = max([abs(v) for v, w in present if w == 1], default=0.0)
    records = sum(w for _, w in present)
    if not records or 2 * records < sum(w for _, w in found):
        return np.nan, 2.0 * single > total * (1.0 + 1e-12)
    least, above = min(v for v, _ in present), 0.0
    for v, w in present:
        above += w * (v - least)
    mean = min(least + above / records, max(v for v, _ in present))
    return mean, 2.0 * single > total * (1.0 + 1e-12)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 11), st.sampled_from([0.0, 0.05, 0.6]), st.booleans()
)
def test_columns_side_by_side_are_what_each_is_alone_to_the_bit(seed, width, gaps, whole):
    random = np.random.default_rng(seed)
    values = random.normal(size=(30, width)) * 10.0 ** random.integers(-3, 4, width)
    if whole:
        values = values.round()
    values[random.random(values.shape) < gaps] = np.nan
    starts = np.concatenate(([0], np.cumsum(random.integers(0, 9, 12))))
    points = random.integers(0, 30, starts[-1])
    weights = random.choice([1, 1, 3], starts[-1])
    columns = np.sort(random.choice(width, random.integers(0, width + 1), replace=False))
    means, dominated = neighborhood_means(starts, points, weights, values, columns)
    assert means.shape == dominated.shape == (12, len(columns))
    for i in range(12):
        part = slice(starts[i], starts[i + 1])
        for j, column in enumerate(columns):
            mean, most = one_by_one(points[part], weights[part], values, column)
            np.testing.assert_array_equal(means[i, j], mean)
            assert dominated[i, j] == most
