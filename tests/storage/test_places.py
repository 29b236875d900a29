import pytest

from distanon.errors import SpecError
from distanon.storage.places import check_disjoint, overlap


@pytest.mark.parametrize(
    ("output", "private", "fault"),
    [
        ("s3://b/x", "s3://b/xy", None),
        ("s3://b/x/", "s3://c/x/", None),
        ("s3://b/x", "/b/x", None),
        ("s3://b/x/", "s3://b/x", "the same place"),
        ("s3a://b/x", "s3://b//x/", "the same place"),
        ("s3://b/x/out", "s3://b/x", "output lies inside private"),
        ("s3://b/x", "s3://b/x/private/", "private lies inside output"),
        ("s3://b", "s3://b/x", "private lies inside output"),
        ("demo/release", "demo/private", None),
        ("demo/../demo", "file://{cwd}/demo/private", "private lies inside output"),
        ("/", "x", "private lies inside output"),
    ],
)
def test_places_are_compared_by_segments(output, private, fault, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = overlap(output, private.format(cwd=tmp_path))
    assert found is None if fault is None else fault in found


def test_links_are_followed(tmp_path):
    (tmp_path / "private").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "private")
    with pytest.raises(SpecError, match="output lies inside private"):
        check_disjoint(str(tmp_path / "link/out"), str(tmp_path / "private"))
