"""Figures in plain words: what a reader who does not know the field's names must be told."""

from __future__ import annotations

from distanon.data.measurement import Measurement

PHRASES = {
    "classes.k": "rows in the smallest group that is equal in all quasi-identifiers (k)",
    "classes.unique_rows": "rows that no other equals in the quasi-identifiers",
    "classes.unique_rows_with_kept": "rows that no other equals, kept columns counted too",
    "classes.copies_suspected": "1: every group repeats one row in all columns, perhaps copies of "
    "one person's",
    "classes.suppressed_rows": "rows whose quasi-identifiers are all suppressed",
    "classes.l_distinct": "different values in every such group, at the least (l)",
    "classes.l_entropy": "values in every such group by entropy, at the least (l)",
    "classes.t": "farthest that a group's values lie from those of the whole table (t)",
    "identity.highest": "found by the strongest identity attack",
    "identity.release_to_original": "released records linked to their source",
    "identity.original_to_release": "targets linked to their released record",
    "identity.exact_match": "targets found by the rows that equal them",
    "identity.unknown_membership": "right claims of who does not know that targets are in it",
    "identity.k_map": "people of the population who may be behind a group, at the fewest (k-map)",
    "identity.journalist_in_population": "risk of the person easiest to find in the population",
    "identity.marketer_in_population": "records found by who links all of them to the population",
    "identity.assignment": "linked when all records are matched at once",
    "identity.known_3": "found by who knows 3 quasi-identifiers of a target",
    "identity.known_4": "found by who knows 4 quasi-identifiers of a target",
    "identity.blind_guess": "found by a blind guess",
    "identity.journalist": "risk of the person easiest to find: 1 / smallest group (journalist)",
    "identity.marketer": "records found by who links all of them: groups / rows (marketer)",
    "inversion.known_sample": "values turned back by who knows a few records",
    "inversion.known_more": "values turned back by who knows four times as many",
    "inversion.known_seed": "records turned back by who knows the seed",
    "inversion.known_seed_linked": "records linked to their source by who knows the seed",
    "inversion.known_seed_as_released": "records that are as near without any attack",
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
    "attribute.inference": "confidential values that the rows nearest to a person tell",
    "attribute.control": "the same of people who are not in the release",
    "attribute.gain": "gained over people who are not in the release",
    "homogeneity": "records whose group has one value",
    "similarity": "records whose group has nearly one value",
    "minimality.rare": "true among the values that are rarest in their group",
    "minimality.all": "true among all released values",
    "generalization.ncp": "of each column left open by a cell (NCP)",
    "generalization.ncp_members": "of each column covered by a group's members (NCP)",
    "class_sizes.discernibility": "sum of the squared group sizes (discernibility)",
    "class_sizes.c_avg": "mean group / smallest group (C_AVG)",
    "classification.random_forest": "predicted right by a random forest",
    "classification.logistic_regression": "predicted right by logistic regression",
    "classification.nearest_neighbor": "predicted right by the nearest row (1-NN)",
    "classification.random_forest_original": "by a random forest of the original",
    "classification.logistic_regression_original": "by logistic regression of the original",
    "classification.nearest_neighbor_original": "by the nearest original (1-NN)",
    "classification.random_forest_change": "change of the random forest's accuracy",
    "classification.logistic_regression_change": "change of logistic regression's accuracy",
    "classification.nearest_neighbor_change": "change of 1-NN's accuracy",
    "classification.commonest": "predicted right by the commonest value",
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
    "identity.exact_match",
    "identity.assignment",
    "inversion.known_sample",
    "inversion.known_more",
    "inversion.known_seed",
    "inversion.known_seed_linked",
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


REGULATORS = {
    "identity": "Singling out and linkability",
    "structural": "Singling out",
    "composition": "Linkability",
    "attribute": "Inference",
    "homogeneity": "Inference",
    "similarity": "Inference",
    "minimality": "Inference",
    "inversion": "Inference",
    "membership": "Membership",
}
"""The kinds of risk as the European regulators call them (WP 216), by the kind of a figure."""


USE = "Use"


def risk(name: str) -> str:
    """Which kind of risk a figure is of; USE for what is kept."""
    return REGULATORS.get(name.split(".", maxsplit=1)[0], USE)


def order(name: str) -> int:
    """The place of a figure's kind of risk among the kinds, what is kept last."""
    return [*dict.fromkeys(REGULATORS.values()), USE].index(risk(name))


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
