"""What may not leave is found in no public byte, log, metric or error."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon import job as jobs
from distanon.runtime import metering
from distanon.runtime.progress import Lines, shown
from distanon.spec import parse

SEED = 271828182845904523536028747135266249775
NAME = "Xanthippe-Quollwright"
SUBJECT = "subject-Zyzzogeton"
UNUSED = "town-Llanfairpwll"
METADATA = "attrs-Brobdingnag"
INDEX = "index-Erewhon"
EXTREME = 987654.375
"""The highest income: a record's own, and nobody else comes near."""


@pytest.fixture
def planted(tmp_path) -> Path:
    """A table that carries what may not leave in every place that a file has."""
    draw = np.random.default_rng(11)
    count = 400
    town = pd.Categorical(draw.choice(["Ulm", "Jena"], count), ["Ulm", "Jena", UNUSED])
    frame = pd.DataFrame(
        {
            "name": [f"name-{number}" for number in range(count)],
            "subject": [f"subject-{number}" for number in range(count)],
            "age": draw.integers(18, 80, count),
            "income": np.round(draw.lognormal(8, 0.3, count), 2),
            "town": town,
            "sick": draw.random(count) < 0.3,
        },
        index=[f"row-{number}" for number in range(count)],
    )
    frame.loc[frame.index[17], ["name", "subject", "income"]] = [NAME, SUBJECT, EXTREME]
    frame = frame.rename(index={"row-23": INDEX})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    metadata = {**(table.schema.metadata or {}), b"attrs": METADATA.encode(), b"i": INDEX.encode()}
    path = tmp_path / "people.parquet"
    pq.write_table(table.replace_schema_metadata(metadata), path)
    return path


def spec_text(path: Path, folder: Path, more: str = "") -> str:
    return f"""
spec: 1
name: planted
seed: {SEED}
input:
  table:
    path: {path}
    columns:
      name: {{role: identifier, keep: hmac, key: env:PSEUDONYM_KEY}}
      subject: subject
      age: quasi_identifier
      income: quasi_identifier
      town: quasi_identifier
      sick: sensitive
method: {{name: dptpe, k: 5}}
compare: [{{name: noise, rms: match}}, rbt]
measure: {{draws: 2}}
output: {folder / "release"}
private: {folder / "private"}
{more}
"""


def contents(folder: Path) -> dict[str, bytes]:
    """Every file as it is, and what parquet and gzip hide in it."""
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        raw = path.read_bytes()
        found[str(path)] = raw
        if path.suffix == ".parquet":
            read = pq.ParquetFile(path)
            table = read.read()
            texts = [str(read.metadata.metadata), str(table.schema)]
            for column in table.columns:
                for chunk in column.chunks:
                    values = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
                    texts += [str(value) for value in values.to_pylist()]
            for group in range(read.metadata.num_row_groups):
                for column in range(read.metadata.num_columns):
                    texts.append(str(read.metadata.row_group(group).column(column).statistics))
            found[f"{path} read"] = "\n".join(texts).encode()
        elif path.suffix == ".gz":
            found[f"{path} read"] = gzip.decompress(raw)
    return found


SECRETS = {
    "identifier": NAME,
    "subject": SUBJECT,
    "unused dictionary value": UNUSED,
    "schema metadata": METADATA,
    "index": INDEX,
    "extreme": "987654",
    "seed": str(SEED),
    "seed in hexadecimal": f"{SEED:x}",
    "key": "0123456789abcdef-the-key",
}


def assert_clean(where: dict[str, bytes], secrets: dict[str, str]) -> None:
    for place, content in where.items():
        for what, secret in secrets.items():
            assert secret.encode() not in content, f"{what} found in {place}"


@pytest.mark.parametrize("output_format", ["parquet", "csv"])
def test_planted_values_are_in_no_public_byte_log_or_metric(
    planted, tmp_path, output_format, capfd, monkeypatch
):
    monkeypatch.setenv("PSEUDONYM_KEY", SECRETS["key"])
    spec = parse(spec_text(planted, tmp_path, f"output_format: {output_format}"))
    result = jobs.run_job(spec, progress=Lines(sys.stderr), serial=True)
    public = contents(tmp_path / "release")
    assert len(public) >= 4
    assert_clean(public, SECRETS)
    assert str(tmp_path).encode() not in b"".join(public.values()), "a path left"
    assert result.run_id.encode() not in b"".join(public.values()), "the run's id digests the seed"
    told = capfd.readouterr()
    assert "release" in told.err + told.out
    assert_clean({"terminal": (told.out + told.err).encode()}, SECRETS)
    private = tmp_path / "private"
    shown = {name: (private / name).read_bytes() for name in ("metrics.json", "report.html")}
    without_extreme = {name: value for name, value in SECRETS.items() if name != "extreme"}
    assert_clean(shown, without_extreme)
    assert str(SEED).encode() in (private / "run.json").read_bytes()
    for path in private.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, f"{path} is open to others"


