"""All promises of a release, and the registry."""

import json

import numpy as np
import pytest

from distanon.data.evidence import Evidence
from distanon.data.graph import Graph
from distanon.data.graph_evidence import GraphEvidence
from distanon.promises import PROMISES, KAnonymity, LDiversity, Unchanged
from distanon.promises.gate import verify

SETTINGS = {
    "k_anonymity": {"k": 2},
    "l_diversity": {"l": 2},
    "t_closeness": {"t": 0.5},
    "unchanged": {"at_most": 0},
    "linkage": {"at_most": 1},
    "beta_likeness": {"beta": 3},
    "delta_disclosure": {"delta": 2},
    "alpha_k": {"alpha": 0.5, "k": 2},
    "copies": {"k": 2},
}


@pytest.fixture
def evidence(dataset):
    release = {"x": [1.5, 1.5, 3.5, 3.5], "y": list("aabb"), "s": list("uvuv"), "w": [1, 2, 1, 2]}
    original = release | {"x": [1.0, 2.0, 3.0, 4.0]}
    roles = {"sensitive": ["s", "w"]}
    return Evidence(dataset(release, **roles), dataset(original, **roles), np.arange(4))


OF_GRAPHS = {"k_degree": {"k": 2}, "link_confidence": {"at_most": 1.0}}


def test_every_promise_stands_under_its_name():
    assert set(PROMISES) == set(SETTINGS) | set(OF_GRAPHS)
    assert all(promise.name == name for name, promise in PROMISES.items())


def test_verdicts_come_in_the_order_of_the_promises(evidence):
    promises = {"unchanged": Unchanged(), "k_anonymity": KAnonymity(k=3)}
    verdicts = verify(promises, evidence)
    assert [verdict.promise for verdict in verdicts] == ["unchanged", "k_anonymity"]
    assert [verdict.kept for verdict in verdicts] == [True, False]


def test_all_verdicts_can_be_written_as_json(evidence):
    promises = {name: PROMISES[name](**given) for name, given in SETTINGS.items()}
    for verdict in verify(promises, evidence):
        assert verdict.kept, verdict
        for part in (verdict.asked, verdict.measured, verdict.private):
            json.dumps(dict(part), allow_nan=False)


def test_the_gate_judges_graphs_by_both_kinds_of_promises(dataset):
    ring = Graph.from_pairs(4, np.array([[0, 1], [1, 2], [2, 3], [0, 3]]))
    nodes = dataset({"city": ["a", "a", "b", "b"], "job": ["x", "y", "x", "y"]}, sensitive=["job"])
    graph = GraphEvidence.of(nodes, ring, "attributes+degree")
    settings = OF_GRAPHS | {
        "k_anonymity": {"k": 2},
        "l_diversity": {"l": 2},
        "t_closeness": {"t": 0},
    }
    for verdict in verify(
        {name: PROMISES[name](**given) for name, given in settings.items()}, graph
    ):
        assert verdict.kept, verdict
        assert verdict.verified_from == "release"
        for part in (verdict.asked, verdict.measured, verdict.private):
            json.dumps(dict(part), allow_nan=False)


def test_cutting_the_files_otherwise_changes_no_verdict(dataset, evidence):
    promises = {name: PROMISES[name](**given) for name, given in SETTINGS.items()}
    cut_up = Evidence(
        dataset(evidence.release_table, sensitive=["s", "w"], pieces=3),
        evidence.original,
        evidence.sources,
    )
    assert verify(promises, cut_up) == verify(promises, evidence)


def test_a_planted_value_is_found_in_no_public_part(dataset):
    secret = "Zaphod Beeblebrox"
    table = {"x": ["a", "a", secret], "s": [secret + "itis", "u", secret + "osis"]}
    evidence = Evidence(dataset(table, sensitive=["s"]))
    promises = {"k_anonymity": KAnonymity(k=2), "l_diversity": LDiversity(l=3)}
    for verdict in verify(promises, evidence):
        assert not verdict.kept
        public = json.dumps([dict(verdict.asked), dict(verdict.measured), verdict.reason])
        assert secret not in public
        assert secret in json.dumps(dict(verdict.private))


def test_settings_survive_a_round_trip_through_the_certificate():
    for name, given in SETTINGS.items():
        promise = PROMISES[name](**given)
        assert PROMISES[name](**promise.asked()) == promise
