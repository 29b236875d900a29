import pytest
from pydantic import TypeAdapter, ValidationError

from distanon.data.schema import AttributeType
from distanon.errors import SpecError
from distanon.spec.job_spec import InputPart
from distanon.spec.table_input import ColumnChoice, ControlFraction, TableInput


def column(**settings):
    return TypeAdapter(ColumnChoice).validate_python(settings)


def table(columns, **settings):
    return TableInput.model_validate({"path": "t.csv", "columns": columns, **settings})


def test_the_short_form_of_a_column_is_its_role():
    short = TypeAdapter(ColumnChoice).validate_python("sensitive")
    assert short == column(role="sensitive")


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({}, None),
        ({"order": ["a", "b"]}, AttributeType.ORDINAL),
        ({"hierarchy": "h.csv"}, AttributeType.NOMINAL),
        ({"type": "binary"}, AttributeType.BINARY),
    ],
)
def test_an_order_or_a_hierarchy_implies_the_type(settings, kind):
    assert column(role="quasi_identifier", **settings).declared_type is kind


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"type": "numeric", "order": [1, 2]}, "an order belongs to an ordinal column"),
        ({"order": ["a", "b", "a"]}, "the order names a value twice"),
        ({"type": "ordinal", "hierarchy": "h.csv"}, "a hierarchy belongs to a nominal column"),
        ({"order": ["a", "b"], "hierarchy": "h.csv"}, "an order or a hierarchy, not both"),
        ({"type": "nominal", "top_code": 3}, "top_code: only for a numeric column"),
        ({"order": ["a", "b"], "decimals": 2}, "decimals: only for a numeric column"),
        ({"domain_bounds": [3, 3]}, r"expected \[lowest, highest\], found \[3, 3\]"),
        (
            {"role": "sensitive", "domain_bounds": [0, 5]},
            "domain_bounds are for a quasi_identifier",
        ),
        ({"role": "insensitive", "decimals": 0}, "this one is insensitive and released as it is"),
        ({"keep": "hmac", "key": "env:KEY"}, "for a column of role identifier"),
        ({"role": "identifier", "keep": "hmac"}, "keep: hmac and its key .* come together"),
        ({"role": "identifier", "key": "env:KEY"}, "keep: hmac and its key .* come together"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(settings, message):
    with pytest.raises(ValidationError, match=message):
        column(**{"role": "quasi_identifier", **settings})


@pytest.mark.parametrize("key", ["topsecret", 123456789, "ENV:KEY", ["topsecret"]])
def test_a_key_in_the_spec_is_refused_and_not_shown(key):
    with pytest.raises(ValidationError) as caught:
        table({"c": {"role": "identifier", "keep": "hmac", "key": key}})
    assert "expected env:NAME or file:PATH" in str(caught.value)
    assert str(key) not in str(caught.value)


def test_a_key_is_read_where_it_is_named(monkeypatch, tmp_path):
    (tmp_path / "key").write_bytes(b"0123456789abcdef\n")
    monkeypatch.setenv("KEY", "fedcba9876543210")
    for key, secret in (
        ("env:KEY", b"fedcba9876543210"),
        (f"file:{tmp_path}/key", b"0123456789abcdef"),
    ):
        assert column(role="identifier", keep="hmac", key=key).pseudonym_key("c") == secret
    assert column(role="identifier").pseudonym_key("c") is None


def test_a_key_that_is_missing_or_short_is_refused_and_not_shown(monkeypatch):
    monkeypatch.setenv("KEY", "shortsecret")
    with pytest.raises(SpecError, match=r"c\.key: env:KEY holds 11 bytes; expected 16") as caught:
        column(role="identifier", keep="hmac", key="env:KEY").pseudonym_key("c")
    assert "shortsecret" not in str(caught.value)
    with pytest.raises(SpecError, match="can't be read: FileNotFoundError"):
        column(role="identifier", keep="hmac", key="file:/nowhere/key").pseudonym_key("c")


@pytest.mark.parametrize(
    ("control", "value"),
    [
        ("none", None),
        (None, None),
        ("held-out.csv", "held-out.csv"),
        ({"fraction": 0.1}, ControlFraction(fraction=0.1)),
    ],
)
def test_control_records_are_none_a_path_or_a_share(control, value):
    assert InputPart(control=control).control == value


@pytest.mark.parametrize(
    ("population", "value"), [("none", None), (None, None), ("all.csv", "all.csv")]
)
def test_a_population_is_none_or_a_path(population, value):
    assert InputPart(population=population).population == value


def test_a_built_in_data_set_must_exist():
    assert TableInput(path="builtin:magic").is_builtin
    assert not TableInput(path="magic.csv").is_builtin
    with pytest.raises(ValidationError, match="did you mean 'poker-hand'"):
        TableInput(path="builtin:pokerhand")
