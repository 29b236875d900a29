import os
import subprocess
import sys
import time
from dataclasses import replace

from distanon.storage import liveness
from distanon.storage.liveness import SILENCE_S, Heartbeat, Life, read_life
from distanon.storage.store import Store


def test_a_process_that_is_there_is_live_and_one_that_ended_is_not():
    life = Life.of_this_process("out")
    assert life.is_live
    assert not replace(life, ended=True).is_live
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert not replace(life, pid=child.pid).is_live


def test_a_process_number_that_was_used_again_is_another_process():
    assert not replace(Life.of_this_process("out"), born="1").is_live
    # The first process of the machine began long before this one.
    assert not replace(Life.of_this_process("out"), pid=1).is_live


def test_a_process_that_was_killed_and_not_buried_is_not_live():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    life = replace(Life.of_this_process("out"), pid=child.pid, born=liveness._born(child.pid))
    assert life.is_live
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not life.is_live
    child.communicate()


def test_elsewhere_the_heartbeat_counts():
    there = replace(Life.of_this_process("out"), machine="elsewhere")
    assert there.is_live
    assert not replace(there, beat=time.time() - SILENCE_S - 1).is_live


def test_a_heartbeat_writes_signs_of_life_until_it_says_good_bye(tmp_path, monkeypatch):
    monkeypatch.setattr(liveness, "BEAT_S", 0.01)
    folder = Store(str(tmp_path))
    heartbeat = Heartbeat(folder, Life.of_this_process("out"))
    heartbeat.start()
    first = read_life(folder)
    end = time.monotonic() + 5
    while read_life(folder).beat == first.beat and time.monotonic() < end:
        time.sleep(0.01)
    assert read_life(folder).beat > first.beat
    heartbeat.end()
    assert read_life(folder).ended
    assert read_life(Store(str(tmp_path / "none"))) is None
