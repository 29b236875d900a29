"""A folder at a URL: whole files in, whole files out, on a disk or in object storage alike.

    store = Store("s3://bucket/folder", settings)
    store.write("a/b.json", data)
    claimed = store.write("_CLAIM", nonce, create=True)

A store is a value: it pickles as its URL and settings, and reaches for the file system anew in
each process. Credentials are no part of it: they come from the environment, a profile or a role.
"""

from __future__ import annotations

import hashlib
import posixpath
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict, Field

from distanon.errors import AccessError
from distanon.storage.entry import Entry
from distanon.storage.faults import code_of, explained
from distanon.storage.local import LocalFiles
from distanon.storage.remote import RemoteFiles

_CHUNK = 1 << 22  # bytes that pass through memory at once


class StorageSettings(BaseModel):
    """The `storage:` part of a job spec; never a credential."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint_url: str | None = Field(
        default=None, description="where S3 is; null: AWS_ENDPOINT_URL_S3, else AWS"
    )
    sse: str | None = Field(
        default=None,
        pattern=r"^(AES256|aws:kms(:.+)?)$",
        description="server-side encryption of what is written: AES256, aws:kms or aws:kms:KEY",
    )


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: its length in bytes and its sha256, in hexadecimal."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Store:
    """A folder at a URL.

    Attributes:
        url: a local path (relative to the working directory at first use of the class), file://,
            s3:// or any URL that fsspec knows.
        settings: endpoint and encryption.
        running: whether a run is under way: errors then say that it can be resumed.
        private: whether local folders and files are made for their owner alone (0700, 0600).
    """

    url: str
    settings: StorageSettings = field(default_factory=StorageSettings)
    running: bool = False
    private: bool = False

    def __post_init__(self) -> None:
        protocol, path = split_url(self.url)
        if not self.url or (protocol == "s3" and path.startswith("/")) or path == "":
            raise AccessError(
                f"{self.url or '(empty)'}: names no place; expected a path, or a URL such as "
                "s3://bucket/folder/"
            )
        url = path if protocol == "file" else f"{protocol}://{path}"
        object.__setattr__(self, "url", url.rstrip("/") or "/")

    @property
    def is_local(self) -> bool:
        """Whether it is on a file system of this machine."""
        return split_url(self.url)[0] == "file"

    def child(self, name: str) -> Store:
        """A folder inside this one."""
        return replace(self, url=self.place(name))

    def while_running(self) -> Store:
        """The same folder, for use after the run has begun."""
        return replace(self, running=True)

    def place(self, name: str = "") -> str:
        """The URL of a file here."""
        return f"{self.url.rstrip('/')}/{name}" if name else self.url

    def make_parent(self) -> None:
        """Makes the folder that a local store lies in; it is the user's, not private."""
        if self.is_local:
            with self._at("", "write") as (_, path):
                Path(path).parent.mkdir(parents=True, exist_ok=True)

    def read(self, name: str = "") -> bytes:
        """All bytes of a file ("": the URL names a file itself).

        Raises:
            AccessError: it can't be read.
            StorageError: likewise, while a run is under way.
        """
        with self._at(name, "read") as (files, path):
            return files.read(path)

    def peek(self, name: str) -> bytes | None:
        """All bytes of a file that others may take away at any time; None where it is not."""
        with self._at(name, "read") as (files, path):
            try:
                return files.read(path)
            except (FileNotFoundError, NotADirectoryError) as error:
                if code_of(error) == "NoSuchBucket":
                    raise
                return None

    def find(self, name: str = "") -> Entry | None:
        """What is there: a file, a folder, or nothing."""
        with self._at(name, "read") as (files, path):
            entry = files.info(path)
            return None if entry is None else replace(entry, name=name)

    def exists(self, name: str) -> bool:
        """Whether a file of this name is there, whole."""
        entry = self.find(name)
        return entry is not None and not entry.is_folder

    def list(self, name: str = "", *, leftovers: bool = False) -> list[Entry]:
        """All files below, by name; names are relative to this folder.

        Args:
            name: a folder inside.
            leftovers: also those that a crash left before they were whole.
        """
        with self._at(name, "list") as (files, path):
            found = [
                replace(entry, name=posixpath.join(name, entry.name)) for entry in files.walk(path)
            ]
        kept = [one for one in found if leftovers or not LocalFiles.is_temporary(one.name)]
        return sorted(kept, key=lambda entry: entry.name)

    @contextmanager
    def open(self, name: str = "") -> Iterator[BinaryIO]:
        """A file for reading; errors while reading are explained as well."""
        with self._at(name, "read") as (files, path), files.open(path) as stream:
            yield stream

    def write(self, name: str, content: bytes, *, create: bool = False) -> bool:
        """Writes a file at once or not at all.

        Args:
            name: inside this folder.
            content: all of it. For an exclusive create it must hold a nonce, by which a writer
                whose answer got lost knows its own file again.
            create: only where the name is free.

        Returns:
            Whether it was written: False where `create` met another's file.

        Raises:
            AccessError: the place can't be used.
            StorageError: likewise while a run is under way, or the disk is full.
        """
        with self._at(name, "write") as (files, path):
            if files.write(path, content, create=create):
                return True
            if isinstance(files, RemoteFiles):
                return False
        return self.peek(name) == content

    def write_with(self, name: str, produce: Callable[[BinaryIO], None]) -> Written:
        """Writes a large file: `produce` fills a local temporary one, which is put in one step.

        Returns:
            Length and hash of what `produce` wrote.
        """
        counted: list[Written] = []

        def filled(stream: BinaryIO) -> None:
            produce(stream)
            stream.seek(0)
            counted.append(_hash(stream))

        with self._at(name, "write") as (files, path):
            if isinstance(files, RemoteFiles):
                files.produce(path, filled)
            else:
                files.produce(path, filled, create=False)
        return counted[0]

    def digest(self, name: str) -> Written:
        """Length and hash of a file, read from the storage."""
        with self.open(name) as stream:
            return _hash(stream)

    def delete(self, name: str) -> None:
        """Deletes a file; one that is not there is fine."""
        with self._at(name, "delete") as (files, path):
            files.delete(path)

    def delete_all(self, name: str = "") -> int:
        """Deletes all files below, leftovers too.

        Returns:
            How many there were.
        """
        entries = self.list(name, leftovers=True)
        for entry in entries:
            self.delete(entry.name)
        with self._at(name, "delete") as (files, path):
            if isinstance(files, LocalFiles):
                files.prune(path)
        return len(entries)

    def abort_uploads(self, name: str = "") -> int:
        """Ends uploads below that nobody goes on with: their parts are kept, paid for and unseen.

        Returns:
            How many there were.
        """
        with self._at(name, "delete") as (files, path):
            return files.abort_uploads(path) if isinstance(files, RemoteFiles) else 0

    def copy_to(self, name: str, target: Store, target_name: str) -> None:
        """Copies a file, inside the service where both ends are in the same one."""
        with self._at(name, "read") as (files, path):
            if split_url(self.url)[0] == split_url(target.url)[0]:
                with target._at(target_name, "write") as (others, other):
                    others.copy(path, other)
                return
            with files.open(path) as stream:
                target.write_with(target_name, lambda out: shutil.copyfileobj(stream, out, _CHUNK))

    @contextmanager
    def _at(self, name: str, doing: str) -> Iterator[tuple[LocalFiles | RemoteFiles, str]]:
        """The file system and the path there, with errors explained."""
        place = self.place(name)
        with explained(place, doing, running=self.running):
            protocol, path = split_url(place)
            if protocol == "file":
                yield LocalFiles(private=self.private), path
            else:
                settings = self.settings
                yield (
                    RemoteFiles(
                        protocol, settings.endpoint_url, settings.sse, running=self.running
                    ),
                    path,
                )


def split_url(url: str) -> tuple[str, str]:
    """Protocol and path of a URL: "file" and an absolute path for local ones."""
    protocol, separator, path = url.partition("://")
    if not separator:
        return "file", str(Path(url).expanduser().absolute())
    if protocol in ("file", "local"):
        return "file", posixpath.normpath(path) if path else "/"
    return ("s3" if protocol == "s3a" else protocol), path


def _hash(stream: BinaryIO) -> Written:
    digest, size = hashlib.sha256(), 0
    while chunk := stream.read(_CHUNK):
        digest.update(chunk)
        size += len(chunk)
    return Written(size, digest.hexdigest())
