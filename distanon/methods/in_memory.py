"""A release of a table in memory: what `Method.anonymize` does around `Method.release`."""

from __future__ import annotations

import contextlib
import inspect
import secrets
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa

from distanon.data.column_settings import ColumnSettings
from distanon.data.domain import scan
from distanon.data.evidence import Evidence
from distanon.data.frames import name_of, read_frame, write_frame
from distanon.data.guesses import risky_guesses
from distanon.data.hierarchy import Hierarchy
from distanon.data.hierarchy_rules import HierarchyLike, counted_values, rule_of
from distanon.data.release import Release, publishable_schema, sort_for_release
from distanon.data.schema import SOURCE, Attribute, AttributeType, Role, Schema, infer_type
from distanon.data.streams import Streams
from distanon.data.table import Dataset, MemoryPartition, MemoryScratch, cut
from distanon.data.uniqueness import refuse_unique
from distanon.errors import InputError, PromiseBrokenError, SpecError
from distanon.methods.base import BLOCKS_PER_WORKER, Context, Method
from distanon.promises.base import Promise
from distanon.runtime.crew import Crew, SerialCrew

_PACKAGE = str(Path(__file__).parents[1])


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of `Method.anonymize` beside the data."""

    roles: Mapping[Role, Sequence[str]]
    types: Mapping[str, AttributeType | str]
    hierarchies: Mapping[str, HierarchyLike]
    promises: Mapping[str, Promise | Mapping[str, Any] | None]
    seed: int | None
    workers: int | None
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    confirm_unique: Sequence[str] = ()


class Warnings:
    """Progress of a call from Python: what the user must see is a warning."""

    def start(self, phase: str, total: int) -> None:
        """Says nothing."""

    def advance(self, items: int = 1) -> None:
        """Says nothing."""

    def note(self, message: str) -> None:
        """Warns, at the line that asked distanon for the release."""
        frame: FrameType | None = inspect.currentframe()
        level = 1
        while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
            frame, level = frame.f_back, level + 1
        warnings.warn(message, UserWarning, stacklevel=level)


def anonymize(method: Method, data: Any, request: Request) -> Release:
    """As `Method.anonymize`."""
    source, table = name_of(data), read_frame(data)
    workers = workers_of(request.workers)
    streams = Streams(seed_of(request.seed))
    promises = promises_of(method, request.promises)
    pieces = cut(table, workers * BLOCKS_PER_WORKER)
    dataset = Dataset(schema_of(table, request, source), pieces, source)
    dataset = replace(dataset, domain=scan(dataset))
    refuse_unique(dataset, request.confirm_unique, "confirm_unique")
    check_promises(method, promises, dataset.schema)
    method.check(dataset, promises)
    progress = Warnings()
    for guess in risky_guesses(dataset):
        progress.note(guess)
    with crew_of(workers, progress, method.loads()) as crew:
        blocks = workers * BLOCKS_PER_WORKER
        context = Context(crew, MemoryScratch(), streams, progress, blocks)
        release = method.release(dataset, promises, context)
        whole = pa.concat_tables([piece.read() for piece in release.pieces])
        published, sources = sort_for_release(whole)
        schema = publishable_schema(release.schema)
        released = Dataset(schema, (MemoryPartition(published),), "the release")
        evidence = Evidence(released, dataset, sources, replicates=method.replicates)
        verify_release(promises, evidence, crew)
    return replace(release, data=write_frame(published, data))


def schema_of(table: pa.Table, request: Request, source: str) -> Schema:
    """The columns with their roles.

    Raises:
        InputError: columns without a role or with two, and names that are no column.
    """
    role_of = {
        name: role
        for role, names in request.roles.items()
        for name in _listed(f"the role {role}", names)
    }
    _check_roles(table.column_names, request, source)
    return Schema(tuple(_attribute(one, role_of[one.name], table, request) for one in table.schema))


def _listed(what: str, names: Sequence[str]) -> Sequence[str]:
    if isinstance(names, str):
        raise InputError(f"expected a list of columns for {what}, got one name {names!r}")
    return names


def _check_roles(columns: Sequence[str], request: Request, source: str) -> None:
    named = [name for names in request.roles.values() for name in names]
    faults = []
    confirmed = _listed("confirm_unique", request.confirm_unique)
    mentioned = [*request.types, *request.hierarchies, *request.columns, *confirmed]
    for name in dict.fromkeys([*named, *mentioned]):
        if name not in columns:
            close = get_close_matches(str(name), columns, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            faults.append(f"{source} has no column {name!r}{hint}")
    faults += [
        f"column {n!r} has several roles" for n, times in Counter(named).items() if times > 1
    ]
    without = [name for name in columns if name not in named]
    if without:
        listed = ", ".join(repr(name) for name in without)
        faults.append(
            f"{source}: no role for {listed}; name every column as quasi_identifiers, sensitive, "
            "insensitive (kept as it is), identifiers or subject (dropped)"
        )
    if SOURCE in columns:
        faults.append(f"{source}: the column name {SOURCE!r} is reserved; rename the column")
    if faults:
        raise InputError("\n".join(faults))


def _attribute(column: pa.Field, role: Role, table: pa.Table, request: Request) -> Attribute:
    name = column.name
    stated = request.hierarchies.get(name)
    hierarchy = _hierarchy(stated, name, table)
    settings = ColumnSettings.read(name, request.columns.get(name, {}))
    implied = AttributeType.ORDINAL if settings.order is not None else None
    declared = request.types.get(name, AttributeType.NOMINAL if stated else implied)
    try:
        kind = infer_type(column.type) if declared is None else AttributeType(declared)
    except ValueError:
        known = ", ".join(AttributeType)
        raise InputError(f"types[{name!r}]: expected one of {known}, got {declared!r}") from None
    if hierarchy is not None and kind is not AttributeType.NOMINAL:
        raise InputError(
            f"types[{name!r}]: a hierarchy is for a nominal column, this one is {kind}"
        )
    attribute = Attribute(
        name,
        role,
        kind,
        column.type,
        order=_order(table.column(name)) if kind is AttributeType.ORDINAL else None,
        hierarchy=hierarchy,
        declared=declared is not None,
    )
    return settings.applied(attribute)


def _hierarchy(
    stated: HierarchyLike | None,
    name: str,
    table: pa.Table,
) -> Hierarchy | None:
    if stated is None or isinstance(stated, Hierarchy):
        return stated
    if isinstance(stated, Mapping):
        rule = rule_of(stated, f"hierarchies[{name!r}]")
        return rule.hierarchy(counted_values([MemoryPartition(table)], name), name, "the table")
    return Hierarchy.from_rows(stated, f"the hierarchy of {name!r}")


def _order(column: pa.ChunkedArray) -> tuple[Any, ...] | None:
    """The order that a dictionary states (an ordered categorical); None: the natural one."""
    if not pa.types.is_dictionary(column.type) or not column.type.ordered:
        return None
    values = column.unify_dictionaries().chunk(0).dictionary if column.num_chunks else pa.array([])
    return tuple(values.to_pylist())


def promises_of(
    method: Method, asked: Mapping[str, Promise | Mapping[str, Any] | None]
) -> dict[str, Promise]:
    """The method's default promises with what was asked beside or instead.

    Raises:
        SpecError: a promise that does not exist, that the method can't be asked for, or whose
            settings are wrong.
    """
    from distanon.promises.asking import asked_promises

    promises = dict(method.default_promises())
    for name, promise in asked_promises(asked).items():
        if promise is None:
            promises.pop(name, None)
        elif name in method.keeps:
            promises[name] = promise
        else:
            known = ", ".join(sorted(method.keeps)) or "none"
            raise SpecError(f"promises.{name}: {method.name} can't be asked for it; known: {known}")
    return promises


def check_promises(method: Method, promises: Mapping[str, Promise], schema: Schema) -> None:
    """Refuses what can't be kept on these columns, before any work."""
    faults = [fault for promise in promises.values() for fault in promise.faults(schema)]
    if not method.keeps_bounds:
        faults += [
            f"columns[{one.name!r}].domain_bounds: {method.name} moves values out of any bounds"
            for one in schema
            if one.domain_bounds is not None
        ]
    if faults:
        raise SpecError(*faults)


