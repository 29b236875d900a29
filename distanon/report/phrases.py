"""Figures in plain words: what a reader who does not know the field's names must be told."""

from __future__ import annotations

from distanon.data.measurement import Measurement

PHRASES = {
    "classes.k": "rows in the smallest group that is equal in all quasi-identifiers (k)",
    "classes.unique_rows": "rows that no other equals in the quasi-identifiers",
    "classes.unique_rows_with_kept": "rows that no other equals, kept columns counted too",
    "classes.l_distinct": "different values in every such group, at the least (l)",
    "classes.l_entropy": "values in every such group by entropy, at the least (l)",
    "classes.t": "farthest that a group's values lie from those of the whole table (t)",
    "identity.highest": "found by the strongest identity attack",
    "identity.release_to_original": "released records linked to their source",
    "identity.original_to_release": "targets linked to their released record",
    "identity.assignment": "linked when all records are matched at once",
    "identity.known_3": "found by who knows 3 quasi-identifiers of a target",
    "identity.known_4": "found by who knows 4 quasi-identifiers of a target",
    "identity.blind_guess": "found by a blind guess",
    "identity.journalist": "risk of the person easiest to find: 1 / smallest group (journalist)",
    "identity.marketer": "records found by who links all of them: groups / rows (marketer)",
    "inversion.known_sample": "values turned back by who knows a few records",
    "inversion.known_more": "values turned back by who knows four times as many",
    "inversion.as_released": "values that are as near without any attack",
    "membership.auc": "how well it is told who was in the data (a coin: 0.5)",
    "neighborhoods.stability_owner": "of each neighborhood kept (owner's scale)",
    "neighborhoods.stability_analyst": "of each neighborhood kept (analyst's scale)",
    "clustering.kmeans_f": "F-measure of k-means clusters",
    "clustering.dbscan_f": "F-measure of DBSCAN clusters",
    "structural.degree": "people found by their number of friends",
    "structural.degree_and_attributes": "people found by number of friends and quasi-identifiers",
    "structural.degree_and_triangles": "people found by friends, and friends who are friends",
    "structural.degree.unique": "nodes whose number of friends no other has",
    "structural.degree_and_attributes.unique": "nodes that no other equals in both",
    "structural.degree_and_triangles.unique": "nodes that no other equals in both",
    "structural.neighbor_degrees.unique": "nodes whose friends' numbers of friends no other has",
    "structural.percolation_16": "people found by who knows 16 of them and all their friendships",
    "structural.percolation_16.revised": "people found by who knows 16 of them and looks twice",
    "structural.percolation_64": "people found by who knows 64 of them and all their friendships",
    "structural.percolation_64.revised": "people found by who knows 64 of them and looks twice",
    "structural.blind_guess": "found by a blind guess",
    "attribute.neighbors": "confidential values that the commonest value among friends tells",
    "topology.edges": "edges of the release",
    "topology.edges_kept": "of the original's edges kept",
    "topology.edges_added": "edges that the original lacks, by its number of edges",
    "topology.clustering": "clustering coefficient",
    "topology.original.clustering": "clustering coefficient of the original",
    "topology.communities": "agreement of communities with the original's",
    "topology.pagerank_overlap": "of the most central nodes kept",
    "topology.nsil": "of the structure lost if clusters were merged (NSIL)",
    "topology.ngil": "of the attributes lost if clusters were merged (NGIL)",
}
"""By a figure's name, or by its name without the column that it is of."""

STRONGEST = (
    "identity.highest",
    "identity.release_to_original",
    "identity.original_to_release",
    "identity.assignment",
    "inversion.known_sample",
    "inversion.known_more",
)
"""The attacks of which the strongest counts, those that find records and those that undo."""

STRUCTURAL = (
    "structural.degree",
    "structural.degree_and_attributes",
    "structural.degree_and_triangles",
    "structural.percolation_16",
    "structural.percolation_16.revised",
    "structural.percolation_64",
    "structural.percolation_64.revised",
)
"""The attacks that find people in a graph, of which the strongest counts."""

INVERSION = ("inversion.known_sample", "inversion.known_more")


def knowledge(name: str) -> str:
    """What the intruder of a figure such as reached.attributes+degree.k knows."""
    told = name.removeprefix("reached.").rpartition(".")[0].replace("_", " ")
    return told.replace("+", " and ").replace("neighbor degrees", "degrees of all neighbors")


def phrase(name: str) -> str:
    """What a figure says, with the column that it is of; "" where its name says it."""
    if name in PHRASES:
        return PHRASES[name]
    if name.endswith(".blind_guess"):
        column = name.split(".")[-2]
        return f"{column}: by a blind guess"
    kind, _, column = name.rpartition(".")
    while kind and kind not in PHRASES:
        kind, _, more = kind.rpartition(".")
        column = f"{more}.{column}"
    return f"{column}: {PHRASES[kind]}" if kind else ""


def attack_name(measurement: Measurement) -> str:
    """How a chart calls an attack; `phrase` says what it is."""
    name = measurement.name.removeprefix("identity.").removeprefix("structural.")
    return name.replace(".", ": ").replace("_", " ")


def attack(measurement: Measurement) -> str:
    """The same, and of the highest rate the attack behind it."""
    if measurement.name == "identity.highest" and ": " in measurement.note:
        return measurement.note.rpartition(": ")[2]
    return attack_name(measurement)
