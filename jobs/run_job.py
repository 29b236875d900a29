"""Entry point for a cluster: `python jobs/run_job.py SPEC …` is `distanon run SPEC …`."""

from __future__ import annotations

import sys

from distanon.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "run")
    main()
