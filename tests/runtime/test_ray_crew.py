"""The Ray crew against its serial twin, in fair weather and foul."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from distanon.errors import ClusterError, InfeasibleError, SpecError
from distanon.runtime import crew
from distanon.runtime.crew import Kept, SerialCrew
from distanon.runtime.pinning import worker_environment
from distanon.runtime.settings import RuntimeSettings

pytestmark = pytest.mark.ray


@pytest.fixture(scope="module", autouse=True)
def _functions_travel_by_value():
    """Workers can't import a test module."""
    from ray import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


class Diary:
    """Progress that remembers."""

    def __init__(self) -> None:
        self.phases: list[tuple[str, int]] = []
        self.done = 0
        self.notes: list[str] = []

    def start(self, phase: str, total: int) -> None:
        self.phases.append((phase, total))

    def advance(self, items: int = 1) -> None:
        self.done += items

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.fixture(scope="module")
def two(ray_address):
    """Two workers for the tests that kill none."""
    with crew(RuntimeSettings(address=ray_address, workers=2)) as workers:
        yield workers


def digits(shared, item):
    """Numbers whose last bits depend on how they were computed."""
    matrix = np.random.default_rng(item).random((60, 60))
    return np.exp(matrix @ matrix) + (0 if shared is None else shared[item])


def block(_shared, item):
    return np.full(125_000, item, dtype=np.float64)  # 1 MB: lies in the shared store


def total(shared, item):
    first, scale, second = item
    return float(first.sum() * scale + second.sum()) + shared


def slow_block(_shared, item):
    time.sleep(0.05)
    return np.full(125_000, item, dtype=np.float64)


def doubled(_shared, item):
    return item * 2


def get_ready():
    sys.ready_for_tests = True


def fail_to_get_ready():
    raise ValueError("not ready")


def is_ready(_shared, _item):
    return getattr(sys, "ready_for_tests", False)


def scaled(shared, item):
    other, factor = item
    return float(shared.sum() * factor + other[0])


def staggered(_shared, item):
    time.sleep(0.2 if item == 0 else 0.0)
    return item


def failing(_shared, item):
    if item >= 3:
        time.sleep(0.1 if item == 3 else 0)  # the later one fails first
        raise InfeasibleError(f"class {item} is too small")
    return item


def wrong_spec(_shared, item):
    raise SpecError("method.k: one", f"method.l: {item}")


def refuses_pickle(_shared, _item):
    class Stubborn(Exception):
        def __reduce__(self):
            raise TypeError

    raise Stubborn("a secret of row 7")


def environment(_shared, _item):
    return dict(os.environ)


def writes(shared, _item):
    shared[0] = 1.0


def process(_shared, _item):
    time.sleep(0.01)
    return os.getpid()


def kills_once(marker, item):
    if item == 5 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return item * item


def kills_always(_shared, item):
    if item == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def story(workers):
    """All forms of a map, one after another."""
    table = workers.put(np.linspace(0, 1, 40))
    yield [part.tobytes() for part in workers.map(digits, range(40), shared=table)]
    yield [part.tobytes() for part in workers.map(digits, range(3))]
    kept = list(workers.map(block, range(6), keep=True))
    assert all(isinstance(one, Kept) for one in kept)
    pairs = [(one, 0.5, other) for one, other in itertools.pairwise(kept)]
    yield list(workers.map(total, pairs, shared=workers.put(7)))
    again = list(workers.map(doubled, kept, keep=True))
    yield [workers.fetch(one).tobytes() for one in again]
    yield list(workers.map(doubled, []))
    yield list(workers.map(doubled, [(1, 2), "ab", (), 3]))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_any_number_of_workers_equals_the_serial_twin_byte_for_byte(ray_address, count):
    settings = RuntimeSettings(address=ray_address, workers=count, cpus_per_worker=0.5)
    with SerialCrew() as serial, crew(settings) as workers:
        assert workers.workers == count
        assert list(story(workers)) == list(story(serial))


def test_results_come_in_the_order_of_the_items_whatever_finishes_first(two):
    assert list(two.map(staggered, range(20))) == list(range(20))


def ready(workers):
    """The workers that take calls."""
    return [member for member in workers._pool.roster.members if member.ready]


def wait_for(workers, count):
    """Until so many workers are ready."""
    deadline = time.monotonic() + 60
    while len(ready(workers)) < count and time.monotonic() < deadline:
        workers._pool.step()


