"""What the release of new records is measured on: beside these records, in the scale of the fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from distanon.data.attribute_domain import AttributeDomain
from distanon.data.domain import Domain, scan
from distanon.data.evidence import Evidence
from distanon.data.ports import Progress
from distanon.data.schema import Role, Schema
from distanon.data.table import Dataset
from distanon.errors import DistanonError
from distanon.job.inputs import control_file
from distanon.methods.fitted import Fitted
from distanon.spec import JobSpec


def as_measured(evidence: Evidence, fitted: Fitted) -> Evidence:
    """The evidence with originals whose columns have the fit's types, hierarchies and values.

    Cells were written in the domain of the fit, which may hold categories that no new record
    has. Records with values that the fit has never seen have no place in it and no released row:
    they are left out.

    Args:
        evidence: the staged files beside all new records.
        fitted: what masked them.
    """
    dataset, sources = evidence.original, evidence.sources
    if dataset is None or sources is None:
        raise ValueError("expected the new records and whose row is whose")
    found = fitted.locate(dataset.read(list(fitted.space.names))).groups
    if (found < 0).any():
        rows = np.flatnonzero(found >= 0)
        dataset, sources = dataset.select(rows), np.searchsorted(rows, sources)
    known = {one.name: one for one in fitted.space.attributes}
    schema = Schema(
        tuple(
            replace(one, type=known[one.name].type, hierarchy=known[one.name].hierarchy)
            if one.role is Role.QUASI_IDENTIFIER
            else one
            for one in dataset.schema
        )
    )
    dataset = replace(dataset, schema=schema, domain=None)
    own = scan(dataset)
    domains = dict(zip(fitted.space.names, fitted.space.domains, strict=True))
    dataset = replace(dataset, domain=Domain(_merged(domains, own.attributes), own.records))
    return replace(evidence, original=dataset, sources=sources)


def _merged(
    fitted: Mapping[str, AttributeDomain], own: Mapping[str, AttributeDomain]
) -> dict[str, AttributeDomain]:
    """The domains of the new records, each joined with what was fitted."""
    joined = dict(own)
    for name, domain in fitted.items():
        both = AttributeDomain.merged([domain, own[name]])
        joined[name] = own[name] if both is None else both
    return joined


def control_beside(spec: JobSpec, dataset: Dataset, progress: Progress) -> Dataset | None:
    """The job's control file, where it has one that goes with the new records.

    A fraction that the job held out is of its own input, and no control for other records.
    """
    control = spec.input.control
    if not isinstance(control, str):
        return None
    try:
        return control_file(control, dataset, spec.table, spec.storage)
    except DistanonError as error:  # the release does not depend on it
        progress.note(f"measured without a control: {error}")
        return None
