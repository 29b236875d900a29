"""From the `input:` of a spec to a data set that is known to be usable; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from distanon.data import builtin, codes
from distanon.data.domain import scan
from distanon.data.graph import GraphDataset
from distanon.data.guesses import risky_guesses
from distanon.data.missing import refuse_missing
from distanon.data.ports import Partition
from distanon.data.schema import Attribute, AttributeType, Schema
from distanon.data.streams import Streams
from distanon.data.table import Dataset
from distanon.data.uniqueness import refuse_unique
from distanon.errors import InputError
from distanon.job.graphs import open_graph_dataset
from distanon.job.hierarchies import fitted_counts, hierarchies_of
from distanon.spec import JobSpec
from distanon.spec.places import BUILTIN
from distanon.spec.table_input import ControlFraction, TableInput
from distanon.storage.store import StorageSettings
from distanon.storage.tables import OpenedTable, open_table

_MISSING = "input.table.missing"


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a run works on.

    Attributes:
        dataset: the records to anonymize, those held out taken away, their domain known; or
            the graph.
        control: the records held out; None: there are none.
        population: all people among whom those of the data set are; None: not given.
        notes: what was detected or inferred, for the user to see.
        fingerprint: of the files, for the resume check; private.
    """

    dataset: Dataset | GraphDataset
    control: Dataset | None
    notes: tuple[str, ...]
    fingerprint: str
    population: Dataset | None = None

    def fitted_counts(self, spec: JobSpec) -> dict[str, pa.Table]:
        """What the spec's rules built sensitive columns' hierarchies from, to be kept."""
        if isinstance(self.dataset, GraphDataset):
            return {}
        partitions = [*self.dataset.partitions]
        if self.control is not None and isinstance(spec.input.control, ControlFraction):
            partitions += self.control.partitions  # taken out once the hierarchies stood
        return fitted_counts(spec.table, self.dataset.schema, partitions)


def open_inputs(spec: JobSpec, streams: Streams) -> Inputs:
    """Opens and checks the input of a job.

    Raises:
        SpecError: columns and settings don't fit the files.
        InputError: the files can't be used.
        AccessError: they can't be read.
    """
    if spec.input.graph is not None:
        graph, notes, fingerprint = open_graph_dataset(spec)
        return Inputs(graph, None, notes, fingerprint)
    wanted = spec.table
    pieces = None if spec.runtime.partitions == "auto" else spec.runtime.partitions
    opened = open_table(place_of(wanted.path), wanted.csv, spec.storage, pieces)
    schema = schema_of(wanted, opened, spec.storage, _beside(spec))
    whole = Dataset(schema, opened.partitions, wanted.path)
    # Before any record is held out, since faults name rows of the files.
    domain = scan(whole, opened.locate if len(opened.parts) > 1 else None)
    whole = replace(whole, domain=domain)
    if wanted.missing == "error":
        refuse_missing(whole, opened.locate, _MISSING)
    dataset, control = _hold_out(whole, wanted, spec, streams)
    dataset = replace(dataset, domain=scan(dataset))
    refuse_unique(dataset, wanted.confirm_unique, "input.table.confirm_unique")
    notes = (
        *opened.notes,
        *_inferred(wanted, schema),
        *risky_guesses(dataset),
        *_held_out(dataset, control),
    )
    population = _population_file(spec.input.population, whole, wanted, spec.storage)
    return Inputs(dataset, control, notes, opened.fingerprint, population)


def place_of(path: str) -> str:
    """Where a path of the spec is: that of a file for data that the package ships."""
    if path.startswith(BUILTIN):
        return str(builtin.path_of(path.removeprefix(BUILTIN)))
    return path


def schema_of(
    wanted: TableInput,
    opened: OpenedTable,
    storage: StorageSettings,
    beside: Sequence[Partition] = (),
    fitted: Mapping[str, Mapping[str, int]] | None = None,
) -> Schema:
    """Roles and types of an opened table's columns, hierarchies read or built."""
    names = opened.arrow_schema.names
    hierarchies = hierarchies_of(
        wanted, names, opened.partitions, wanted.path, storage, beside, fitted
    )
    return wanted.schema_for(opened.arrow_schema, wanted.path, hierarchies)


def _beside(spec: JobSpec) -> Sequence[Partition]:
    """The records of a control file, where hierarchies are built that must hold their values."""
    control = spec.input.control
    if not isinstance(control, str) or not spec.table.hierarchy_rules:
        return ()
    opened = open_table(place_of(control), spec.table.csv, spec.storage)
    lacking = set(spec.table.hierarchy_rules) - set(opened.arrow_schema.names)
    return () if lacking else opened.partitions  # a control of other columns is refused later


