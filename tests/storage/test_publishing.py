import itertools
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from distanon.data.release import Release
from distanon.data.schema import SOURCE, Attribute, AttributeType, Role, Schema
from distanon.data.table import cut
from distanon.errors import AccessError, InputError, OutputExistsError, SpecError, StorageError
from distanon.storage import abreast, leftovers, patience, remote, staging
from distanon.storage.claims import holder
from distanon.storage.leftovers import clean
from distanon.storage.liveness import read_life, write_life
from distanon.storage.publishing import Attempt, check_output
from distanon.storage.releases import open_release, read_document
from distanon.storage.store import StorageSettings, Store

SCHEMA = Schema((Attribute("x", Role.QUASI_IDENTIFIER, AttributeType.NUMERIC, pa.int64()),))

HEADER = b'{"spec": "", "input": "", "version": ""}'
NOWHERE = r"nothing can be written there|no permission to write"


def release(start: int = 0, records: int = 20) -> Release:
    table = pa.table({"x": range(start, start + records), SOURCE: range(records)})
    return Release(cut(table, 3), SCHEMA)


@pytest.fixture
def places(place, monkeypatch) -> tuple[str, str]:
    monkeypatch.setattr(staging, "PART_ROWS", 8)
    return f"{place}/out", f"{place}/private"


def publish(places, one: Release | None = None, *, overwrite: bool = False) -> None:
    with Attempt.begin(*places) as attempt:
        manifest = attempt.stage(one or release())
        attempt.read_back(SCHEMA)
        attempt.publish(manifest.as_document(), overwrite=overwrite)
        attempt.publish_report("<html>")
        attempt.cleanup()


def values(url: str) -> list[int]:
    return [
        value for part in open_release(url).partitions for value in part.read()["x"].to_pylist()
    ]


def names(url: str) -> list[str]:
    return [entry.name for entry in Store(url).list(leftovers=True)]


def crashed(places, one: Release | None = None, *, after: int = 1) -> Attempt:
    """An attempt that died after it had copied some parts: its process is gone."""
    attempt = Attempt.begin(*places)
    manifest = attempt.stage(one or release())
    number = itertools.count()
    original = Store.copy_to

    def dying(self, *arguments):
        if next(number) >= after:
            raise KeyboardInterrupt
        original(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "copy_to", dying)
        with pytest.raises(KeyboardInterrupt):
            attempt.publish(manifest.as_document(), overwrite=True)
    bury(attempt)
    return attempt


def bury(attempt: Attempt) -> None:
    """Makes an attempt look as after a SIGKILL: no good-bye, and no process."""
    attempt._heartbeat.stop()
    folder = attempt.private.child(f"staging/{attempt.nonce}")
    write_life(folder, replace(read_life(folder), born="0"))


# --- a release --------------------------------------------------------------------------------


def test_a_release_is_whole_and_private_things_are_gone(places):
    output, private = places
    publish(places)
    assert names(output) == [
        "_SUCCESS",
        "data/part-00000.parquet",
        "data/part-00001.parquet",
        "data/part-00002.parquet",
        "release.json",
        "report-public.html",
    ]
    assert values(output) == list(range(20))
    assert read_document(output)["records"] == 20
    assert names(private) == ["published.json"]


def test_success_is_written_last_and_the_claim_goes_after_it(places, monkeypatch):
    seen: list[tuple[str, str]] = []
    write, delete, copy = Store.write, Store.delete, Store.copy_to
    output = Store(places[0])

    def watched(kind, function):
        def call(self, name, *arguments, **settings):
            if self.url == output.url:
                seen.append((kind, name))
            elif kind == "copy":
                seen.append((kind, arguments[1]))
            return function(self, name, *arguments, **settings)

        return call

    monkeypatch.setattr(Store, "write", watched("write", write))
    monkeypatch.setattr(Store, "delete", watched("delete", delete))
    monkeypatch.setattr(Store, "copy_to", watched("copy", copy))
    publish(places)
    seen[2:5] = sorted(seen[2:5])  # at once, in any order
    assert seen == [
        ("write", "_CLAIM"),
        ("delete", "_SUCCESS"),
        *(("copy", f"data/part-0000{number}.parquet") for number in range(3)),
        ("write", "release.json"),
        ("write", "_SUCCESS"),
        ("delete", "_CLAIM"),
        ("write", "report-public.html"),
    ]


