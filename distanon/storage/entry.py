"""One file of a store."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """What a listing says of a file.

    Attributes:
        name: path in the store.
        size: bytes; -1 for a folder.
        tag: changes when the content does: ETag, or the time of the last change.
    """

    name: str
    size: int
    tag: str

    @property
    def is_folder(self) -> bool:
        """Whether it holds files instead of being one."""
        return self.size < 0
