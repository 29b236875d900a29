"""The job spec: everything that a run is told (contract: the format of version 1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, cast

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    model_validator,
)
from pydantic_core import InitErrorDetails

from distanon.data.setting_faults import between, once_more
from distanon.errors import SpecError
from distanon.methods.base import Method
from distanon.promises.base import Promise
from distanon.runtime.settings import RuntimeSettings
from distanon.spec.choices import MethodChoice, PromiseChoices
from distanon.spec.consistency import faults_between
from distanon.spec.graph_input import GraphInput
from distanon.spec.places import RUN_ID, Place
from distanon.spec.seed import WEAK_BELOW, Seed, SeedChoice
from distanon.spec.table_input import ControlChoice, PopulationChoice, TableInput
from distanon.storage.store import StorageSettings

_FROZEN = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
_NO_PART_OF_A_RUN = {"runtime"}
"""Settings that may differ when a run is resumed: they never change a bit of the release."""

_NEVER_PUBLIC = {"sigma"}
"""Parameters that tell how far values moved."""


class InputPart(BaseModel):
    """What is anonymized: a table or a graph.

    Attributes:
        table: records in rows.
        graph: nodes and edges.
        control: records held out for attacks and utility: none, a path, or a fraction.
        population: a table of all people among whom those of the input are, with at least its
            quasi-identifiers, for the risk of being found in it (k-map): none, or a path.
    """

    model_config = _FROZEN

    table: TableInput | None = None
    graph: GraphInput | None = None
    control: ControlChoice = None
    population: PopulationChoice = None


class MeasureSettings(BaseModel):
    """How thoroughly a release is attacked and measured.

    Attributes:
        attacks: standard fits about a minute; full has more draws and sharper intervals.
        draws: of random parts of attacks and measures.
        budget_s: seconds after which the rest is left out, and named.
    """

    model_config = _FROZEN

    attacks: Literal["standard", "full"] = "standard"
    draws: Annotated[int, Field(ge=1)] = 10
    budget_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 600


class JobSpec(BaseModel):
    """One job; `load` reads it from a file.

    Attributes:
        spec: version of this format.
        name: of the job, and the first part of its run ids.
        seed: null: 128 bits from the operating system | an integer | env:NAME | file:PATH.
        input: what is anonymized.
        method: how the release is made.
        promises: checked on the written release before it is published.
        compare: methods that run privately on the same data, to be measured beside the release;
            an entry of the release's own method takes what it does not state from `method`.
        measure: how thoroughly the release is attacked.
        output: where the release goes. Public.
        output_format: of the released files.
        keep_mapping: keep, privately, which record became which row.
        private: where everything else goes; `${RUN_ID}` stands for the run's id.
        runtime: workers and cluster.
        storage: of both prefixes; never a credential.
        sweep: values to combine, by the path of a setting; for `submit`, not for `run`.
    """

    model_config = _FROZEN

    spec: Literal[1]
    name: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,63}$")]
    seed: SeedChoice = Seed()
    input: InputPart
    method: MethodChoice
    promises: PromiseChoices = Field(default_factory=PromiseChoices)
    compare: tuple[MethodChoice, ...] = ()
    measure: MeasureSettings = MeasureSettings()
    output: Place
    output_format: Literal["parquet", "csv"] = "parquet"
    keep_mapping: bool = False
    private: Place | None = None
    runtime: RuntimeSettings = RuntimeSettings()
    storage: StorageSettings = StorageSettings()
    sweep: Mapping[str, Annotated[tuple[Any, ...], Field(min_length=1)]] | None = None

    @model_validator(mode="wrap")
    @classmethod
    def _all_faults_at_once(cls, data: Any, handler: ValidatorFunctionWrapHandler) -> Self:
        """Faults of parts and faults between parts together."""
        if not isinstance(data, Mapping):
            return cast("Self", handler(data))
        complete = _with_inherited_settings(data)
        errors: list[InitErrorDetails] = []
        spec: Self | None = None
        try:
            spec = handler(complete)
        except ValidationError as error:
            errors += [each for each in once_more(error) if not _is_inherited(each, data)]
        parts = _right_parts(cls, complete) if spec is None else dict(spec)
        errors += [between(path, message) for path, message in faults_between(parts)]
        if errors or spec is None:
            raise ValidationError.from_exception_data(cls.__name__, errors, hide_input=True)
        return spec

    @property
    def table(self) -> TableInput:
        """The table that is anonymized."""
        if self.input.table is None:
            raise SpecError("input.graph: this is a graph; expected input.table")
        return self.input.table

    @property
    def graph(self) -> GraphInput:
        """The graph that is anonymized."""
        if self.input.graph is None:
            raise SpecError("input.table: this is a table; expected input.graph")
        return self.input.graph

    @property
    def run_id(self) -> str:
        """The job's name and a digest of its spec, never of the data.

        The digest (12 hexadecimal digits) covers every setting that was written or overridden,
        without comments, layout, and `runtime`. It covers the seed too, so it stays private.
        """
        written = {
            name: value for name, value in self._written().items() if name not in _NO_PART_OF_A_RUN
        }
        text = json.dumps(written, sort_keys=True, ensure_ascii=False)
        return f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def private_prefix(self, run_id: str | None = None) -> str:
        """Where the private files of a run go; `./private/NAME/RUN-ID` by default."""
        run = run_id or self.run_id
        if self.private is None:
            return f"./private/{self.name}/{run}/"
        return self.private.replace(RUN_ID, run)

    def resolve_seed(self) -> int:
        """The seed as a non-negative integer; a new one on every call when the spec names none.

        Raises:
            SpecError: the variable or file that should hold it does not.
        """
        return self.seed.resolve()

    def seed_warning(self, seed: int) -> str | None:
        """What is to be said about a seed that can be guessed on data that is not built in."""
        is_weak = self.seed.source != "system" and seed < WEAK_BELOW
        source = self.input.table or self.graph
        if not is_weak or source.is_builtin:
            return None
        return (
            "seed: below 2^64, so an intruder can try all seeds and undo what is random in the "
            "release; leave it out (null), or name 128 random bits with env:NAME or file:PATH"
        )

    def effective_promises(self) -> tuple[dict[str, Promise], list[str]]:
        """The promises of this release: the method's own, changed by what the spec asks.

        Returns:
            The promises by name, and the names of the defaults that the spec took away.
        """
        promises = dict(self.method.default_promises())
        removed: list[str] = []
        for name, asked in self.promises.asked.items():
            if asked is not None:
                promises[name] = asked
            elif promises.pop(name, None) is not None:
                removed.append(name)
        return promises, removed

    def comparisons(self) -> dict[str, Method]:
        """The compared methods by a label: "rbt", "dptpe (rule: krad)"."""
        return {_label(other, self.method): other for other in self.compare}

    def require_single_run(self) -> None:
        """Refuses a spec that stands for many runs.

        Raises:
            SpecError: it has a sweep.
        """
        if self.sweep:
            keys = ", ".join(self.sweep)
            raise SpecError(
                f"sweep: one run makes one release, and this spec varies {keys}; a sweep is for "
                "`distanon submit`. To run one of its cases: --set sweep=null --set PATH=VALUE"
            )

    def public_dict(self) -> dict[str, Any]:
        """What the spec gives to release.json: method, public parameters, promises."""
        promises, removed = self.effective_promises()
        return {
            "method": {"name": self.method.name, **self.public_parameters()},
            "promises": {name: promise.asked() for name, promise in promises.items()},
            "removed_promises": removed,
        }

    def public_parameters(self) -> dict[str, Any]:
        """The method's parameters as anybody may see them."""
        return {
            name: "given" if name in _NEVER_PUBLIC and value != "auto" else value
            for name, value in self.method.parameters().items()
        }

    def private_dict(self) -> dict[str, Any]:
        """The spec for run.json, defaults included; of the seed only where it comes from."""
        return self.model_dump(mode="json")

    def to_yaml(self) -> str:
        """The spec as a file that `load` reads back. Holds the seed: for private places alone."""
        return str(yaml.safe_dump(self._written(), sort_keys=False, allow_unicode=True))

    def _written(self) -> dict[str, Any]:
        """The settings that were written, the seed among them."""
        return self.model_dump(mode="json", exclude_unset=True, context={"with_seed": True})


