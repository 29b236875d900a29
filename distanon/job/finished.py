"""The audit of a finished release, from its files and what the auditor has beside them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distanon import auditing
from distanon.auditing import Thoroughness
from distanon.data.evidence import Evidence
from distanon.data.graph import GraphDataset
from distanon.data.graph_evidence import Knowledge
from distanon.data.measurement import Measurement
from distanon.data.ports import Progress, Silent
from distanon.data.streams import Streams
from distanon.data.table import Dataset
from distanon.errors import InputError, SpecError
from distanon.job.audited import alike, declared_columns, read_table, refuse_lacking
from distanon.job.graph_audit import GraphQuestion, graph_evidence, shows_graph
from distanon.job.hierarchies import beside_original, with_rules
from distanon.job.inputs import hold_out, open_inputs
from distanon.job.journal import Journal, by_prefix_alone
from distanon.promises.asking import Asked, asked_promises
from distanon.promises.base import Promise, Verdict, unverified
from distanon.runtime.crew import SerialCrew
from distanon.spec import JobSpec, parse
from distanon.spec.places import contains
from distanon.spec.table_input import ControlFraction
from distanon.storage.staging import read_mapping
from distanon.storage.store import StorageSettings, Store

_BLOCKS = 8
_AUDIT_SEED = 0
"""An audit's samples hide nothing: the same audit gives the same figures."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What an audit found.

    Attributes:
        verdicts: of the promises that were stated.
        measurements: what can be measured on the files at hand.
    """

    verdicts: Sequence[Verdict]
    measurements: Sequence[Measurement]


@dataclass(frozen=True, slots=True)
class _Run:
    """What the private prefix of a run says of its release.

    Attributes:
        private: the prefix.
        spec: what the run was begun with.
        seed: decides who was held out.
        output: where the release went.
        sources: int64: the record number of each released row.
    """

    private: str
    spec: JobSpec
    seed: int
    output: str
    sources: NDArray[np.int64]

    def __repr__(self) -> str:
        """Without the seed, which must never reach a log."""
        return f"_Run({self.private})"


def audit(
    release: Any,
    *,
    original: Any = None,
    spec: JobSpec | None = None,
    private: str | None = None,
    also: Any = None,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    knowledge: Knowledge | None = None,
    promises: Asked | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Checks a finished release, from its rows alone; it need not be made by distanon.

    Args:
        release: the path of a release, of any table, or of a graph (GraphML, GML, or a folder
            with edges and nodes); or a pandas or Arrow table, a `networkx.Graph`, or a pair
            (edges, nodes) of tables.
        original: the table or graph that it was made from, likewise. Which row comes from which
            record is not known without the run's mapping, so attacks that need it are left out.
        spec: roles, promises and storage of the job, instead of the names. Where `release` is
            the job's output and its run kept the mapping, the originals come with it.
        private: the private prefix of the run that made `release` and kept its mapping, where
            the spec alone does not lead to it; its spec stands in where no roles are given.
        also: another release of the same people: what both leave together is measured too.
        quasi_identifiers: columns that an intruder may know. Where no roles are given at all, a
            release of distanon states them, and its promises, in its release.json.
        sensitive: columns that an intruder wants.
        knowledge: of a graph: what an intruder knows of a person: attributes, degree, or
            attributes+degree; None: as the spec or the release states, else both.
        promises: to check, by name, or their parameters: {"k_anonymity": {"k": 5}}. The spec's,
            or those that the release states, are checked too, unless None stands for one.
        progress: where to say how far it is.

    Raises:
        SpecError: nobody says what an intruder may know; or the run did not make this release.
        InputError: the files lack a column, or can't be read as a table; or the run of
            `private` kept no mapping.
        ResumeError: there is no run at `private`.
    """
    own = asked_promises(promises or {})
    _refuse_texts(quasi_identifiers=quasi_identifiers, sensitive=sensitive)
    run = None if private is None else _asked_run(private, spec, release)
    if run is not None and not quasi_identifiers:
        spec = spec or run.spec
    storage = StorageSettings() if spec is None else spec.storage
    if (spec is not None and spec.input.graph is not None) or shows_graph(release, storage):
        if also is not None:
            raise SpecError("also: two releases are composed of tables alone, not of graphs")
        question = GraphQuestion(spec, quasi_identifiers, sensitive, knowledge, storage)
        return _of_graph(release, question, original, run, own, progress)
    if knowledge is not None:
        raise SpecError("knowledge: what is known of the nodes of a graph, and this is a table")
    known = spec if spec is not None or run is None else run.spec
    storage = StorageSettings() if known is None else known.storage
    released, schema, asked = read_table(release, spec, quasi_identifiers, sensitive, storage)
    if spec is not None and run is None and original is None and _is_at(spec.output, release):
        found = _run_at(spec.private_prefix(), spec.storage)
        run = found if found is not None and _is_at(found.output, release) else None
    evidence = Evidence(Dataset(schema, released.partitions, released.path))
    if original is not None:
        declared = set() if spec is None else declared_columns(spec)
        is_guessed = spec is not None or bool(quasi_identifiers)
        beside = alike(original, evidence, storage, declared if is_guessed else None)
        if spec is not None:
            beside = with_rules(beside, spec.table, storage)
        evidence = beside_original(evidence, beside)
    if run is not None:
        evidence = _with_mapping(evidence, run)
    left = set() if spec is not None else _left_open(asked, own, evidence)
    return _judged(evidence, asked | own, progress, also, storage, left)


