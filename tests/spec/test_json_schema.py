from pydantic import BaseModel, Field

from distanon.spec import JobSpec
from distanon.spec.json_schema import json_schema, settings_described


class Part(BaseModel):
    """A part.

    More about it.

    Attributes:
        first: what it is,
            on two lines.
        second: not shown, since the field says it.
        absent: no field.

    Raises:
        third: no setting.
    """

    first: int = 1
    second: int = Field(2, description="of the field")
    third: int = 3


class Whole(BaseModel):
    part: Part


def test_descriptions_of_a_docstring_stand_at_its_settings():
    schema = json_schema(Whole)["$defs"]["Part"]
    assert schema["description"] == "A part.\n\nMore about it."
    texts = {name: part.get("description") for name, part in schema["properties"].items()}
    assert texts == {"first": "what it is, on two lines.", "second": "of the field", "third": None}


def test_a_docstring_without_attributes_describes_nothing():
    assert settings_described("A line.\n\nArgs:\n    a: b\n") == {}


def test_every_part_of_a_job_spec_is_in_its_schema_with_a_description():
    schema = json_schema(JobSpec)
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == {"spec", "name", "input", "method", "output"}
    assert all(part["description"] for part in schema["properties"].values())
    assert {"TableInput", "GraphInput", "Column", "DPTPE", "RBT"} <= set(schema["$defs"])
