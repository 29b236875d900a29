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

INVERSION = ("inversion.known_sample", "inversion.known_more")


def phrase(name: str) -> str:
    """What a figure says, with the column that it is of; "" where its name says it."""
    if name in PHRASES:
        return PHRASES[name]
    kind, _, column = name.rpartition(".")
    while kind and kind not in PHRASES:
        kind, _, more = kind.rpartition(".")
        column = f"{more}.{column}"
    return f"{column}: {PHRASES[kind]}" if kind else ""


def attack_name(measurement: Measurement) -> str:
    """How a chart calls an attack; `phrase` says what it is."""
    return measurement.name.removeprefix("identity.").replace(".", ": ").replace("_", " ")


def attack(measurement: Measurement) -> str:
    """The same, and of the highest rate the attack behind it."""
    if measurement.name == "identity.highest" and ": " in measurement.note:
        return measurement.note.rpartition(": ")[2]
    return attack_name(measurement)
