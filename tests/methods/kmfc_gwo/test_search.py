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


def test_the_last_batches_are_single_steps_and_the_first_a_fair_half():
    sizes = [len(batch) for batch in batched(list(range(30)), 2)]
    assert sizes[0] == 7
    assert sizes[-4:] == [1, 1, 1, 1]
