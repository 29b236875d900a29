"""Judges a release: the promises, the attacks and the utility measures, by name."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from distanon.attacks import (
    attribute,
    composition,
    identity,
    inversion,
    link,
    membership,
    minimality,
    neighbor_majority,
    similarity,
    structural,
)
from distanon.data.evidence import Evidence
from distanon.data.graph_evidence import GraphEvidence
from distanon.data.measurement import Measurement
from distanon.data.schema import Attribute, Role
from distanon.data.streams import Streams
from distanon.data.supernode_evidence import SupernodeEvidence
from distanon.errors import InputError
from distanon.promises.base import Promise, Verdict
from distanon.promises.gate import verify as verify_promises
from distanon.promises.k_anonymity import KAnonymity
from distanon.promises.l_diversity import LDiversity
from distanon.promises.reached import reached
from distanon.promises.t_closeness import TCloseness
from distanon.promises.tables import tables_over
from distanon.runtime.crew import Crew
from distanon.sharded.large import is_large, of_some_rows, some_rows
from distanon.utility import (
    class_sizes,
    classification,
    cluster_loss,
    clustering,
    generalization_loss,
    information_loss,
    neighborhoods,
    topology,
)

ASSIGNMENT_RECORDS = identity.ASSIGNMENT_RECORDS
_OF_ALL_ROWS = ("identity", "minimality", "class_sizes", "generalization")
"""What a sample would tell otherwise: who is linked, and how large classes are."""
DEFAULT_K = 10
"""Size of the neighborhoods that are compared where the method has no k of its own."""


@dataclass(frozen=True, slots=True)
class Thoroughness:
    """How much is measured.

    Attributes:
        k: size of the neighborhoods that are compared.
        ties: what belongs to a neighborhood where distances tie.
        assignment_records: how many records at most are assigned all at once.
        full: more targets, draws and records than the standard, which fits about a minute.
        draws: of attacks that are repeated.
        budget_s: seconds after which the remaining measures are left out, and named.
        left_s: how many of these are left; None: all of them.
    """

    k: int = DEFAULT_K
    ties: Literal["include", "truncate"] = "include"
    assignment_records: int = ASSIGNMENT_RECORDS
    full: bool = False
    draws: int = 10
    budget_s: float = 600.0
    left_s: float | None = None


def verify(promises: Mapping[str, Promise], evidence: Evidence, crew: Crew) -> list[Verdict]:
    """The gate: every promise, checked on the files that were read back."""
    return verify_promises(promises, evidence, crew)


def measure(
    evidence: Evidence, thoroughness: Thoroughness, crew: Crew, streams: Streams, blocks: int
) -> list[Measurement]:
    """All attacks and utility measures that this evidence allows.

    Returns:
        In a fixed order. What ran out of time, or can't be measured on these columns, stands
        there as NaN with the reason.
    """
    left = thoroughness.budget_s if thoroughness.left_s is None else thoroughness.left_s
    started = time.monotonic()
    figures: list[Measurement] = []
    for name, step in _steps(evidence, thoroughness, crew, streams, blocks).items():
        if time.monotonic() - started > left:
            reason = out_of_time(thoroughness.budget_s)
            figures.append(Measurement(f"{name}.not_measured", math.nan, note=reason))
            continue
        figures += _tried(name, step)
    return figures


def compose(
    evidence: Evidence, other: Evidence, crew: Crew, streams: Streams, blocks: int
) -> list[Measurement]:
    """What another release of the same people adds, as far as this evidence allows."""

    def step() -> list[Measurement]:
        return composition.measure(evidence, other, crew=crew, streams=streams, blocks=blocks)

    return _tried("composition", step)


def _tried(name: str, step: Callable[[], list[Measurement]]) -> list[Measurement]:
    """What was measured, or why it could not be: the rest still can."""
    try:
        return step()
    except InputError as error:  # such as generalized columns, which have no distances
        # The words may count rows, so they are for the owner.
        note = str(error)
        return [Measurement(f"{name}.not_measured", math.nan, note=note, is_public=False)]


def out_of_time(budget_s: float) -> str:
    """Why something was not measured."""
    return f"left out: measure.budget_s ({budget_s:g} s) was used up"


def _steps(
    evidence: Evidence, thoroughness: Thoroughness, crew: Crew, streams: Streams, blocks: int
) -> dict[str, Callable[[], list[Measurement]]]:
    """What is measured, in the order of the report, cheapest certainty first."""
    inference: dict[str, Callable[[], list[Measurement]]] = {
        "classes": lambda: _classes(evidence, crew),
        "similarity": lambda: similarity.measure(evidence, streams=streams),
    }
    if isinstance(evidence, GraphEvidence):
        return inference | _graph_steps(evidence, thoroughness, crew, streams, blocks)
    if isinstance(evidence, SupernodeEvidence):
        return inference | {"topology": lambda: cluster_loss.supernode_losses(evidence)}
    steps = _table_steps(evidence, thoroughness, crew, streams, blocks)
    if is_large(evidence):
        some = some_rows(evidence, streams)
        for name, step in _table_steps(some, thoroughness, crew, streams, blocks).items():
            steps[name] = steps[name] if name in _OF_ALL_ROWS else of_some_rows(step)
    return inference | steps


def _graph_steps(
    evidence: GraphEvidence, thoroughness: Thoroughness, crew: Crew, streams: Streams, blocks: int
) -> dict[str, Callable[[], list[Measurement]]]:
    """What an intruder gains from a graph's structure, and what of it is kept."""
    draws = thoroughness.draws * (10 if thoroughness.full else 1)
    return {
        "reached": lambda: _reached(evidence),
        "structural": lambda: structural.measure(
            evidence, crew=crew, streams=streams, draws=draws, blocks=blocks
        ),
        "link": lambda: link.measure(evidence, streams=streams),
        "minimality": lambda: minimality.measure(evidence),
        "neighbors": lambda: neighbor_majority.measure(evidence),
        "topology": lambda: topology.measure(evidence, crew=crew, streams=streams, blocks=blocks),
    }


