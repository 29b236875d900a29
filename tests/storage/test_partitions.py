from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.storage.partitions import cut_ranges
from distanon.storage.store import Store

files = st.lists(st.lists(st.integers(0, 20), max_size=5), min_size=1, max_size=4)


@settings(max_examples=200, deadline=None)
@given(files, st.integers(1, 12))
def test_ranges_cover_every_row_once_and_in_order(groups, pieces):
    if not sum(map(sum, groups)):
        return
    named = [(Store(f"/f{place}"), sizes) for place, sizes in enumerate(groups)]
    cut = cut_ranges(named, pieces)
    rows = [
        (one.file.url, row) for piece in cut for one in piece for row in range(one.first, one.last)
    ]
    assert rows == [(file.url, row) for file, sizes in named for row in range(sum(sizes))]
    assert len(cut) <= pieces
    assert all(cut)


def test_a_border_moves_to_the_end_of_a_row_group_that_is_near():
    [first, second] = cut_ranges([(Store("/f"), [48, 52])], 2)
    assert (first[0].first, first[0].last) == (0, 48)
    assert (second[0].first, second[0].last) == (48, 100)


def test_a_large_row_group_is_cut_evenly():
    cut = cut_ranges([(Store("/f"), [100])], 4)
    assert [piece[0].last for piece in cut] == [25, 50, 75, 100]
