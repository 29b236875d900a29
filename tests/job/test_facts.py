"""release.json tells what may be told."""

from __future__ import annotations

import json

import pytest

from distanon.job.facts import small_hidden, versions


@pytest.mark.parametrize(("count", "shown"), [(0, 0), (1, "<10"), (9, "<10"), (10, 10), (517, 517)])
def test_counts_below_k_are_hidden_and_zero_is_not(count, shown):
    assert small_hidden({"records": count}, 10) == {"records": shown}


def test_a_count_that_lacks_few_to_its_total_would_tell_the_small_one_and_is_hidden_too():
    counts = {"records": 1000, "dispersed": 997, "compact": 3, "cells": 3990, "half": 500}
    assert small_hidden(counts, 10, (1000, 4000)) == {
        "records": 1000,
        "dispersed": ">990",
        "compact": "<10",
        "cells": 3990,
        "half": 500,
    }
    assert small_hidden({"cells": 3991}, 10, (1000, 4000)) == {"cells": ">3990"}


def test_versions_name_what_decides_bits():
    named = versions()
    assert {"distanon", "numpy", "numba", "pyarrow", "python"} <= set(named)
    assert json.dumps(named)
