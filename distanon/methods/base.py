"""What a method is: its parameters are its spec, `release` makes the release."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from distanon.data.arrow_start import spare_pandas
from distanon.data.graph import GraphDataset
from distanon.data.graph_release import GraphRelease
from distanon.data.hierarchy_rules import HierarchyLike
from distanon.data.ports import Progress, Scratch, Silent
from distanon.data.release import Release
from distanon.data.schema import AttributeType, Role
from distanon.data.setting_faults import called
from distanon.data.streams import Streams
from distanon.data.table import Dataset
from distanon.errors import InfeasibleError
from distanon.kernels.loading import load_compiler
from distanon.promises.base import Promise
from distanon.runtime.crew import Crew

BLOCK = 65_536
"""Records in a block of work where nothing else sets its size."""
BLOCKS_PER_WORKER = 4
"""So that a slow block does not keep the others waiting."""
_LEAST = 4096  # records in a block, of which each pass takes some 10 ms: to send one takes 2


def blocks_for(records: int, workers: int) -> int:
    """Into how many ranges work on records is cut among workers: more than it is worth, none."""
    shared = min(BLOCKS_PER_WORKER * workers, -(-records // _LEAST))
    return max(1, shared, -(-records // BLOCK))


@dataclass(frozen=True, slots=True)
class Context:
    """What a method is given beside the data.

    Attributes:
        crew: the workers.
        scratch: named tables that survive a crash.
        streams: all randomness.
        progress: where to say how far it is.
        blocks: into how many ranges work on records is cut; never changes a bit of the release.
        checkpoint_every: iterations of a search between two checkpoints in the scratch.
        pieces: into how many pieces a table is cut that no process should hold, 1: none; None:
            as its size asks for. Never changes a bit of the release.
    """

    crew: Crew
    scratch: Scratch
    streams: Streams
    progress: Progress = field(default_factory=Silent)
    blocks: int = 8
    checkpoint_every: int = 10
    pieces: int | None = None


class Method(BaseModel):
    """A way to make a release. The model is the `method:` part of a job spec."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str

    kind: ClassVar[Literal["table", "graph"]] = "table"
    """What it anonymizes."""
    summary: ClassVar[str]
    """One line for `distanon methods`."""
    limits: ClassVar[str]
    """What it does not protect, one line."""
    keeps: ClassVar[frozenset[str]]
    """Names of the promises that the method can be asked for."""
    keeps_bounds: ClassVar[bool] = True
    """Whether released numbers can be held within a column's `domain_bounds`."""

    def __init__(self, **parameters: Any) -> None:
        """Checks the parameters.

        Raises:
            SpecError: one that does not exist, lacks, or can't have this value.
        """
        try:
            super().__init__(**parameters)
        except ValidationError as error:
            raise called(type(self), error, parameters) from None

    # To pydantic a model without an `__init__` of its own: within a spec, whose faults are
    # collected, it is not called.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @property
    def replicates(self) -> bool:
        """Whether one record may stand behind several released rows."""
        return False

    def default_promises(self) -> Mapping[str, Promise]:
        """What is promised where the spec says nothing (contract.md, section 2)."""
        return {}

    @abstractmethod
    def check(self, dataset: Dataset, promises: Mapping[str, Promise]) -> None:
        """Refuses what can't work, from the schema and the domain, before a worker starts.

        Raises:
            InfeasibleError: too few records.
            SpecError: the method can't use these columns.
        """

    @abstractmethod
    def release(
        self, dataset: Dataset, promises: Mapping[str, Promise], context: Context
    ) -> Release:
        """Makes the release; the same bytes for the same spec, data and seed."""

    def anonymize(
        self,
        data: Any,
        *,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str] = (),
        insensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        subject: str | None = None,
        types: Mapping[str, AttributeType | str] | None = None,
        hierarchies: Mapping[str, HierarchyLike] | None = None,
        columns: Mapping[str, Mapping[str, Any]] | None = None,
        confirm_unique: Sequence[str] = (),
        promises: Mapping[str, Promise | Mapping[str, Any] | None] | None = None,
        seed: int | None = None,
        workers: int | None = None,
    ) -> Release:
        """Makes a release of a table in memory and checks its promises.

        Args:
            data: a pandas DataFrame, or a pyarrow Table.
            quasi_identifiers: columns that an intruder may know.
            sensitive: columns that an intruder wants to learn.
            insensitive: columns that are kept as they are.
            identifiers: columns that are dropped.
            subject: the column that names the person behind several rows; dropped.
            types: numeric, ordinal, nominal or binary, by column; inferred where not given.
            hierarchies: generalization hierarchies of nominal columns, as rows of a value and
                its levels up to the top, or as a rule that builds one, as in a job spec:
                {"zip": {"build": "prefixes", "lengths": [3, 1]}}.
            columns: settings by column, as in a job spec: order, decimals, domain_bounds,
                top_code; {"age": {"domain_bounds": (18, 99)}}.
            confirm_unique: insensitive columns that may be unique for more than 5 % of the rows.
            promises: by name, beside the method's default ones; None removes a default.
            seed: an integer of at least 0; None: 128 bits from the operating system.
            workers: Ray workers on this machine; None or 1: this process, without Ray. The
                release is the same.

        Returns:
            The release; its `data` is of the kind that was put in, rows sorted by their values.

        Raises:
            InputError: the data or the roles can't be used as they are.
            SpecError: the method can't keep a promise of this name, or use these columns.
            InfeasibleError: the promises can't be kept on these data.
            PromiseBrokenError: the release does not keep a promise.
        """
        from distanon.methods.in_memory import Request, anonymize

        roles = {
            Role.QUASI_IDENTIFIER: quasi_identifiers,
            Role.SENSITIVE: sensitive,
            Role.INSENSITIVE: insensitive,
            Role.IDENTIFIER: identifiers,
            Role.SUBJECT: () if subject is None else (subject,),
        }
        request = Request(
            roles,
            types or {},
            hierarchies or {},
            promises or {},
            seed,
            workers,
            columns or {},
            confirm_unique,
        )
        return anonymize(self, data, request)

    def parameters(self) -> dict[str, Any]:
        """The public parameters, as in the spec."""
        return self.model_dump(mode="json", exclude={"name"})

    def loads(self) -> Sequence[Callable[[], None]]:
        """What each worker runs as it starts, so that its first item need not."""
        return (spare_pandas, load_compiler)


