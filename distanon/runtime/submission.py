"""Ray's Jobs API: runs that a cluster carries out while nobody is connected to it.

A run is found again by its id: its first submission has that id, one that resumes it the id with
a number (`RUN.2`), and each holds the private prefix as its one piece of metadata.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from distanon.errors import ClusterError, ResumeError
from distanon.runtime.feasibility import ANSWER_S, answer_of
from distanon.runtime.limits import is_scaled
from distanon.runtime.progress import LOG
from distanon.runtime.session import JOB_VARIABLE

if TYPE_CHECKING:
    from ray.job_submission import JobDetails

Status = Literal["pending", "running", "stopped", "succeeded", "failed"]

PRIVATE = "private"
"""The one key of a submission's metadata."""

_POLL_S = 1.0
_PATIENCE_S = 60.0
"""How long a head that has answered before may keep silent, where nothing is begun by asking."""
_LONGEST_ANSWER_S = ANSWER_S + 60  # with the start of the job that asks
_STOP_S = "60"  # Ray kills a stopped job's driver after 3 s, which is too short to say good-bye
_UNDER_WAY = ("pending", "running")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class SubmittedRun:
    """What the cluster knows of a run.

    Attributes:
        run_id: its id.
        submission_id: of its latest submission.
        private: its private prefix.
        status: of the latest submission.
        exit_code: of the process, where it has ended and the cluster knows it.
        message: Ray's own words on the status.
    """

    run_id: str
    submission_id: str
    private: str
    status: Status
    exit_code: int | None
    message: str

    @property
    def is_under_way(self) -> bool:
        """Whether it has still to end."""
        return self.status in _UNDER_WAY


