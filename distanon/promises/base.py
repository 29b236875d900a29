"""What a promise is: parameters that say what is asked, and a check on the written release."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from distanon.data.evidence import Evidence
from distanon.data.schema import Schema
from distanon.data.setting_faults import called
from distanon.runtime.crew import Crew


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line of the certificate.

    Attributes:
        promise: its name in the spec.
        asked: the public parameters.
        measured: what the files show, by name: {"k": 12, "classes": 310}.
        kept: whether the promise holds.
        verified_from: what the check needed.
        reason: where it fails, in class numbers and sizes, never values of the data.
        private: details with values of the data, for audit.json alone.
    """

    promise: str
    asked: Mapping[str, Any]
    measured: Mapping[str, Any]
    kept: bool
    verified_from: Literal["release", "release+private", "asserted"]
    reason: str = ""
    private: Mapping[str, Any] = field(default_factory=dict, repr=False)


def unverified(promise: Promise, needs: str) -> Verdict:
    """The verdict on what these files can't show: asserted at best, so never kept by a gate."""
    return Verdict(
        promise=promise.name,
        asked=promise.asked(),
        measured={},
        kept=False,
        verified_from="asserted",
        reason=f"not verified: that needs {needs}",
    )


class Promise(BaseModel):
    """A privacy model that the release must satisfy; its fields are what the spec asks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    remedy: ClassVar[str] = "ask for less, or change the method or its parameters"
    """What would help a release that breaks it, for the refusal."""

    def __init__(self, **parameters: Any) -> None:
        """Checks the parameters.

        Raises:
            SpecError: one that does not exist, lacks, or can't have this value.
        """
        try:
            super().__init__(**parameters)
        except ValidationError as error:
            raise called(type(self), error, parameters) from None

    # To pydantic a model without an `__init__` of its own: within a spec, whose faults are
    # collected, it is not called.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @abstractmethod
    def verify(self, evidence: Evidence) -> Verdict:
        """Checks the written release, read back from storage; knows nothing of the method."""

    def verify_with(self, crew: Crew, evidence: Evidence) -> Verdict:
        """As `verify`; a promise whose check is heavy spreads it over the workers."""
        del crew
        return self.verify(evidence)

    def faults(self, schema: Schema) -> list[str]:
        """Why it can't be asked of a table with these columns: one line each, with its path."""
        del schema
        return []

    def asked(self) -> dict[str, Any]:
        """The parameters as they stand in the certificate."""
        return self.model_dump(mode="json", exclude_defaults=False, exclude_none=True)
