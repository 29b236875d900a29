"""The registries of methods and promises as parts of a spec."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    WrapValidator,
    create_model,
)

from distanon.data.setting_faults import refused, unknown
from distanon.methods import METHODS
from distanon.methods.base import Method
from distanon.promises import PROMISES
from distanon.promises.base import Promise


def _method(value: Any, _: Any) -> Method:
    """A method from its mapping, or from its name alone."""
    if isinstance(value, Method):
        return value
    settings = {"name": value} if isinstance(value, str) else value
    if not isinstance(settings, Mapping):
        raise refused("expected the name of a method, or a mapping such as {name: dptpe, k: 10}")
    if "name" not in settings:
        raise refused(f"the method's name is missing; expected one of {', '.join(METHODS)}")
    name = settings["name"]
    if not isinstance(name, str) or name not in METHODS:
        raise refused(unknown(name, "method", METHODS))
    return METHODS[name].model_validate(settings)


if TYPE_CHECKING:
    MethodChoice = Method
else:
    _Methods = reduce(or_, METHODS.values())
    MethodChoice = Annotated[
        _Methods,
        WrapValidator(_method, json_schema_input_type=_Methods | str),
    ]
    """`method:` and the entries of `compare:`: discriminated by `name`."""


class _PromiseParts(BaseModel):
    """What was written under `promises:`; null takes a default promise away."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @property
    def asked(self) -> Mapping[str, Promise | None]:
        """The promises that the spec writes, by name; None where it takes one away."""
        return {name: getattr(self, name) for name in PROMISES if name in self.model_fields_set}


def _parameters(name: str, value: Any) -> Any:
    if value is None or isinstance(value, Mapping | Promise):
        return value
    fields = ", ".join(f"{field}: …" for field in PROMISES[name].model_fields)
    raise refused(f"expected its parameters, such as {{{fields}}}, or null to remove it")


if TYPE_CHECKING:
    PromiseChoices = _PromiseParts
else:
    PromiseChoices = create_model(
        "PromiseChoices",
        __module__=__name__,
        __base__=_PromiseParts,
        __doc__=_PromiseParts.__doc__,
        **{
            name: (Annotated[promise | None, BeforeValidator(partial(_parameters, name))], None)
            for name, promise in PROMISES.items()
        },
    )