class GraphMethod(Method):
    """A method whose data set is a graph, and whose release is one."""

    kind: ClassVar[Literal["table", "graph"]] = "graph"

    @abstractmethod
    def check(  # type: ignore[override]
        self, dataset: GraphDataset, promises: Mapping[str, Promise]
    ) -> None:
        """As `Method.check`, of a graph."""

    @abstractmethod
    def release(  # type: ignore[override]
        self, dataset: GraphDataset, promises: Mapping[str, Promise], context: Context
    ) -> GraphRelease:
        """As `Method.release`, of a graph."""

    def anonymize(  # type: ignore[override]
        self,
        data: Any,
        *,
        quasi_identifiers: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        insensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        types: Mapping[str, AttributeType | str] | None = None,
        hierarchies: Mapping[str, HierarchyLike] | None = None,
        columns: Mapping[str, Mapping[str, Any]] | None = None,
        confirm_unique: Sequence[str] = (),
        source: str | None = None,
        target: str | None = None,
        node: str | None = None,
        directed: Literal["ignore"] | None = None,
        undeclared: Literal["refuse", "drop"] = "refuse",
        promises: Mapping[str, Promise | Mapping[str, Any] | None] | None = None,
        seed: int | None = None,
        workers: int | None = None,
    ) -> GraphRelease:
        """Makes a release of a graph in memory and checks its promises.

        Args:
            data: a `networkx.Graph`, or a pair (edges, nodes) of pandas data frames or Arrow
                tables; nodes may be None.
            quasi_identifiers: attributes of the nodes that an intruder may know.
            sensitive: attributes that an intruder wants to learn.
            insensitive: attributes that are kept as they are.
            identifiers: attributes that are dropped; node ids always are.
            types: as in `Method.anonymize`, like what is not said here.
            hierarchies: likewise.
            columns: likewise.
            confirm_unique: likewise.
            source: column of the edges with one end; None: "source", or the first of two.
            target: column with the other end; None: "target", or the second of two.
            node: column of the nodes with their ids; None: "node" or "id".
            directed: "ignore" takes a directed graph as undirected.
            undeclared: "drop" leaves out attributes of edges and of the graph itself.
            promises: likewise.
            seed: likewise.
            workers: likewise.

        Returns:
            The release; its `data` is of the kind that was put in, with new node ids 0 … n-1.
            Supernodes are a pair (edges, nodes).

        Raises:
            InputError: the graph or the roles can't be used as they are.
            SpecError: the method can't keep a promise of this name, or use these attributes.
            InfeasibleError: the promises can't be kept on this graph.
            PromiseBrokenError: the release does not keep a promise.
        """
        from distanon.methods.graphs_in_memory import GraphNames, anonymize
        from distanon.methods.in_memory import Request

        roles = {
            Role.QUASI_IDENTIFIER: quasi_identifiers,
            Role.SENSITIVE: sensitive,
            Role.INSENSITIVE: insensitive,
            Role.IDENTIFIER: identifiers,
        }
        request = Request(
            roles,
            types or {},
            hierarchies or {},
            promises or {},
            seed,
            workers,
            columns or {},
            confirm_unique,
        )
        names = GraphNames(source, target, node, directed, undeclared)
        return anonymize(self, data, names, request)


def refuse_few_nodes(dataset: GraphDataset, k: int) -> None:
    """Refuses a graph of fewer than k nodes.

    Raises:
        InfeasibleError: names the largest k that works.
    """
    nodes = len(dataset)
    if nodes < k:
        works = f"the largest k that works is {nodes}" if nodes > 1 else "no k works"
        raise InfeasibleError(
            f"method.k {k}: expected at least k nodes in {dataset.source}, got {nodes}; {works}"
        )
