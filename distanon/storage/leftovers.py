"""What attempts leave below a private prefix: who they are, and how it is taken away."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePosixPath

from distanon.errors import ResumeError
from distanon.storage import claims
from distanon.storage.liveness import RECORD, read_life
from distanon.storage.local import LocalFiles
from distanon.storage.scratch import CHECKPOINT, HEADER, StoreScratch
from distanon.storage.store import StorageSettings, Store

STAGING = "staging"
RUN = "run.json"
"""What a run writes first, and keeps."""


_OWN = (STAGING, CHECKPOINT, "held", "fitted", "mapping")
"""Folders of a run; others below it may be of runs that are alive."""


@dataclass(frozen=True, slots=True)
class Removed:
    """Something that `clean` took away: where it was and how many files."""

    place: str
    files: int


def clean(private: str, settings: StorageSettings | None = None) -> list[Removed]:
    """Removes what abandoned attempts left: their files, claims and partial releases.

    Those of live runs stay, and all that is not a run's own. A run whose checkpoint goes can't be
    resumed any more.

    Args:
        private: a private prefix, or a folder of several.
        settings: of the storage.

    Returns:
        What was removed.

    Raises:
        ResumeError: no run has worked there, or there is no such place.
    """
    top = Store(private, settings or StorageSettings(), private=True)
    paths = [PurePosixPath(entry.name) for entry in top.list(leftovers=True)]
    runs = {folder for path in paths for folder in _run_of(path, top)}
    if not runs:
        raise ResumeError(f"{private}: no run of distanon has worked here; nothing was touched")
    removed: list[Removed] = []
    for run in sorted(runs):
        place = top if run == "." else top.child(run)
        removed += remove_dead(place)
        if not attempts(place):
            removed += _remove_unfinished(place)
    return removed


def _remove_unfinished(run: Store) -> list[Removed]:
    """The checkpoint of a run that nobody goes on with, and what was never whole."""
    removed = []
    if _is_header(run.peek(f"{CHECKPOINT}/{HEADER}")):
        files = StoreScratch.discard(run)
        if files:
            removed.append(Removed(run.place(CHECKPOINT), files))
    halves = [entry.name for entry in run.list(leftovers=True) if _is_half(entry.name)]
    for name in halves:
        run.delete(name)
    uploads = sum(run.abort_uploads(folder) for folder in _OWN)
    if halves or uploads:
        removed.append(Removed(run.url, len(halves) + uploads))
    return removed


def _is_half(name: str) -> bool:
    """Whether a crash left this file of the run's own before it was whole."""
    path = PurePosixPath(name)
    return LocalFiles.is_temporary(name) and (len(path.parts) == 1 or path.parts[0] in _OWN)


def attempts(private: Store) -> list[str]:
    """The nonces below staging; other folders there are somebody else's."""
    paths = [PurePosixPath(entry.name) for entry in private.list(STAGING, leftovers=True)]
    return sorted({path.parts[1] for path in paths if _is_record(path.parts[1:])})


def remove_dead(private: Store) -> list[Removed]:
    """Removes what dead attempts of one run left: their files, claims and partial releases."""
    removed = []
    for nonce in attempts(private):
        life = read_life(private.child(f"{STAGING}/{nonce}"))
        if life is not None:
            if life.is_live:
                continue
            output = Store(life.output, private.settings)
            if claims.holder(output) == nonce:
                claims.release_dead_claim(output, private, nonce)
                removed.append(Removed(output.place(claims.CLAIM), 1))
        files = delete_attempt(private, nonce)
        removed.append(Removed(private.place(f"{STAGING}/{nonce}"), files))
    return removed


def delete_attempt(private: Store, nonce: str) -> int:
    """Deletes an attempt's files, and last the record by which others know it."""
    folder = private.child(f"{STAGING}/{nonce}")
    names = [entry.name for entry in folder.list(leftovers=True)]
    for name in names:
        if name != RECORD:
            folder.delete(name)
    folder.delete(RECORD)
    folder.delete_all()
    if not attempts(private):
        private.delete_all(STAGING)
    return len(names)


def _run_of(path: PurePosixPath, top: Store) -> list[str]:
    """The folder of the run that this file shows, none where it shows none: "." is the top."""
    content = top.peek(str(path)) if path.name in (RUN, HEADER) else None
    if path.name == RUN and _holds(content, "run_id"):
        return [str(path.parent)]
    if path.name == HEADER and path.parent.name == CHECKPOINT and _is_header(content):
        return [str(path.parent.parent)]
    if path.parts[-3:-2] == (STAGING,) and _is_record(path.parts[-2:]):
        return [str(PurePosixPath(*path.parts[:-3]))]
    return []


def _is_record(parts: tuple[str, ...]) -> bool:
    """Whether this is the record of an attempt, whole or not: the first file that it writes."""
    nonce, *rest = parts
    name = rest[0] if len(rest) == 1 else ""
    is_begun = LocalFiles.is_temporary(name) and name.startswith(f".{RECORD}.")
    return claims.is_nonce(nonce) and (name == RECORD or is_begun)


def _is_header(content: bytes | None) -> bool:
    return _holds(content, "spec", "input", "version")


def _holds(content: bytes | None, *keys: str) -> bool:
    """Whether a file is a JSON object with these keys."""
    try:
        document = json.loads(content or b"")
    except ValueError:
        return False
    return isinstance(document, dict) and all(key in document for key in keys)