def verify_release(promises: Mapping[str, Promise], evidence: Evidence, crew: Crew) -> None:
    """Refuses a release that does not keep its promises."""
    from distanon.promises.gate import verify
    from distanon.promises.wording import refusal

    told = refusal(promises, verify(promises, evidence, crew))
    if told:
        raise PromiseBrokenError(f"no release was made: it would break its promises\n{told}")


def seed_of(seed: int | None) -> int:
    """The seed that was asked for, or a secret one.

    Raises:
        SpecError: no such number.
    """
    if seed is None:
        return secrets.randbits(128)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise SpecError("seed: expected an integer of at least 0, or None")
    return seed


def workers_of(workers: int | None) -> int:
    """How many were asked for.

    Raises:
        SpecError: no such number.
    """
    if workers is None:
        return 1
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise SpecError(f"workers: expected a number of at least 1, or None, got {workers!r}")
    return workers


@contextlib.contextmanager
def crew_of(
    workers: int, progress: Warnings, loads: Sequence[Callable[[], None]]
) -> Iterator[Crew]:
    """This process, or Ray workers, each of which runs some functions as it starts."""
    if workers == 1:
        yield SerialCrew(progress)
        return
    from distanon.runtime import crew
    from distanon.runtime.settings import RuntimeSettings

    with crew(RuntimeSettings(workers=workers), progress, loads) as opened:
        yield opened
