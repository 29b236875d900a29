from hypothesis import given
from hypothesis import strategies as st

from distanon.methods.kmfc_gwo.search import batched


@given(count=st.integers(0, 70), workers=st.integers(0, 9))
def test_batches_hold_all_steps_in_their_order_and_never_grow(count, workers):
    steps = list(range(count))
    batches = list(batched(steps, workers))
    assert [step for batch in batches for step in batch] == steps
    sizes = [len(batch) for batch in batches]
    assert sizes == sorted(sizes, reverse=True)


def test_the_first_batch_is_two_thirds_of_a_share_and_the_last_ones_are_pairs():
    assert [len(batch) for batch in batched(list(range(30)), 2)] == [10, 6, 4, 3, 2, 2, 2, 1]


def test_few_steps_are_spread_over_all_workers():
    assert [len(batch) for batch in batched(list(range(4)), 4)] == [1, 1, 1, 1]
