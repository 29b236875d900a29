"""The places that every storage test runs on: this machine's disk and a real S3 server."""

from __future__ import annotations

import itertools

import pytest

_numbers = itertools.count()


@pytest.fixture(scope="session")
def bucket(s3) -> str:
    return s3.bucket()


@pytest.fixture(params=["local", pytest.param("s3", marks=pytest.mark.s3)])
def place(request, tmp_path) -> str:
    """The URL of an empty folder that nobody else uses."""
    if request.param == "local":
        return str(tmp_path / "place")
    request.getfixturevalue("s3_environment")
    return f"s3://{request.getfixturevalue('bucket')}/test-{next(_numbers)}"
