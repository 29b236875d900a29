import pytest

from distanon.data.unchanged_edges import refuse_unchanged
from distanon.errors import InfeasibleError


def test_edges_without_an_edit_are_refused_and_both_ways_out_are_named():
    with pytest.raises(InfeasibleError, match="accept if that is meant, or raise k") as error:
        refuse_unchanged(0, 12, "raise k")
    assert error.value.exit_code == 3


@pytest.mark.parametrize(("edits", "edges"), [(1, 12), (0, 0), (3, 0)])
def test_an_edit_or_no_edges_at_all_pass(edits, edges):
    refuse_unchanged(edits, edges, "raise k")
