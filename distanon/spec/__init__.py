"""The job spec: what a user writes, read and checked."""

from distanon.spec.job_spec import JobSpec
from distanon.spec.json_schema import json_schema
from distanon.spec.reading import load, parse, parse_promises
from distanon.spec.table_input import Column, TableInput

__all__ = ["Column", "JobSpec", "TableInput", "json_schema", "load", "parse", "parse_promises"]