def _reached(evidence: GraphEvidence) -> list[Measurement]:
    """The k of every kind of knowledge, promised or not."""
    nodes = evidence.graph.nodes
    figures = []
    for one in reached(evidence):
        name = one.knowledge.replace(" ", "_")
        note = "the promised knowledge" if one.is_promised else "not promised"
        figures += [
            Measurement(f"reached.{name}.k", float(one.k), goal="higher", unit="1", note=note),
            Measurement(f"reached.{name}.unique", one.unique, goal="lower", n=nodes, note=note),
        ]
    return figures


def _table_steps(
    evidence: Evidence, thoroughness: Thoroughness, crew: Crew, streams: Streams, blocks: int
) -> dict[str, Callable[[], list[Measurement]]]:
    """What can be measured on the records of a table."""
    more = 10 if thoroughness.full else 1
    k, draws = thoroughness.k, thoroughness.draws
    return {
        "identity": lambda: identity.measure(
            evidence,
            crew=crew,
            streams=streams,
            targets=identity.TARGETS * more,
            choices=3 * more,
            assignment=thoroughness.assignment_records,
            blocks=blocks,
        ),
        "attribute": lambda: attribute.measure(
            evidence, crew=crew, streams=streams, targets=attribute.TARGETS * more, blocks=blocks
        ),
        **_on_control(evidence, crew, streams, membership.TARGETS * more, blocks),
        "minimality": lambda: minimality.measure(evidence),
        "class_sizes": lambda: class_sizes.measure(evidence, crew=crew),
        "generalization": lambda: generalization_loss.measure(evidence),
        "neighborhoods": lambda: neighborhoods.measure(
            evidence,
            crew=crew,
            streams=streams,
            k=k,
            ties=thoroughness.ties,
            sample=neighborhoods.SAMPLE * more,
            blocks=blocks,
        ),
        "change": lambda: information_loss.measure(evidence),
        "clustering": lambda: clustering.measure(
            evidence,
            crew=crew,
            streams=streams,
            k=k,
            kmeans_records=clustering.KMEANS_RECORDS * more,
            dbscan_records=clustering.DBSCAN_RECORDS * (2 if thoroughness.full else 1),
            blocks=blocks,
        ),
        "inversion": lambda: inversion.measure(
            evidence, crew=crew, streams=streams, draws=draws * more
        ),
        **_classification(evidence, crew, streams, more),
    }


