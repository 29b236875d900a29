import asyncio
import errno
import os
import pickle
import resource
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import ValidationError

from distanon.errors import AccessError, StorageError
from distanon.storage import patience, remote
from distanon.storage.abreast import abreast
from distanon.storage.store import StorageSettings, Store

# --- the same on a disk and in object storage --------------------------------------------------


def test_what_is_written_is_read(place):
    store = Store(place)
    assert store.write("a/b.txt", b"first")
    store.write("a/b.txt", b"second")
    assert store.read("a/b.txt") == b"second"
    assert store.child("a").read("b.txt") == b"second"
    assert Store(store.place("a/b.txt")).read() == b"second"


def test_an_exclusive_create_succeeds_once(place):
    store = Store(place)
    assert store.write("mark", b"nonce 1", create=True)
    assert not store.write("mark", b"nonce 2", create=True)
    assert store.read("mark") == b"nonce 1"


def test_an_exclusive_create_that_meets_its_own_content_has_succeeded(place):
    store = Store(place)
    store.write("mark", b"nonce 1", create=True)
    assert store.write("mark", b"nonce 1", create=True)


def test_of_many_that_create_at_once_exactly_one_succeeds(place):
    store = Store(place)
    barrier = threading.Barrier(8)

    def attempt(number: int) -> bool:
        barrier.wait()
        return store.write("mark", b"nonce %d" % number, create=True)

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(attempt, range(8)))
    assert won.count(True) == 1
    assert store.read("mark") == b"nonce %d" % won.index(True)


def test_files_are_found_and_listed_by_name(place):
    store = Store(place)
    for name in ("b", "a/2", "a/1", "ab"):
        store.write(name, b"12345")
    assert [entry.name for entry in store.list()] == ["a/1", "a/2", "ab", "b"]
    assert [(entry.name, entry.size) for entry in store.list("a")] == [("a/1", 5), ("a/2", 5)]
    assert store.exists("b")
    assert not store.exists("a")
    assert not store.exists("c")
    assert store.find("a").is_folder
    assert store.find("c") is None
    assert store.list("none") == []


def test_another_content_has_another_tag(place):
    store = Store(place)
    store.write("a", b"12345")
    before = store.find("a").tag
    store.write("a", b"54321")
    assert store.find("a").tag != before


def test_deleting_takes_what_is_named_and_nothing_else(place):
    store = Store(place)
    for name in ("a/1", "a/2", "ab"):
        store.write(name, b"1")
    assert store.delete_all("a") == 2
    store.delete("never there")
    assert [entry.name for entry in store.list()] == ["ab"]


def test_a_copy_has_the_same_bytes(place):
    store = Store(place)
    written = store.write_with("from", lambda out: out.write(bytes(range(256)) * 1000))
    store.copy_to("from", store.child("other"), "to")
    assert store.digest("other/to") == written
    assert written.size == 256_000


def test_a_failure_while_content_is_made_leaves_nothing(place):
    store = Store(place)

    def fail(stream):
        stream.write(b"half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.write_with("a", fail)
    assert store.list(leftovers=True) == []


def test_a_store_pickles_and_works_in_another_process(place):
    store = Store(place)
    store.write("a", b"1")
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).read('a'))"
    python = [sys.executable, "-c", code]
    out = subprocess.run(python, input=pickle.dumps(store), capture_output=True, check=True)
    assert out.stdout == b"b'1'\n"


def test_reading_part_of_a_file(place):
    store = Store(place)
    store.write("a", b"0123456789")
    with store.open("a") as stream:
        stream.seek(4)
        assert stream.read(3) == b"456"


def test_a_missing_file_is_named(place):
    with pytest.raises(AccessError, match=r"none\.txt: there is nothing to read"):
        Store(place).read("none.txt")


def test_a_fault_while_running_says_how_to_go_on(place):
    with pytest.raises(StorageError, match=r"none\.txt: .*distanon resume"):
        Store(place).while_running().read("none.txt")


# --- a disk ------------------------------------------------------------------------------------


def test_private_folders_and_files_are_their_owners_alone(tmp_path):
    Store(str(tmp_path / "a/b"), private=True).write("c/d", b"1")
    modes = [stat.S_IMODE((tmp_path / part).stat().st_mode) for part in ("a", "a/b", "a/b/c")]
    assert modes == [0o700] * 3
    assert stat.S_IMODE((tmp_path / "a/b/c/d").stat().st_mode) == 0o600


