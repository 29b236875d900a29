"""release.json tells what may be told."""

from __future__ import annotations

import json

import pytest

from distanon.job.facts import small_hidden, versions


@pytest.mark.parametrize(("count", "shown"), [(0, 0), (1, "<10"), (9, "<10"), (10, 10), (517, 517)])
def test_counts_below_k_are_hidden_and_zero_is_not(count, shown):
    assert small_hidden({"records": count}, 10) == {"records": shown}


def test_versions_name_what_decides_bits():
    named = versions()
    assert {"distanon", "numpy", "numba", "pyarrow", "python"} <= set(named)
    assert json.dumps(named)
