"""The release and the methods it is compared with, measured in the same way.

What is compared is made privately, on the same data, and never published.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from distanon import auditing
from distanon.attacks import known_seed
from distanon.auditing import Thoroughness
from distanon.data.evidence import Evidence
from distanon.data.graph import GraphDataset
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.measurement import Measurement
from distanon.data.ports import Partition, Scratch
from distanon.data.release import Release, sort_for_release
from distanon.data.schema import Schema
from distanon.data.supernode_evidence import SupernodeEvidence
from distanon.data.table import Dataset, MemoryPartition, cut
from distanon.errors import InfeasibleError, InputError, SpecError
from distanon.job.graphs import check, evidence_in_memory, make
from distanon.job.journal import Journal, subject_of
from distanon.job.logbook import about
from distanon.methods.base import Context, Method
from distanon.methods.baselines.noise import Noise
from distanon.methods.baselines.random_edits import RandomEdits
from distanon.report import Subject
from distanon.spec import JobSpec
from distanon.utility.information_loss import displacement_rms
from distanon.utility.topology import edit_loss

_DRAWN_BY_RECORD = ("dptpe", "noise")
"""Methods whose random draws depend on seed and record number alone."""
_SEED_RECORDS = 200_000
"""The attack that knows the seed takes as long as the method: beyond it only with attacks: full."""
_COMPARED_ASSIGNMENT = 1_000
"""Its time grows with the cube of the records: many methods together would take minutes."""


def check_all(spec: JobSpec, dataset: Dataset | GraphDataset) -> None:
    """Refuses methods that can't work on these columns and so many records.

    Raises:
        InfeasibleError: too few records.
        SpecError: the columns are of the wrong kind, or a promise can't be asked of them.
    """
    promises = spec.effective_promises()[0].values()
    faults = [fault for promise in promises for fault in promise.faults(dataset.schema)]
    if faults:
        raise SpecError(*faults)
    check(spec.method, dataset, spec.effective_promises()[0])
    for method in spec.compare:
        check(_sized(method, 1.0), dataset, {})


def measure_all(
    spec: JobSpec,
    dataset: Dataset | GraphDataset,
    evidence: Evidence,
    context: Context,
    journal: Journal,
) -> None:
    """Measures the release and every compared method; metrics.json grows by one at a time.

    All of it together has `measure.budget_s`: what is left when it ends is left out, and named.

    Args:
        spec: names the compared methods.
        dataset: what they are given.
        evidence: the released files beside the originals.
        context: of the run.
        journal: what was measured before an interruption is taken from it.
    """
    done = {subject.label: subject for subject in journal.read_metrics()}
    deadline = time.monotonic() + spec.measure.budget_s
    subjects: list[Subject] = []
    labelled: dict[str, Method | None] = {spec.method.name: None, **spec.comparisons()}
    for place, (label, method) in enumerate(labelled.items()):
        if label not in done:
            left = deadline - time.monotonic()
            if method is None:
                figures = _figures(spec, evidence, context, left)
                if deadline > time.monotonic():
                    figures += _known_seed(spec, evidence, context)
            elif left > 0.0:
                with about(context.progress, label):
                    figures = _beside(spec, method, dataset, evidence, context, place, deadline)
            else:
                figures = [_not_made(auditing.out_of_time(spec.measure.budget_s))]
            done[label] = subject_of(label, figures)
        subjects.append(done[label])
        journal.write_metrics(subjects, spec.run_id)


def measure_release(
    spec: JobSpec, evidence: Evidence, context: Context, journal: Journal, run_id: str
) -> list[Measurement]:
    """Measures a release alone, whatever its spec compares; writes metrics.json.

    Args:
        spec: what is measured, and for how long.
        evidence: the released files beside the originals.
        context: crew and streams count.
        journal: of what released it.
        run_id: likewise.
    """
    figures = _figures(spec, evidence, context, spec.measure.budget_s)
    journal.write_metrics([subject_of(spec.method.name, figures)], run_id)
    return figures


def _beside(
    spec: JobSpec,
    method: Method,
    dataset: Dataset | GraphDataset,
    evidence: Evidence,
    context: Context,
    place: int,
    deadline: float,
) -> list[Measurement]:
    """The figures of one compared method, or why it has none."""
    scratch = _NamedScratch(f"compared-{place}", context.scratch)
    try:
        if _matches(method):
            method = _sized(method, _size_of(evidence))
        release = make(method, dataset, {}, replace(context, scratch=scratch))
    except (InfeasibleError, InputError, SpecError) as error:
        return [_not_made(str(error))]
    left = deadline - time.monotonic()
    if isinstance(release, Release):
        beside = _in_memory(release, evidence, replicates=method.replicates)
    elif isinstance(dataset, GraphDataset):
        beside = evidence_in_memory(release, dataset, method, context.streams)
    return _figures(spec, beside, context, left, is_compared=True)


def _known_seed(spec: JobSpec, evidence: Evidence, context: Context) -> list[Measurement]:
    """What comes back to an intruder who knows the seed, of methods that draw by record."""
    is_large = len(evidence.release) > _SEED_RECORDS and spec.measure.attacks != "full"
    if spec.method.name not in _DRAWN_BY_RECORD or evidence.sources is None or is_large:
        return []
    order = pa.array(np.argsort(evidence.sources, kind="stable"))
    schema = evidence.release.schema
    table = evidence.release_table.take(order)
    rows = Dataset(schema, cut(table, context.blocks), "the release")
    scratch = _NamedScratch("known-seed", context.scratch)
    try:
        again = make(spec.method, rows, {}, replace(context, scratch=scratch))
        if not isinstance(again, Release):
            return []
        made, numbers = sort_for_release(
            pa.concat_tables([piece.read() for piece in again.pieces], promote_options="default")
        )
        by_record = made.select(list(evidence.space.names)).take(pa.array(np.argsort(numbers)))
        values = evidence.space.encode(by_record)
    except (InfeasibleError, InputError, SpecError) as error:
        reason = str(error)
        return [Measurement("inversion.known_seed", math.nan, note=reason, is_public=False)]
    return known_seed.measure(
        evidence, values, crew=context.crew, streams=context.streams, blocks=context.blocks
    )


def _not_made(reason: str) -> Measurement:
    return Measurement("release.not_made", math.nan, note=reason, is_public=False)


def _matches(method: Method) -> bool:
    """Whether a method is to have the size of the release that it is compared with."""
    if isinstance(method, RandomEdits):
        return method.matches
    return isinstance(method, Noise) and method.rms == "match"


def _sized(method: Method, size: float) -> Method:
    """A method that is to match the release, at the release's size; any other as it is."""
    if isinstance(method, Noise | RandomEdits) and _matches(method):
        return method.matched(size)
    return method