def test_the_staged_files_know_their_sources_until_cleanup(places):
    with Attempt.begin(*places) as attempt:
        attempt.stage(release())
        dataset, sources = attempt.read_back(SCHEMA)
        assert dataset.read()["x"].to_pylist() == sources.tolist() == list(range(20))
        attempt.publish({})
        attempt.keep_mapping()
        assert attempt.has_sources
        attempt.cleanup()
        assert not attempt.has_sources
    assert len(Store(places[1]).list("mapping")) == 3


def test_public_marks_hold_a_nonce_and_nothing_else(places):
    publish(places)
    assert list(json.loads(Store(places[0]).read("_SUCCESS"))) == ["attempt"]


def test_a_copy_that_differs_is_never_made_valid(places, monkeypatch):
    copy = Store.copy_to

    def corrupting(self, name, target, target_name):
        copy(self, name, target, target_name)
        target.write(target_name, target.read(target_name)[:-1])

    monkeypatch.setattr(Store, "copy_to", corrupting)
    with pytest.raises(StorageError, match="not what was written"):
        publish(places)
    assert "_SUCCESS" not in names(places[0])


# --- several files at once ---------------------------------------------------------------------


def part(number: int) -> str:
    return f"data/part-0000{number}.parquet"


def test_several_files_are_copied_at_once_and_are_the_same_bytes(places, place, monkeypatch):
    one_by_one = f"{place}/one-by-one"
    with monkeypatch.context() as patch:
        patch.setattr(abreast, "_AT_ONCE", 1)
        publish((one_by_one, f"{place}/private-2"))
    together, copy = threading.Barrier(3), Store.copy_to

    def meeting(self, *arguments):
        together.wait(30)  # breaks, unless three are under way
        copy(self, *arguments)

    monkeypatch.setattr(Store, "copy_to", meeting)
    publish(places)
    for number in range(3):
        assert Store(places[0]).read(part(number)) == Store(one_by_one).read(part(number))
    assert Store(places[0]).read("release.json") == Store(one_by_one).read("release.json")


def test_held_files_and_the_mapping_are_copied_at_once_too(places, monkeypatch):
    together, copy = threading.Barrier(3), Store.copy_to

    def meeting(self, name, target, target_name):
        if name.endswith(".parquet"):
            together.wait(30)
        copy(self, name, target, target_name)

    with Attempt.begin(*places) as attempt:
        manifest = attempt.stage(release())
        monkeypatch.setattr(Store, "copy_to", meeting)
        attempt.hold(manifest.as_document())  # 3 files and 3 of sources
        attempt.keep_mapping()
        monkeypatch.setattr(Store, "copy_to", copy)
        assert attempt.take_held()["records"] == 20
        assert attempt.read_back(SCHEMA)[1].tolist() == list(range(20))
        assert staging.read_mapping(attempt.private).tolist() == list(range(20))


def test_the_file_that_fails_is_named_and_no_copy_goes_on_after_it(places, monkeypatch):
    begun, failed, copy = threading.Event(), threading.Event(), Store.copy_to
    under_way: set[str] = set()

    def slow(self, name, target, target_name):
        under_way.add(name)
        if name == part(2):
            begun.set()
            failed.wait(30)
            time.sleep(0.2)
        copy(self, name, target, target_name)
        under_way.remove(name)

    def corrupted(folder, file):
        if file.path == part(1):
            begun.wait(30)
            failed.set()
            raise staging.differs(folder, file)

    monkeypatch.setattr(Store, "copy_to", slow)
    with Attempt.begin(*places) as attempt:
        manifest = attempt.stage(release(records=160))  # 20 files
        monkeypatch.setattr(staging, "check_file", corrupted)
        with pytest.raises(StorageError, match=r"part-00001\.parquet: .* not what was written"):
            attempt.publish(manifest.as_document())
        assert not under_way
        left = names(places[0])
    assert {part(0), part(1), part(2)} <= set(left)
    assert not {"_SUCCESS", "release.json", "data/part-00019.parquet"} & set(left)


@pytest.mark.parametrize("at_once", [1, 4])
def test_after_a_claim_is_lost_no_file_is_begun(places, monkeypatch, at_once):
    monkeypatch.setattr(abreast, "_AT_ONCE", at_once)
    lost, copy = threading.Event(), Store.copy_to

    def robbed(self, name, target, target_name):
        if name == part(0):
            target.write("_CLAIM", b'{"attempt": "%s"}' % (b"0" * 32))
            lost.set()
        lost.wait(30)
        copy(self, name, target, target_name)

    with Attempt.begin(*places) as attempt:
        manifest = attempt.stage(release(records=64))  # 8 files
        monkeypatch.setattr(Store, "copy_to", robbed)
        with pytest.raises(OutputExistsError, match="another run has claimed this output"):
            attempt.publish(manifest.as_document())
    assert set(names(places[0])) <= {"_CLAIM", *map(part, range(at_once))}
    assert holder(Store(places[0])) == "0" * 32


