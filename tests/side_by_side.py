"""Runs the tests that wait for servers beside those that compute: what `make test` does.

    python tests/side_by_side.py [ARGUMENTS OF PYTEST …]

The second part is shown when both have ended; the exit code is that of the first that failed.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile

SERVED = "ray or s3 or browser"


def main() -> int:
    """Both parts, each in a process of its own."""
    # A shell that starts this in the background has it ignore Ctrl-C, which tests send to runs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    pytest = [sys.executable, "-m", "pytest", *sys.argv[1:], "-m"]
    with tempfile.TemporaryFile("w+") as log:
        rest = subprocess.Popen([*pytest, f"not slow and not ({SERVED})"], stdout=log, stderr=log)
        served = subprocess.run([*pytest, f"not slow and ({SERVED})"], check=False).returncode
        computing = rest.wait()
        log.seek(0)
        sys.stdout.write(log.read())
    return served or computing


if __name__ == "__main__":
    sys.exit(main())
