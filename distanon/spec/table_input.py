"""`input.table:` where a table lies, and what its columns mean."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pyarrow as pa
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)

from distanon.data.builtin import NAMES
from distanon.data.hierarchy import Hierarchy
from distanon.data.hierarchy_rules import HierarchyRule, Rule
from distanon.data.schema import AttributeType, Role, Schema
from distanon.data.setting_faults import refused, unknown
from distanon.errors import SpecError
from distanon.spec.places import BUILTIN, Place
from distanon.spec.roles import assign_roles
from distanon.storage.csv_text import CsvSettings

_SHORTEST_KEY = 16  # bytes; 128 bits can't be tried through

Scalar = str | int | float | bool


def _key(text: Any) -> Any:
    """Refuses a key that stands in the spec itself, in words that do not repeat it."""
    if text is None:
        return None
    if (
        not isinstance(text, str)
        or not text.startswith(("env:", "file:"))
        or not text.partition(":")[2]
    ):
        raise refused("expected env:NAME or file:PATH, never the key itself (it is not shown)")
    return text


def _bounds(value: tuple[float, float]) -> tuple[float, float]:
    if value[0] >= value[1]:
        raise refused(f"expected [lowest, highest], found [{value[0]:g}, {value[1]:g}]")
    return value


def _hierarchy(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """A rule where it is a mapping, else a place, so that a fault speaks of one of the two."""
    return _RULE.validate_python(value) if isinstance(value, Mapping) else handler(value)


_RULE: TypeAdapter[Rule] = TypeAdapter(HierarchyRule)

HierarchyChoice = Annotated[
    Place | HierarchyRule,
    WrapValidator(_hierarchy, json_schema_input_type=str | HierarchyRule),
]


class Column(BaseModel):
    """What one column means, and how its values are compared and released.

    Attributes:
        role: identifier and subject are dropped; quasi_identifier is what an intruder may know;
            sensitive is what an intruder wants; insensitive is kept as it is.
        type: inferred from the file, and shown, when absent.
        hierarchy: file of a generalization hierarchy: value;level1;level2;… without a heading; or
            a rule that builds one: {build: intervals, widths: [5, 10]}, {build: quantiles,
            groups: [8, 4, 2]}, {build: prefixes, lengths: [3, 1]}, {build: dates, periods:
            [month, year]}, {build: frequency, at_least: [50, 500]}.
        order: all values of an ordinal column, lowest first.
        decimals: digits after the point in the release, of a quasi_identifier.
        domain_bounds: lowest and highest value that the release may hold, of a quasi_identifier.
        top_code: values above it are released as this value.
        keep: hmac releases an identifier as a keyed pseudonym instead of dropping it.
        key: env:NAME or file:PATH, the key of the pseudonym.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    role: Role
    type: AttributeType | None = None
    hierarchy: HierarchyChoice | None = None
    order: Annotated[tuple[Scalar, ...], Field(min_length=2)] | None = None
    decimals: Annotated[int, Field(ge=0, le=15)] | None = None
    domain_bounds: Annotated[tuple[float, float], AfterValidator(_bounds)] | None = None
    top_code: Annotated[float, Field(allow_inf_nan=False)] | None = None
    keep: Literal["hmac"] | None = None
    key: Annotated[str | None, BeforeValidator(_key)] = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.order is not None and self.type not in (None, AttributeType.ORDINAL):
            raise refused(f"an order belongs to an ordinal column, this one is {self.type}")
        if self.order is not None and len(set(self.order)) < len(self.order):
            raise refused("the order names a value twice")
        if self.hierarchy is not None and self.type not in (None, AttributeType.NOMINAL):
            raise refused(f"a hierarchy belongs to a nominal column, this one is {self.type}")
        if self.order is not None and self.hierarchy is not None:
            raise refused("a column has an order or a hierarchy, not both")
        if self.numeric_settings and self.declared_type not in (None, AttributeType.NUMERIC):
            names = ", ".join(self.numeric_settings)
            raise refused(f"{names}: only for a numeric column, this one is {self.declared_type}")
        return self

    @model_validator(mode="after")
    def _fits_its_role(self) -> Self:
        is_bounded = self.domain_bounds is not None or self.decimals is not None
        if is_bounded and self.role is not Role.QUASI_IDENTIFIER:
            # They would do nothing, and whoever wrote them would rely on them.
            raise refused(
                "decimals and domain_bounds are for a quasi_identifier, which a method changes; "
                f"this one is {self.role} and released as it is (top_code works for every role)"
            )
        if self.keep is not None and self.role is not Role.IDENTIFIER:
            raise refused(f"keep: hmac is for a column of role identifier, this one is {self.role}")
        if (self.keep is None) != (self.key is None):
            raise refused("keep: hmac and its key (env:NAME or file:PATH) come together")
        return self

    @property
    def declared_type(self) -> AttributeType | None:
        """The type that the spec states, or that an order or a hierarchy implies."""
        if self.type is not None:
            return self.type
        if self.order is not None:
            return AttributeType.ORDINAL
        return AttributeType.NOMINAL if self.hierarchy is not None else None

    @property
    def numeric_settings(self) -> tuple[str, ...]:
        """The settings in use that only a numeric column can have."""
        values = {
            "decimals": self.decimals,
            "domain_bounds": self.domain_bounds,
            "top_code": self.top_code,
        }
        return tuple(name for name, value in values.items() if value is not None)

    def pseudonym_key(self, where: str) -> bytes | None:
        """The key of the pseudonyms, read now; None for a column that has none.

        Args:
            where: path of the column in the spec, for messages.

        Raises:
            SpecError: it is not there, or too short.
        """
        if self.key is None:
            return None
        kind, _, name = self.key.partition(":")
        if kind == "env":
            secret = os.environ.get(name, "").encode()
        else:
            try:
                secret = Path(name).read_bytes().rstrip(b"\r\n")
            except OSError as error:
                problem = f"{self.key} can't be read: {type(error).__name__}"
                raise SpecError(f"{where}.key: {problem}") from None
        if len(secret) < _SHORTEST_KEY:
            raise SpecError(
                f"{where}.key: {self.key} holds {len(secret)} bytes; expected {_SHORTEST_KEY} or "
                "more from a random source (such as `openssl rand -hex 32`)"
            )
        return secret


