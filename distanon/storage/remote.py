"""Objects behind any fsspec URL; S3 above all.

Retries: botocore's standard mode (exponential, with jitter) makes at most 4 attempts of a call,
7 s of waiting in all; s3fs repeats up to 3 times what botocore does not (a body cut short,
a time-out), so that a call fails for good after 12 attempts and about 22 s of waiting.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, cast

from distanon.errors import AccessError
from distanon.storage.entry import Entry
from distanon.storage.faults import code_of, full, is_full, is_taken

_ATTEMPTS = 4
_REPEATS = 3
_CONFLICTS = 5


class RemoteFiles:
    """The primitives of a store behind fsspec.

    Args:
        protocol: "s3", "memory", …
        endpoint_url: where S3 is, unless it is AWS or the environment says so.
        sse: server-side encryption: "AES256", "aws:kms" or "aws:kms:KEY".
    """

    def __init__(self, protocol: str, endpoint_url: str | None, sse: str | None) -> None:
        self._system = _file_system(protocol, endpoint_url, sse, os.getpid(), _environment())

    def open(self, path: str) -> BinaryIO:
        """For reading; nothing is read ahead, since readers ask for what they need."""
        with self._saying_why(path):
            return cast("BinaryIO", self._system.open(path, "rb", cache_type="none"))

    def read(self, path: str) -> bytes:
        """All bytes."""
        with self._saying_why(path):
            return cast("bytes", self._system.cat_file(path))

    def info(self, path: str) -> Entry | None:
        """What is there: a file, a folder (size -1), or nothing."""
        try:
            with self._saying_why(path):
                return _entry(self._system.info(path))
        except FileNotFoundError as error:
            if code_of(error) == "NoSuchBucket":
                raise
            return None

    def walk(self, path: str) -> Iterator[Entry]:
        """All files below a prefix; names relative to it."""
        self._system.invalidate_cache()
        root = str(self._system._strip_protocol(path)).rstrip("/")  # noqa: SLF001 - fsspec's way
        try:
            found = self._system.find(path, detail=True)
        except FileNotFoundError as error:
            if code_of(error) == "NoSuchBucket":
                raise
            return
        for item in found.values():
            entry = _entry(item)
            if not entry.is_folder and not entry.name.endswith("/"):
                yield replace(entry, name=entry.name[len(root) + 1 :])

    def produce(self, path: str, produce: Callable[[BinaryIO], None], *, create: bool) -> bool:
        """Makes the content whole on this machine's disk, then uploads it in one step.

        A failure inside an open remote file would commit the part that was written.

        Returns:
            False where `create` was asked and the name holds something else.
        """
        with tempfile.TemporaryDirectory(prefix="distanon-") as folder:
            local = Path(folder) / "content"
            try:
                with local.open("w+b") as stream:
                    produce(cast("BinaryIO", stream))
            except OSError as error:
                if is_full(error):
                    raise full(folder, f"make {path} and upload") from None
                raise
            if create:
                return self._create(path, local.read_bytes())
            self._system.put_file(str(local), path)
            return True

    def write(self, path: str, content: bytes, *, create: bool) -> bool:
        """As `produce`, for content that is in memory."""
        if create:
            return self._create(path, content)
        self._system.pipe_file(path, content)
        return True

    def delete(self, path: str) -> None:
        """Removes an object; one that is gone already is as well."""
        try:
            self._system.rm_file(path)
        except FileNotFoundError as error:
            if code_of(error) == "NoSuchBucket":
                raise

    def copy(self, source: str, target: str) -> None:
        """Within the same service, without the bytes passing through here."""
        self._system.cp_file(source, target)

    @contextmanager
    def _saying_why(self, path: str) -> Iterator[None]:
        """A refused HEAD has no body: a listing tells wrong keys from a lack of permission."""
        try:
            yield
        except PermissionError as error:
            if code_of(error).isdigit():
                self._system.ls(path, refresh=True)
            raise

    def _create(self, path: str, content: bytes) -> bool:
        """Exclusive: at most one of many writers of different contents succeeds.

        An answer that got lost makes the client try again and meet its own object: equal
        content (which holds the writer's nonce) means that it was ours.
        """
        for _ in range(_CONFLICTS):
            try:
                self._system.pipe_file(path, content, mode="create")
            except Exception as error:
                if not is_taken(error):
                    raise
                try:
                    return self.read(path) == content
                except FileNotFoundError:
                    # Refused for another writer who has not finished, or failed: try again.
                    continue
            else:
                return True
        return False


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
        config_kwargs={"retries": {"mode": "standard", "total_max_attempts": _ATTEMPTS}},
        s3_additional_kwargs=_encryption(sse),
    )
    system.retries = _REPEATS
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
