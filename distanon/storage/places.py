"""Whether two places lie in one another."""

from __future__ import annotations

from pathlib import Path

from distanon.errors import SpecError
from distanon.storage.store import split_url


def overlap(output: str, private: str) -> str | None:
    """Why the two can't be used together; None where neither lies in the other.

    Compared by path segments (s3://b/x and s3://b/xy are apart), links followed.
    """
    public, hidden = _segments(output), _segments(private)
    shorter = min(len(public), len(hidden))
    if public[:shorter] != hidden[:shorter]:
        return None
    if len(public) == len(hidden):
        what = "output and private are the same place"
    elif len(hidden) < len(public):
        what = "output lies inside private"
    else:
        what = "private lies inside output"
    return f"{what}; whoever may read the release must not reach the originals: set them apart"


def check_disjoint(output: str, private: str) -> None:
    """Refuses places that lie in one another.

    Raises:
        SpecError: they do.
    """
    fault = overlap(output, private)
    if fault is not None:
        raise SpecError(f"private: {fault}")


def _segments(url: str) -> list[str]:
    """Protocol and path segments; ".." means something on a disk alone, keys hold it literally."""
    protocol, path = split_url(url)
    if protocol == "file":
        path = str(Path(path).resolve())
    return [protocol, *(segment for segment in path.split("/") if segment)]
