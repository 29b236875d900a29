"""Objects behind any fsspec URL; S3 above all. `patience` says how faults are borne."""

from __future__ import annotations

import errno
import io
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, BinaryIO, TypeVar, cast

from distanon.errors import AccessError
from distanon.storage.entry import Entry
from distanon.storage.faults import TruncatedError, code_of, full, is_full, is_taken
from distanon.storage.patience import ATTEMPTS, CONNECT_S, SILENCE_S, patiently, wait

_CONFLICTS = 5
_LARGE = 1 << 26
_PARTS = 3
"""Parts of an upload that s3fs holds at a time, 50 MB each; several files may be under way."""

_R = TypeVar("_R")


class RemoteFiles:
    """The primitives of a store behind fsspec. Each may be repeated without harm, and is.

    Args:
        protocol: "s3", "memory", …
        endpoint_url: where S3 is, unless it is AWS or the environment says so.
        sse: server-side encryption: "AES256", "aws:kms" or "aws:kms:KEY".
        running: whether a run is under way, for which faults are borne longer.
    """

    def __init__(
        self, protocol: str, endpoint_url: str | None, sse: str | None, *, running: bool
    ) -> None:
        self._system = _file_system(protocol, endpoint_url, sse, os.getpid(), _environment())
        self._is_s3 = protocol == "s3"
        self._running = running

    def open(self, path: str) -> BinaryIO:
        """For reading; nothing is read ahead, since readers ask for what they need."""
        entry = self.info(path)
        if entry is None or entry.is_folder:
            raise FileNotFoundError(errno.ENOENT, "no such object", path)
        return cast("BinaryIO", _Ranges(entry.size, partial(self._range, path)))

    def read(self, path: str) -> bytes:
        """All bytes."""

        def read() -> bytes:
            size = int(self._system.info(path)["size"])
            # s3fs would ask for the size once more, to read what is large in parallel.
            alone = {"max_concurrency": 1} if self._is_s3 and size < _LARGE else {}
            content = cast("bytes", self._system.cat_file(path, **alone))
            if len(content) != size:  # cut short, or replaced meanwhile
                raise TruncatedError(f"{size} bytes were expected")
            return content

        return self._patiently(read, path)

    def info(self, path: str) -> Entry | None:
        """What is there: a file, a folder (size -1), or nothing."""
        self._system.invalidate_cache()
        try:
            return _entry(self._patiently(lambda: self._system.info(path), path))
        except FileNotFoundError as error:
            if code_of(error) == "NoSuchBucket":
                raise
            return None

    def walk(self, path: str) -> Iterator[Entry]:
        """All files below a prefix; names relative to it."""
        self._system.invalidate_cache()
        root = str(self._system._strip_protocol(path)).rstrip("/")  # noqa: SLF001 - fsspec's way
        try:
            found = self._patiently(lambda: self._system.find(path, detail=True), path)
        except FileNotFoundError as error:
            if code_of(error) == "NoSuchBucket":
                raise
            return
        for item in found.values():
            entry = _entry(item)
            if not entry.is_folder and not entry.name.endswith("/"):
                yield replace(entry, name=entry.name[len(root) + 1 :])

    def produce(self, path: str, produce: Callable[[BinaryIO], None]) -> None:
        """Makes the content whole on this machine's disk, then uploads it in one step.

        A failure inside an open remote file would commit the part that was written. The local
        file has no name, so that nothing is left of it, however the process ends.
        """
        try:
            with tempfile.TemporaryFile(prefix="distanon-") as stream:
                produce(cast("BinaryIO", stream))
                stream.flush()
                local = f"/dev/fd/{stream.fileno()}"
                few = {"max_concurrency": _PARTS} if self._is_s3 else {}

                def upload() -> None:
                    stream.seek(0)  # where the name is the open file itself, not another one
                    self._system.put_file(local, path, **few)

                self._patiently(upload, path)
        except OSError as error:
            if is_full(error):
                raise full(tempfile.gettempdir(), f"make {path} and upload") from None
            raise

    def write(self, path: str, content: bytes, *, create: bool) -> bool:
        """As `produce`, for content that is in memory.

        Returns:
            False where `create` was asked and the name holds something else.
        """
        if create:
            return self._patiently(lambda: self._create(path, content), path)
        self._patiently(lambda: self._system.pipe_file(path, content), path)
        return True

    def delete(self, path: str) -> None:
        """Removes an object; one that is gone already is as well."""
        try:
            self._patiently(lambda: self._system.rm_file(path), path)
        except FileNotFoundError as error:
            if code_of(error) == "NoSuchBucket":
                raise

    def copy(self, source: str, target: str) -> None:
        """Within the same service, without the bytes passing through here."""
        self._patiently(lambda: self._system.cp_file(source, target), source)

    def abort_uploads(self, path: str) -> int:
        """Ends the uploads in several parts that were begun below a prefix, which no listing shows.

        Returns:
            How many; 0 where these credentials may not look.
        """
        if not self._is_s3:
            return 0
        bucket, key, _ = self._system.split_path(path)
        place = {"Bucket": bucket, "Prefix": f"{key.rstrip('/')}/"}
        look = partial(self._system.call_s3, "list_multipart_uploads", **place)
        try:
            found = self._patiently(look, path).get("Uploads", [])
        except OSError:
            return 0
        for one in found:
            named = {"Bucket": bucket, "Key": one["Key"], "UploadId": one["UploadId"]}
            self._patiently(partial(self._system.call_s3, "abort_multipart_upload", **named), path)
        return len(found)

    def _patiently(self, operation: Callable[[], _R], path: str) -> _R:
        try:
            return patiently(operation, running=self._running)
        except OSError as error:
            # A refused HEAD has no body: a listing tells wrong or expired keys from a lack of
            # permission.
            if code_of(error) in ("400", "403"):
                self._system.ls(path, refresh=True)
            raise

    def _range(self, path: str, start: int, stop: int) -> bytes:
        """Some bytes of an object, all of them or an error."""

        def read() -> bytes:
            content = cast("bytes", self._system.cat_file(path, start=start, end=stop))
            if len(content) != stop - start:
                raise TruncatedError(f"{stop - start} bytes were asked for")
            return content

        return self._patiently(read, path)

    def _create(self, path: str, content: bytes) -> bool:
        """Exclusive: at most one of many writers of different contents succeeds.

        An answer that got lost makes the client try again and meet its own object: equal
        content (which holds the writer's nonce) means that it was ours.
        """
        for number in range(_CONFLICTS):
            if self._is_free(path, content):
                return True
            try:
                return bool(self._system.cat_file(path) == content)
            except FileNotFoundError:
                # Refused for another writer who has not finished, or failed: try again.
                time.sleep(wait(number))
        return False

    def _is_free(self, path: str, content: bytes) -> bool:
        """Whether the name was, and the content is there now."""
        try:
            self._system.pipe_file(path, content, mode="create")
        except Exception as error:
            if not is_taken(error):
                raise
            return False
        return True