# --- outputs that are taken --------------------------------------------------------------------


def test_a_release_is_not_replaced_unless_that_is_asked(places):
    publish(places)
    with pytest.raises(OutputExistsError, match="holds a release"):
        check_output(*places)
    with pytest.raises(OutputExistsError, match="has published here meanwhile"):
        publish(places, release(100))
    assert values(places[0]) == list(range(20))
    assert "_CLAIM" not in names(places[0])


def test_overwriting_leaves_nothing_of_the_release_before(places):
    publish(places)
    check_output(*places, overwrite=True)
    publish(places, release(100, 5), overwrite=True)
    assert values(places[0]) == list(range(100, 105))
    assert [name for name in names(places[0]) if name.startswith("data/")] == [
        "data/part-00000.parquet"
    ]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", ["thesis.doc", "data/part-00000.parquet"])
def test_somebody_elses_files_are_never_touched(places, overwrite, name):
    Store(places[0]).write(name, b"precious")
    with pytest.raises(OutputExistsError, match="no release of distanon"):
        check_output(*places, overwrite=overwrite)
    assert Store(places[0]).read(name) == b"precious"


def test_a_claim_of_another_run_is_respected_dead_or_alive(places, place):
    other = crashed((places[0], f"{place}/private-2"))
    for overwrite in (False, True):
        with pytest.raises(OutputExistsError, match="another run has claimed this output"):
            check_output(*places, overwrite=overwrite)
        with pytest.raises(OutputExistsError, match="another run has claimed this output"):
            publish(places, overwrite=overwrite)
    assert holder(Store(places[0])) == other.nonce


@pytest.mark.parametrize("content", [b"", b"[]", b'{"attempt": "../../x"}'])
def test_a_claim_that_distanon_did_not_write_is_respected(places, content):
    Store(places[0]).write("_CLAIM", content)
    with pytest.raises(OutputExistsError, match="another run has claimed this output"):
        check_output(*places)
    with pytest.raises(OutputExistsError, match="another run has claimed this output"):
        publish(places)


def test_of_two_runs_that_publish_at_once_one_does(places, place):
    barrier = threading.Barrier(2)

    def run(number: int) -> bool:
        with Attempt.begin(places[0], f"{place}/private-{number}") as attempt:
            manifest = attempt.stage(release(100 * number))
            barrier.wait()
            try:
                attempt.publish(manifest.as_document())
            except OutputExistsError:
                return False
            return True

    with ThreadPoolExecutor(2) as pool:
        published = list(pool.map(run, range(2)))
    assert sorted(published) == [False, True]
    start = 100 * published.index(True)
    assert values(places[0]) == list(range(start, start + 20))
    assert "_CLAIM" not in names(places[0])


def test_places_inside_one_another_are_refused(place):
    with pytest.raises(SpecError, match="private lies inside output"):
        check_output(place, f"{place}/private")
    with pytest.raises(SpecError, match="output lies inside private"):
        Attempt.begin(f"{place}/out", place)


# --- crashes ----------------------------------------------------------------------------------


def test_after_a_crash_the_same_run_publishes(places):
    crashed(places, release(100, 30), after=3)
    assert "_SUCCESS" not in names(places[0])
    with pytest.raises(InputError, match="no finished release"):
        open_release(places[0])
    check_output(*places)
    assert Attempt.resume(*places) is None
    publish(places)
    assert values(places[0]) == list(range(20))
    assert names(places[1]) == ["published.json"]


def test_a_second_process_of_a_live_run_is_refused_and_takes_nothing(places):
    first = Attempt.begin(*places)
    first.stage(release())
    with pytest.raises(OutputExistsError, match="under way"):
        Attempt.begin(*places)
    first.publish({})
    first.cleanup()
    assert values(places[0]) == list(range(20))


def test_of_attempts_that_begin_at_the_same_moment_at_most_one_goes_on(places):
    together, looks = threading.Barrier(2), threading.local()
    look = leftovers.attempts

    def looked(private):
        found = look(private)
        looks.count = getattr(looks, "count", 0) + 1
        if looks.count == 2:  # the first look of each removes what is dead
            together.wait(30)
        return found

    def begun(_):
        try:
            return Attempt.begin(*places)
        except OutputExistsError:
            return None

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as pool:
        patch.setattr(leftovers, "attempts", looked)
        left = [one for one in pool.map(begun, range(2)) if one]
    assert len(left) <= 1
    assert look(Store(places[1])) == [one.nonce for one in left]
    for one in left:
        one.cleanup()
    publish(places)


