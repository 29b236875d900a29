"""What a user can ask for: a run, its resumption, and checks without a run."""

from distanon.job.applying import Applied, apply
from distanon.job.description import Description, describe
from distanon.job.finished import Findings, audit
from distanon.job.outside import clean, rewrite_report, run_id_of, standing, validate
from distanon.job.publication import publish
from distanon.job.run import RunResult, resume, run_job

__all__ = [
    "Applied",
    "Description",
    "Findings",
    "RunResult",
    "apply",
    "audit",
    "clean",
    "describe",
    "publish",
    "resume",
    "rewrite_report",
    "run_id_of",
    "run_job",
    "standing",
    "validate",
]