def _hold_out(
    whole: Dataset, wanted: TableInput, spec: JobSpec, streams: Streams
) -> tuple[Dataset, Dataset | None]:
    """Splits off the control records, before anything else sees the data."""
    control = spec.input.control
    if control is None:
        return whole, None
    if isinstance(control, ControlFraction):
        return hold_out(whole, control.fraction, streams)
    return whole, control_file(control, whole, wanted, spec.storage)


def hold_out(whole: Dataset, fraction: float, streams: Streams) -> tuple[Dataset, Dataset]:
    """The records to release and those to hold out, the same for the same seed.

    Raises:
        InputError: one side would be empty.
    """
    held = streams.uniforms("control", 0, len(whole), 1)[:, 0] < fraction
    if held.all() or not held.any():
        raise InputError(
            f"{whole.source}: a fraction of {fraction} of {len(whole)} records "
            "leaves one side empty; give input.control a path, or more records"
        )
    taken = whole.select(np.flatnonzero(held))
    return whole.select(np.flatnonzero(~held)), replace(taken, domain=scan(taken))


def control_file(
    path: str, whole: Dataset, wanted: TableInput, storage: StorageSettings
) -> Dataset:
    """A table of people who are not in the input, checked as the input is."""
    opened = open_table(place_of(path), wanted.csv, storage)
    names = opened.arrow_schema.names
    if names != [one.name for one in whole.schema]:
        raise InputError(f"{path}: the columns are not those of {whole.source}")
    schema = Schema(
        tuple(replace(whole.schema[one.name], arrow_type=one.type) for one in opened.arrow_schema)
    )
    _refuse_odd_types(path, schema.attributes, whole)
    control = Dataset(schema, opened.partitions, path)
    domain = scan(control, opened.locate if len(opened.parts) > 1 else None)
    control = replace(control, domain=domain)
    if wanted.missing == "error":
        refuse_missing(control, opened.locate, _MISSING)
    return control


def _refuse_odd_types(path: str, attributes: Sequence[Attribute], whole: Dataset) -> None:
    odd = [one for one in attributes if not _compares(one, whole.schema[one.name])]
    if odd:
        told = "; ".join(
            f"column {one.name!r} is {one.arrow_type}, there {whole.schema[one.name].arrow_type}"
            for one in odd
        )
        raise InputError(f"{path}: types are not those of {whole.source}: {told}")


def _population_file(
    path: str | None, whole: Dataset, wanted: TableInput, storage: StorageSettings
) -> Dataset | None:
    """A table of all people among whom those of the input are; of it the quasi-identifiers."""
    if path is None:
        return None
    opened = open_table(place_of(path), wanted.csv, storage)
    known = whole.schema.quasi_identifiers
    lacking = [one.name for one in known if one.name not in opened.arrow_schema.names]
    if lacking:
        told = ", ".join(map(repr, lacking))
        raise InputError(f"{path}: a population needs all quasi-identifiers; no column {told}")
    attributes = tuple(
        replace(one, arrow_type=opened.arrow_schema.field(one.name).type) for one in known
    )
    _refuse_odd_types(path, attributes, whole)
    population = Dataset(Schema(attributes), opened.partitions, path)
    return replace(
        population, domain=scan(population, opened.locate if len(opened.parts) > 1 else None)
    )


def _compares(ours: Attribute, theirs: Attribute) -> bool:
    """Whether values of two columns can be compared; text in place of numbers is scanned later."""
    kinds = [codes.value_type(one.arrow_type) for one in (ours, theirs)]
    if kinds[0] == kinds[1] or any(pa.types.is_null(kind) for kind in kinds):
        return True
    return ours.type is AttributeType.NUMERIC and all(
        codes.is_text(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)
        for kind in kinds
    )


def _inferred(wanted: TableInput, schema: Schema) -> tuple[str, ...]:
    """The types that nobody stated, so that a wrong guess is seen."""
    guessed: Sequence[Attribute] = [
        attribute
        for attribute in schema
        if attribute.is_published
        and (
            attribute.name not in wanted.columns
            or wanted.columns[attribute.name].declared_type is None
        )
    ]
    if not guessed:
        return ()
    kinds: dict[str, list[str]] = {}
    for attribute in guessed:
        kinds.setdefault(attribute.type.value, []).append(attribute.name)
    told = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items())
    return (f"types inferred from the files: {told}",)


def _held_out(dataset: Dataset, control: Dataset | None) -> tuple[str, ...]:
    if control is None:
        return ()
    return (f"{len(control)} records are held out as control, {len(dataset)} are released",)
