"""Ranges and sets of groups beside a loop over the records."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.kernels.group_spans import member_sets, spans


@settings(deadline=None)
@given(st.integers(0, 9999), st.integers(1, 9))
def test_ranges_are_those_of_the_members(seed, groups) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    group_of = rng.integers(-1, groups, n).astype(np.int32)
    values = np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 9, n))
    low, high, missing = spans(values, group_of, groups)
    for group in range(groups):
        own = values[group_of == group]
        present = own[~np.isnan(own)]
        wanted = (present.min(), present.max()) if len(present) else (np.nan, np.nan)
        assert np.array_equal([low[group], high[group]], wanted, equal_nan=True)
        assert missing[group] == np.isnan(own).any()


@settings(deadline=None)
@given(st.integers(0, 9999), st.integers(1, 9), st.sampled_from([1, 3, 64, 65, 200]))
def test_sets_are_those_of_the_members(seed, groups, many) -> None:
    rng = np.random.default_rng(seed)
    group_of = np.concatenate((np.arange(groups), rng.integers(-1, groups, 50))).astype(np.int32)
    codes = rng.integers(0, many, len(group_of)).astype(np.int32)
    set_of, starts, members = member_sets(codes, group_of, groups, many)
    found = [members[starts[s] : starts[s + 1]].tolist() for s in range(len(starts) - 1)]
    assert [found[s] for s in set_of] == [
        sorted(set(codes[group_of == group].tolist())) for group in range(groups)
    ]
    assert len({tuple(one) for one in found}) == len(found)


def test_without_groups_there_are_no_sets() -> None:
    nothing = np.zeros(0, np.int32)
    set_of, starts, members = member_sets(nothing, nothing, 0, 5)
    assert (len(set_of), starts.tolist(), len(members)) == (0, [0], 0)
