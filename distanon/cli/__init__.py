"""The command line: `distanon run jobs/forest-fires.yaml`."""

from distanon.runtime.pinning import pin

pin()  # before numpy: the driver must round as the workers do

from distanon.cli.commands import app, main  # noqa: E402  pinned first

__all__ = ["app", "main"]
