"""Releases that other tools made, audited from their files alone."""

import csv
import json

import numpy as np
import peers
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from distanon.cli import app


@pytest.fixture
def audit():
    """Audits a file; the answer is the exit code and the figures, or the error."""

    def run(path, known, *more):
        arguments = ["audit", str(path), "--quasi-identifiers", known, "--quiet", "--json", *more]
        result = CliRunner().invoke(app, arguments)
        if result.exit_code not in (0, 3):
            return result.exit_code, result.stderr
        found = json.loads(result.stdout)
        promises = {one["promise"]: one for one in found["promises"]}
        return result.exit_code, promises, {one["name"]: one for one in found["measurements"]}

    return run


def write(path, columns):
    pa_csv.write_csv(pa.table(columns), path)
    return path


@pytest.fixture(scope="module")
def people():
    generator = np.random.default_rng(11)
    return pa.table(
        {
            "age": generator.integers(17, 80, 300),
            "job": generator.choice(["baker", "clerk", "nurse"], 300),
            "ill": generator.choice(["flu", "cold", "none"], 300),
        }
    )


@pytest.mark.skipif(bool(peers.lacking()), reason=peers.lacking())
@pytest.mark.parametrize("peer", ["anonypy", "anonypyx", "anjana"])
def test_what_the_peers_write_is_audited(audit, tmp_path, people, peer):
    pq.write_table(people, tmp_path / "people.parquet")
    for name in ("age", "job"):
        with (tmp_path / f"{name}.csv").open("w", newline="") as stream:
            for value in sorted(set(people.column(name).to_pylist())):
                half = f"[{value // 20 * 20}, {value // 20 * 20 + 20}[" if name == "age" else "*"
                csv.writer(stream).writerow([value, half, "*"] if name == "age" else [value, "*"])
    settings = {"quasi_identifiers": ["age", "job"], "sensitive": "ill", "k": 5}
    if peer == "anjana":
        hierarchies = {name: str(tmp_path / f"{name}.csv") for name in ("age", "job")}
        settings |= {"suppression": 3, "hierarchies": hierarchies}
    made = str(tmp_path / "made.parquet")
    peers.run(peer, str(tmp_path / "people.parquet"), made, settings)
    released = pq.read_table(made)
    path = write(tmp_path / "made.csv", released)
    rows = list(zip(*(released.column(name).to_pylist() for name in ("age", "job")), strict=True))
    smallest = min(rows.count(row) for row in rows)
    asked = ("--sensitive", "ill", "--promise", f"k_anonymity.k={smallest}")
    code, promises, figures = audit(path, "age,job", *asked)
    assert code == 0
    assert promises["k_anonymity"]["measured"]["k"] == smallest >= 5
    assert figures["classes.k"]["value"] == smallest
    code, promises, _ = audit(path, "age,job", "--promise", f"k_anonymity.k={smallest + 1}")
    assert code == 3
    assert not promises["k_anonymity"]["kept"]


def test_intervals_and_stars_in_anyones_notation_are_values(audit, tmp_path):
    columns = {
        "age": ["[20;30[", "[20;30[", "20 - 30", "20 - 30", "≥40", "≥40"],
        "zip": ["130**", "130**", "*", "*", "13001", "13001"],
        "ill": ["flu", "cold", "flu", "cold", "flu", "*"],
    }
    path = write(tmp_path / "made.csv", columns)
    asked = ("--sensitive", "ill", "--promise", "k_anonymity.k=2", "--promise", "l_diversity.l=2")
    code, promises, _ = audit(path, "age,zip", *asked)
    assert promises["k_anonymity"]["kept"]
    # the suppressed illness is no second value
    assert promises["l_diversity"]["reason"].endswith("class 3 (2 records)")
    assert code == 3


def test_suppressed_rows_that_are_too_few_are_named(audit, tmp_path):
    columns = {"age": ["2*"] * 4 + ["*"], "zip": ["130**"] * 4 + ["*"], "ill": list("abcab")}
    path = write(tmp_path / "made.csv", columns)
    code, promises, figures = audit(path, "age,zip", "--promise", "k_anonymity.k=2")
    assert code == 3
    assert promises["k_anonymity"]["measured"]["suppressed"] == 1
    assert "all suppressed: leave them out" in promises["k_anonymity"]["reason"]
    assert figures["classes.suppressed_rows"]["value"] == 0.2


@pytest.mark.parametrize("with_original", [False, True])
def test_copies_are_suspected_though_k_is_kept(audit, tmp_path, with_original):
    columns = {"age": [21] * 3 + [34] * 3, "ill": ["flu"] * 3 + ["cold"] * 3}
    path = write(tmp_path / "made.csv", columns)
    original = write(tmp_path / "original.csv", {"age": [21, 34, 50], "ill": ["flu", "cold", "no"]})
    more = ("--original", str(original)) if with_original else ()
    asked = ("--sensitive", "ill", "--promise", "k_anonymity.k=3", *more)
    code, promises, figures = audit(path, "age", *asked)
    assert code == 0
    assert promises["k_anonymity"]["measured"]["copies_suspected"] is True
    assert figures["classes.copies_suspected"]["value"] == 1


def test_a_column_that_the_file_lacks_is_named(audit, tmp_path):
    path = write(tmp_path / "made.csv", {"age": [1, 1], "zip": [2, 2]})
    code, error = audit(path, "age,plz")
    assert code == 2
    assert "no column 'plz'" in error
    assert "'zip'" in error


@pytest.mark.parametrize("asked", ["k_anonymity.k=-3", "k_anonymity.k=1", "l_diversity.l=0"])
def test_a_promise_of_nothing_is_refused(audit, tmp_path, asked):
    path = write(tmp_path / "made.csv", {"age": [1, 1], "ill": ["a", "b"]})
    code, error = audit(path, "age", "--sensitive", "ill", "--promise", asked)
    assert code == 2
    assert asked.partition("=")[0].partition(".")[0] in error


def test_an_empty_part_among_full_ones_changes_nothing(audit, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    rows = pa.table({"age": [1, 2, 1, 2], "ill": ["a", "b", "b", "a"]})
    for place, part in enumerate([rows[:0], rows[:3], rows[:0], rows[3:]]):
        pq.write_table(part, folder / f"part-{place}.parquet")
    code, promises, _ = audit(folder, "age", "--promise", "k_anonymity.k=2")
    assert code == 0
    assert promises["k_anonymity"]["measured"]["records"] == 4


def test_a_file_without_rows_is_refused(audit, tmp_path):
    path = tmp_path / "made.parquet"
    pq.write_table(pa.table({"age": pa.array([], pa.int64())}), path)
    code, error = audit(path, "age", "--promise", "k_anonymity.k=2")
    assert code == 2
    assert "no records" in error


def test_column_names_that_are_not_unique_are_refused(audit, tmp_path):
    path = tmp_path / "made.csv"
    path.write_text("age,age,ill\n1,2,a\n1,2,b\n")
    code, error = audit(path, "age")
    assert code == 2
    assert "found twice: age" in error