def test_a_published_run_that_is_still_being_measured_is_not_resumed(places):
    with Attempt.begin(*places) as first:
        first.stage(release())
        first.publish({})
        with pytest.raises(OutputExistsError, match="under way"):
            Attempt.resume(*places)
        assert first.read_back(SCHEMA)[1].tolist() == list(range(20))
    unused = Attempt.resume(*places)
    with Attempt.resume(*places) as again:  # only who enters is alive
        assert unused.nonce == again.nonce
        with pytest.raises(OutputExistsError, match="under way"):
            Attempt.resume(*places)
        again.cleanup()


def test_what_was_published_before_a_crash_is_found_and_finished(places, monkeypatch):
    attempt = Attempt.begin(*places)
    attempt.stage(release())
    delete = Store.delete

    def dying(self, name):
        if name == "_CLAIM":
            raise KeyboardInterrupt
        delete(self, name)

    monkeypatch.setattr(Store, "delete", dying)
    with pytest.raises(KeyboardInterrupt):
        attempt.publish({})
    monkeypatch.setattr(Store, "delete", delete)
    bury(attempt)
    with Attempt.resume(*places) as again:
        assert "_CLAIM" not in names(places[0])
        assert again.has_sources
        assert again.read_back(SCHEMA)[1].tolist() == list(range(20))
        again.cleanup()
    assert Attempt.resume(*places).has_sources is False


def test_a_run_of_another_private_prefix_has_nothing_to_finish(places, place):
    publish(places)
    assert Attempt.resume(places[0], f"{place}/private-2") is None


def test_clean_removes_dead_attempts_their_claim_and_their_partial_release(places):
    dead = crashed(places)
    Store(places[1]).write("checkpoint/HEADER.json", HEADER)
    Store(places[1]).write("run.json", b'{"run_id": "a-1"}')
    removed = {one.place.removeprefix(Store(places[0]).url) for one in clean(places[1])}
    assert "/_CLAIM" in removed
    assert any(place.endswith(f"staging/{dead.nonce}") for place in removed)
    assert any(place.endswith("checkpoint") for place in removed)
    assert names(places[0]) == []
    assert names(places[1]) == ["run.json"]
    assert clean(places[1]) == []


def test_clean_leaves_a_live_run_alone(places):
    with Attempt.begin(*places) as attempt:
        attempt.stage(release())
        Store(places[1]).write("checkpoint/HEADER.json", HEADER)
        before = names(places[1])
        assert clean(places[1]) == []
        assert names(places[1]) == before
        attempt.publish({})


def test_clean_goes_through_a_folder_of_runs(places, place):
    for number in range(2):
        bury(Attempt.begin(f"{place}/out-{number}", f"{places[1]}/run-{number}"))
    assert len(clean(places[1])) == 2
    assert names(places[1]) == []


def test_a_finished_release_survives_clean(places):
    with Attempt.begin(*places) as attempt:
        attempt.stage(release())
        attempt.publish({})
    clean(places[1])
    assert values(places[0]) == list(range(20))


_VICTIM = """
import os, sys, time
sys.path.insert(0, sys.argv[3])
import test_publishing as tests
from distanon.storage.publishing import Attempt
from distanon.storage.store import Store
attempt = Attempt.begin(sys.argv[1], sys.argv[2])
manifest = attempt.stage(tests.release())
copy = Store.copy_to
def slow(self, *arguments):
    copy(self, *arguments)
    os.write(1, b"copied\\n")
    time.sleep(60)
Store.copy_to = slow
attempt.publish(manifest.as_document())
"""


def test_a_killed_process_is_dead_at_once_to_the_same_machine(tmp_path):
    places = (str(tmp_path / "out"), str(tmp_path / "private"))
    arguments = [sys.executable, "-c", _VICTIM, *places, str(Path(__file__).parent)]
    victim = subprocess.Popen(arguments, stdout=subprocess.PIPE)
    assert victim.stdout.readline() == b"copied\n"
    with pytest.raises(OutputExistsError):
        publish(places)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    publish(places)
    assert values(places[0]) == list(range(20))


# --- access -----------------------------------------------------------------------------------


