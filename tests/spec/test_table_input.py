import pyarrow as pa
import pytest
from pydantic import TypeAdapter, ValidationError

from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import AttributeType, Role
from distanon.errors import InputError, SpecError
from distanon.spec.table_input import ColumnChoice, ControlFraction, TableInput

FILE = pa.schema(
    [
        ("age", pa.int64()),
        ("job", pa.string()),
        ("smoker", pa.bool_()),
        ("pay", pa.float64()),
        ("id", pa.string()),
    ]
)


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
    assert table({}, control=control).control == value


def test_a_schema_keeps_the_order_of_the_file_and_infers_types():
    settings = table(
        {
            "pay": {"role": "sensitive", "domain_bounds": [0, 100], "top_code": 90, "decimals": 1},
            "job": {"role": "quasi_identifier", "order": ["low", "high"]},
            "id": "identifier",
        },
        default_role="quasi_identifier",
    )
    schema = settings.schema_for(FILE, "t.csv")
    assert [each.name for each in schema] == FILE.names
    assert [each.role for each in schema] == [
        Role.QUASI_IDENTIFIER,
        Role.QUASI_IDENTIFIER,
        Role.QUASI_IDENTIFIER,
        Role.SENSITIVE,
        Role.IDENTIFIER,
    ]
    assert schema["age"].type is AttributeType.NUMERIC
    assert schema["job"].type is AttributeType.ORDINAL
    assert schema["smoker"].type is AttributeType.BINARY
    assert schema["job"].order == ("low", "high")
    assert schema["pay"].domain_bounds == (0, 100)
    assert (schema["pay"].top_code, schema["pay"].decimals) == (90, 1)
    assert [each.arrow_type for each in schema] == FILE.types
    assert [each.name for each in schema if each.declared] == ["job"]
    assert [each.name for each in schema.published] == ["age", "job", "smoker", "pay"]


def test_a_pseudonym_key_reaches_the_schema(monkeypatch):
    monkeypatch.setenv("KEY", "fedcba9876543210")
    columns = {"id": {"role": "identifier", "keep": "hmac", "key": "env:KEY"}}
    schema = table(columns, default_role="quasi_identifier").schema_for(FILE, "t.csv")
    assert schema["id"].pseudonym_key == b"fedcba9876543210"
    assert schema["id"].is_published


def test_a_hierarchy_that_was_read_reaches_the_schema():
    settings = table(
        {"job": {"role": "quasi_identifier", "hierarchy": "h.csv"}}, default_role="insensitive"
    )
    hierarchy = Hierarchy((("low", "*"), ("high", "*")))
    assert settings.hierarchies == {"job": "h.csv"}
    assert settings.schema_for(FILE, "t.csv", {"job": hierarchy})["job"].hierarchy == hierarchy


def faults_of(settings, schema=FILE):
    with pytest.raises(SpecError) as caught:
        settings.schema_for(schema, "t.csv")
    return caught.value.faults


def test_all_faults_of_columns_are_told_at_once():
    settings = table(
        {
            "agee": "quasi_identifier",
            "job": {"role": "quasi_identifier", "top_code": 3},
            "smoker": "sensitive",
        },
        confirm_unique=["smokr", "smoker"],
    )
    advice = "list every column, or set input.table.default_role"
    assert faults_of(settings) == (
        "input.table.columns.agee: t.csv has no such column; did you mean 'age'?",
        "input.table.confirm_unique: t.csv has no column 'smokr'; did you mean 'smoker'?",
        f"input.table.columns: no role for age, pay, id; {advice}",
        "input.table.columns.job: top_code: only for a numeric column, this one is nominal",
        "input.table.confirm_unique: 'smoker' is sensitive, expected insensitive",
    )


def test_a_header_that_knows_no_column_is_not_quoted():
    """The first row of a file without a header is data."""
    header = pa.schema([("Meier", pa.string()), ("39", pa.int64())])
    for columns in ({"age": "quasi_identifier"}, {}):
        (fault,) = faults_of(table(columns), header)
        assert "Meier" not in fault
        assert "2" in fault


def test_a_long_list_of_columns_without_a_role_is_cut():
    schema = pa.schema([(f"c{number}", pa.int64()) for number in range(30)])
    (fault,) = faults_of(table({"c0": "quasi_identifier"}), schema)
    assert "c20 and 9 more" in fault
    assert "c21" not in fault


def test_a_table_without_quasi_identifiers_is_refused():
    (fault,) = faults_of(table({"age": "sensitive"}, default_role="insensitive"))
    assert "no column is a quasi_identifier" in fault


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b", "a"], "columns 1, 3 share their name"),
        (["a", "__source__"], "__source__ is distanon's own"),
        (["a", " "], "column 2 has no name"),
    ],
)
def test_a_header_that_can_not_be_told_apart_is_refused(names, message):
    schema = pa.schema([pa.field(name, pa.int64()) for name in names])
    with pytest.raises(InputError, match=message):
        table({}, default_role="quasi_identifier").schema_for(schema, "t.csv")


def test_a_built_in_data_set_must_exist():
    assert TableInput(path="builtin:magic").is_builtin
    assert not TableInput(path="magic.csv").is_builtin
    with pytest.raises(ValidationError, match="did you mean 'poker-hand'"):
        TableInput(path="builtin:pokerhand")