def _classification(
    evidence: Evidence, crew: Crew, streams: Streams, more: int
) -> dict[str, Callable[[], list[Measurement]]]:
    """One step for each sensitive attribute, since each takes seconds."""

    def step(wanted: Attribute) -> Callable[[], list[Measurement]]:
        return lambda: classification.measure(
            evidence,
            wanted,
            crew=crew,
            streams=streams,
            records=classification.RECORDS * more,
            tests=classification.TESTS * more,
        )

    return {f"classification.{one.name}": step(one) for one in evidence.release.schema.sensitive}


def _on_control(
    evidence: Evidence, crew: Crew, streams: Streams, targets: int, blocks: int
) -> dict[str, Callable[[], list[Measurement]]]:
    """What needs records that were held out; nothing is missing where there are none."""
    if evidence.control is None:
        return {}
    settings: dict[str, Any] = {"targets": targets, "blocks": blocks}
    return {
        "membership": lambda: membership.measure(evidence, crew=crew, streams=streams, **settings)
    }


def _classes(evidence: Evidence, crew: Crew) -> list[Measurement]:
    """The k, and the l and t of each sensitive attribute, that the release has, asked or not."""
    rows = len(evidence.release)
    if not rows:
        return []
    groups = KAnonymity(k=2).verify_with(crew, evidence).measured
    result = [
        Measurement("classes.k", float(groups["k"]), goal="higher", unit="1", n=rows),
        *_unique_rows(evidence, crew),
    ]
    if groups.get("copies_suspected"):
        result.append(Measurement("classes.copies_suspected", 1.0, goal="lower", unit="1", n=rows))
    if "suppressed" in groups:
        share = groups["suppressed"] / rows
        result.append(Measurement("classes.suppressed_rows", share, goal="lower", n=rows))
    names = [attribute.name for attribute in evidence.release.schema.sensitive]
    asked: list[tuple[str, str, Literal["lower", "higher"], Promise]] = [
        ("l_distinct", "l", "higher", LDiversity(l=2)),
        ("l_entropy", "l", "higher", LDiversity(l=2, kind="entropy")),
        ("t", "t", "lower", TCloseness(t=1.0)),
    ]
    for label, figure, goal, promise in asked if names else []:
        measured = promise.verify_with(crew, evidence).measured
        columns = measured.get("columns", {names[0]: measured})
        for name in names:
            value = columns[name][figure]
            known = math.nan if value is None else float(value)
            result.append(
                Measurement(f"classes.{label}.{name}", known, goal=goal, unit="1", n=rows)
            )
    return result


def _unique_rows(evidence: Evidence, crew: Crew) -> list[Measurement]:
    """Shares of rows that no other row equals, in what an intruder may know and in what is kept."""
    rows = len(evidence.release)
    kept = [column.name for column in evidence.release.schema.with_role(Role.INSENSITIVE)]
    known = {"classes.unique_rows": evidence.quasi_identifiers}
    if kept:
        known["classes.unique_rows_with_kept"] = (*evidence.quasi_identifiers, *kept)
    result = []
    for name, columns in known.items():
        sizes = tables_over(crew, evidence, columns).sizes
        share = int((sizes == 1).sum()) / rows
        result.append(Measurement(name, share, goal="lower", n=rows))
    return result
