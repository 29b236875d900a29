"""Bad tables and promises through the real command: each method that groups refuses them alike."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from distanon.cli import app

METHODS = {
    "mondrian": "name: mondrian",
    "mdav": "name: mdav",
    "reconstruction": "name: reconstruction, generations: 2, individuals: 4",
}
ROLES = "a: quasi_identifier, b: quasi_identifier, s: sensitive"


def rows(**columns):
    at = np.arange(40)
    table = {"a": at % 7, "b": at % 5 * 1.5, "s": np.array(list("uvw"))[at % 3]}
    return pa.table(table | columns)


def bad_text():
    texts = [str(place % 7) for place in range(40)]
    texts[28] = "hidden"
    return texts


CASES = {  # tables, k and more, roles, exit code, words of the message
    "k beyond the records": ([rows()], "k: 41", ROLES, 3, ["method.k 41", "part-0", "works is 40"]),
    "k of one": ([rows()], "k: 1", ROLES, 2, ["method.k: found 1; expected 2 or more"]),
    "a negative k": ([rows()], "k: -3", ROLES, 2, ["method.k: found -3; expected 2 or more"]),
    "one value and l": ([rows(s=["u"] * 40)], "k: 3, l: 2", ROLES, 3, ["'s' has 1 different"]),
    "a column nobody has": (
        [rows()],
        "k: 3",
        ROLES.replace("b:", "bb:"),
        2,
        ["columns.bb", "no such column; did you mean 'b'?", "no role for b"],
    ),
    "parts of two types": (
        [rows(), rows(a=[str(place) for place in range(40)])],
        "k: 3",
        ROLES,
        2,
        ["part-0", "part-1", "types in column a: int64 and string", "write all parts with one"],
    ),
    "parts that lack a column": (
        [rows(), rows().drop(["b"])],
        "k: 3",
        ROLES,
        2,
        ["part-0", "part-1", "only one of them has: b"],
    ),
    "a bad cell among numbers": (
        [rows(), rows(a=bad_text()).slice(0, 0), rows()],
        "k: 3",
        ROLES,
        2,
        ["part-1", "column a"],
    ),
    "a bad cell in text": (
        [rows(a=bad_text())],
        "k: 3",
        ROLES,
        2,
        ["column 'a', row 29", "mend the cells"],
    ),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_with_file_column_and_fix(tmp_path, method, name):
    tables, settings, roles, code, words = CASES[name]
    (tmp_path / "in").mkdir()
    for place, table in enumerate(tables):
        pq.write_table(table, tmp_path / "in" / f"part-{place}.parquet")
    path = tmp_path / "in" / ("part-0.parquet" if len(tables) == 1 else "")
    (tmp_path / "spec.yaml").write_text(f"""
spec: 1
name: bad
seed: 340282366920938463463374607431768211455
input: {{table: {{path: "{path}", columns: {{{roles}}}}}}}
method: {{{METHODS[method]}, {settings}}}
output: {tmp_path / "out"}
private: {tmp_path / "private"}
""")
    done = CliRunner(env={"DISTANON_DEBUG": ""}).invoke(app, ["run", str(tmp_path / "spec.yaml")])
    assert done.exit_code == code, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr
    assert "hidden" not in done.output
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "private").exists()
