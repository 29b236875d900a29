import json

import pytest

from distanon.errors import ResumeError
from distanon.storage.leftovers import attempts, clean
from distanon.storage.store import Store

HEADER = json.dumps({"spec": "a-1", "input": "i", "version": "v", "seed": "s"}).encode()


def names(store: Store) -> list[str]:
    return [entry.name for entry in store.list(leftovers=True)]


@pytest.mark.parametrize("name", ["staging", "checkpoint"])
def test_clean_spares_a_finished_run_that_is_called_like_a_working_folder(place, name):
    run = Store(f"{place}/{name}/{name}-0123abcd")
    run.write("mapping/part-00000.parquet", b"rows")
    run.write("run.json", b'{"run_id": "a-1"}')
    run.write("checkpoint/HEADER.json", HEADER)
    assert [one.files for one in clean(place)] == [1]
    assert names(run) == ["mapping/part-00000.parquet", "run.json"]


def test_an_attempt_is_named_by_its_nonce_and_its_record_and_by_nothing_else(place):
    private = Store(place)
    private.write(f"staging/{'0a' * 16}/attempt.json", b"{}")
    private.write(f"staging/{'0b' * 16}/data/attempt.json", b"rows")
    private.write("staging/notes.txt", b"mine")
    assert attempts(private) == ["0a" * 16]


FOREIGN = {
    f"staging/{'0c' * 16}/model.bin": b"mine",
    "staging/notes.txt": b"mine",
    "checkpoint/weights-3.pt": b"mine",
    "checkpoint/HEADER.json": b'{"title": "mine"}',
    "a/checkpoint/HEADER.json": b"mine",
    "run.json": b"[]",
}


def test_clean_touches_no_folder_that_merely_has_the_names_of_ours(place):
    foreign = Store(place)
    for name, content in FOREIGN.items():
        foreign.write(name, content)
    with pytest.raises(ResumeError, match="no run of distanon"):
        clean(place)
    assert names(foreign) == sorted(FOREIGN)


def test_clean_spares_a_checkpoint_of_others_beside_a_run(place):
    run = Store(place)
    run.write("run.json", b'{"run_id": "a-1"}')
    run.write("checkpoint/weights-3.pt", b"mine")
    assert clean(place) == []
    assert names(run) == ["checkpoint/weights-3.pt", "run.json"]


def test_a_place_that_is_not_there_can_not_be_cleaned(place):
    with pytest.raises(ResumeError, match="no run of distanon"):
        clean(f"{place}/nowhere")
