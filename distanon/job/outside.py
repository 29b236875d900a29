"""Checks without a run: of a finished release, of a spec, of what dead attempts left."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from distanon import auditing
from distanon.auditing import Thoroughness
from distanon.data.evidence import Evidence
from distanon.data.frames import read_frame
from distanon.data.measurement import Measurement
from distanon.data.ports import Progress, Silent
from distanon.data.schema import Attribute, Role, Schema, infer_type
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryPartition
from distanon.errors import InputError, ResumeError, SpecError
from distanon.job.comparison import check_all
from distanon.job.inputs import open_inputs, place_of, schema_of
from distanon.job.journal import Journal
from distanon.promises.base import Promise, Verdict
from distanon.runtime.crew import SerialCrew
from distanon.spec import JobSpec
from distanon.spec.places import contains
from distanon.spec.table_input import ControlFraction
from distanon.storage import leftovers
from distanon.storage.leftovers import Removed
from distanon.storage.releases import open_release
from distanon.storage.staging import read_mapping
from distanon.storage.store import StorageSettings, Store
from distanon.storage.tables import OpenedTable

_BLOCKS = 8
_AUDIT_SEED = 0
"""An audit's samples hide nothing: the same audit gives the same figures."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What an audit found.

    Attributes:
        verdicts: of the promises that were stated.
        measurements: what can be measured on the files at hand.
    """

    verdicts: Sequence[Verdict]
    measurements: Sequence[Measurement]


def audit(
    release: Any,
    *,
    original: Any = None,
    spec: JobSpec | None = None,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    promises: Mapping[str, Promise] | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Checks a finished release, from its rows alone; it need not be made by distanon.

    Args:
        release: the path of a release or of any table; or a pandas or Arrow table.
        original: the table that it was made from, likewise. Which row comes from which record
            is not known, so attacks that need to know it are left out.
        spec: roles, promises and storage of the job, instead of the names. Where `release` is
            the job's output and its run kept the mapping, the originals come with it.
        quasi_identifiers: columns that an intruder may know.
        sensitive: columns that an intruder wants.
        promises: to check, by name; the spec's are checked too.
        progress: where to say how far it is.

    Raises:
        SpecError: nobody says what an intruder may know.
        InputError: the files lack a column, or can't be read as a table.
    """
    if spec is None and not quasi_identifiers:
        raise SpecError("quasi_identifiers: name at least one column that an intruder may know")
    storage = spec.storage if spec is not None else StorageSettings()
    released = _opened(release, storage)
    if spec is None:
        schema = _named(released, quasi_identifiers, sensitive)
        asked: dict[str, Promise] = {}
    else:
        schema = _specified(spec, released)
        asked = spec.effective_promises()[0]
    dataset = Dataset(schema, released.partitions, released.path)
    is_own = spec is not None and original is None and _is_output_of(spec, release)
    evidence = (
        _with_mapping(Evidence(dataset), spec)
        if spec is not None and is_own
        else _with_original(Evidence(dataset), original, storage)
    )
    crew = SerialCrew(progress or Silent())
    verdicts = auditing.verify(asked | dict(promises or {}), evidence, crew)
    figures = auditing.measure(evidence, Thoroughness(), crew, Streams(_AUDIT_SEED), _BLOCKS)
    return Findings(verdicts, figures)


def validate(spec: JobSpec) -> list[str]:
    """Checks a spec against its data, as a run would before it starts.

    Returns:
        What was detected or inferred.

    Raises:
        DistanonError: what the run would be refused for.
    """
    inputs = open_inputs(spec, Streams(_AUDIT_SEED))
    check_all(spec, inputs.dataset)
    records = f"{len(inputs.dataset):,} records, {len(inputs.dataset.schema.attributes)} columns"
    return [records, *inputs.notes]


def rewrite_report(private: str) -> str:
    """Writes a run's private report again from its private files.

    Returns:
        Where it is.

    Raises:
        ResumeError: there is no run, or it has no release yet.
    """
    journal = Journal(Store(private, StorageSettings(), private=True))
    if journal.read_run()["status"] not in ("published", "done"):
        raise ResumeError(f"{private}: this run has published nothing yet; `distanon resume` it")
    return journal.write_report()


def clean(private: str) -> list[Removed]:
    """Removes what abandoned attempts left below a private prefix.

    Returns:
        Each folder or claim that went, with the number of its files.

    Raises:
        ResumeError: no run of distanon has worked there.
    """
    return leftovers.clean(private)


