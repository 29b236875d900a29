"""The report: one self-contained page, for the owner or for the public."""

from distanon.report.page import render
from distanon.report.summary import Subject, Summary

__all__ = ["Subject", "Summary", "render"]
