"""Files of this machine: whole or not there, private where that is asked."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from distanon.storage.entry import Entry

_TEMPORARY = re.compile(r"^\..*\.[0-9a-f]{16}\.tmp$")
_TRIES = 4


class LocalFiles:
    """The primitives of a store on a local or mounted file system.

    Args:
        private: whether new folders get mode 0700 and new files 0600.
    """

    def __init__(self, *, private: bool) -> None:
        self._folder_mode, self._file_mode = (0o700, 0o600) if private else (0o777, 0o666)

    def open(self, path: str) -> BinaryIO:
        """For reading; Arrow's own file, which Arrow reads without Python's lock."""
        return cast("BinaryIO", pa.OSFile(path))

    def read(self, path: str) -> bytes:
        """All bytes."""
        return Path(path).read_bytes()

    def info(self, path: str) -> Entry | None:
        """What is there: a file, a folder (size -1), or nothing."""
        try:
            status = os.stat(path)  # noqa: PTH116 - str paths throughout
        except (FileNotFoundError, NotADirectoryError):
            return None
        if Path(path).is_dir():
            return Entry(path, -1, "")
        return Entry(path, status.st_size, str(status.st_mtime_ns))

    def walk(self, path: str) -> Iterator[Entry]:
        """All files below a folder, temporary ones included; names relative to it."""
        for folder, _, names in os.walk(path, onerror=_raise):
            for name in names:
                file = Path(folder) / name
                entry = self.info(str(file))
                if entry is not None:  # else it went while we looked
                    yield replace(entry, name=file.relative_to(path).as_posix())

    def write(self, path: str, content: bytes, *, create: bool) -> bool:
        """Writes a file at once or not at all.

        Whoever holds or clears the place takes away temporary files and empty folders, ours too if
        we are just writing: then it is written again.

        Returns:
            False where `create` was asked and the name is taken.
        """
        for _ in range(_TRIES - 1):
            with suppress(FileNotFoundError):
                return self.produce(path, lambda out: _pour(content, out), create=create)
        return self.produce(path, lambda out: _pour(content, out), create=create)

    def produce(self, path: str, produce: Callable[[BinaryIO], None], *, create: bool) -> bool:
        """Writes to a temporary file beside the target, then puts it there in one step.

        Returns:
            False where `create` was asked and the name is taken.
        """
        target = Path(path)
        self._make_folder(target.parent)
        temporary = target.parent / f".{target.name}.{secrets.token_hex(8)}.tmp"
        try:
            with self._new(temporary) as stream:
                produce(stream)
                stream.flush()
                os.fsync(stream.fileno())
            if create:
                self._link(temporary, target)
            else:
                temporary.replace(target)
            _sync_folder(target.parent)
        except FileExistsError:
            return False
        finally:
            temporary.unlink(missing_ok=True)
        return True

    def delete(self, path: str) -> None:
        """Removes a file; one that is gone already is fine."""
        Path(path).unlink(missing_ok=True)

    def prune(self, path: str) -> None:
        """Removes a folder and those in it where no file is left."""
        for folder, _, _ in os.walk(path, topdown=False):
            with suppress(OSError):  # not empty: somebody else's files
                Path(folder).rmdir()

    def copy(self, source: str, target: str) -> None:
        """A copy of its own: a link would share the private file's mode."""
        with self.open(source) as stream:
            self.produce(target, lambda out: shutil.copyfileobj(stream, out, 1 << 22), create=False)

    @staticmethod
    def is_temporary(path: str) -> bool:
        """Whether a crash left this file before it was whole."""
        return _TEMPORARY.match(Path(path).name) is not None

    def _link(self, temporary: Path, target: Path) -> None:
        """Gives the file its name unless that is taken.

        Raises:
            FileExistsError: it is.
        """
        try:
            os.link(temporary, target)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
                raise
        else:
            return
        # No hard links here (FAT, some mounts): exclusive all the same, but for a moment empty.
        with self._new(target) as stream:
            try:
                stream.write(temporary.read_bytes())
                stream.flush()
                os.fsync(stream.fileno())
            except OSError:
                target.unlink(missing_ok=True)
                raise

    @contextmanager
    def _new(self, path: Path) -> Iterator[BinaryIO]:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(path, flags, self._file_mode), "w+b") as stream:
            yield cast("BinaryIO", stream)

    def _make_folder(self, folder: Path) -> None:
        """Like `mkdir -p`, but every folder that it makes gets the mode."""
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        for one in reversed(missing):
            one.mkdir(mode=self._folder_mode, exist_ok=True)


def _pour(content: bytes, out: BinaryIO) -> None:
    out.write(content)


def _raise(error: OSError) -> None:
    if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
        raise error


def _sync_folder(folder: Path) -> None:
    """Makes the new name survive a power cut; some file systems can't."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
