"""What a run writes into its private prefix: run.json, audit.json, metrics.json, the report.

The report is always written from these files, so `distanon report` can write it again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

from distanon.data.measurement import Measurement
from distanon.errors import AccessError, DistanonError, ResumeError
from distanon.promises.base import Verdict
from distanon.report import Subject, Summary, render
from distanon.spec import parse
from distanon.storage.store import Store

_S3 = ("s3://", "s3a://")

RUN = "run.json"
SPEC = "spec.yaml"
AUDIT = "audit.json"
METRICS = "metrics.json"
REPORT = "report.html"

_INTERRUPTED = 130

REFUSED = "refused"
"""Status of a run whose release broke a promise."""
HELD = "held"
"""Status of a run whose release was verified and waits to be published."""


@dataclass(frozen=True, slots=True)
class Journal:
    """The private files of one run.

    Attributes:
        store: the private prefix.
    """

    store: Store

    @property
    def has_run(self) -> bool:
        """Whether a run was begun here."""
        return self.store.exists(RUN)

    def read_run(self) -> dict[str, Any]:
        """What run.json holds.

        Raises:
            ResumeError: there is no run here.
        """
        if not self.store.exists(RUN):
            raise ResumeError(f"{self.store.url}: no run was begun here ({RUN} is missing)")
        return dict(json.loads(self.store.read(RUN)))

    def read_spec(self) -> str:
        """The spec that the run was begun with."""
        return self.store.read(SPEC).decode()

    def update_run(self, **facts: Any) -> None:
        """Adds facts to run.json, or replaces them."""
        known = self.read_run() if self.store.exists(RUN) else {}
        self._write(RUN, known | facts)

    def forget(self) -> None:
        """Deletes what an earlier run with this prefix left, its checkpoint too."""
        for name in (RUN, AUDIT, METRICS, REPORT):
            self.store.delete(name)
        for folder in ("checkpoint", "held"):
            self.store.delete_all(folder)

    @contextmanager
    def failures_of(self, run_id: str, *, hold: bool, is_resumed: bool) -> Iterator[None]:
        """Keeps the reason of a failure in run.json, for those who were not there.

        A run that was submitted (its spec lies here) and refused before it began leaves one too.
        A finished run of this prefix, which a second start must not touch, keeps what it has.
        """
        is_submitted = False
        with suppress(DistanonError):  # a place that can't be read is refused in its turn
            is_submitted = not is_resumed and not self.has_run and self.store.exists(SPEC)
        try:
            yield
        except KeyboardInterrupt:
            with suppress(DistanonError):
                if self.has_run and self.read_run()["status"] == "begun":
                    self.update_run(reason="interrupted", exit_code=_INTERRUPTED)
            raise
        except DistanonError as error:
            with suppress(DistanonError):
                known = self.read_run() if self.has_run else {}
                if is_submitted and not known:
                    spec = self._specified()
                    self.update_run(run_id=run_id, status="failed", hold=hold, spec=spec)
                    known = {"status": "failed"}
                if known.get("status") in ("begun", "failed", REFUSED):
                    self.update_run(reason=str(error), exit_code=error.exit_code)
            raise

    def _specified(self) -> dict[str, Any]:
        """The spec of a run that has not begun."""
        return parse(self.read_spec()).private_dict()

    def write_spec(self, text: str) -> None:
        """Keeps the spec; it may hold the seed."""
        self.store.write(SPEC, text.encode())

    def write_audit(self, verdicts: Sequence[Verdict], removed: Sequence[str]) -> None:
        """The certificate with its private details."""
        lines = [asdict(verdict) for verdict in verdicts]
        self._write(AUDIT, {"certificate": lines, "removed_promises": list(removed)})

    def read_audit(self) -> tuple[list[Verdict], list[str]]:
        """The certificate, and the promises that the spec removed."""
        document = json.loads(self.store.read(AUDIT))
        return [Verdict(**line) for line in document["certificate"]], document["removed_promises"]

    def write_metrics(self, subjects: Sequence[Subject], run_id: str) -> None:
        """The exact figures of the release and of what it is compared with."""
        rows = [
            {
                "label": subject.label,
                "measurements": [asdict(figure) for figure in subject.measurements.values()],
            }
            for subject in subjects
        ]
        self._write(METRICS, {"run_id": run_id, "subjects": rows})

    def read_metrics(self) -> list[Subject]:
        """What was measured so far; empty when nothing was."""
        if not self.store.exists(METRICS):
            return []
        return [
            subject_of(row["label"], [_measurement(figure) for figure in row["measurements"]])
            for row in json.loads(self.store.read(METRICS))["subjects"]
        ]

    def write_report(self) -> str:
        """Writes the private report from the other files.

        Returns:
            Where it is.
        """
        self.store.write(REPORT, render(self.summary(), public=False).encode())
        return self.store.place(REPORT)

    def public_report(self) -> str:
        """The page that may be published."""
        return render(self.summary(), public=True)

    def summary(self) -> Summary:
        """All that a report shows."""
        run = self.read_run()
        verdicts, removed = self.read_audit()
        facts = run["release"]
        private = {
            "run": run["run_id"],
            "output": run["output"],
            "seconds": run.get("seconds", {}),
            "survived": run.get("survived", {}),
            "method's private facts": facts["private"],
            "notes": run.get("notes", []),
        }
        return Summary(
            name=run["name"],
            method=facts["method"],
            limits=facts["limits"],
            records=facts["records"],
            columns=facts["columns"],
            certificate=[certificate_line(verdict) for verdict in verdicts],
            removed=removed,
            counts=facts["counts"],
            subjects=self.read_metrics() or [Subject(facts["method"]["name"], {})],
            public_parameters=facts["public_parameters"],
            smallest=facts["smallest"],
            private=private,
            versions=run["versions"],
            unit=facts.get("unit", "records"),
        )

    def _write(self, name: str, document: Mapping[str, Any]) -> None:
        plain = _without_nan(document)
        text = json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False, default=str)
        self.store.write(name, (text + "\n").encode())


def refused_run(private: str) -> ResumeError:
    """The error for what can't be done with a run whose release broke a promise."""
    return ResumeError(
        f"{private}: this run was refused, its release broke a promise ({AUDIT} says which), and "
        "nothing was published. Resumed, it would fail again: change the spec and `distanon run` it"
    )


@contextmanager
def by_prefix_alone(private: str) -> Iterator[None]:
    """Says, where a prefix that was given alone can't be opened, what it can't tell.

    Raises:
        AccessError: as it was, for S3 with a word on the endpoint.
    """
    try:
        yield
    except AccessError as error:
        if not private.startswith(_S3):
            raise
        raise AccessError(
            f"{error}. A private prefix alone does not tell where S3 is: if the run's spec has "
            "storage.endpoint_url, set AWS_ENDPOINT_URL_S3 to it"
        ) from None


def certificate_line(verdict: Verdict) -> dict[str, Any]:
    """A verdict without its private details, for release.json and the reports."""
    line = asdict(verdict)
    del line["private"]
    return line


def subject_of(label: str, measurements: Sequence[Measurement]) -> Subject:
    """Figures under their names."""
    return Subject(label, {figure.name: figure for figure in measurements})


def _measurement(row: Mapping[str, Any]) -> Measurement:
    value = math.nan if row["value"] is None else row["value"]
    return Measurement(**{**row, "value": value})


def _without_nan(value: Any) -> Any:
    """JSON has no NaN: null stands for what was not measured."""
    if isinstance(value, Mapping):
        return {str(key): _without_nan(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(part) for part in value]
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
