"""Batches that shrink hold everything, in order, and keep all workers busy."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from distanon.runtime.batches import factored


@given(count=st.integers(0, 70), workers=st.integers(0, 9))
def test_batches_hold_all_places_in_their_order_and_never_grow(count, workers):
    spans = list(factored(count, workers))
    assert [place for span in spans for place in span] == list(range(count))
    sizes = [len(span) for span in spans]
    assert sizes == sorted(sizes, reverse=True)


def test_a_round_takes_nine_tenths_of_what_is_left_and_the_last_ones_are_pairs():
    assert [len(span) for span in factored(30, 2)] == [13, 13, 2, 2]
    assert [len(span) for span in factored(100, 4)] == [22, 22, 22, 22, 2, 2, 2, 2, 2, 2]


def test_few_items_are_spread_over_all_workers():
    assert [len(span) for span in factored(4, 4)] == [1, 1, 1, 1]


def test_a_batch_is_never_larger_than_what_is_left():
    assert [len(span) for span in factored(1, 0)] == [1]


def test_the_last_of_long_items_travel_alone():
    assert [len(batch) for batch in factored(30, 2, are_short=False)] == [13, 13, 1, 1, 1, 1]
    assert [len(batch) for batch in factored(30, 2)] == [13, 13, 2, 2]
