import pytest
from hypothesis import given
from hypothesis import strategies as st

from distanon.kernels.threads import in_threads, parts_of, shares_of


@given(length=st.integers(0, 40), count=st.integers(1, 9))
def test_parts_and_shares_hold_every_place_once_and_in_order(length, count):
    for parts in (parts_of(length, count), shares_of(length, count)):
        assert [at for part in parts for at in range(part.start, part.stop)] == list(range(length))
    assert len(shares_of(length, count)) == count


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("length", [0, 1, 7])
def test_results_come_in_the_order_of_the_parts(length, threads):
    assert in_threads(lambda at: at * at, range(length), threads) == [
        at * at for at in range(length)
    ]


@pytest.mark.parametrize("threads", [1, 3])
def test_what_a_part_raises_is_raised(threads):
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda at: 1 // at, range(3), threads)
