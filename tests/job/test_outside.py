"""Validation, reports and cleaning without a run."""

from __future__ import annotations

import pytest

from distanon import job as jobs
from distanon.errors import AccessError, ResumeError, SpecError
from distanon.job import journal
from distanon.spec import parse
from distanon.storage.store import Store


@pytest.fixture
def finished(tmp_path):
    """A run on built-in data."""
    spec = parse(f"""
spec: 1
name: fires
seed: 5
input:
  table:
    path: builtin:forest-fires
    default_role: quasi_identifier
    columns: {{area: sensitive}}
method: {{name: dptpe, k: 5}}
measure: {{draws: 2}}
output: {tmp_path / "release"}
private: {tmp_path / "private"}
""")
    return spec, jobs.run_job(spec, serial=True)


def test_the_report_is_written_again_to_the_same_bytes(finished, tmp_path):
    _, run = finished
    report = tmp_path / "private" / "report.html"
    before = report.read_bytes()
    report.unlink()
    assert jobs.rewrite_report(run.private) == str(report)
    assert report.read_bytes() == before


def test_a_report_needs_a_run(tmp_path):
    with pytest.raises(ResumeError):
        jobs.rewrite_report(str(tmp_path))


def test_validating_writes_nothing(tmp_path):
    spec = parse(f"""
spec: 1
name: fires
input: {{table: {{path: builtin:forest-fires, default_role: quasi_identifier}}}}
method: {{name: dptpe, k: 5}}
output: {tmp_path / "release"}
private: {tmp_path / "private"}
""")
    notes = jobs.validate(spec)
    assert notes[0] == "517 records, 13 columns"
    assert "nominal: month, day" in notes[1]
    assert list(tmp_path.iterdir()) == []


def test_a_prefix_that_is_given_alone_says_where_the_endpoint_comes_from(monkeypatch):
    def refuse(self, name=""):
        raise AccessError("s3://b/p/: there is no such bucket")

    monkeypatch.setattr(Store, "exists", refuse)
    monkeypatch.setattr(Store, "list", refuse)
    calls = [
        lambda: jobs.rewrite_report("s3://b/p/"),
        lambda: jobs.resume("s3://b/p/"),
        lambda: jobs.audit("t.csv", private="s3://b/p/"),
    ]
    for call in calls:
        with pytest.raises(AccessError, match=r"no such bucket.* AWS_ENDPOINT_URL_S3"):
            call()
    with pytest.raises(AccessError, match=r"no room$"), journal.by_prefix_alone("local/p"):
        raise AccessError("local/p: no room")


def test_a_report_that_is_written_again_is_encrypted_as_the_run_asked(finished, monkeypatch):
    spec, run = finished
    text = spec.to_yaml() + "storage: {sse: AES256, endpoint_url: 'http://elsewhere'}\n"
    (place := Store(run.private)).write("spec.yaml", text.encode())
    seen = []
    write = Store.write
    monkeypatch.setattr(
        Store, "write", lambda self, *args, **rest: seen.append(self.settings) or write(self, *args)
    )
    jobs.rewrite_report(place.url)
    assert [(one.sse, one.endpoint_url) for one in seen] == [("AES256", None)]


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        (["seed=env:NO_SUCH_SEED"], SpecError, "the environment has no NO_SUCH_SEED"),
        (["seed=file:nowhere.txt"], SpecError, "file:nowhere.txt can't be read"),
        (["output={taken}/out"], AccessError, "is a file; a folder was expected"),
        (["private={taken}/private"], AccessError, "is a file; a folder was expected"),
    ],
)
def test_validating_looks_at_the_seed_and_the_places(tmp_path, settings, error, told):
    (tmp_path / "taken").write_text("")
    spec = parse(
        f"""
spec: 1
name: fires
input: {{table: {{path: builtin:forest-fires, default_role: quasi_identifier}}}}
method: {{name: dptpe, k: 5}}
output: {tmp_path / "release"}
private: {tmp_path / "private"}
""",
        [setting.format(taken=tmp_path / "taken") for setting in settings],
    )
    with pytest.raises(error, match=told):
        jobs.validate(spec)


def test_validating_tells_that_a_release_is_there_already(finished):
    spec, _ = finished
    assert "a run would be refused now:" in jobs.validate(spec)[-1]
    assert "holds a release" in jobs.validate(spec)[-1]
