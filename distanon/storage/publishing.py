"""At once or not at all: from a release to published files.

check_output(output, private, settings)                  # before anything starts
with Attempt.begin(output, private, settings) as attempt:
    manifest = attempt.stage(release)
    staged, sources = attempt.read_back(release.schema)  # the gate judges these
    attempt.publish(document)                            # _CLAIM, copies, _SUCCESS
    attempt.publish_report(html)
    attempt.cleanup()
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from distanon.data.graph_release import PublishedGraph
from distanon.data.release import Release
from distanon.data.schema import Schema
from distanon.data.table import Dataset
from distanon.errors import DistanonError, OutputExistsError, ResumeError
from distanon.storage import claims, graph_staging, leftovers, staging
from distanon.storage.abreast import abreast
from distanon.storage.formats import OutputFormat
from distanon.storage.graph_staging import GraphManifest, StagedGraph
from distanon.storage.leftovers import STAGING
from distanon.storage.liveness import RECORD, SILENCE_S, Heartbeat, Life, read_life
from distanon.storage.places import check_disjoint
from distanon.storage.scratch import StoreScratch
from distanon.storage.sorting import Each, here
from distanon.storage.staging import Manifest, ReleasedFile
from distanon.storage.store import StorageSettings, Store

_PUBLISHED = "published.json"
HELD = "held"
"""Where a release waits that was verified and not published, below the private prefix."""


class Attempt:
    """One attempt to publish one run; a context manager, alive until it is left.

    Attributes:
        nonce: names the attempt: 32 hexadecimal digits that mean nothing.
        output: where the release goes.
        private: what only its owner may see.
    """

    def __init__(self, output: Store, private: Store, nonce: str) -> None:
        self.nonce = nonce
        self.output = output.while_running()
        self.private = private.while_running()
        self._folder = self.private.child(f"{STAGING}/{nonce}")
        self._heartbeat: Heartbeat | None = None
        self._manifest: Manifest | None = None

    @classmethod
    def begin(cls, output: str, private: str, settings: StorageSettings | None = None) -> Self:
        """A new attempt. What dead ones of the same private prefix left is deleted first.

        Raises:
            SpecError: the places lie in one another.
            AccessError: the private prefix can't be used.
            OutputExistsError: another attempt with this private prefix is alive.
        """
        check_disjoint(output, private)
        public, hidden = _stores(output, private, settings)
        hidden.make_parent()
        leftovers.remove_dead(hidden)
        if leftovers.attempts(hidden):
            raise _under_way(hidden)
        attempt = cls(public, hidden, secrets.token_hex(16))
        attempt._live(hidden)
        try:
            others = leftovers.attempts(hidden) != [attempt.nonce]
        except BaseException as error:
            attempt.__exit__(type(error), error, None)
            raise
        if others:  # of those that began at the same moment each sees the others now
            attempt._withdraw()
            raise _under_way(hidden)
        return attempt

    @classmethod
    def resume(
        cls, output: str, private: str, settings: StorageSettings | None = None
    ) -> Self | None:
        """The attempt of this private prefix that has published already; None where none has.

        What it had still to do after `_SUCCESS` (its claim) is done.

        Raises:
            OutputExistsError: it is alive, and still at it.
        """
        public, hidden = _stores(output, private, settings)
        nonce = claims.holder(public, claims.SUCCESS)
        if not nonce or not _is_known(hidden, nonce):
            return None
        life = read_life(hidden.child(f"{STAGING}/{nonce}"))
        if life is not None and life.is_live:
            raise _under_way(hidden)
        attempt = cls(public, hidden, nonce)
        attempt._manifest = graph_staging.staged_manifest(attempt._folder)
        if claims.holder(public) == nonce:
            public.delete(claims.CLAIM)
        return attempt

    @property
    def has_sources(self) -> bool:
        """Whether the staged files, which know each row's source record, are still there."""
        return self._manifest is not None

    def stage(
        self,
        release: Release | PublishedGraph,
        kind: OutputFormat = "parquet",
        each: Each = here,
    ) -> Manifest:
        """Writes the release's files below the private prefix.

        Args:
            release: what is to be published.
            kind: format of the files.
            each: who sorts and writes a large table.

        Returns:
            What may stand in release.json: files with sizes and sha256, columns, records.
        """
        if isinstance(release, PublishedGraph):
            self._manifest = graph_staging.stage(release, self._folder, kind)
        else:
            self._manifest = staging.stage(release, self._folder, kind, each)
        return self._manifest

    def read_back(self, schema: Schema) -> tuple[Dataset, NDArray[np.int64]]:
        """The staged files, compared byte for byte with what was written.

        Args:
            schema: roles and attribute types of the columns.

        Returns:
            The files as a data set; and the source record's number of each row, int64.

        Raises:
            StorageError: a file is not what was written.
        """
        manifest = self._staged()
        dataset = staging.read_back(self._folder, manifest, schema)
        return dataset, staging.read_sources(self._folder, manifest)

    def read_back_graph(self, schema: Schema) -> StagedGraph:
        """The staged files of a graph, compared byte for byte with what was written.

        Args:
            schema: roles and types of the nodes' attributes.

        Raises:
            StorageError: a file is not what was written.
        """
        manifest = self._staged()
        if not isinstance(manifest, GraphManifest):
            message = "a table is staged: call read_back"
            raise TypeError(message)
        return graph_staging.read_back(self._folder, manifest, schema)

    def hold(self, document: Mapping[str, Any]) -> None:
        """Keeps the staged files below the private prefix, for `take_held`; publishes nothing.

        Args:
            document: release.json, as for `publish`.
        """
        self.drop_held()
        held = self.private.child(HELD)
        names = [entry.name for entry in self._folder.list() if entry.name != RECORD]
        abreast(lambda name: self._folder.copy_to(name, held, name), names)
        held.write(claims.DOCUMENT, _document(document))

    @property
    def has_held(self) -> bool:
        """Whether a release is held back here, whole."""
        return self.private.child(HELD).exists(claims.DOCUMENT)

    def take_held(self) -> dict[str, Any]:
        """Takes up what another attempt has held back, in place of staging.

        Returns:
            Its release.json.

        Raises:
            ResumeError: nothing is held.
        """
        held = self.private.child(HELD)
        if not self.has_held:
            raise ResumeError(f"{self.private.url}: no release is held here")
        self._folder, self._manifest = held, graph_staging.staged_manifest(held)
        return dict(json.loads(held.read(claims.DOCUMENT)))

    def publish(self, document: Mapping[str, Any], *, overwrite: bool = False) -> None:
        """Copies the staged files to the output; valid from the moment `_SUCCESS` is there.

        Args:
            document: release.json; nothing but public facts.
            overwrite: whether a release that is there may be replaced.

        Raises:
            OutputExistsError: a release is there, or another run writes there.
            StorageError: the storage failed; nothing valid is there.
        """
        manifest = self._staged()
        claims.claim(self.output, self.private, self.nonce)
        if not overwrite and claims.holder(self.output, claims.SUCCESS) is not None:
            self.output.delete(claims.CLAIM)
            raise OutputExistsError(
                f"{self.output.url}: another run has published here meanwhile; choose another "
                "output, or pass --overwrite"
            )
        claims.delete_release(self.output)
        abreast(self._copy_out, manifest.files)
        self.output.write(claims.DOCUMENT, _document(document))
        self._check_claim()
        if not self.output.write(claims.SUCCESS, claims.mark_content(self.nonce), create=True):
            raise claims.claimed(self.output)
        self.private.write(_PUBLISHED, claims.mark_content(self.nonce))
        self.output.delete(claims.CLAIM)

    def publish_report(self, html: str) -> None:
        """Adds the public report, once attacks and utility have been measured."""
        self.output.write(claims.PUBLIC_REPORT, html.encode())

    def keep_mapping(self) -> None:
        """Keeps each row's source record number in `private/mapping/`, file by file."""
        sources, mapping = self._folder.child("sources"), self.private.child("mapping")
        names = [entry.name for entry in sources.list()]
        abreast(lambda name: sources.copy_to(name, mapping, name), names)

    def drop_held(self) -> None:
        """Deletes what was held, once it is published: first what makes it whole."""
        self.private.child(HELD).delete(claims.DOCUMENT)
        self.private.delete_all(HELD)

    def cleanup(self) -> None:
        """Deletes staging and checkpoint, which hold what nobody needs after `_SUCCESS`."""
        StoreScratch.discard(self.private)
        self._withdraw()
        self._manifest = None

    def __enter__(self) -> Self:
        if self._heartbeat is None and self._manifest is not None:
            self._live(self.private)  # resumed
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._heartbeat is None:
            return
        try:
            self._heartbeat.end()
        except DistanonError:
            # Without a good-bye others wait for the silence. The first error says more.
            if error is None:
                raise

    def _live(self, private: Store) -> None:
        """Begins to give signs of life; the first is written as part of opening the place."""
        folder = private.child(f"{STAGING}/{self.nonce}")
        self._heartbeat = Heartbeat(folder, Life.of_this_process(self.output.url))
        self._heartbeat.start()

    def _withdraw(self) -> None:
        """Ends the signs of life and deletes what is staged."""
        if self._heartbeat is not None:
            self._heartbeat.stop()
            self._heartbeat = None
        leftovers.delete_attempt(self.private, self.nonce)

    def _staged(self) -> Manifest:
        if self._manifest is None:
            message = "nothing is staged: call stage first"
            raise ValueError(message)
        return self._manifest

    def _copy_out(self, file: ReleasedFile) -> None:
        self._check_claim()
        self._folder.copy_to(file.path, self.output, file.path)
        staging.check_file(self.output, file)

    def _check_claim(self) -> None:
        if claims.holder(self.output) != self.nonce:
            raise claims.claimed(self.output)