def test_items_are_shared_out_among_all_workers(two):
    wait_for(two, 2)
    assert len(set(two.map(process, range(40)))) == 2


def test_maps_may_be_interleaved_and_left_unfinished(two):
    outer = two.map(doubled, range(100))
    assert [next(outer) for _ in range(3)] == [0, 2, 4]
    assert list(two.map(doubled, range(5))) == [0, 2, 4, 6, 8]
    assert next(outer) == 6
    outer.close()
    assert list(two.map(doubled, range(5))) == [0, 2, 4, 6, 8]


def test_only_a_window_of_items_is_under_way(two):
    running = two.map(doubled, range(1000))
    next(running)
    assert len(two._pool._queue) <= two._pool.window
    running.close()
    assert not two._pool._queue


def test_an_error_of_the_function_comes_with_its_own_class_in_the_place_of_its_item(two):
    before = two.losses.items_repeated
    results = two.map(failing, range(8))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(InfeasibleError, match="class 3 is too small") as caught:
        next(results)
    assert caught.value.exit_code == 3
    assert caught.value.__cause__ is None
    assert "failing" in caught.value.__notes__[0]
    assert two.losses.items_repeated == before
    assert list(two.map(doubled, [1])) == [2]


def test_an_error_keeps_its_attributes(two):
    with pytest.raises(SpecError) as caught:
        list(two.map(wrong_spec, [2]))
    assert caught.value.faults == ("method.k: one", "method.l: 2")


def test_an_error_that_cannot_travel_is_named_without_its_text(two):
    with pytest.raises(RuntimeError, match="Stubborn") as caught:
        list(two.map(refuses_pickle, [0]))
    assert "secret" not in str(caught.value)


def test_an_item_that_cannot_travel_is_an_error_of_its_map_alone(two):
    with pytest.raises(TypeError):
        list(two.map(doubled, [1, (n for n in "ab")]))
    assert list(two.map(doubled, [1])) == [2]


def test_shared_arrays_are_read_only(two):
    with pytest.raises(ValueError, match="read-only"):
        list(two.map(writes, [0], shared=two.put(np.zeros(10))))


def test_workers_have_pinned_threads_and_instructions(two):
    (seen,) = two.map(environment, [0])
    assert worker_environment(1).items() <= seen.items()
    assert seen["OMP_NUM_THREADS"] == "1"


def test_progress_counts_each_item_once(ray_address):
    diary = Diary()
    with crew(RuntimeSettings(address=ray_address, workers=1), diary) as workers:
        list(workers.map(doubled, range(7), phase="doubling"))
    assert (diary.phases, diary.done) == ([("doubling", 7)], 7)


def test_a_killed_worker_is_replaced_and_its_items_are_done_again(ray_address, tmp_path):
    diary = Diary()
    with crew(RuntimeSettings(address=ray_address, workers=2), diary) as workers:
        marker = workers.put(str(tmp_path / "killed"))
        assert list(workers.map(kills_once, range(30), shared=marker)) == [n * n for n in range(30)]
        assert workers.losses.workers_lost == 1
        assert workers.losses.items_repeated >= 1
        assert workers.losses.causes == {"worker died": 1}
    assert diary.done == 30
    lost = [note for note in diary.notes if note.startswith("lost")]  # a busy machine says more
    assert lost == ["lost a worker (worker died), replacing it"]


def test_an_item_that_kills_every_worker_ends_the_run(ray_address):
    settings = RuntimeSettings(address=ray_address, workers=1, max_failures=1)
    with crew(settings) as workers, pytest.raises(ClusterError, match="worker down 2 times"):
        list(workers.map(kills_always, range(3)))


def test_workers_that_fit_nowhere_are_waited_for_and_named(ray_address):
    settings = RuntimeSettings(address=ray_address, workers=1, cpus_per_worker=99, timeout_s=2)
    with (
        crew(settings) as workers,
        pytest.raises(ClusterError, match="no worker for 2 s: waiting for 99 CPUs, the cluster"),
    ):
        list(workers.map(doubled, [1]))


def test_a_second_cluster_in_one_process_is_refused(two):
    with (
        pytest.raises(ClusterError, match="so it can't join 127"),
        crew(RuntimeSettings(address="127.0.0.1:9")),
    ):
        pass


