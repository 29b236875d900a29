import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from distanon.errors import SpecError
from distanon.spec.document import override, read_document, read_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("Off", "Off"),
        ("yes", "yes"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("null", None),
        ("", None),
        ("007", 7),
        ("0x1F", 31),
        ("0o17", 15),
        ("12:30:45", "12:30:45"),
        ("2020-01-31", "2020-01-31"),
        ("1e-3", 0.001),
        ("-.5", -0.5),
        ("1_000", "1_000"),
        ("'20'", "20"),
        ("[a, 1, no]", ["a", 1, "no"]),
    ],
)
def test_plain_values_follow_yaml_1_2(text, value):
    found = read_value(text)
    assert found == value
    assert type(found) is type(value)


def test_infinity_is_read():
    assert read_value("-.inf") == float("-inf")


def test_keys_are_what_is_written():
    document = read_document("{2017: a, no: b, true: c, 1.50: d, null: e}")
    assert list(document) == ["2017", "no", "true", "1.50", "null"]


def test_a_key_that_stands_twice_is_refused_with_its_line():
    with pytest.raises(SpecError, match=r"line 3, column 1: the key 'k' stands twice"):
        read_document("k: 1\nj: 2\nk: 3\n")


def test_a_key_that_stands_twice_deep_inside_is_refused():
    with pytest.raises(SpecError, match="the key 'role' stands twice"):
        read_document("a:\n  b: [{role: x, role: y}]\n")


def test_a_merge_key_gives_way_to_what_is_written():
    document = read_document("a: &a {k: 1, t: 2}\nb: {<<: *a, k: 3}\nc: {<<: [*a, {t: 9, u: 4}]}\n")
    assert document["b"] == {"k": 3, "t": 2}
    assert document["c"] == {"k": 1, "t": 2, "u": 4}


def test_a_merge_key_without_a_mapping_is_refused():
    with pytest.raises(SpecError, match="expected a mapping"):
        read_document("b: {<<: 3}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", r"line 1, column 6: this is no YAML"),
        ("a: b: c", "line 1, column 5: this is no YAML"),
        ("? [a]\n: 1", "a key must be text"),
        ("- a", "expected a mapping with the keys"),
        ("", "expected a mapping with the keys"),
        ("a: \x01", "this is no YAML"),
        ("a: !!python/object:os.system {}", "this is no YAML"),
    ],
)
def test_what_is_no_mapping_is_refused(text, message):
    with pytest.raises(SpecError, match=message):
        read_document(text)


def test_json_is_read_and_its_faults_have_a_place():
    assert read_document('{"a":\t[1, null]}', is_json=True) == {"a": [1, None]}
    with pytest.raises(SpecError, match="line 1, column 7: this is no JSON"):
        read_document('{"a": }', is_json=True)
    with pytest.raises(SpecError, match="the key 'a' stands twice"):
        read_document('{"a": 1, "a": 2}', is_json=True)


scalars = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), values, max_size=4))
def test_what_a_yaml_writer_dumps_is_read_back(document):
    assert read_document(yaml.safe_dump(document)) == document


def test_overrides_change_a_copy():
    document = {"method": {"k": 10}, "compare": [{"rms": 1}, "rbt"]}
    changed = override(
        document,
        ["method.k=20", "compare.0.rms=match", "runtime.workers=2", "seed=null", "method.k=30"],
    )
    assert changed == {
        "method": {"k": 30},
        "compare": [{"rms": "match"}, "rbt"],
        "runtime": {"workers": 2},
        "seed": None,
    }
    assert document == {"method": {"k": 10}, "compare": [{"rms": 1}, "rbt"]}


def test_a_quoted_step_may_hold_a_point():
    assert override({}, ['c."a.b".role=x']) == {"c": {"a.b": {"role": "x"}}}


def test_a_value_may_hold_an_equals_sign_and_be_a_mapping():
    assert override({}, ["output=s3://b/x=1/", "method={name: dptpe, k: 3}"]) == {
        "output": "s3://b/x=1/",
        "method": {"name": "dptpe", "k": 3},
    }


def test_all_overrides_that_can_not_be_made_are_named():
    with pytest.raises(SpecError) as caught:
        override({"a": 1, "b": [0]}, ["a.x=1", "b.7=1", "b.k=1", "nothing", "=3", "c=[1"])
    assert caught.value.faults == (
        "--set a.x: 'x' can't be set inside a plain value; set the whole of it",
        "--set b.7: the list has no entry '7'; its entries are 0 … 0",
        "--set b.k: the list has no entry 'k'; its entries are 0 … 0",
        "--set nothing: expected PATH=VALUE, such as method.k=20",
        "--set =3: expected PATH=VALUE, such as method.k=20",
        caught.value.faults[5],
    )
    assert caught.value.faults[5].startswith("--set c: line 1, column 3: this is no YAML")
