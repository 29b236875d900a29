"""Many runs: the cases of a sweep, their submission to a cluster, their figures in one table."""

from distanon.sweep.cases import Case, cases
from distanon.sweep.collection import Collection, collect
from distanon.sweep.submission import Order, Submission, resume_on, submit

__all__ = ["Case", "Collection", "Order", "Submission", "cases", "collect", "resume_on", "submit"]
