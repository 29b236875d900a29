import pytest
from pydantic import TypeAdapter, ValidationError

from distanon.spec.places import Place, contains, expand, folder_of, is_remote


@pytest.mark.parametrize(
    ("place", "remote"),
    [
        ("out/", False),
        ("/tmp/out", False),
        ("file:///tmp/out", False),
        ("local://out", False),
        ("s3://bucket/key", True),
        ("memory://x", True),
        ("builtin:magic", False),
        ("C:out", False),
    ],
)
def test_a_url_is_remote_unless_it_names_this_machine(place, remote):
    assert is_remote(place) is remote


@pytest.mark.parametrize(
    ("outer", "inner", "inside"),
    [
        ("s3://b/a", "s3://b/a/c", True),
        ("s3://b/a/", "s3://b/a", True),
        ("s3://b/a", "s3://b/ab", False),
        ("s3://b/a", "s3://c/a/x", False),
        ("s3://b/a//", "s3a://b/a/x", True),
        ("s3://b", "s3://b/x", True),
        ("s3://b/a", "gs://b/a/x", False),
        ("out", "out/private", True),
        ("out", "./out/../out/x", True),
        ("out", "output", False),
        ("out/x", "out", False),
        ("s3://b", "b", False),
    ],
)
def test_places_are_compared_segment_by_segment(outer, inner, inside):
    assert contains(outer, inner) is inside


def test_a_link_and_a_file_url_lead_to_the_same_place(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert contains(str(tmp_path / "real"), str(tmp_path / "link" / "x"))
    assert contains(f"file://{tmp_path}/real", str(tmp_path / "link"))


@pytest.mark.parametrize(
    ("path", "folder"),
    [("a/b/*.csv", "a/b"), ("*.csv", "."), ("a/b.csv", "a/b.csv"), ("s3://b/p-[0-9]/x", "s3://b")],
)
def test_a_glob_covers_the_folder_before_its_first_wildcard(path, folder):
    assert folder_of(path) == folder


def test_names_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("PLACE", "s3://b")
    assert expand("${PLACE}/x/${RUN_ID}/$HOME") == "s3://b/x/${RUN_ID}/$HOME"


def test_a_name_that_the_environment_lacks_is_said(monkeypatch):
    monkeypatch.delenv("DISTANON_DATA", raising=False)
    monkeypatch.setenv("EMPTY", "")
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(Place).validate_python("${DISTANON_DATA}/${EMPTY}/x.csv")
    message = caught.value.errors()[0]["msg"]
    assert message.startswith("the environment has no DISTANON_DATA, EMPTY; set it")
    assert "where each comes from" in message
