from collections.abc import Mapping
from typing import Annotated, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from distanon.data.setting_faults import (
    between,
    fault_lines,
    near,
    once_more,
    refused,
    shown,
    unknown,
)

SIZE = "a whole number or 'auto'"


def even(value):
    if value % 2:
        raise ValueError("expected an even number")
    return value


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Literal["part"] = "part"
    size: Annotated[int, Field(ge=1)] | Literal["auto"] = 1
    pair: Annotated[int, AfterValidator(even)] = 2
    share: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.5
    label: str = "x"


class Whole(BaseModel):
    model_config = ConfigDict(extra="forbid")

    one: Part = Part()
    many: tuple[Part, ...] = ()
    named: Mapping[str, Part] = Field(default_factory=dict)
    must: bool


def lines(**document):
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate(document)
    return fault_lines(caught.value, document, Whole)


@pytest.mark.parametrize(
    ("part", "line"),
    [
        ({"size": "aut"}, f"one.size: found 'aut'; expected {SIZE}; did you mean 'auto'?"),
        ({"size": 0}, "one.size: found 0; expected 1 or more or 'auto'"),
        ({"pair": 3}, "one.pair: expected an even number"),
        ({"share": 1}, "one.share: found 1; expected less than 1"),
        ({"share": float("nan")}, "one.share: found NaN; expected a finite number"),
        ({"label": 7}, "one.label: found 7; expected text; write it in quotes: '7'"),
        ({"label": None}, "one.label: found null; expected text"),
        ({"label": ["a"]}, "one.label: found a list; expected text"),
        ({"lable": "a"}, "one.lable: no such setting; did you mean 'label'?"),
        ({"zzz": 1}, "one.zzz: no such setting; there are name, size, pair, share, label"),
        (3, "one: found 3; expected a mapping"),
    ],
)  # fmt: skip
def test_a_fault_has_path_value_expectation_and_near_match(part, line):
    assert lines(must=True, one=part) == (line,)


def test_paths_lead_through_lists_and_mappings():
    assert lines(many=[{}, {"sizes": 1}], named={"a.b": {"size": 1.5}}, must="perhaps") == (
        "many.1.sizes: no such setting; did you mean 'size'?",
        "named.\"a.b\".size: found 1.5; expected a whole number or 'auto'",
        "must: found 'perhaps'; expected true or false",
    )


def test_what_is_missing_is_a_fault():
    assert lines() == ("must: missing",)


def test_credentials_are_left_out_of_every_fault():
    (line,) = lines(must=True, one={"pair": "s3://me:secret@bucket"})
    assert "secret" not in line
    assert "s3://…@bucket" in line


def test_faults_can_be_raised_once_more_together_with_others():
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate({"one": {"pair": 3, "size": 0}})
    errors = [*once_more(caught.value), between(("many", "first"), "expected something else")]
    again = ValidationError.from_exception_data("Whole", errors)
    assert fault_lines(again, {"one": {"pair": 3, "size": 0}}, Whole) == (
        "one.size: found 0; expected 1 or more or 'auto'",
        "one.pair: expected an even number",
        "must: missing",
        "many.first: expected something else",
    )


def test_braces_in_a_message_are_kept():
    assert refused("expected {name: dptpe}").message() == "expected {name: dptpe}"


@pytest.mark.parametrize(
    ("found", "hint"),
    [
        ("kk", "; did you mean 'k'?"),
        ("K", "; did you mean 'k'?"),
        ("sigm", "; did you mean 'sigma'?"),
        ("x", ""),
        (3, ""),
    ],
)
def test_a_near_name_is_offered(found, hint):
    assert near(found, ["k", "t", "sigma"]) == hint


def test_an_unknown_name_is_told_with_those_that_there_are():
    assert unknown("aa", "letter", ["b", "a"]) == (
        "no such letter 'aa'; expected a, b; did you mean 'a'?"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        ("a'b", '"a\'b"'),
        (1.5, "1.5"),
        ({"a": 1}, "a mapping"),
        ([1], "a list"),
        (object(), '"object"'),
    ],
)
def test_values_are_shown_as_in_the_file(value, text):
    assert shown(value) == text


def test_a_long_value_is_cut():
    assert len(shown("x" * 500)) == 60
