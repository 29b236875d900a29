"""What a report is written from: the figures of one run, as they stand in its private files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from distanon.data.measurement import Measurement

_DIGITS = 2
"""Of a public rate."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A release, or a compared method that was measured beside it, with its figures.

    Attributes:
        label: "dptpe", "noise (rms: match)".
        measurements: by name.
    """

    label: str
    measurements: Mapping[str, Measurement]

    def value(self, name: str) -> float | None:
        """The figure of this name; None where it was not measured."""
        found = self.measurements.get(name)
        return None if found is None or math.isnan(found.value) else found.value


@dataclass(frozen=True, slots=True)
class Summary:
    """One run.

    Attributes:
        name: of the job.
        method: its name and public parameters.
        limits: what the method does not protect, one sentence.
        records: how many rows the release has.
        columns: name, role, type and whether it is published, of every column of the input.
        certificate: one mapping a promise: promise, asked, measured, kept, verified_from, reason.
        removed: default promises that the spec removed.
        counts: public facts of the release, small ones already written as "<k".
        subjects: the release first, then what it is compared with.
        public_parameters: of the method, as the public may see them.
        smallest: numbers of records below it are not told.
        private: facts for the owner alone: timings, losses, notes, settings.
        versions: of distanon and the libraries that decide bits.
        unit: what is counted: records, or the nodes of a graph.
    """

    name: str
    method: Mapping[str, Any]
    limits: str
    records: int
    columns: Sequence[Mapping[str, Any]]
    certificate: Sequence[Mapping[str, Any]]
    removed: Sequence[str]
    counts: Mapping[str, int | str]
    subjects: Sequence[Subject]
    public_parameters: Mapping[str, Any] = field(default_factory=dict)
    smallest: int = 10
    private: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    unit: str = "records"

    @property
    def is_graph(self) -> bool:
        """Whether a graph was released, or what stands for one."""
        return self.unit == "nodes"

    @property
    def edges(self) -> int | None:
        """How many edges were released; None where there are none to count."""
        found = self.release.value("topology.edges")
        return None if found is None else round(found)

    @property
    def release(self) -> Subject:
        """The figures of the release itself."""
        return self.subjects[0]

    def public(self) -> Summary:
        """The same without whatever the public report may not show (contract.md, section 4)."""
        shown = {
            name: self._published(measurement)
            for name, measurement in self.release.measurements.items()
            if measurement.is_public
        }
        return Summary(
            name=self.name,
            method={"name": self.method["name"], "parameters": self.public_parameters},
            limits=self.limits,
            records=self.records,
            columns=[column for column in self.columns if column["published"]],
            certificate=self.certificate,
            removed=self.removed,
            counts=self.counts,
            subjects=[Subject(self.release.label, shown)],
            public_parameters=self.public_parameters,
            smallest=self.smallest,
            versions=self.versions,
            unit=self.unit,
        )

    def _published(self, measurement: Measurement) -> Measurement:
        """Rates to 2 digits, before any chart draws them; no number that tells a small group."""
        n = measurement.n
        is_telling = n is not None and (
            0 < n < self.smallest or 0 < self.records - n < self.smallest
        )
        return replace(
            measurement,
            value=round(measurement.value, _DIGITS),
            ci_low=_rounded(measurement.ci_low),
            ci_high=_rounded(measurement.ci_high),
            n=None if is_telling else n,
        )


def _rounded(limit: float | None) -> float | None:
    return None if limit is None else round(limit, _DIGITS)