def _with_inherited_settings(data: Mapping[str, Any]) -> dict[str, Any]:
    """Entries of `compare` complete: those of the release's method start from its settings."""
    method, others = data.get("method"), data.get("compare")
    if not isinstance(method, Mapping) or not isinstance(others, list | tuple):
        return dict(data)
    completed = [
        {**method, **other}
        if isinstance(other, Mapping) and other.get("name") == method.get("name")
        else other
        for other in others
    ]
    return {**data, "compare": completed}


def _is_inherited(error: InitErrorDetails, data: Mapping[str, Any]) -> bool:
    """Whether the fault of an entry of `compare` is the method's own, reported there."""
    part, *steps = error["loc"]
    if part != "compare" or len(steps) < 2:
        return False
    entry, method = data["compare"][steps[0]], data.get("method")
    return (
        isinstance(entry, Mapping)
        and isinstance(method, Mapping)
        and entry.get("name") == method.get("name")
        and steps[1] not in entry
    )


def _right_parts(model: type[JobSpec], data: Mapping[str, Any]) -> dict[str, Any]:
    """The parts that are right by themselves, defaults for those that were not written."""
    parts: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if name not in data:
            if not field.is_required():
                parts[name] = field.get_default(call_default_factory=True)
            continue
        try:
            parts[name] = TypeAdapter(field.rebuild_annotation()).validate_python(data[name])
        except ValidationError:
            continue
    return parts


def _label(other: Method, released: Method) -> str:
    """The method's name and what sets it apart: from the release's own, or from the defaults."""
    if isinstance(other, type(released)):
        settings = {
            name: value
            for name, value in other.parameters().items()
            if value != released.parameters().get(name)
        }
    else:
        settings = {
            name: value
            for name, value in other.parameters().items()
            if name in other.model_fields_set
        }
    if not settings:
        return other.name
    return f"{other.name} ({', '.join(f'{name}: {value}' for name, value in settings.items())})"