def test_a_copy_out_of_a_private_folder_is_not_private(tmp_path):
    mask = os.umask(0o022)
    try:
        private = Store(str(tmp_path / "private"), private=True)
        private.write("a", b"1")
        private.copy_to("a", Store(str(tmp_path / "public")), "a")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "public/a").stat().st_mode) == 0o644


def test_what_a_crash_left_is_hidden_and_deleted_with_the_rest(tmp_path):
    store = Store(str(tmp_path))
    store.write("a", b"1")
    (tmp_path / ".a.0123456789abcdef.tmp").write_bytes(b"half")
    assert [entry.name for entry in store.list()] == ["a"]
    assert store.delete_all() == 2


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_local_paths_have_two_spellings(tmp_path, scheme):
    Store(f"{scheme}{tmp_path}").write("a", b"1")
    assert (tmp_path / "a").read_bytes() == b"1"


def test_a_relative_path_stays_where_it_was_when_the_store_was_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store("here")
    monkeypatch.chdir("/")
    store.write("a", b"1")
    assert (tmp_path / "here/a").exists()


def test_a_file_that_exceeds_its_limit_is_a_storage_error(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(StorageError, match="no room left"):
            Store(str(tmp_path)).write("a", bytes(2000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_a_storage_error(tmp_path):
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        store = Store(str(tmp_path))
        store.write("small", bytes(1000))
        with pytest.raises(StorageError, match=r"no room left to write it.*distanon resume"):
            store.write("large", bytes(1 << 20))
        assert [entry.name for entry in store.list(leftovers=True)] == ["small"]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_other_kinds_of_places_work_through_fsspec():
    store = Store("memory://somewhere/x")
    assert store.write("a/b", b"1", create=True)
    assert not store.write("a/b", b"2", create=True)
    assert [entry.name for entry in store.list()] == ["a/b"]
    assert store.read("a/b") == b"1"
    assert store.delete_all() == 1


def test_an_unknown_kind_of_place_is_refused():
    with pytest.raises(AccessError, match="not a kind of place that is known"):
        Store("nowhere://a/b").read("c")


@pytest.mark.parametrize("url", ["", "s3://", "s3:///x"])
def test_a_url_that_names_no_place_is_refused(url):
    with pytest.raises(AccessError, match="names no place"):
        Store(url)


def test_what_a_reader_of_an_open_file_raises_is_its_own(place):
    store = Store(place)
    store.write("a", b"1")
    with pytest.raises(ValueError, match="mine"), store.open("a"):
        raise ValueError("mine")
    with pytest.raises(ZeroDivisionError):
        store.write_with("b", lambda _: 1 // 0)


@pytest.mark.s3
def test_no_room_to_make_an_upload_names_the_disk(s3_environment, bucket, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(StorageError, match=f"{tmp_path}.*: no room left to make"):
            Store(f"s3://{bucket}/x").write_with("a", lambda out: out.write(bytes(2000)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_uploads_of_several_files_at_a_time_hold_little_more_than_one_did(tmp_path, monkeypatch):
    import s3fs
    import s3fs.core

    held = most = 0

    async def answer(self, method, *_, Body=b"", **more):
        nonlocal held, most
        held += len(Body)
        most = max(most, held)
        await asyncio.sleep(0.05)
        held -= len(Body)
        return {"UploadId": "1", "ETag": "1"}

    size = 1000  # for 50 MB
    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", answer)
    monkeypatch.setattr(s3fs.core, "calculate_chunksize", lambda *_, **__: size)
    source, target = Store(str(tmp_path)), Store("s3://bucket/release")
    names = [str(number) for number in range(4)]
    for name in names:
        source.write(name, bytes(12 * size))
    abreast(lambda name: source.copy_to(name, target, name), names)
    assert size <= most <= 12 * size


@pytest.mark.s3
def test_a_name_that_no_bucket_can_have_is_refused(s3_environment):
    with pytest.raises(AccessError, match="not a name that a bucket"):
        Store("s3://B@d/x").read("a")


def test_without_hard_links_a_create_is_exclusive_as_well(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EPERM, "no links")

    monkeypatch.setattr(os, "link", refuse)
    store = Store(str(tmp_path))
    assert store.write("mark", b"nonce 1", create=True)
    assert not store.write("mark", b"nonce 2", create=True)
    assert store.read("mark") == b"nonce 1"
    closed = Store(str(tmp_path), private=True)
    assert closed.write("closed", b"nonce 3", create=True)
    assert stat.S_IMODE((tmp_path / "closed").stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["mark", "a/b/mark"])
@pytest.mark.parametrize("create", [True, False])
def test_what_another_clears_away_while_it_is_written_is_written_again(
    tmp_path, monkeypatch, create, name
):
    fsync, cleared = os.fsync, []

    def clear(descriptor):
        fsync(descriptor)
        if len(cleared) < 2:
            cleared.append(Store(str(tmp_path)).delete_all())

    monkeypatch.setattr(os, "fsync", clear)
    assert Store(str(tmp_path)).write(name, b"nonce 1", create=create)
    assert cleared == [1, 1]
    assert Store(str(tmp_path)).read(name) == b"nonce 1"


def test_without_hard_links_a_create_that_fails_leaves_the_name_free(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EPERM, "no links")

    def full(_):
        if (tmp_path / "mark").exists():
            raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="no room"):
        Store(str(tmp_path)).write("mark", b"nonce", create=True)
    assert list(tmp_path.iterdir()) == []


def test_settings_hold_no_credentials():
    with pytest.raises(ValidationError):
        StorageSettings(key="x")
    with pytest.raises(ValidationError):
        StorageSettings(sse="rot13")


# --- S3 alone ----------------------------------------------------------------------------------

_CALLS = {
    "read": lambda store: store.read("a"),
    "find": lambda store: store.find("a"),
    "list": lambda store: store.list(),
    "write": lambda store: store.write("a", b"2"),
    "create": lambda store: store.write("b", b"2", create=True),
    "open": lambda store: store.open("a").__enter__(),
}
calls = pytest.mark.parametrize("call", _CALLS.values(), ids=_CALLS)


@pytest.fixture
def held(s3_environment, bucket) -> Store:
    store = Store(f"s3://{bucket}/held")
    store.write("a", b"1")
    return store


def refusal(monkeypatch, environment: dict[str, str], call, store: Store) -> str:
    """What a user is told who calls with this environment; never the key."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(AccessError) as caught:
        call(store)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        assert environment.get(name, "never") not in str(caught.value)
    assert store.url in str(caught.value)
    return str(caught.value)


@calls
@pytest.mark.s3
def test_a_wrong_secret_is_refused_without_being_quoted(s3, held, monkeypatch, call):
    wrong = s3.environment() | {"AWS_SECRET_ACCESS_KEY": "certainly-not-this-one"}
    assert "credentials were refused (SignatureDoesNotMatch)" in refusal(
        monkeypatch, wrong, call, held
    )


@calls
@pytest.mark.s3
def test_an_unknown_key_is_refused_without_being_quoted(s3, held, monkeypatch, call):
    wrong = s3.environment() | {"AWS_ACCESS_KEY_ID": "AKUNKNOWN0000000000"}
    assert "credentials were refused (InvalidAccessKeyId)" in refusal(
        monkeypatch, wrong, call, held
    )


@calls
@pytest.mark.s3
def test_who_has_no_permission_is_told_so(s3, held, monkeypatch, call):
    message = refusal(monkeypatch, s3.environment(s3.stranger), call, held)
    assert "no permission to" in message


@pytest.mark.s3
def test_a_reader_may_read_and_not_write(s3, held, monkeypatch):
    environment = s3.environment(s3.reader)
    message = refusal(monkeypatch, environment, lambda store: store.write("a", b"2"), held)
    assert "no permission to write it" in message
    message = refusal(monkeypatch, environment, lambda store: store.delete("a"), held)
    assert "no permission to delete it" in message
    assert held.read("a") == b"1"


@calls
@pytest.mark.s3
def test_a_missing_bucket_is_named(s3_environment, monkeypatch, call):
    message = refusal(monkeypatch, {}, call, Store("s3://no-such-bucket/x"))
    assert "there is no such bucket" in message


@pytest.mark.s3
def test_no_credentials_at_all_are_asked_for(s3, held, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", "/nowhere")
    assert "no credentials to read it; set AWS_PROFILE" in refusal(
        monkeypatch, {}, lambda store: store.read("a"), held
    )


@pytest.mark.s3
def test_the_endpoint_of_the_settings_wins_over_the_environment(s3, held, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    store = Store(held.url, StorageSettings(endpoint_url=s3.endpoint))
    assert store.read("a") == b"1"


@pytest.mark.s3
def test_encryption_on_the_server_is_asked_for(s3, bucket, s3_environment):
    import s3fs

    store = Store(f"s3://{bucket}/encrypted", StorageSettings(sse="AES256"))
    store.write("a", b"1")
    store.write_with("b", lambda out: out.write(b"2"))
    store.copy_to("a", store, "c")
    assert store.read("a") + store.read("b") + store.read("c") == b"121"
    client = s3fs.S3FileSystem(skip_instance_cache=True)
    for name in "abc":
        head = client.call_s3("head_object", Bucket=bucket, Key=f"encrypted/{name}")
        assert head["ServerSideEncryption"] == "AES256"


@pytest.mark.s3
@pytest.mark.slow
def test_a_file_of_several_uploads_is_whole(s3_environment, bucket):
    store = Store(f"s3://{bucket}/large")
    block = bytes(range(256)) * 4096
    written = store.write_with("a", lambda out: [out.write(block) for _ in range(120)])
    assert written.size == 120 << 20
    assert store.digest("a") == written


# --- S3 behind a bad line ----------------------------------------------------------------------


def behind(fault_proxy, s3, bucket, rule):
    proxy = fault_proxy(s3.endpoint, rule)
    settings = StorageSettings(endpoint_url=proxy.url)
    return Store(f"s3://{bucket}/faulty", settings), proxy


def first(method: str, name: str, fault: str, times: int = 1):
    """A fault for the first requests of one method on one file."""
    seen = []

    def rule(asked: str, path: str, number: int):
        if asked == method and path.split("?", maxsplit=1)[0].endswith(name) and len(seen) < times:
            seen.append(number)
            return sys.modules["fault_proxy"].Fault[fault]
        return None

    return rule


@pytest.mark.s3
def test_a_create_whose_answer_is_lost_knows_its_own_file(s3_environment, bucket, fault_proxy):
    rule = first("PUT", "lost", "DROP_RESPONSE")
    store, proxy = behind(fault_proxy, s3_environment, bucket, rule)
    assert store.write("lost", b"nonce 1", create=True)
    puts = [fault for method, path, fault in proxy.log if method == "PUT"]
    assert len(puts) >= 2
    assert puts[0] is not None
    assert not store.write("lost", b"nonce 2", create=True)


@pytest.mark.s3
@pytest.mark.parametrize("fault", ["DROP_REQUEST", "DROP_RESPONSE", "SLOW_DOWN"])
def test_a_write_is_repeated_over_a_bad_line(s3_environment, bucket, fault_proxy, fault):
    store, _ = behind(fault_proxy, s3_environment, bucket, first("PUT", "b", fault))
    store.write("b", b"content")
    assert store.read("b") == b"content"


@pytest.mark.s3
def test_an_answer_that_is_cut_short_is_asked_for_again(s3_environment, bucket, fault_proxy):
    store, _ = behind(fault_proxy, s3_environment, bucket, first("GET", "c", "TRUNCATE"))
    store.write("c", bytes(range(256)) * 100)
    assert store.read("c") == bytes(range(256)) * 100


@pytest.mark.s3
def test_repeating_has_an_end(s3_environment, bucket, fault_proxy, monkeypatch):
    monkeypatch.setattr(remote, "ATTEMPTS", 2)
    monkeypatch.setattr(patience, "PATIENCE_S", 0.5)
    rule = first("PUT", "d", "DROP_REQUEST", times=1000)
    store, proxy = behind(fault_proxy, s3_environment, bucket, rule)
    with pytest.raises(StorageError, match=r"could not be reached.*distanon resume"):
        store.while_running().write("d", b"1")
    assert 2 < len(proxy.log) < 100


def test_a_file_that_may_go_at_any_time_is_peeked_at(place):
    store = Store(place)
    assert store.peek("mark") is None
    store.write("mark", b"here")
    assert store.peek("mark") == b"here"
