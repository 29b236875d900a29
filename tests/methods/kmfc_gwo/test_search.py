"""Steps travel in batches, in their order."""

from distanon.methods.kmfc_gwo.search import batched


def test_the_steps_of_an_iteration_are_all_sent_in_their_order():
    batches = list(batched(list(range(30)), 2))
    assert [step for batch in batches for step in batch] == list(range(30))
    assert len(batches[0]) > len(batches[-1])
