"""Whatever ends the process of a run, the one that the user has started says so."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from distanon.cli import guarded

pytestmark = pytest.mark.skipif(not guarded.is_possible(), reason="only Linux ends such children")

SCRIPT = """
import atexit, os, signal, sys, time
from distanon.cli.guarded import in_child
def work():
    print(os.getpid(), flush=True)
    {}
sys.exit(in_child(work))
"""


def started(body):
    """A process whose child does something; and the child's number."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(body.replace("\n", "\n    "))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,  # with a parent outside of it, as from a shell: it can be stopped
    )
    return process, int(process.stdout.readline())


def ended(body, *signals):
    """Exit code and words of such a process, once it was sent signals."""
    process, _ = started(body)
    for number in signals:
        process.send_signal(number)
    _, said = process.communicate(timeout=60)
    return process.returncode, said


@pytest.mark.parametrize(
    ("body", "code"),
    [("pass", 0), ("sys.exit(3)", 3), ("sys.exit()", 0), ("sys.exit('why')", 1), ("1 / 0", 1)],
)
def test_an_end_in_order_keeps_its_exit_code(body, code):
    found, said = ended(body)
    assert found == code
    assert "distanon resume" not in said


def test_an_end_without_a_word_is_the_clusters_fault_and_can_be_resumed():
    code, said = ended("os._exit(1)")
    assert code == 4
    assert "Ray has ended the run" in said
    assert "distanon resume" in said


def test_an_end_without_a_word_after_the_last_one_changes_nothing():
    assert ended("atexit.register(os._exit, 1); sys.exit(3)") == (3, "")


def test_a_killed_child_is_told_of_and_its_signal_kept():
    code, said = ended("os.kill(os.getpid(), signal.SIGKILL)")
    assert code == -signal.SIGKILL
    assert "ended by SIGKILL" in said
    assert "distanon resume" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_the_work_once(number):
    body = """
caught = []
signal.signal(signal.SIGINT, lambda *_: caught.append(1))
signal.signal(signal.SIGTERM, lambda *_: caught.append(1))
print(flush=True)
while not caught:
    time.sleep(0.02)
time.sleep(0.5)
sys.exit(10 + len(caught))"""
    process, _ = started(body)
    process.stdout.readline()
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 11


def test_nothing_is_left_of_a_run_whose_first_process_was_killed():
    process, child = started("time.sleep(300)")
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 30
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{child}").exists()


def test_a_stopped_run_stops_and_goes_on_with_its_child():
    process, child = started("time.sleep(1); sys.exit(3)")
    process.send_signal(signal.SIGTSTP)

    def states():
        numbers = (process.pid, child)
        return [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[0]
                for one in numbers]  # fmt: skip

    deadline = time.monotonic() + 30
    while states() != ["T", "T"] and time.monotonic() < deadline:
        time.sleep(0.02)
    assert states() == ["T", "T"]
    os.kill(process.pid, signal.SIGCONT)
    process.communicate(timeout=60)
    assert process.returncode == 3


@pytest.mark.parametrize("closed", [1, 2])
def test_a_closed_stream_changes_no_exit_code(closed):
    script = SCRIPT.format("sys.exit(3)").replace("print(os.getpid(), flush=True)", "pass")
    command = f"exec {sys.executable} -c '{script}' {closed}>&-"
    done = subprocess.run(["/bin/sh", "-c", command], check=False, capture_output=True, timeout=60)
    assert done.returncode == 3


def test_nobody_else_who_holds_the_pipe_is_waited_for():
    begun = time.monotonic()
    code, _ = ended("if not os.fork():\n    os.close(1); os.close(2); time.sleep(20)\nos._exit(1)")
    assert code == 4
    assert time.monotonic() - begun < 15


def on_a_terminal(body, keys):
    """How a session leader on a terminal ends that runs a body and gets some keys."""
    main, side = pty.openpty()
    script = "import os; os.setsid(); os.close(os.open(os.ttyname(0), os.O_RDWR))\n"
    script += SCRIPT.format(body.replace("\n", "\n    "))
    process = subprocess.Popen([sys.executable, "-c", script], stdin=side, stdout=side, stderr=side)
    os.close(side)
    try:
        os.read(main, 4096)  # the child's number
        for key in keys:
            time.sleep(0.5)
            os.write(main, key)
        return process.wait(timeout=60)
    finally:
        process.kill()
        os.close(main)


def test_where_no_shell_would_let_it_go_on_a_run_does_not_stop():
    body = "signal.signal(signal.SIGINT, lambda *_: os._exit(7))\ntime.sleep(50)"
    assert on_a_terminal(body, [b"\x1a", b"\x03"]) == 4  # Ctrl-Z, then Ctrl-C: as Ray would end it


def test_who_reads_the_terminal_is_refused_and_does_not_hang():
    body = "try: os.read(0, 1)\nexcept OSError: sys.exit(9)"
    assert on_a_terminal(body, [b"y\n"]) == 9


def test_a_terminal_that_stops_what_runs_behind_it_shows_the_run():
    main, side = pty.openpty()
    script = "import os; os.setsid(); os.close(os.open(os.ttyname(0), os.O_RDWR))\n"  # its own
    script += "os.system('stty tostop')\n" + SCRIPT.format("print('still here', flush=True)")
    process = subprocess.Popen([sys.executable, "-c", script], stdin=side, stdout=side, stderr=side)
    os.close(side)
    try:
        assert process.wait(timeout=60) == 0
        assert b"still here" in os.read(main, 4096)
    finally:
        process.kill()
        os.close(main)
