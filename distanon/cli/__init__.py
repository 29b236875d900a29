"""The command line: `distanon run jobs/forest-fires.yaml`."""

import time

STARTED = time.monotonic()
"""When the command began; what it loads from here on counts."""

from distanon.runtime.pinning import pin  # noqa: E402  the clock first

pin()  # before numpy: the driver must round as the workers do

from distanon.cli import (  # noqa: E402  pinned first; they add their commands
    applying,
    auditing,
    cluster,
    commands,
    describing,
    holding,
)
from distanon.cli.program import app, main  # noqa: E402

__all__ = ["app", "applying", "auditing", "cluster", "commands", "describing", "holding", "main"]