class JobServer:
    """The Jobs API of one cluster.

    Args:
        address: http://HEAD:8265; within a submitted job HOST:PORT of the cluster will do.

    Raises:
        ClusterError: nothing answers there, or not without a token.
    """

    def __init__(self, address: str) -> None:
        from ray.job_submission import JobSubmissionClient

        self.address = address
        logging.getLogger("ray.dashboard").setLevel(logging.ERROR)
        self._client = self._asked(lambda: JobSubmissionClient(address))

    def nodes(self) -> list[dict[str, float]]:
        """The resources of each node that is alive."""
        return [dict(node["resources_total"]) for node in self._get("/api/v0/nodes?detail=1")]

    def grows(self) -> bool:
        """Whether an autoscaler may bring more nodes."""
        # Ray reports an autoscaler's status for every cluster, also for one that nobody scales.
        nodes = self._get("/api/v0/nodes?detail=1")
        return is_scaled([{"Labels": node.get("labels")} for node in nodes])

    def holds(self, cpus: float, memory: float | None, modules: Sequence[str] = ()) -> bool | None:
        """Whether the autoscaler would bring a node for a worker: a small job asks it.

        Args:
            cpus: of the worker.
            memory: bytes that it asks for; None: it asks for none.
            modules: wheels to bring along, for development.

        Returns:
            None where the autoscaler did not say.

        Raises:
            ClusterError: the cluster does not take the job.
        """
        size = json.dumps({"cpus": cpus, "memory": memory})
        environment = {"py_modules": list(modules)} if modules else {}
        asking = f"feasibility-{secrets.token_hex(6)}"  # without metadata: no run of ours
        self._asked(
            lambda: self._client.submit_job(
                entrypoint=shlex.join(["python", "-m", "distanon.runtime.feasibility", size]),
                submission_id=asking,
                runtime_env=environment,
            )
        )
        deadline = time.monotonic() + _LONGEST_ANSWER_S
        while not self._asked(lambda: self._client.get_job_status(asking)).is_terminal():
            if time.monotonic() > deadline:
                self._asked(lambda: self._client.stop_job(asking))
                return None
            time.sleep(_POLL_S)
        found = answer_of(str(self._asked(lambda: self._client.get_job_logs(asking))))
        self._asked(lambda: self._client.delete_job(asking))
        return found

    def find(self, run_id: str) -> SubmittedRun | None:
        """The latest submission of a run; None where the cluster has never heard of it."""
        found = [one for one in self._all() if one.run_id == run_id]
        return max(found, key=lambda one: _attempt(one.submission_id), default=None)

    def start(
        self,
        run_id: str,
        arguments: Sequence[str],
        private: str,
        *,
        modules: Sequence[str] = (),
    ) -> SubmittedRun:
        """Starts `python -m distanon ARGUMENTS` on the head; without CPUs of its own.

        Args:
            run_id: of the run, never begun here before or at its end.
            arguments: of the command.
            private: the private prefix.
            modules: wheels to bring along, for development.

        Raises:
            ClusterError: the cluster does not take it.
        """
        known = self.find(run_id)
        number = 1 if known is None else _attempt(known.submission_id) + 1
        submission = run_id if number == 1 else f"{run_id}.{number}"
        variables = {"RAY_JOB_STOP_WAIT_TIME_S": _STOP_S}
        if LOG in os.environ:
            variables[LOG] = os.environ[LOG]
        environment: dict[str, Any] = {"env_vars": variables}
        if modules:
            environment["py_modules"] = list(modules)
        self._asked(
            lambda: self._client.submit_job(
                entrypoint=shlex.join(["python", "-m", "distanon", *arguments]),
                submission_id=submission,
                runtime_env=environment,
                metadata={PRIVATE: private},
            )
        )
        return SubmittedRun(run_id, submission, private, "pending", None, "")

    def stop(self, run_id: str) -> SubmittedRun:
        """Asks a run to end; it can be resumed.

        Raises:
            ResumeError: there is no such run.
        """
        found = self.require(run_id)
        if found.is_under_way:
            self._asked(lambda: self._client.stop_job(found.submission_id))
        return self.require(run_id)

    def require(self, run_id: str) -> SubmittedRun:
        """As `find`.

        Raises:
            ResumeError: the cluster has never heard of it.
        """
        found = self.find(run_id)
        if found is None:
            raise ResumeError(f"no run {run_id!r} was submitted to {self.address}")
        return found

    def wait(self, run_id: str) -> SubmittedRun:
        """The run at its end."""
        while (found := self.require(run_id)).is_under_way:
            time.sleep(_POLL_S)
        return found

    def log(self, run_id: str) -> str:
        """What the latest submission has printed so far."""
        found = self.require(run_id)
        return str(self._asked(lambda: self._client.get_job_logs(found.submission_id), _PATIENCE_S))

    def follow(self, run_id: str) -> Iterator[str]:
        """What the latest submission prints, until it ends."""
        found = self.require(run_id)
        chunks = self._client.tail_job_logs(found.submission_id)
        loop = asyncio.new_event_loop()
        try:
            while True:
                try:
                    yield loop.run_until_complete(anext(chunks))
                except StopAsyncIteration:
                    return
                except RuntimeError as error:
                    raise ClusterError(f"the log of {run_id} broke off ({error})") from None
        finally:
            loop.close()

    def _all(self) -> list[SubmittedRun]:
        jobs = self._asked(self._client.list_jobs, _PATIENCE_S)
        return [run for job in jobs if (run := _run_of(job)) is not None]

    def _get(self, path: str) -> list[dict[str, Any]]:
        answer = self._asked(lambda: self._client._do_request("GET", path))  # noqa: SLF001 - no public call
        return list(answer.json()["data"]["result"]["result"])

    def _asked(self, call: Callable[[], _R], patience_s: float = 0.0) -> _R:
        """An answer of the server, its failures in words of ours.

        Args:
            call: the question.
            patience_s: seconds from the first failure in which it is asked again: a head whose
                CPUs are taken by runs may not answer for a while.

        Raises:
            ClusterError: it did not answer, or refused.
        """
        from ray.exceptions import AuthenticationError

        deadline = time.monotonic() + patience_s
        while True:
            try:
                return call()
            except AuthenticationError:
                raise ClusterError(
                    f"{self.address} asks for a token: set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN "
                    "or RAY_AUTH_TOKEN_PATH to the cluster's"
                ) from None
            except (OSError, RuntimeError) as error:  # requests' errors are OSErrors
                if time.monotonic() >= deadline:
                    raise self._failure(error) from None
            time.sleep(_POLL_S)

    def _failure(self, error: Exception) -> ClusterError:
        if isinstance(error, OSError):
            return ClusterError(
                f"no job server answers at {self.address} ({type(error).__name__}); expected "
                "http://HEAD:8265 of a running cluster"
            )
        first = str(error).strip().split("\n", 1)[0][:200]
        return ClusterError(f"{self.address} refused: {first}")


def inside_a_job() -> str | None:
    """The address of the cluster that this process was submitted to; None: it was not."""
    if JOB_VARIABLE not in os.environ:
        return None
    return os.environ.get("RAY_ADDRESS")


def _run_of(job: JobDetails) -> SubmittedRun | None:
    """A submission of ours; None: somebody else's job."""
    metadata = job.metadata or {}
    if job.submission_id is None or PRIVATE not in metadata:
        return None
    run_id = job.submission_id
    head, dot, number = run_id.rpartition(".")
    if dot and number.isdigit():
        run_id = head
    status: Any = str(job.status.value).lower()
    return SubmittedRun(
        run_id,
        job.submission_id,
        metadata[PRIVATE],
        status,
        job.driver_exit_code,
        (job.message or "").split("\n", 1)[0],
    )


def _attempt(submission_id: str) -> int:
    with contextlib.suppress(ValueError):
        return int(submission_id.rpartition(".")[2])
    return 1
