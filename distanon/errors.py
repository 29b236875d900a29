"""One class for each reason a user can meet, each with the exit code of its command.

A message says what was expected, what was got and what to do. It quotes values of the spec,
never of the data: of the data only file, column, row number and kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar


class DistanonError(Exception):
    """Any failure that distanon explains; `exit_code` is what the command returns."""

    exit_code: ClassVar[int] = 1


class SpecError(DistanonError):
    """The job spec or the command's arguments are wrong; nothing was started or written.

    Args:
        faults: one line for each fault, each with its path in the spec.
        file: of the spec, as the user named it; "": it came from no file.
    """

    exit_code = 2

    def __init__(self, *faults: str, file: str = "") -> None:
        place = f"{file}: " if file else ""
        super().__init__("\n".join(f"{place}{fault}" for fault in faults))
        self.faults: Sequence[str] = faults
        self.file = file


class InputError(DistanonError):
    """The input can't be used as it is: the message names the file, the column and the fix."""

    exit_code = 2


class InputChangedError(DistanonError):
    """A file of the input is no longer what it was when the run began.

    No `InputError`: those may tell that one figure can't be measured, this ends the job.
    """

    exit_code = 2


class AccessError(DistanonError):
    """A place could not be opened: it does not exist, or these credentials may not use it."""

    exit_code = 2


class OutputExistsError(DistanonError):
    """The output holds a release, or another run has claimed it."""

    exit_code = 2


class InfeasibleError(DistanonError):
    """The method can't keep its promises on this data: says which, where, and what would work."""

    exit_code = 3


class PromiseBrokenError(DistanonError):
    """The staged release, read back, does not keep a promise; nothing was published."""

    exit_code = 3


class ClusterError(DistanonError):
    """The cluster failed for good, or never had what was asked of it; the run can be resumed."""

    exit_code = 4


class StorageError(DistanonError):
    """The storage failed for good while the run was under way; the run can be resumed."""

    exit_code = 4


class ResumeError(DistanonError):
    """There is nothing to resume, or it belongs to another spec, input or version."""

    exit_code = 2