def large_block(_shared, item):
    return np.full(625_000, item, dtype=np.float64)  # 5 MB


def test_what_the_store_cannot_hold_lies_on_disk_until_it_is_asked_for(ray_cluster, two):
    kept = list(two.map(large_block, range(60), keep=True))  # 300 MB, and the store holds 256
    session = Path(ray_cluster.head_node.get_session_dir_path())
    assert any(folder.iterdir() for folder in session.rglob("ray_spilled_objects*"))
    assert [float(two.fetch(one)[-1]) for one in kept] == [float(n) for n in range(60)]
    sums = two.map(total, [(one, 1.0, kept[0]) for one in kept[:4]], shared=two.put(0))
    assert list(sums) == [625_000.0 * n for n in range(4)]


def test_a_drained_node_that_dies_after_its_notice_loses_nothing(ray_cluster, ray_address, two):
    from ray._raylet import GcsClient
    from ray.core.generated.autoscaler_pb2 import DrainNodeReason

    node = ray_cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    with crew(RuntimeSettings(address=ray_address, workers=3)) as workers:
        wait_for(workers, 3)
        assert node.node_id in {member.node for member in ready(workers)}
        results = workers.map(slow_block, range(40))
        found = [float(next(results)[0]) for _ in range(5)]
        accepted, why = GcsClient(address=ray_address).drain_node(
            node.node_id,
            DrainNodeReason.DRAIN_NODE_REASON_PREEMPTION,
            "spot",
            int((time.time() + 2) * 1000),
        )
        assert accepted, why
        found += [float(next(results)[0]) for _ in range(10)]
        ray_cluster.remove_node(node, allow_graceful=False)
        found += [float(one[0]) for one in results]
        assert found == [float(n) for n in range(40)]
        assert set(workers.losses.causes) <= {"node lost", "result lost", "worker died"}


def test_late_nodes_get_work_and_what_they_kept_is_made_again_when_they_die(
    ray_cluster, ray_address, two
):
    settings = RuntimeSettings(address=ray_address, workers=4)
    with crew(settings) as workers:  # two find room, two wait
        assert list(workers.map(doubled, range(4))) == [0, 2, 4, 6]
        early = {member.node for member in ready(workers)}
        node = ray_cluster.add_node(num_cpus=2, object_store_memory=128 << 20)
        wait_for(workers, 4)
        kept = list(workers.map(slow_block, range(16), keep=True))
        assert {one.reference.node for one in kept} > early
        derived = list(workers.map(doubled, kept[:12], keep=True))
        for one in derived[:6]:
            assert workers.fetch(one).shape == (125_000,)
        late = [n for n, one in enumerate(derived) if one.reference.node not in early]
        assert late
        del kept[:8]  # some of what derived results were made from is gone as well
        ray_cluster.remove_node(node, allow_graceful=False)

        assert [float(workers.fetch(one)[0]) for one in derived] == [2.0 * n for n in range(12)]
        sums = workers.map(total, [(one, 1.0, kept[0]) for one in kept], shared=workers.put(0))
        assert list(sums) == [125_000.0 * (n + 8) for n in range(8, 16)]
        assert workers.losses.items_repeated >= len(late)
        assert set(workers.losses.causes) <= {"node lost", "result lost", "worker died"}
        assert workers.losses.causes["result lost"] >= 1


def test_workers_get_ready_before_their_first_item(ray_address):
    settings = RuntimeSettings(address=ray_address, workers=2)
    with crew(settings, None, [get_ready]) as workers:
        assert all(workers.map(is_ready, range(4)))


def test_a_worker_that_can_not_get_ready_works_all_the_same(ray_address):
    settings = RuntimeSettings(address=ray_address, workers=1)
    with crew(settings, None, [fail_to_get_ready, get_ready]) as workers:
        assert list(workers.map(is_ready, range(2))) == [False, False]
        assert workers.losses.workers_lost == 0


def test_items_may_carry_what_is_shared(two):
    twin = SerialCrew()
    found = []
    for hands in (two, twin):
        shared = hands.put(np.arange(4.0))
        items = [(hands.put(np.full(200_000, place)), place) for place in range(6)]
        found.append(list(hands.map(scaled, items, shared=shared)))
    assert found[0] == found[1] == [7.0 * place for place in range(6)]
