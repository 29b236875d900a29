import numpy as np
import pytest

from distanon.kernels.gathered_rows import by_block, copy_rows


@pytest.mark.parametrize("borders", [[0, 50], [0, 17, 33, 50], [0, 1, 2, 49, 50]])
def test_rows_in_blocks_arrive_in_the_order_asked_for(borders):
    random = np.random.default_rng(0)
    borders, whole, numbers = np.array(borders), random.random((50, 3)), random.random(50)
    places = random.integers(0, 50, 200)
    order, starts = by_block(places, borders)
    assert sorted(order.tolist()) == list(range(200))
    rows, found = np.full((200, 3), -1.0), np.full(200, -1.0)
    for block in range(len(borders) - 1):
        part = slice(borders[block], borders[block + 1])
        chosen = order[starts[block] : starts[block + 1]]
        copy_rows(whole[part], numbers[part], borders[block], places, chosen, rows, found)
    np.testing.assert_array_equal(rows, whole[places])
    np.testing.assert_array_equal(found, numbers[places])


def test_nothing_is_asked_for():
    order, starts = by_block(np.zeros(0, np.int64), np.array([0, 3, 5]))
    assert len(order) == 0
    assert starts.tolist() == [0, 0, 0]
