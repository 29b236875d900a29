"""The cases of a sweep: every combination, each a run of its own."""

from __future__ import annotations

import pytest

from distanon.errors import SpecError
from distanon.spec import parse
from distanon.sweep import cases

SPEC = """
spec: 1
name: many
input: {table: {path: builtin:magic, default_role: quasi_identifier}}
method: {name: dptpe, k: 10}
output: /data/out
private: /data/private/
"""


def test_every_combination_is_a_run_with_a_prefix_of_its_own():
    spec = parse(SPEC + "sweep: {method.k: [5, 10, 20], seed: [1, 2]}")
    found = cases(spec)
    assert [dict(case.changes) for case in found] == [
        {"method.k": k, "seed": seed} for k in (5, 10, 20) for seed in (1, 2)
    ]
    assert [case.spec.method.k for case in found] == [5, 5, 10, 10, 20, 20]
    assert len({case.run_id for case in found}) == 6
    assert all(case.private == f"/data/private/{case.run_id}/" for case in found)
    assert all(case.spec.sweep is None for case in found)


def test_the_run_ids_of_cases_are_those_of_the_specs_that_say_the_same():
    (case, *_) = cases(
        parse(SPEC.replace("private/", "p/${RUN_ID}/") + "sweep: {method.k: [7, 8]}")
    )
    assert case.private == f"/data/p/{case.run_id}/"
    assert case.run_id == cases(parse(case.spec.to_yaml(), ["sweep={method.k: [7]}"]))[0].run_id


def test_all_faults_of_all_cases_are_told_at_once():
    spec = parse(SPEC + "sweep: {method.k: [5, 0, -1]}")
    with pytest.raises(SpecError) as caught:
        cases(spec)
    assert [fault.split(":")[0] for fault in caught.value.faults] == [
        "sweep (method.k=0)",
        "sweep (method.k=-1)",
    ]


def test_the_same_value_twice_is_refused():
    with pytest.raises(SpecError, match="the same run"):
        cases(parse(SPEC + "sweep: {method.k: [5, 5]}"))


def test_a_spec_without_a_sweep_has_no_cases():
    with pytest.raises(SpecError, match="sweep: missing"):
        cases(parse(SPEC))
