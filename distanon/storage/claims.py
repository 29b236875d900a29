"""Who may write to an output, and what there is ours to delete.

`_CLAIM` is created exclusively and holds the attempt's nonce, nothing else. Whose it is can be
told only with the private prefix of its run, and so only that run's own commands (`resume`,
`clean`, a new `run` with the same private prefix) may take it away, once the attempt is dead.
A claim is never taken away for its age: two runs that both believed the other dead would mix
their files.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path, PurePosixPath

from distanon.errors import AccessError, OutputExistsError
from distanon.storage.entry import Entry
from distanon.storage.faults import explain
from distanon.storage.liveness import read_life
from distanon.storage.local import LocalFiles
from distanon.storage.store import Store

CLAIM = "_CLAIM"
SUCCESS = "_SUCCESS"
DOCUMENT = "release.json"
PUBLIC_REPORT = "report-public.html"

_NONCE = re.compile(r"^[0-9a-f]{32}$")
_OURS = re.compile(
    r"^((data|nodes|edges|supernodes|superedges)/part-\d{5}\.(parquet|csv)"
    rf"|graph\.graphml|{re.escape(DOCUMENT)}|{re.escape(PUBLIC_REPORT)})$"
)
_PROBE = re.compile(r"^_PROBE-[0-9a-f]{8}$")


def holder(output: Store, mark: str = CLAIM) -> str | None:
    """The nonce in `_CLAIM` or `_SUCCESS`; None where there is none, "" where it is not ours."""
    content = output.peek(mark)
    if content is None:
        return None
    try:
        nonce = str(json.loads(content)["attempt"])
    except (ValueError, KeyError, TypeError):
        return ""
    return nonce if is_nonce(nonce) else ""


def is_nonce(text: str) -> bool:
    """Whether a text can name an attempt."""
    return bool(_NONCE.match(text))


def mark_content(nonce: str) -> bytes:
    """What `_CLAIM` and `_SUCCESS` hold."""
    return json.dumps({"attempt": nonce}).encode()


def claim(output: Store, private: Store, nonce: str) -> None:
    """Makes the output this attempt's alone, or finds that it is.

    Raises:
        OutputExistsError: it is another's.
    """
    for _ in range(2):
        if output.write(CLAIM, mark_content(nonce), create=True):
            return
        other = holder(output)
        if other == nonce:
            return
        if other is not None:
            release_dead_claim(output, private, other)
    raise claimed(output)


def claimed(output: Store) -> OutputExistsError:
    """The error for an output that another attempt writes to."""
    return OutputExistsError(
        f"{output.url}: another run has claimed this output and has not finished. Wait for it, or, "
        "if it is dead, `distanon resume` it or `distanon clean` its private prefix; or choose "
        "another output"
    )


def release_dead_claim(output: Store, private: Store, nonce: str) -> None:
    """Takes away the claim of a dead attempt of this private prefix, and its partial release.

    Raises:
        OutputExistsError: the claim is of a live attempt, or of another run.
    """
    life = read_life(private.child(f"staging/{nonce}")) if nonce else None
    if life is None or life.is_live:
        raise claimed(output)
    if holder(output, SUCCESS) is None:
        delete_release(output)
    if holder(output) == nonce:
        output.delete(CLAIM)


def delete_release(output: Store) -> None:
    """Deletes a release, whole or partial: first what makes it valid, then its files."""
    output.delete(SUCCESS)
    for entry in output.list(leftovers=True):
        if is_ours(entry):
            output.delete(entry.name)


def is_ours(entry: Entry) -> bool:
    """Whether a file below an output has a name that a release's files have."""
    name = entry.name
    return bool(_OURS.match(name) or _PROBE.match(name)) or LocalFiles.is_temporary(name)


def refuse_occupied(output: Store, private: Store, *, overwrite: bool) -> None:
    """Refuses an output that can't be written to, before anything starts.

    Raises:
        OutputExistsError: it holds a release (unless it may be overwritten), other files, or
            another run's claim.
    """
    entries = [
        entry
        for entry in output.list()
        if entry.name not in (CLAIM, SUCCESS) and not _PROBE.match(entry.name)
    ]
    other = holder(output)
    if other is not None:
        life = read_life(private.child(f"staging/{other}")) if other else None
        if life is None or life.is_live:
            raise claimed(output)
    is_release = any(entry.name == DOCUMENT for entry in entries)
    foreign = [
        entry
        for entry in entries
        if not PurePosixPath(entry.name).name.startswith(".")
        and not (is_ours(entry) and (is_release or other is not None))
    ]
    if foreign:
        raise OutputExistsError(
            f"{output.url}: holds files that are no release of distanon, such as "
            f"{foreign[0].name}; choose an empty place"
        )
    if not overwrite and (holder(output, SUCCESS) is not None or (is_release and other is None)):
        raise OutputExistsError(
            f"{output.url}: holds a release; choose another output, or pass --overwrite to "
            "replace it"
        )


def probe(place: Store, nonce: str) -> None:
    """Shows a lack of permission before the work.

    A small file is written and deleted. On a disk no folder is made for it: it goes into the
    nearest one that exists.

    Raises:
        AccessError: the place can't be written to.
    """
    name = f"_PROBE-{nonce[:8]}"
    if place.is_local:
        _probe_local(Path(place.url), f".{name}")
        return
    place.write(name, mark_content(nonce))
    place.delete(name)


def look(place: Store) -> None:
    """As `probe`, as far as that can be told without writing.

    Raises:
        AccessError: the place can't be read, or on a disk not be written to.
    """
    if not place.is_local:
        place.find()
        return
    nearest = _nearest(Path(place.url))
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise AccessError(f"{place.url}: no permission to write in {nearest}; choose another place")


def _nearest(path: Path) -> Path:
    """The nearest folder above a place that exists, or the place itself."""
    nearest = next(one for one in (path, *path.parents) if one.exists())
    if not nearest.is_dir():
        raise AccessError(f"{path}: {nearest} is a file; a folder was expected")
    return nearest


def _probe_local(path: Path, name: str) -> None:
    nearest = _nearest(path)
    probe = nearest / name
    # Permissions alone don't tell: a mount may be read-only, and /proc makes no files at all. A
    # folder that is still to be made needs more: a file system may take files and no folders.
    try:
        if nearest == path:
            probe.touch(exist_ok=False)
            probe.unlink()
        else:
            probe.mkdir()
            probe.rmdir()
    except OSError as error:
        raise explain(error, str(path), "write", running=False) from None
