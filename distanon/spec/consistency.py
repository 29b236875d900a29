"""Faults that lie between the parts of a spec, each with the path of the part to change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from distanon.data.setting_faults import shown
from distanon.methods import METHODS
from distanon.methods.base import Method
from distanon.spec.graph_input import GraphInput
from distanon.spec.places import BUILTIN, contains, folder_of, is_remote

_SHARED = (("k_anonymity", "k"), ("l_diversity", "l"), ("t_closeness", "t"), ("copies", "k"))
"""Parameters that a method and a promise may both state, and then alike."""

Fault = tuple[tuple[str, ...], str]
"""Path and message."""


def faults_between(parts: Mapping[str, Any]) -> Iterator[Fault]:
    """The faults across the parts of a spec.

    Args:
        parts: the parts that are right by themselves, by name; the others are left out.
    """
    yield from _input_faults(parts)
    yield from _kind_faults(parts)
    yield from _place_faults(parts)
    yield from _promise_faults(parts)
    yield from _bounds_faults(parts)
    yield from _comparison_faults(parts)


def _input_faults(parts: Mapping[str, Any]) -> Iterator[Fault]:
    source = parts.get("input")
    if source is None:
        return
    if source.graph is None and source.table is None:
        yield ("input",), "missing: table (or graph), with the path and the columns of the data"
    if source.graph is not None and source.table is not None:
        yield ("input",), "a spec has a table or a graph, not both"


def _kind_faults(parts: Mapping[str, Any]) -> Iterator[Fault]:
    """Methods for tables on a graph, and the other way round."""
    source = parts.get("input")
    if source is None or (source.graph is None) == (source.table is None):
        return
    kind = "table" if source.graph is None else "graph"
    fitting = ", ".join(name for name, method in METHODS.items() if method.kind == kind)
    named = [(("method", "name"), parts.get("method"))]
    named += [
        (("compare", str(place)), other) for place, other in enumerate(parts.get("compare") or ())
    ]
    for path, method in named:
        if isinstance(method, Method) and method.kind != kind:
            message = f"{method.name} is for {method.kind}s, and the input is a {kind}"
            yield path, f"{message}; methods for {kind}s: {fitting}"
    if kind == "graph" and getattr(source, "control", None) is not None:
        yield ("input", "control"), "records can be held out of a table, not out of a graph"
    if kind == "graph" and getattr(source, "population", None) is not None:
        yield ("input", "population"), "a population is compared with a table, not with a graph"


def _place_faults(parts: Mapping[str, Any]) -> Iterator[Fault]:
    output, private = parts.get("output"), parts.get("private")
    if output is not None and private is None and "private" in parts and is_remote(output):
        yield ("private",), "missing: required when the output is remote; it must not be public"
    if output is not None and private is not None:
        yield from _nested(output, private)
    for path in _inputs(parts.get("input")):
        if output is not None and contains(output, folder_of(path)):
            yield ("output",), f"the input {shown(path)} lies inside it, and an output is public"
        for name, place in (("output", output), ("private", private)):
            if place is not None and contains(path, place):
                # The next run would read its files as parts of the input.
                yield (name,), f"lies inside the input folder {shown(path)}"


def _inputs(source: Any) -> Iterator[str]:
    """The files that a job reads, those of the package left out."""
    table, control = getattr(source, "table", None), getattr(source, "control", None)
    paths = [control] if isinstance(control, str) else []
    population = getattr(source, "population", None)
    paths += [population] if isinstance(population, str) else []
    if table is not None:
        paths += [table.path, *table.hierarchies.values()]
    graph = getattr(source, "graph", None)
    if isinstance(graph, GraphInput):
        paths += [*graph.files, *graph.hierarchies.values()]
    yield from (path for path in paths if not path.startswith(BUILTIN))


def _nested(output: str, private: str) -> Iterator[Fault]:
    if contains(output, private):
        relation = "lies inside" if not contains(private, output) else "is"
        yield (
            ("private",),
            f"{shown(private)} {relation} the output {shown(output)}, which is public",
        )
    elif contains(private, output):
        yield ("output",), f"{shown(output)} lies inside the private prefix {shown(private)}"


def _promise_faults(parts: Mapping[str, Any]) -> Iterator[Fault]:
    method, promises = parts.get("method"), parts.get("promises")
    if not isinstance(method, Method) or promises is None:
        return
    for name, promise in promises.asked.items():
        if promise is not None and name not in method.keeps:
            can = ", ".join(sorted(method.keeps)) or "none"
            yield ("promises", name), f"{method.name} can't be asked to keep it; it can keep: {can}"
    for name, parameter in _SHARED:
        promise = promises.asked.get(name)
        of_method = getattr(method, parameter, None)
        if promise is None or of_method is None or name not in method.keeps:
            continue
        of_promise = getattr(promise, parameter)
        if of_promise != of_method:
            yield (
                ("promises", name, parameter),
                f"found {of_promise}, but method.{parameter} is {of_method}; they must agree",
            )


def _bounds_faults(parts: Mapping[str, Any]) -> Iterator[Fault]:
    """Bounds that the release would not keep; compared methods are never published."""
    method, table = parts.get("method"), getattr(parts.get("input"), "table", None)
    if not isinstance(method, Method) or method.keeps_bounds or table is None:
        return
    for name, column in table.columns.items():
        if column.domain_bounds is not None:
            yield (
                ("input", "table", "columns", name, "domain_bounds"),
                f"{method.name} moves values out of any bounds; leave them out, or take another",
            )


def _comparison_faults(parts: Mapping[str, Any]) -> Iterator[Fault]:
    method, others = parts.get("method"), parts.get("compare")
    if others is None:
        return
    for place, other in enumerate(others):
        if other == method:
            yield ("compare", str(place)), "the same as the method of the release"
        elif other in others[:place]:
            yield ("compare", str(place)), f"the same as compare.{others.index(other)}"
