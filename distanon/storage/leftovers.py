"""What attempts leave below a private prefix: who they are, and how it is taken away."""

from __future__ import annotations

from dataclasses import dataclass

from distanon.storage import claims
from distanon.storage.liveness import RECORD, read_life
from distanon.storage.scratch import CHECKPOINT, HEADER, StoreScratch
from distanon.storage.store import StorageSettings, Store

STAGING = "staging"


@dataclass(frozen=True, slots=True)
class Removed:
    """Something that `clean` took away: where it was and how many files."""

    place: str
    files: int


def clean(private: str, settings: StorageSettings | None = None) -> list[Removed]:
    """Removes what abandoned attempts left: their files, claims and partial releases.

    Those of live runs stay. A run whose checkpoint goes can't be resumed any more.

    Args:
        private: a private prefix, or a folder of several.
        settings: of the storage.

    Returns:
        What was removed.
    """
    top = Store(private, settings or StorageSettings(), private=True)
    names = [entry.name.split("/") for entry in top.list(leftovers=True)]
    runs = {
        "/".join(name[:place])
        for name in names
        for place in range(len(name) - 1)
        if _is_working_folder(name[place], name[place + 1])
    }
    removed: list[Removed] = []
    for run in sorted(runs):
        place = top.child(run) if run else top
        removed += remove_dead(place)
        if not attempts(place):
            files = StoreScratch.discard(place)
            if files:
                removed.append(Removed(place.place(CHECKPOINT), files))
    return removed


def attempts(private: Store) -> list[str]:
    """The nonces below staging."""
    names = {entry.name.split("/")[1] for entry in private.list(STAGING, leftovers=True)}
    return sorted(name for name in names if claims.is_nonce(name))


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


def _is_working_folder(name: str, content: str) -> bool:
    """Whether a folder is one of a run's own: a run may be called "staging" or "checkpoint"."""
    if name == STAGING:
        return claims.is_nonce(content)
    return name == CHECKPOINT and content == HEADER