def _size_of(evidence: Evidence) -> float:
    """How far a table's records were moved, or how many of a graph's edges were edited.

    Raises:
        InputError: the released graph has no nodes that stand for the original's.
    """
    if not isinstance(evidence, GraphEvidence | SupernodeEvidence):
        return displacement_rms(evidence)
    original, sources = getattr(evidence, "original_graph", None), evidence.sources
    if isinstance(evidence, SupernodeEvidence) or original is None or sources is None:
        raise InputError(
            "method.loss match: the release tells of no edges between the original's nodes, so "
            "there is no number of edits to match; set loss, or remove and add"
        )
    return edit_loss(original, evidence.graph, sources)


def _figures(
    spec: JobSpec, evidence: Evidence, context: Context, left: float, *, is_compared: bool = False
) -> list[Measurement]:
    """All figures of one release, as far as `left` seconds go."""
    wanted = spec.measure
    full = wanted.attacks == "full"
    thoroughness = Thoroughness(
        k=int(getattr(spec.method, "k", auditing.DEFAULT_K)),
        ties=getattr(spec.method, "ties", "include"),
        full=full,
        assignment_records=_COMPARED_ASSIGNMENT
        if is_compared and not full
        else auditing.ASSIGNMENT_RECORDS,
        draws=wanted.draws,
        budget_s=wanted.budget_s,
        left_s=left,
    )
    return auditing.measure(evidence, thoroughness, context.crew, context.streams, context.blocks)


def _in_memory(release: Release, evidence: Evidence, *, replicates: bool) -> Evidence:
    """A release that is not written, in the form in which it would be published."""
    table, sources = sort_for_release(
        pa.concat_tables([piece.read() for piece in release.pieces], promote_options="default")
    )
    attributes = tuple(
        replace(release.schema[name], arrow_type=table.schema.field(name).type)
        for name in table.column_names
    )
    dataset = Dataset(Schema(attributes), (MemoryPartition(table),), "the compared release")
    return evidence.beside(dataset, sources, replicates=replicates)


@dataclass(frozen=True, slots=True)
class _NamedScratch:
    """A part of another scratch: names of one compared method never meet another's."""

    name: str
    whole: Scratch

    def find(self, name: str) -> Partition | None:
        """As `Scratch.find`."""
        return self.whole.find(f"{self.name}-{name}")

    def write(self, name: str, table: pa.Table) -> Partition:
        """As `Scratch.write`."""
        return self.whole.write(f"{self.name}-{name}", table)
