from __future__ import annotations

import pytest

from distanon.runtime.feasibility import Answers, answer_of


@pytest.fixture
def report():
    """Makes a report of Ray's: what the autoscaler had seen, what waits, what is refused."""
    from ray.core.generated.autoscaler_pb2 import GetClusterStatusReply

    def make(seen, *, waiting=(), refused=(), version=1):
        reply = GetClusterStatusReply()
        cluster, autoscaler = reply.cluster_resource_state, reply.autoscaling_state
        cluster.cluster_resource_state_version = version
        autoscaler.autoscaler_state_version = 7  # it stands still while nothing starts or ends
        autoscaler.last_seen_cluster_resource_state_version = seen
        for bundle in waiting:
            cluster.pending_resource_requests.add(count=1).request.resources_bundle.update(bundle)
        for bundle in refused:
            autoscaler.infeasible_resource_requests.add().resources_bundle.update(bundle)
        return reply

    return make


BIG = {"CPU": 64.0}


def test_two_refusals_one_after_another_are_a_refusal(report):
    answers = Answers(64, None)
    answers.take(report(1, waiting=[BIG], refused=[BIG]))
    assert answers.feasible is None
    answers.take(report(1, waiting=[BIG], refused=[BIG]))
    assert answers.feasible is None, "the same report again says nothing new"
    answers.take(report(2, waiting=[BIG], refused=[BIG]))
    assert answers.feasible is False


def test_two_reports_that_do_not_refuse_it_are_a_consent(report):
    answers = Answers(64, None)
    for number in (1, 2):
        answers.take(report(number, waiting=[BIG], refused=[{"CPU": 128.0}]))
    assert answers.feasible is True


def test_a_change_of_mind_starts_the_count_anew(report):
    answers = Answers(64, None)
    for number, refused in enumerate(([BIG], [], [BIG], [BIG])):
        assert answers.feasible is None
        answers.take(report(number + 1, waiting=[BIG], refused=refused))
    assert answers.feasible is False


def test_reports_older_than_the_request_say_nothing(report):
    answers = Answers(64, None)
    for number in range(5):
        answers.take(report(number))
    for seen, version in ((150, 200), (199, 210)):
        answers.take(report(seen, waiting=[BIG], version=version))
    assert answers.feasible is None
    for seen, version in ((200, 220), (210, 230)):
        answers.take(report(seen, waiting=[BIG], refused=[BIG], version=version))
    assert answers.feasible is False


@pytest.mark.parametrize(
    ("bundle", "same"),
    [
        ({"CPU": 2.0, "memory": 1e9}, True),
        ({"CPU": 2.0, "memory": 1.0001e9}, True),  # Ray rounds
        ({"CPU": 2.0}, False),
        ({"CPU": 2.0, "memory": 2e9}, False),
        ({"CPU": 2.0, "memory": 1e9, "GPU": 1.0}, False),
    ],
)
def test_an_answer_counts_for_a_request_of_its_size_alone(report, bundle, same):
    answers = Answers(2, 1e9)
    for number in (1, 2):
        answers.take(report(number, waiting=[bundle], refused=[bundle]))
    assert answers.feasible == (False if same else None)


def test_the_answer_is_found_in_what_a_job_has_printed():
    assert answer_of("INFO something\nfeasibility true\n") is True
    assert answer_of("feasibility true\nfeasibility false\n") is False
    assert answer_of("feasibility null\n") is None
    assert answer_of("/usr/bin/python: No module named distanon\n") is None
