from typing import Annotated, ClassVar, Literal

import pytest
from pydantic import Field

from distanon.methods import METHODS
from distanon.methods.base import Method
from distanon.methods.dptpe import DPTPE
from distanon.methods.kmfc_gwo.method import KMFCGWO
from distanon.promises import PROMISES
from distanon.spec.choices import PromiseChoices
from distanon.spec.consistency import faults_between
from distanon.spec.graph_input import GraphInput
from distanon.spec.job_spec import InputPart
from distanon.spec.table_input import TableInput


class Grouping(Method):
    """Stands for the methods whose k is a promise."""

    name: Literal["grouping"] = "grouping"
    k: Annotated[int, Field(ge=2)]
    l: int | None = None  # noqa: E741 - the field's word

    summary: ClassVar[str] = ""
    limits: ClassVar[str] = ""
    keeps: ClassVar[frozenset[str]] = frozenset({"k_anonymity", "l_diversity"})

    def check(self, dataset): ...

    def release(self, dataset, promises, context): ...


def table(path="builtin:magic"):
    return InputPart(table=TableInput(path=path))


def faults(**parts):
    return list(faults_between(parts))


def promises(**asked):
    return PromiseChoices.model_validate(asked)


def test_parts_that_fit_together_have_no_fault():
    found = faults(
        input=table(),
        method=Grouping(k=3, l=2),
        promises=promises(k_anonymity={"k": 3}, l_diversity={"l": 2}, unchanged=None),
        compare=(METHODS["rbt"](),),
        output="out",
        private="private",
    )
    assert found == []


def test_parts_with_faults_of_their_own_are_left_out():
    assert faults() == []
    asked = promises(k_anonymity={"k": 3})
    ((where, _),) = faults(output="s3://b/x", private=None, promises=asked)
    assert where == ("private",)


@pytest.mark.parametrize(
    ("output", "private", "path", "message"),
    [
        ("s3://b/x", None, "private", "missing: required when the output is remote"),
        ("s3://b/x", "s3://b/x/p", "private", "lies inside the output"),
        ("s3://b/x", "s3://b/x/", "private", "'s3://b/x/' is the output"),
        ("out/x", "out", "output", "lies inside the private prefix"),
        ("out", "./out/p/", "private", "lies inside the output"),
    ],
)
def test_neither_prefix_lies_inside_the_other(output, private, path, message):
    ((where, found),) = faults(output=output, private=private)
    assert where == (path,)
    assert message in found


def test_a_local_output_needs_no_private_prefix():
    assert faults(output="out", private=None) == []


def test_a_private_prefix_with_a_fault_of_its_own_is_not_missing():
    assert faults(output="s3://b/x") == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("data/all/t.csv", "the input 'data/all/t.csv' lies inside it"),
        ("data/all/*.csv", "the input 'data/all/*.csv' lies inside it"),
        ("data", "lies inside the input folder 'data'"),
    ],
)
def test_input_and_output_are_apart(path, message):
    ((where, found),) = faults(input=table(path), output="data/all")
    assert where == ("output",)
    assert message in found


def test_a_promise_that_the_method_can_not_keep_is_refused():
    ((where, found),) = faults(method=METHODS["rbt"](), promises=promises(k_anonymity={"k": 3}))
    assert where == ("promises", "k_anonymity")
    assert found == "rbt can't be asked to keep it; it can keep: linkage, unchanged"


def test_a_promise_that_is_taken_away_need_not_be_kept():
    assert faults(method=METHODS["rbt"](), promises=promises(k_anonymity=None)) == []


def test_method_and_promise_must_state_the_same_parameter():
    ((where, found),) = faults(method=Grouping(k=3), promises=promises(k_anonymity={"k": 4}))
    assert where == ("promises", "k_anonymity", "k")
    assert found == "found 4, but method.k is 3; they must agree"


def test_a_promise_may_state_what_the_method_leaves_open():
    assert faults(method=Grouping(k=3), promises=promises(l_diversity={"l": 4})) == []


def test_bounds_that_a_rotation_would_leave_are_refused_for_the_release_alone():
    column = {"role": "quasi_identifier", "domain_bounds": [0, 9]}
    bounded = InputPart(table=TableInput(path="builtin:magic", columns={"fSize": column}))
    ((where, found),) = faults(input=bounded, method=METHODS["rbt"]())
    assert where == ("input", "table", "columns", "fSize", "domain_bounds")
    assert "rbt moves values out of any bounds" in found
    dptpe = METHODS["dptpe"](k=3)
    assert faults(input=bounded, method=dptpe, compare=(METHODS["rbt"](),)) == []


def test_a_method_compared_with_itself_is_refused():
    rbt, nends = METHODS["rbt"](), METHODS["nends"]()
    found = faults(method=rbt, compare=(nends, rbt, nends))
    assert found == [
        (("compare", "1"), "the same as the method of the release"),
        (("compare", "2"), "the same as compare.0"),
    ]


def test_something_must_be_anonymized_and_by_a_method_of_its_kind():
    graph = GraphInput(edges="e.csv", source="a", target="b")
    ((where, found),) = faults(input=InputPart(graph=graph), method=DPTPE(k=3))
    assert where == ("method", "name")
    assert "dptpe is for tables, and the input is a graph; methods for graphs: kmfc_gwo" in found
    table = InputPart(table=TableInput(path="builtin:magic"))
    ((where, found),) = faults(input=table, method=DPTPE(k=3), compare=(KMFCGWO(),))
    assert where == ("compare", "0")
    assert "kmfc_gwo is for graphs" in found
    assert faults(input=InputPart(graph=graph), method=KMFCGWO()) == []
    ((where, found),) = faults(input=InputPart())
    assert where == ("input",)
    assert found.startswith("missing: table")
    assert len(faults(input=InputPart(graph=graph, table=TableInput(path="builtin:magic")))) == 1


def test_every_promise_may_be_written_or_taken_away():
    part = promises(**dict.fromkeys(PROMISES))
    assert part.asked == dict.fromkeys(PROMISES)
    assert promises().asked == {}


@pytest.mark.parametrize(
    ("source", "places", "where", "message"),
    [
        ({"table": {"path": "in/"}}, ("out", "in/private"), "private", "inside the input folder"),
        ({"table": {"path": "in/"}}, ("in/out", None), "output", "inside the input folder"),
        ({"table": {"path": "out/t.csv"}}, ("out", None), "output", "an output is public"),
        (
            {"table": {"path": "builtin:magic"}, "control": "out/held.csv"},
            ("out", None),
            "output",
            "the input 'out/held.csv' lies inside it",
        ),
        (
            {"table": {"path": "builtin:magic"}, "population": "out/all.csv"},
            ("out", None),
            "output",
            "the input 'out/all.csv' lies inside it",
        ),
        (
            {
                "table": {
                    "path": "t.csv",
                    "columns": {"c": {"role": "sensitive", "hierarchy": "o/h"}},
                }
            },
            ("o", None),
            "output",
            "the input 'o/h' lies inside it",
        ),
    ],
)
def test_inputs_and_what_a_run_writes_lie_apart(source, places, where, message):
    output, private = places
    ((found, told),) = faults(
        input=InputPart.model_validate(source), output=output, private=private
    )
    assert found == (where,)
    assert message in told