def is_out(output: str, private: str, settings: StorageSettings | None = None) -> bool:
    """Whether an attempt of this private prefix has published what is held there, and died then."""
    public, hidden = _stores(output, private, settings)
    nonce = claims.holder(public, claims.SUCCESS)
    if not nonce or not _is_known(hidden, nonce):
        return False
    held = hidden.child(HELD).peek(claims.DOCUMENT)
    if held is None or public.peek(claims.DOCUMENT) != held:
        return False
    hidden.write(_PUBLISHED, claims.mark_content(nonce))  # its attempt's own record may go now
    return True


def check_output(
    output: str,
    private: str,
    settings: StorageSettings | None = None,
    *,
    overwrite: bool = False,
    probing: bool = True,
) -> None:
    """Refuses places that can't be published to, before anything is started.

    Writes and deletes a probe in both.

    Args:
        output: where the release will go.
        private: where all else goes.
        settings: of the storage.
        overwrite: whether a release that is there may be replaced.
        probing: False: only look, write nothing.

    Raises:
        SpecError: the places lie in one another.
        OutputExistsError: the output holds a release, other files or a claim.
        AccessError: a place can't be read or written.
    """
    check_disjoint(output, private)
    public, hidden = _stores(output, private, settings)
    claims.refuse_occupied(public, hidden, overwrite=overwrite)
    for place in (public, hidden):
        if probing:
            claims.probe(place, secrets.token_hex(16))
        else:
            claims.look(place)


def _document(document: Mapping[str, Any]) -> bytes:
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode()


def _stores(output: str, private: str, settings: StorageSettings | None) -> tuple[Store, Store]:
    settings = settings or StorageSettings()
    return Store(output, settings), Store(private, settings, private=True)


def _under_way(private: Store) -> OutputExistsError:
    return OutputExistsError(
        f"{private.url}: a run with this private prefix is under way; wait for it, or give this "
        "one a prefix (or --run-id) of its own. One that was killed on another machine counts as "
        f"under way for {SILENCE_S / 60:g} minutes after its last sign of life"
    )


def _is_known(private: Store, nonce: str) -> bool:
    return (
        private.exists(f"{STAGING}/{nonce}/{RECORD}") or claims.holder(private, _PUBLISHED) == nonce
    )
