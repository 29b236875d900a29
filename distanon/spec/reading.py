"""A spec file, with overrides from the command line, as a `JobSpec`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from distanon.errors import AccessError, SpecError
from distanon.spec.document import override, read_document
from distanon.spec.faults import fault_lines
from distanon.spec.job_spec import JobSpec
from distanon.spec.places import is_remote


def load(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> JobSpec:
    """Reads a job spec.

    Args:
        path: a YAML file, or a JSON file that is called .json; a local path or a URL.
        overrides: such as `method.k=20`, applied in their order.

    Raises:
        SpecError: all that is wrong with it, one line each.
        AccessError: the file can't be read.
    """
    return parse(_text(os.fspath(path)), overrides, is_json=os.fspath(path).endswith(".json"))


def parse(text: str, overrides: Sequence[str] = (), *, is_json: bool = False) -> JobSpec:
    """A job spec from its text, as `load`."""
    document = override(read_document(text, is_json=is_json), overrides)
    try:
        return JobSpec.model_validate(document)
    except ValidationError as error:
        faults = fault_lines(error, document, JobSpec)
    raise SpecError(*faults)


def _text(path: str) -> str:
    if is_remote(path):
        return _remote_text(path)
    try:
        return Path(path.removeprefix("file://")).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SpecError(f"{path}: expected UTF-8 text") from None
    except OSError as error:
        raise AccessError(
            f"{path}: can't be read: {error.strerror or type(error).__name__}"
        ) from None


def _remote_text(path: str) -> str:
    from distanon.storage.store import StorageSettings, Store

    folder, _, name = path.rpartition("/")
    return bytes(Store(folder, StorageSettings()).read(name)).decode("utf-8-sig")