def _opened(table: Any, storage: StorageSettings) -> OpenedTable:
    """A release by its path, or a table in memory, as an opened table."""
    if isinstance(table, str | os.PathLike):
        return open_release(place_of(os.fspath(table)), settings=storage)
    table = read_frame(table)
    if not table.num_rows:
        raise InputError("the table holds no rows; expected at least one")
    partition = MemoryPartition(table)
    return OpenedTable("the table", table.schema, (partition,), table.num_rows, (), (), "")


def _named(
    released: OpenedTable, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
) -> Schema:
    """Roles by name; every other column is kept and known to nobody."""
    names = released.arrow_schema.names
    roles = dict.fromkeys(sensitive, Role.SENSITIVE)
    roles |= dict.fromkeys(quasi_identifiers, Role.QUASI_IDENTIFIER)
    unknown = [name for name in roles if name not in names]
    if unknown:
        raise InputError(
            f"{released.path}: no column {', '.join(map(repr, unknown))}; it has "
            f"{', '.join(map(repr, names))}"
        )
    both = sorted(set(quasi_identifiers) & set(sensitive))
    if both:
        raise InputError(f"quasi-identifier and sensitive at once: {', '.join(map(repr, both))}")
    return Schema(
        tuple(
            Attribute(
                field.name,
                roles.get(field.name, Role.INSENSITIVE),
                infer_type(field.type),
                field.type,
            )
            for field in released.arrow_schema
        )
    )


def _specified(spec: JobSpec, released: OpenedTable) -> Schema:
    """Roles by the job's spec, for the columns that its release has."""
    there = set(released.arrow_schema.names)
    columns = {name: column for name, column in spec.table.columns.items() if name in there}
    lacking = [
        name
        for name, column in spec.table.columns.items()
        if name not in there and column.role not in (Role.IDENTIFIER, Role.SUBJECT)
    ]
    if lacking:
        raise InputError(f"{released.path}: no column {', '.join(map(repr, lacking))}")
    confirmed = tuple(name for name in spec.table.confirm_unique if name in there)
    update = {"columns": columns, "path": released.path, "confirm_unique": confirmed}
    return schema_of(spec.table.model_copy(update=update), released, spec.storage)


def _is_output_of(spec: JobSpec, release: Any) -> bool:
    """Whether the files are those that the spec's run published, row by row."""
    if not isinstance(release, str | os.PathLike):
        return False
    place = os.fspath(release)
    return contains(spec.output, place) and contains(place, spec.output)


def _with_mapping(evidence: Evidence, spec: JobSpec) -> Evidence:
    """The run's own originals, and whose row is whose, where the run kept the mapping."""
    sources = read_mapping(Store(spec.private_prefix(), spec.storage))
    # With a fraction held out, the run's records are those left by its own seed.
    if sources is None or isinstance(spec.input.control, ControlFraction):
        return evidence
    inputs = open_inputs(spec, Streams(_AUDIT_SEED))
    if len(sources) != len(evidence.release):
        raise InputError(
            f"{evidence.release.source}: {len(evidence.release)} rows, but the mapping in "
            f"{spec.private_prefix()} is of {len(sources)}; these are not the rows of its run"
        )
    _refuse_lacking(evidence.release.schema, inputs.dataset.schema, inputs.dataset.source)
    return replace(evidence, original=inputs.dataset, sources=sources)


def _with_original(evidence: Evidence, original: Any, storage: StorageSettings) -> Evidence:
    """The originals beside a release; whose row is whose is not known."""
    if original is None:
        return evidence
    opened = _opened(original, storage)
    known = evidence.release.schema
    attributes = Schema(
        tuple(
            replace(known[field.name], arrow_type=field.type)
            for field in opened.arrow_schema
            if field.name in known
        )
    )
    _refuse_lacking(known, attributes, opened.path)
    return replace(evidence, original=Dataset(attributes, opened.partitions, opened.path))


def _refuse_lacking(released: Schema, original: Schema, source: str) -> None:
    """Refuses an original without one of the release's quasi-identifiers."""
    lacking = [one.name for one in released.quasi_identifiers if one.name not in original]
    if lacking:
        raise InputError(f"{source}: no column {', '.join(map(repr, sorted(lacking)))}")
