"""How a command ends when it can't do what was asked: one message, one exit code."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from distanon.errors import DistanonError, SpecError
from distanon.runtime.progress import json_line, logs_json

_P = ParamSpec("_P")
_R = TypeVar("_R")

INTERRUPTED = 130
_DEFECT = 1
CLUSTER = 4


def explained(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """The command with every failure as a message on stderr and the exit code of its reason.

    DISTANON_DEBUG=1 shows the traceback too. A defect shows its type and place alone, since an
    unexpected message may quote a value of the data.
    """

    @functools.wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return command(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            say(
                "interrupted. A run goes on with `distanon resume SPEC` (and the same --set and "
                "--run-id), or with `distanon resume` and its private prefix."
            )
            raise typer.Exit(INTERRUPTED) from None
        except DistanonError as error:
            _say_traceback()
            say(_text_of(error))
            raise typer.Exit(error.exit_code) from None
        except MemoryError:
            _say_traceback()
            say(
                "this machine ran out of memory. Use one with more, or a cluster (--address), or "
                "more partitions (--set runtime.partitions=64); `distanon resume` goes on."
            )
            raise typer.Exit(CLUSTER) from None
        except Exception as error:  # noqa: BLE001 - the last resort; it ends the command
            _say_traceback()
            say(_defect(error))
            raise typer.Exit(_DEFECT) from None

    return run


def _text_of(error: DistanonError) -> str:
    if isinstance(error, SpecError) and len(error.faults) > 1:
        lines = "\n".join(f"  {fault}" for fault in error.faults)
        place = f"{error.file}: " if error.file else ""
        return f"{place}{len(error.faults)} faults:\n{lines}"
    return str(error)


def _defect(error: Exception) -> str:
    """Type and place of an unexpected error: the innermost line of distanon that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}distanon{os.sep}" in frame.filename] or frames
    place = f"{os.path.basename(own[-1].filename)}:{own[-1].lineno} in {own[-1].name}"  # noqa: PTH119 - a label
    return (
        f"this is a defect of distanon: {type(error).__name__} at {place}. Its message is not "
        "shown, since it may hold values of the data; DISTANON_DEBUG=1 shows it with the traceback."
    )


def say(message: str) -> None:
    """One message on stderr, as the log is written."""
    said = json_line("error", message) if logs_json() else f"distanon: {message}"
    print(said, file=sys.stderr)


def _say_traceback() -> None:
    if os.environ.get("DISTANON_DEBUG") == "1":
        traceback.print_exc(file=sys.stderr)