def _column(value: Any) -> Any:
    """The short form `X: quasi_identifier` as the long one."""
    return value if isinstance(value, Mapping | Column) else {"role": value}


ColumnChoice = Annotated[Column, BeforeValidator(_column, json_schema_input_type=Column | Role)]


class ControlFraction(BaseModel):
    """A share of the records, taken out before the method starts, for attacks and utility."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fraction: Annotated[float, Field(gt=0, le=0.5)]


def _control(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    if value is None or value == "none":
        return None
    return ControlFraction.model_validate(value) if isinstance(value, Mapping) else handler(value)


ControlChoice = Annotated[
    Place | ControlFraction | None,
    WrapValidator(_control, json_schema_input_type=ControlFraction | str | None),
]


def _none(value: Any) -> Any:
    return None if value == "none" else value


PopulationChoice = Annotated[
    Place | None, BeforeValidator(_none, json_schema_input_type=str | None)
]


class InputSettings(BaseModel):
    """What a table and a graph share.

    Attributes:
        columns: role and settings of every column, by its name in the file.
        default_role: of the columns that are not listed; without it they are an error.
        missing: own_category: a value like any other; error: refused.
        confirm_unique: insensitive columns that may be unique for more than 5 % of the rows.
        csv: how CSV files are written; null: detected and shown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    columns: Mapping[str, ColumnChoice] = Field(default_factory=dict)
    default_role: Role | None = None
    missing: Literal["own_category", "error"] = "own_category"
    confirm_unique: tuple[str, ...] = ()
    csv: CsvSettings = CsvSettings()

    @property
    def hierarchies(self) -> Mapping[str, str]:
        """The path of each column's hierarchy file."""
        return {
            name: column.hierarchy
            for name, column in self.columns.items()
            if isinstance(column.hierarchy, str)
        }

    @property
    def hierarchy_rules(self) -> Mapping[str, Rule]:
        """The rule that builds each column's hierarchy."""
        return {
            name: column.hierarchy
            for name, column in self.columns.items()
            if isinstance(column.hierarchy, Rule)
        }


class TableInput(InputSettings):
    """A table: one file, a glob, or a folder of parts.

    Attributes:
        path: builtin:NAME, a local path, s3://… or any fsspec URL; .parquet, .csv or .csv.gz.
    """

    path: Place

    @field_validator("path")
    @classmethod
    def _builtin_exists(cls, path: str) -> str:
        name = path.removeprefix(BUILTIN)
        if path.startswith(BUILTIN) and name not in NAMES:
            raise refused(unknown(name, "built-in data set", NAMES))
        return path

    @property
    def is_builtin(self) -> bool:
        """Whether the package ships the data."""
        return self.path.startswith(BUILTIN)

    def schema_for(
        self,
        arrow_schema: pa.Schema,
        source: str,
        hierarchies: Mapping[str, Hierarchy] | None = None,
    ) -> Schema:
        """The schema of a table that was opened.

        Args:
            arrow_schema: names and types as in the files.
            source: what the table is called in messages.
            hierarchies: by column, read from the files or built by the rules.

        Raises:
            SpecError: all columns that are not in the files, have no role, or have settings
                that their type can't have.
            InputError: the files name a column twice, or as distanon's own.
        """
        return assign_roles(self, arrow_schema, source, hierarchies or {})