def _left_open(
    stated: Mapping[str, Promise | None], own: Mapping[str, Promise | None], evidence: Evidence
) -> set[str]:
    """Promises that release.json states, and that need what it does not: a hierarchy."""
    schema = evidence.release.schema
    return {
        name
        for name, promise in stated.items()
        if promise is not None and name not in own and promise.faults(schema)
    }


def _judged(
    evidence: Evidence,
    asked: dict[str, Promise | None],
    progress: Progress | None,
    also: Any,
    storage: StorageSettings,
    left: Collection[str] = (),
) -> Findings:
    """Verdicts and figures of what the files show; some promises are left to another audit."""
    crew, streams = SerialCrew(progress or Silent()), Streams(_AUDIT_SEED)
    wanted = {name: promise for name, promise in asked.items() if promise is not None}
    checked = {name: promise for name, promise in wanted.items() if name not in left}
    verdicts = auditing.verify(checked, evidence, crew)
    verdicts += [
        unverified(wanted[name], "what the job's spec says of the columns (`--spec`)")
        for name in wanted
        if name in left
    ]
    figures = auditing.measure(evidence, Thoroughness(), crew, streams, _BLOCKS)
    if also is not None:
        other = evidence.beside(alike(also, evidence, storage), None)
        figures += auditing.compose(evidence, other, crew, streams, _BLOCKS)
    return Findings(verdicts, figures)


def _of_graph(
    release: Any,
    question: GraphQuestion,
    original: Any,
    run: _Run | None,
    own: dict[str, Promise | None],
    progress: Progress | None,
) -> Findings:
    """The audit of a graph, beside the original where it is given or the mapping was kept."""
    spec = question.spec
    if spec is not None:
        if question.quasi_identifiers or question.sensitive:
            raise SpecError("quasi_identifiers, sensitive: the spec says what the attributes mean")
        if run is None:
            found = _run_at(spec.private_prefix(), spec.storage)
            run = found if found is not None and _is_at(found.output, release) else None
    given = None
    if run is not None:
        dataset = open_inputs(run.spec, Streams(run.seed)).dataset if original is None else None
        if dataset is not None and not isinstance(dataset, GraphDataset):
            raise SpecError(f"{run.private}: this run released a table, and this is a graph")
        given = (dataset, run.sources)
    told = progress or Silent()
    evidence, stated = graph_evidence(release, question, told, original, given)
    return _judged(evidence, stated | own, progress, None, question.storage)


def _refuse_texts(**named: Sequence[str]) -> None:
    """Refuses one text where a list of columns is expected: its letters would be columns."""
    for argument, names in named.items():
        if isinstance(names, str):
            raise SpecError(f"{argument}: expected a list of columns, got one name {names!r}")


def _is_at(output: str, release: Any) -> bool:
    """Whether the files are those that a run published there, row by row."""
    if not isinstance(release, str | os.PathLike):
        return False
    place = os.fspath(release)
    return contains(output, place) and contains(place, output)


def _asked_run(private: str, spec: JobSpec | None, release: Any) -> _Run:
    """The run that the auditor names, which must have made this release."""
    storage = spec.storage if spec is not None else StorageSettings()
    with by_prefix_alone(private):
        Journal(Store(private, storage, private=True)).read_run()  # that there was one at all
        run = _run_at(private, storage)
    if run is None:
        raise InputError(
            f"{private}: this run kept no mapping, so it can't be said whose row is whose; only "
            "a run with `keep_mapping: true` keeps one"
        )
    if not _is_at(run.output, release):
        raise SpecError(
            f"{private} is of the run that published to {run.output}; audit that release, or "
            "leave out the private prefix"
        )
    return run


def _run_at(private: str, storage: StorageSettings) -> _Run | None:
    """A run that kept its mapping; None where it did not."""
    store = Store(private, storage, private=True)
    journal = Journal(store)
    sources = read_mapping(store)
    if sources is None:
        return None
    facts = journal.read_run()
    return _Run(private, parse(journal.read_spec()), facts["seed"], facts["output"], sources)


def _with_mapping(evidence: Evidence, run: _Run) -> Evidence:
    """The originals as the run had them, those held out taken away, and whose row is whose."""
    streams, control, population = Streams(run.seed), None, None
    if evidence.original is None:
        inputs = open_inputs(run.spec, streams)
        if isinstance(inputs.dataset, GraphDataset):
            raise SpecError(f"{run.private}: this run released a graph; audit takes tables")
        original, control, population = inputs.dataset, inputs.control, inputs.population
        evidence = beside_original(evidence, original)
        refuse_lacking(evidence.release.schema, original.schema, original.source)
    else:
        original = evidence.original
        if isinstance(run.spec.input.control, ControlFraction):
            original, control = hold_out(original, run.spec.input.control.fraction, streams)
    rows, records = len(evidence.release), int(run.sources.max(initial=-1)) + 1
    if len(run.sources) != rows:
        raise InputError(
            f"{evidence.release.source}: {rows} rows, but the mapping in "
            f"{run.private} is of {len(run.sources)}; these are not the rows of its run"
        )
    if records > len(original):
        raise InputError(
            f"{original.source}: fewer records than the run in {run.private} released; this is "
            "not its input"
        )
    return replace(
        evidence,
        original=original,
        control=control,
        population=population,
        sources=run.sources,
        replicates=run.spec.method.replicates,
    )
