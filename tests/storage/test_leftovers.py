import pytest

from distanon.storage.leftovers import attempts, clean
from distanon.storage.store import Store


def names(store: Store) -> list[str]:
    return [entry.name for entry in store.list(leftovers=True)]


@pytest.mark.parametrize("name", ["staging", "checkpoint"])
def test_clean_spares_a_finished_run_that_is_called_like_a_working_folder(place, name):
    run = Store(f"{place}/{name}/{name}-0123abcd")
    run.write("mapping/part-00000.parquet", b"rows")
    run.write("run.json", b"{}")
    run.write("checkpoint/HEADER.json", b"{}")
    assert [one.files for one in clean(place)] == [1]
    assert names(run) == ["mapping/part-00000.parquet", "run.json"]


def test_an_attempt_is_named_by_its_nonce_and_by_nothing_else(place):
    private = Store(place)
    private.write(f"staging/{'0a' * 16}/data/part-00000.parquet", b"rows")
    private.write("staging/notes.txt", b"mine")
    assert attempts(private) == ["0a" * 16]