def test_local_private_things_are_their_owners_alone(tmp_path):
    with Attempt.begin(str(tmp_path / "out"), str(tmp_path / "private/run")) as attempt:
        attempt.stage(release())
        attempt.publish({})
        files = [file for file in (tmp_path / "private").rglob("*") if file.is_file()]
        assert files
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert stat.S_IMODE((tmp_path / "private/run").stat().st_mode) == 0o700


def test_looking_at_a_local_output_touches_nothing(tmp_path):
    check_output(str(tmp_path / "a/out"), str(tmp_path / "b/private"))
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_a_folder_is_needed_is_refused(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(AccessError, match="is a file; a folder was expected"):
        check_output(str(tmp_path / "a/out"), str(tmp_path / "private"))


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no /proc here")
@pytest.mark.parametrize("place", ["/proc/out", "/proc/self/out/release"])
def test_where_nothing_can_be_written_it_is_said_before_the_work(place, tmp_path):
    with pytest.raises(AccessError, match=NOWHERE):
        check_output(place, str(tmp_path / "private"))
    with pytest.raises(AccessError, match=NOWHERE):
        check_output(str(tmp_path / "out"), place)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.s3
def test_who_may_not_write_learns_it_before_the_work(s3_environment, bucket, monkeypatch, tmp_path):
    for name, value in s3_environment.environment(s3_environment.reader).items():
        monkeypatch.setenv(name, value)
    output = f"s3://{bucket}/reader/out"
    with pytest.raises(AccessError, match="no permission to write"):
        check_output(output, str(tmp_path / "private"))


@pytest.mark.s3
def test_a_probe_leaves_nothing(s3_environment, bucket, tmp_path):
    output = f"s3://{bucket}/probed/out"
    check_output(output, str(tmp_path / "private"))
    assert names(output) == []


@pytest.mark.s3
def test_private_may_be_local_and_the_output_remote(s3_environment, bucket, tmp_path):
    places = (f"s3://{bucket}/mixed/out", str(tmp_path / "private"))
    publish(places)
    assert values(places[0]) == list(range(20))


@pytest.mark.s3
def test_a_server_that_dies_while_publishing_costs_nothing_but_time(s3, monkeypatch):
    monkeypatch.setattr(remote, "ATTEMPTS", 2)
    monkeypatch.setattr(patience, "PATIENCE_S", 0)
    monkeypatch.setattr(patience, "EAGER_S", 0)
    with type(s3)() as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        bucket = server.bucket()
        places = (f"s3://{bucket}/out", f"s3://{bucket}/private")
        attempt = Attempt.begin(*places)
        manifest = attempt.stage(release())
        copy, one = Store.copy_to, threading.Lock()

        def dying(self, *arguments):
            copy(self, *arguments)
            with one:
                server.kill()

        with monkeypatch.context() as patch:
            patch.setattr(Store, "copy_to", dying)
            with pytest.raises(StorageError, match=r"could not be reached.*distanon resume"):
                attempt.publish(manifest.as_document())
        attempt._heartbeat.stop()
        server.start()
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", server.endpoint)
        with pytest.raises(InputError, match="no finished release"):
            open_release(places[0])
        bury(attempt)
        publish(places)
        assert values(places[0]) == list(range(20))


# --- releases read again -----------------------------------------------------------------------


def test_files_that_distanon_did_not_make_are_read_as_they_are(place):
    Store(place).write("a.csv", b"x\n1\n2\n")
    assert values(place) == [1, 2]
    assert values(f"{place}/a.csv") == [1, 2]
    assert read_document(place) is None


@pytest.mark.parametrize("content", [b"{", b"[1]"])
def test_a_release_document_that_is_none_is_refused(tmp_path, content):
    Store(str(tmp_path)).write("release.json", content)
    with pytest.raises(InputError, match=r"release\.json: (not JSON|expected a JSON object)"):
        read_document(str(tmp_path))
    with pytest.raises(InputError, match="no finished release"):
        open_release(str(tmp_path))


def test_settings_reach_every_store(tmp_path):
    settings = StorageSettings(endpoint_url="http://127.0.0.1:1")
    attempt = Attempt.begin(str(tmp_path / "out"), str(tmp_path / "private"), settings)
    assert attempt.output.settings == attempt.private.settings == settings
    attempt.cleanup()


def test_the_private_prefix_is_closed_and_the_folders_above_are_the_users(tmp_path):
    private = tmp_path / "above" / "private"
    before = os.umask(0o022)
    try:
        publish((str(tmp_path / "out"), str(private)))
    finally:
        os.umask(before)
    assert private.stat().st_mode & 0o777 == 0o700
    assert private.parent.stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o755
