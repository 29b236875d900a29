"""A spec file, with overrides from the command line, as a `JobSpec`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pydantic import TypeAdapter, ValidationError

from distanon.data.setting_faults import fault_lines
from distanon.errors import SpecError
from distanon.promises.base import Promise
from distanon.spec.choices import PromiseChoices
from distanon.spec.document import override, read_document
from distanon.spec.job_spec import JobSpec
from distanon.storage.tables import read_text


def load(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> JobSpec:
    """Reads a job spec.

    Args:
        path: a YAML file, or a JSON file that is called .json; a local path or a URL.
        overrides: such as `method.k=20`, applied in their order.

    Raises:
        SpecError: all that is wrong with it, one line each.
        AccessError: the file can't be read.
        InputError: it is not text.
    """
    name = os.fspath(path)
    text = read_text(name)
    try:
        return parse(text, overrides, is_json=name.endswith(".json"))
    except SpecError as error:
        raise SpecError(*error.faults, file=name) from None


def parse(text: str, overrides: Sequence[str] = (), *, is_json: bool = False) -> JobSpec:
    """A job spec from its text, as `load`."""
    document = override(read_document(text, is_json=is_json), overrides)
    try:
        return JobSpec.model_validate(document)
    except ValidationError as error:
        faults = fault_lines(error, document, JobSpec)
    raise SpecError(*faults)


def parse_promises(assignments: Sequence[str]) -> dict[str, Promise]:
    """Promises from assignments, such as `k_anonymity.k=5`.

    Raises:
        SpecError: all that is wrong with them.
    """
    document = override({}, assignments, option="--promise")
    try:
        part = TypeAdapter(PromiseChoices).validate_python(document)
    except ValidationError as error:
        faults = fault_lines(error, document, PromiseChoices)
    else:
        return {name: promise for name, promise in part.asked.items() if promise is not None}
    raise SpecError(*(f"--promise {fault}" for fault in faults))
