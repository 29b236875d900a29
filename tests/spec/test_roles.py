import pyarrow as pa
import pytest

from distanon.data.hierarchy import Hierarchy
from distanon.data.schema import AttributeType, Role
from distanon.errors import InputError, SpecError
from distanon.spec.table_input import TableInput

FILE = pa.schema(
    [
        ("age", pa.int64()),
        ("job", pa.string()),
        ("smoker", pa.bool_()),
        ("pay", pa.float64()),
        ("id", pa.string()),
    ]
)


def table(columns, **settings):
    return TableInput.model_validate({"path": "t.csv", "columns": columns, **settings})


def test_a_schema_keeps_the_order_of_the_file_and_infers_types():
    settings = table(
        {
            "pay": {"role": "sensitive", "top_code": 90},
            "age": {"role": "quasi_identifier", "domain_bounds": [0, 100], "decimals": 1},
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
    assert (schema["age"].domain_bounds, schema["age"].decimals) == ((0, 100), 1)
    assert schema["pay"].top_code == 90
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
