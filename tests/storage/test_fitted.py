from __future__ import annotations

import stat
from pathlib import Path

import pyarrow as pa
import pytest

from distanon.errors import InputError
from distanon.storage.fitted import forget_fitted, read_fitted, write_fitted
from distanon.storage.store import Store


@pytest.fixture
def private(tmp_path):
    return Store(str(tmp_path / "private"), private=True)


def test_tables_come_back_with_every_type(private):
    table = pa.table(
        {"a": pa.array(["x", None]).dictionary_encode(), "b": pa.array([1, 2], pa.int8())}
    )
    nothing = pa.schema([("day", pa.date32()), ("empty", pa.null())]).empty_table()
    write_fitted(private, {"cells": table, "columns": nothing})
    assert read_fitted(private) == {"cells": table, "columns": nothing}


def test_a_column_whose_pieces_have_dictionaries_of_their_own_is_kept(private):
    pieces = [pa.array(list(text)).dictionary_encode() for text in ("ab", "ca")]
    table = pa.table({"a": pa.chunked_array(pieces), "b": pa.chunked_array([[1], [2, 3, 4]])})
    write_fitted(private, {"cells": table})
    assert read_fitted(private)["cells"].to_pydict() == table.to_pydict()


def test_files_are_for_their_owner_alone_and_replace_those_of_an_earlier_run(private):
    write_fitted(private, {"old": pa.table({"a": [1]})})
    write_fitted(private, {"new": pa.table({"a": [1]})})
    (file,) = Path(private.url, "fitted").iterdir()
    assert file.name == "new.arrow"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    forget_fitted(private)
    assert read_fitted(private) == {}


def test_a_damaged_file_is_named(private):
    private.write("fitted/cells.arrow", b"no table")
    with pytest.raises(InputError, match=r"fitted/cells\.arrow: damaged; run the job again"):
        read_fitted(private)
