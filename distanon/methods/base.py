"""What a method is: its parameters are its spec, `release` makes the release."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from distanon.data.ports import Progress, Scratch, Silent
from distanon.data.streams import Streams
from distanon.data.table import Dataset
from distanon.data.release import Release
from distanon.promises.base import Promise
from distanon.runtime.crew import Crew

BLOCK = 65_536
"""Records in a block of work where nothing else sets its size."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a method is given beside the data.

    Attributes:
        crew: the workers.
        scratch: named tables that survive a crash.
        streams: all randomness.
        progress: where to say how far it is.
        blocks: into how many ranges work on records is cut; never changes a bit of the release.
    """

    crew: Crew
    scratch: Scratch
    streams: Streams
    progress: Progress = Silent()
    blocks: int = 8


class Method(BaseModel):
    """A way to make a release. The model is the `method:` part of a job spec."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str

    summary: ClassVar[str]
    """One line for `distanon methods`."""
    limits: ClassVar[str]
    """What it does not protect, one line."""
    keeps: ClassVar[frozenset[str]]
    """Names of the promises that the method can be asked for."""

    def default_promises(self) -> Mapping[str, Promise]:
        """What is promised where the spec says nothing (contract.md, section 2)."""
        return {}

    @abstractmethod
    def check(self, dataset: Dataset) -> None:
        """Refuses what can't work, from the schema and the number of records alone.

        Raises:
            InfeasibleError: too few records.
            SpecError: the method can't use these columns.
        """

    @abstractmethod
    def release(
        self, dataset: Dataset, promises: Mapping[str, Promise], context: Context
    ) -> Release:
        """Makes the release; the same bytes for the same spec, data and seed."""

    def parameters(self) -> dict[str, Any]:
        """The public parameters, as in the spec."""
        return self.model_dump(mode="json", exclude={"name"})
