"""The command line: `distanon run jobs/forest-fires.yaml`."""

from distanon.cli.commands import app, main

__all__ = ["app", "main"]
