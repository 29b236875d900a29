"""Ctrl-C in the middle of a real run."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

SMOKE = Path(__file__).parents[2] / "jobs" / "smoke" / "dptpe.yaml"


@pytest.mark.ray
def test_an_interrupted_run_publishes_nothing_and_can_be_resumed(tmp_path):
    settings = [f"output={tmp_path}/out/", f"private={tmp_path}/private/", "compare=[]"]
    options = [part for setting in settings for part in ("--set", setting)]
    command = [sys.executable, "-m", "distanon"]
    run = subprocess.Popen([*command, "run", SMOKE, *options], stderr=subprocess.PIPE, text=True)
    seen = next(line for line in run.stderr if line.startswith("neighborhoods"))
    run.send_signal(signal.SIGINT)
    said = run.stderr.read()
    assert run.wait(timeout=120) == 130, seen + said
    assert "distanon resume" in said
    assert "Traceback" not in said
    assert not (tmp_path / "out" / "_SUCCESS").exists()
    again = subprocess.run(
        [*command, "resume", f"{tmp_path}/private/", "--quiet"],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "out" / "_SUCCESS").exists()
    assert f"{tmp_path}/out" in again.stdout
