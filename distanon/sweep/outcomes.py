"""How submitted runs end, and why."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

from distanon.errors import ClusterError, ResumeError
from distanon.runtime.submission import SubmittedRun
from distanon.sweep.records import RunRecord
from distanon.sweep.server import Server

POLL_S = 1.0
_SAYS = "distanon: "
_NO_PACKAGE = "No module named distanon"
_FAILED = 1


def ended(server: Server, run: SubmittedRun) -> RunRecord:
    """A run at its end."""
    now: SubmittedRun | None = run
    while now is not None and now.is_under_way:
        time.sleep(POLL_S)
        now = server.find(run.run_id)
    return outcome(server, now or replace(run, status="failed", message="the cluster forgot it"))


def outcome(server: Server, run: SubmittedRun) -> RunRecord:
    """How a submitted run ended, with its reason where it failed."""
    if run.status == "succeeded":
        return replace(recorded(run, {}), exit_code=0)
    code = run.exit_code or _FAILED
    try:
        reason = _reason(server.log(run.run_id)) or run.message
    except (ClusterError, ResumeError):
        reason = run.message
    return replace(recorded(run, {}), exit_code=code, reason=reason)


def _reason(log: str) -> str:
    """What the command said last, as it says why it ends."""
    if _NO_PACKAGE in log:
        return (
            "the cluster's `python` has no distanon: put the environment's bin folder first on "
            "the PATH of the head, or bring a wheel along (--wheel)"
        )
    said = [reason for line in log.splitlines() if (reason := _said(line))]
    return said[-1] if said else ""


def _said(line: str) -> str:
    """Why a command ends, where a line of its log says so, as text or as JSON."""
    if line.startswith(_SAYS):
        return line.removeprefix(_SAYS)
    try:
        entry = json.loads(line) if line.startswith("{") else {}
    except ValueError:
        return ""
    return str(entry.get("message", "")) if entry.get("level") == "error" else ""


def recorded(run: SubmittedRun, changes: dict[str, Any]) -> RunRecord:
    """What a sweep keeps of a run as the cluster knows it."""
    return RunRecord(run.run_id, run.private, changes, run.status, run.exit_code)