class Told:
    """A metric of the cluster that keeps what it was told."""

    def __init__(self, told):
        self.told = told

    def tell(self, value, tags):
        self.told.append((value, tags))

    set = inc = tell


def test_planted_values_are_in_no_metric_of_the_cluster_or_log_for_programs(
    planted, tmp_path, capfd, monkeypatch
):
    monkeypatch.setenv("PSEUDONYM_KEY", SECRETS["key"])
    monkeypatch.setenv("DISTANON_LOG", "json")
    told = []
    monkeypatch.setattr(metering, "_is_joined", lambda: True)
    monkeypatch.setattr(metering, "_made", lambda name: Told(told) if name else None)
    with shown(stream=sys.stderr) as display:
        result = jobs.run_job(parse(spec_text(planted, tmp_path)), progress=display, serial=True)
    assert {tags["phase"] for _, tags in told if "phase" in tags} >= {"release"}
    assert {tags["method"] for _, tags in told} == {"dptpe"}
    metrics = str(told).encode()
    log = capfd.readouterr().err.encode()
    assert {json.loads(line)["level"] for line in log.splitlines()} == {"info"}
    assert_clean({"metrics": metrics, "log": log}, SECRETS)
    assert result.run_id.encode() not in metrics, "the run's id digests the seed"


def test_pseudonyms_stand_for_names_and_nothing_else(planted, tmp_path, monkeypatch):
    monkeypatch.setenv("PSEUDONYM_KEY", SECRETS["key"])
    jobs.run_job(parse(spec_text(planted, tmp_path)), serial=True)
    table = pq.read_table(tmp_path / "release" / "data")
    assert table.column_names == ["name", "age", "income", "town", "sick"]
    assert len(set(table["name"].to_pylist())) == 400
    assert table["income"].to_numpy().max() < EXTREME


def test_no_error_quotes_the_data(planted, tmp_path, monkeypatch):
    monkeypatch.setenv("PSEUDONYM_KEY", SECRETS["key"])
    table = pq.read_table(planted)
    income = table["income"].cast(pa.string()).to_pylist()
    income[17] = "secret-Munchausen"
    bad = tmp_path / "bad.parquet"
    where = table.schema.get_field_index("income")
    pq.write_table(table.set_column(where, "income", pa.array(income)), bad)
    text = spec_text(bad, tmp_path).replace(
        "income: quasi_identifier", "income: {role: quasi_identifier, type: numeric}"
    )
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    answer = subprocess.run(
        [sys.executable, "-m", "distanon", "run", str(file)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert answer.returncode == 2
    assert "income" in answer.stderr
    assert "row 18" in answer.stderr
    assert "text, expected" in answer.stderr
    told = (answer.stdout + answer.stderr).encode()
    assert_clean({"terminal": told}, {**SECRETS, "cell": "secret-Munchausen"})
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("publish", ["perturb", "generalize", "sample"])
def test_names_in_a_graph_are_in_no_public_byte_or_log(social, graph_job, tmp_path, capfd, publish):
    edges, nodes = (table.to_pandas() for table in social)
    old = nodes.loc[17, "node"]
    nodes.loc[17, ["node", "passport"]] = [NAME, SUBJECT]
    folder = tmp_path / "hidden-Erewhon"
    folder.mkdir()
    edges.replace(old, NAME).to_parquet(folder / "edges.parquet")
    nodes.to_parquet(folder / "nodes.parquet")
    given = f"edges: {folder}/edges.parquet, nodes: {folder}/nodes.parquet"
    spec = graph_job("planted", f"method.publish={publish}", given=given, seed=SEED)
    result = jobs.run_job(spec, progress=Lines(sys.stderr), serial=True)
    public = contents(Path(spec.output))
    assert len(public) >= 5
    assert ("graph.graphml" in " ".join(public)) == (publish != "generalize")
    assert_clean(public, SECRETS | {"path": str(tmp_path), "run": result.run_id})
    told = capfd.readouterr()
    assert_clean({"terminal": (told.out + told.err).encode()}, SECRETS)
    private = Path(result.private)
    assert_clean(
        {name: (private / name).read_bytes() for name in ("metrics.json", "report.html")}, SECRETS
    )
