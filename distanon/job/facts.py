"""release.json: the whitelist of what is said in public about a release."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from distanon.data.graph_release import GraphRelease
from distanon.data.release import Release
from distanon.data.schema import Schema
from distanon.job.journal import certificate_line
from distanon.promises.base import Verdict
from distanon.spec import JobSpec
from distanon.storage.staging import Manifest

FORMAT = 1
_LIBRARIES = ("distanon", "ray", "numpy", "scipy", "numba", "pyarrow")
"""They decide bits, or carry the work."""


def versions() -> dict[str, str]:
    """Versions of what decides the bits of a release."""
    return {name: version(name) for name in _LIBRARIES} | {"python": platform.python_version()}


def public_document(
    spec: JobSpec, release: Release | GraphRelease, manifest: Manifest, verdicts: Sequence[Verdict]
) -> dict[str, Any]:
    """What stands in release.json; the same bytes for the same release.

    No run id: it digests the spec, and with it a seed that stands there.
    """
    told = spec.public_dict()
    roles = [
        {"name": attribute.name, "role": attribute.role.value, "type": attribute.type.value}
        for attribute in release.schema.published
    ]
    return {
        "format_version": FORMAT,
        "method": told["method"],
        "promises": [certificate_line(verdict) for verdict in verdicts],
        "removed_promises": told["removed_promises"],
        "counts": public_counts(release, smallest(spec)),
        "attributes": roles,
        "release": manifest.as_document(),
        "versions": versions(),
    }


def smallest(spec: JobSpec) -> int:
    """Counts below it are not told: the method's k, or 10."""
    return int(getattr(spec.method, "k", 10))


def public_counts(release: Release | GraphRelease, k: int) -> dict[str, int | str]:
    """The release's counts, small ones hidden: of records, and of quasi-identifying cells."""
    records = int(release.counts.get("records", 0))
    cells = records * len(release.schema.quasi_identifiers)
    return small_hidden(release.counts, k, (records, cells))


def small_hidden(
    counts: Mapping[str, int], k: int, totals: Sequence[int] = ()
) -> dict[str, int | str]:
    """Counts with 1 … k - 1 written as "<k", and those that so many lack to a total as ">total-k".

    A count beside its total tells the rest: 997 dispersed of 1,000 are 3 compact.
    """
    return {name: _small_hidden(int(count), k, totals) for name, count in counts.items()}


def _small_hidden(count: int, k: int, totals: Sequence[int]) -> int | str:
    if 0 < count < k:
        return f"<{k}"
    nearly = next((total for total in totals if 0 < total - count < k), None)
    return count if nearly is None else f">{nearly - k}"


def column_facts(original: Schema) -> list[dict[str, Any]]:
    """Name, role, type and publication of every column of the input."""
    return [
        {
            "name": attribute.name,
            "role": attribute.role.value,
            "type": attribute.type.value,
            "published": attribute.is_published,
        }
        for attribute in original
    ]


def release_facts(
    spec: JobSpec, release: Release | GraphRelease, schema: Schema, records: int
) -> dict[str, Any]:
    """What the reports tell of the release itself.

    Args:
        spec: of the job.
        release: what the method made.
        schema: of the input.
        records: of the release.
    """
    return {
        "method": {"name": spec.method.name, "parameters": spec.method.parameters()},
        "public_parameters": spec.public_parameters(),
        "limits": spec.method.limits,
        "records": records,
        "unit": "nodes" if isinstance(release, GraphRelease) else "records",
        "columns": column_facts(schema),
        "counts": public_counts(release, smallest(spec)),
        "smallest": smallest(spec),
        "private": dict(release.private),
    }
