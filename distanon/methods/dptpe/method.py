"""DPTPE: records that stand out become their neighbors' mean, the others move a little."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from distanon.data.domain import Domain, scan
from distanon.data.finishing import Decimals, DomainRule, finishing, released_type
from distanon.data.release import Release
from distanon.data.schema import Role, Schema
from distanon.data.space import AttributeSpace, Scale
from distanon.data.streams import Streams
from distanon.data.table import Dataset
from distanon.errors import InfeasibleError, SpecError
from distanon.kernels.neighbors import Ties
from distanon.methods.base import Context, Method
from distanon.methods.dptpe.kinds import Rule
from distanon.methods.dptpe.passes import Choice, Floats
from distanon.methods.dptpe.perturbation import Draw, move_keys
from distanon.methods.dptpe.publication import Outcome, Plan, may_move
from distanon.methods.dptpe.refusals import at_most, refuse_equal, refuse_unchanged
from distanon.promises.base import Promise
from distanon.sharded.pieces import pieces_for

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class DPTPE(Method):
    """Data perturbation by neighborhood topological potential entropy.

    Source: Zhang, Yang, Zhang and Xie, clustering-oriented data perturbation based on node
    neighborhood topological potential entropy, Definitions 1 to 8, Algorithms 1 and 2;
    potential after Gan et al., Journal of Software 20 (2009) 2241-2254.
    Deviation: records that domain and rounding put back are changed after all; numbers stay in
    the domain and on the grid; ties are included; directions are uniform. Each has an option
    that gives the paper's letter.
    """

    summary: ClassVar[str] = (
        "records whose neighborhood entropy stands out become their neighbors' mean, the others "
        "move at random inside their gap: clusterings and neighborhoods survive"
    )
    limits: ClassVar[str] = (
        "most released records stay nearer to their source than to any other, so whoever knows a "
        "person's values finds them again; use it for analysts who are bound, not for the public"
    )
    keeps: ClassVar[frozenset[str]] = frozenset({"unchanged", "linkage"})

    name: Literal["dptpe"] = "dptpe"
    k: int = Field(10, ge=1, description="records in a neighborhood; no promise of k-anonymity")
    t: Positive = Field(
        1.0, description="a record is dispersed above t times its neighbors' mean entropy"
    )
    sigma: Positive | Literal["auto"] = Field(
        "auto", description="width of influence in scaled units; auto: least potential entropy"
    )
    scale: Scale = Field("range", description="how attributes are made comparable")
    ties: Ties = Field("include", description="all records tied at the k-th distance, or k exactly")
    rule: Rule = Field(
        "dispersed",
        description="which records get their neighbors' mean: dispersed (the paper's), reversed, "
        "random, or krad (those in the densest places; keeps more neighborhoods)",
    )
    rsn: Draw = Field(
        "sphere", description="direction of random moves: uniform, the paper's, or in the ball"
    )
    rsn_nominal: float = Field(
        0.2, ge=0, le=1, description="chance that a compact record takes a neighbor's category"
    )
    domain: DomainRule = Field(
        "clip", description="numbers beyond `domain_bounds` or the k-th extremes: clip or reflect"
    )
    decimals: Decimals = Field(
        "grid", description="digits of changed numbers: the column's own, or all (experiments)"
    )
    on_unchanged: Literal["neighbors_mean", "keep"] = Field(
        "neighbors_mean", description="what becomes of records that rounding put back"
    )
    min_displacement: float = Field(
        0.0,
        ge=0,
        allow_inf_nan=False,
        description="least distance from the source in scaled "
        "units, after rounding too unless on_unchanged is keep",
    )

    def default_promises(self) -> Mapping[str, Promise]:
        """No record unchanged, unless unchanged records are to be kept."""
        if self.on_unchanged == "keep":
            return {}
        from distanon.promises.unchanged import Unchanged

        return {"unchanged": Unchanged(at_most=0)}

    def check(self, dataset: Dataset, promises: Mapping[str, Promise]) -> None:
        """Refuses fewer than k + 2 records: the gap behind d_k needs k + 1 others.

        Also a table of equal records when some must change.

        Raises:
            SpecError: there are no quasi-identifiers.
            InfeasibleError: too few records; names the largest k that works.
        """
        if not dataset.schema.quasi_identifiers:
            raise SpecError(
                "input.table.columns: dptpe changes quasi-identifiers, and no column is one; "
                "give at least one column the role quasi_identifier"
            )
        records = len(dataset)
        if records < self.k + 2:
            most = records - 2
            advice = f"the largest k that works is {most}" if most >= 1 else "no k works below 3"
            raise InfeasibleError(
                f"method.k {self.k}: expected at least k + 2 = {self.k + 2} records in "
                f"{dataset.source}, got {records}; {advice}"
            )
        domain, attributes = scan(dataset), dataset.schema.quasi_identifiers
        refuse_equal(promises, all_equal=all(domain[one.name].is_constant for one in attributes))

    def release(
        self, dataset: Dataset, promises: Mapping[str, Promise], context: Context
    ) -> Release:
        """Perturbs every record; partitions are read and written by the workers.

        Raises:
            InfeasibleError: some records can't be changed, and `unchanged` is promised; or none
                can be moved as far as `min_displacement` asks.
        """
        domain = scan(dataset)
        pieces = self._pieces(dataset, domain, context)
        if pieces > 1:
            from distanon.methods.dptpe.piecewise import in_pieces

            made = in_pieces(self, dataset, promises, context, pieces)
        else:
            from distanon.methods.dptpe.whole import in_memory

            made = in_memory(self, dataset, domain, promises, context)
        keeps = self.on_unchanged == "keep"
        refuse_unchanged(made.counts, promises, len(dataset), can_keep=keeps)
        self._note(made, context)
        return Release(
            made.pieces,
            self.released_schema(dataset.schema),
            {
                "records": len(dataset),
                "dispersed": made.dispersed,
                "compact": len(dataset) - made.dispersed,
                "given_neighbors_mean": made.given_mean,
                **made.counts.as_mapping(),
            },
            {
                "sigma": made.sigma,
                "spreads": dict(zip(made.space.names, made.space.spreads, strict=True)),
            },
        )

    def note_kept(self, promises: Mapping[str, Promise], context: Context) -> None:
        """Warns of a promise that may fail."""
        if self.on_unchanged == "keep" and at_most(promises) is not None:
            context.progress.note(
                "on_unchanged: keep leaves records that rounding put back as they are, so the "
                "promise `unchanged` may fail when the release is verified"
            )

    def _pieces(self, dataset: Dataset, domain: Domain, context: Context) -> int:
        """Into how many pieces the table is cut; 1: none."""
        if context.pieces is not None:
            return context.pieces
        space = AttributeSpace.of(dataset.schema.quasi_identifiers, domain)
        return pieces_for(len(dataset), space.slices[-1].stop)

    def choice(self, space: AttributeSpace, ends: Floats) -> Choice:
        """How substitutes are chosen, and what becomes of values, from the table's extremes."""
        finish = finishing(
            space.attributes, space.domains, ends, self.k, self.domain, self.decimals
        )
        return Choice(finish, space, self.min_displacement, self.on_unchanged != "keep")

    def plan(self, schema: Schema, choice: Choice, streams: Streams) -> Plan:
        """What a worker needs to release any partition of a table."""
        return Plan(
            self.released_schema(schema),
            self.decimals == "full" or self.domain == "free",
            choice.space,
            choice.finish,
            streams,
            self.rsn,
            self.min_displacement,
            move_keys(streams, int(may_move(choice.space).sum())),
        )

    def released_schema(self, schema: Schema) -> Schema:
        """The schema of the release."""
        return Schema(
            tuple(
                replace(a, arrow_type=released_type(a, self.domain, self.decimals))
                if a.role == Role.QUASI_IDENTIFIER
                else a
                for a in schema
            )
        )

    def _note(self, made: Outcome, context: Context) -> None:
        """Warnings that the user must see."""
        if made.dominated:
            context.progress.note(
                f"one record makes over half of a neighbors' mean in {made.dominated} of "
                f"{made.given_mean} records that got one: who knows the others reads "
                "it off; consider `top_code`, or a larger k"
            )
        if self.rsn_nominal == 0 and made.space.nominal.any():
            context.progress.note(
                "rsn_nominal: 0 keeps the nominal values of compact records as they are"
            )