class _Ranges(io.RawIOBase):
    """An object as a file that is read range by range.

    Args:
        size: bytes of the object.
        fetch: the bytes from `start` to `stop - 1`.
    """

    def __init__(self, size: int, fetch: Callable[[int, int], bytes]) -> None:
        self._size = size
        self._fetch = fetch
        self._place = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Where the next byte is read."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Goes to a byte."""
        self._place = offset + (0, self._place, self._size)[whence]
        return self._place

    def read(self, size: int | None = -1) -> bytes:
        """So many bytes, fewer at the end."""
        start = self._place
        stop = self._size if size is None or size < 0 else min(start + size, self._size)
        if start >= stop:
            return b""
        self._place = stop
        return self._fetch(start, stop)

    def readinto(self, buffer: Any) -> int:
        """As `read`, for those who bring their own room."""
        content = self.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)


def _entry(item: dict[str, Any]) -> Entry:
    if item["type"] == "directory":
        return Entry(item["name"], -1, "")
    tag = next(
        (item[key] for key in ("ETag", "etag", "LastModified", "created") if key in item), ""
    )
    return Entry(item["name"], int(item["size"]), str(tag).strip('"'))


def _environment() -> tuple[tuple[str, str], ...]:
    """What decides whom we are to S3: other credentials need another client."""
    return tuple(sorted(item for item in os.environ.items() if item[0].startswith("AWS_")))


@lru_cache(maxsize=16)
def _file_system(
    protocol: str,
    endpoint_url: str | None,
    sse: str | None,
    _process: int,
    _as_whom: tuple[tuple[str, str], ...],
) -> Any:
    """One client for each process (a forked one would share sockets) and identity."""
    import fsspec

    if protocol != "s3":
        return _other_file_system(protocol)
    system = fsspec.filesystem(
        "s3",
        skip_instance_cache=True,
        use_listings_cache=False,
        endpoint_url=endpoint_url,
        config_kwargs={
            "retries": {"mode": "standard", "total_max_attempts": ATTEMPTS},
            "connect_timeout": CONNECT_S,
            "read_timeout": SILENCE_S,
        },
        s3_additional_kwargs=_encryption(sse),
    )
    system.retries = 1  # that is: once
    return system


def _other_file_system(protocol: str) -> Any:
    import fsspec

    try:
        return fsspec.filesystem(protocol, skip_instance_cache=True)
    except ImportError:
        raise AccessError(
            f"{protocol}://: this kind of place needs a package that is not installed; install "
            f"fsspec's support for {protocol}"
        ) from None
    except ValueError:
        raise AccessError(
            f"{protocol}://: not a kind of place that is known; expected a path, or a URL such as "
            "s3://bucket/folder/"
        ) from None


def _encryption(sse: str | None) -> dict[str, str]:
    if sse is None:
        return {}
    if sse.startswith("aws:kms:"):
        return {
            "ServerSideEncryption": "aws:kms",
            "SSEKMSKeyId": sse.removeprefix("aws:kms:"),
        }
    return {"ServerSideEncryption": sse}
