"""Adult as the benchmarks of tables take it, what is left of it in a release, and larger tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from distanon.data import builtin, generalization
from distanon.data.domain import scan
from distanon.data.region_points import region_points
from distanon.data.schema import Attribute, AttributeType, Role, Schema
from distanon.data.space import AttributeSpace
from distanon.data.table import Dataset, cut

QUASI = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
)
LABEL = "income"
TRAIN = 30_000

Floats = NDArray[np.float64]


def adult() -> tuple[pd.DataFrame, pd.DataFrame]:
    """30,000 rows to anonymize and 2,561 to test on; a missing value is the category `?`."""
    frame = pd.read_parquet(builtin.path_of("adult"))[[*QUASI, LABEL]]
    frame = frame.sample(frac=1, random_state=7).reset_index(drop=True)
    for name in frame.columns[1:]:
        frame[name] = frame[name].astype(object).where(frame[name].notna(), "?")
    return frame.iloc[:TRAIN], frame.iloc[TRAIN:]


def larger(rows: int) -> pa.Table:
    """A table of so many rows by bootstrap of all of Adult, its ages moved by up to 2."""
    whole = pa.Table.from_pandas(pd.concat(adult()), preserve_index=False)
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, whole.num_rows, rows)
    ages = whole.column("age").to_numpy()[chosen] + rng.integers(-2, 3, rows)
    columns = {"age": pa.array(ages)}
    for name in whole.column_names[1:]:
        columns[name] = whole.column(name).combine_chunks().dictionary_encode().take(chosen)
    return pa.table(columns)


def dataset_of(table: pa.Table, pieces: int = 1) -> Dataset:
    """A data set with the roles of the benchmark, its domain known."""
    attributes = [
        Attribute(
            field.name,
            Role.SENSITIVE if field.name == LABEL else Role.QUASI_IDENTIFIER,
            AttributeType.NUMERIC if field.name == "age" else AttributeType.NOMINAL,
            field.type,
        )
        for field in table.schema
    ]
    dataset = Dataset(Schema(tuple(attributes)), cut(table, pieces))
    return Dataset(dataset.schema, dataset.partitions, domain=scan(dataset))


class Judge:
    """Judges releases of one table by what their cells contain, whoever wrote them."""

    def __init__(self, train: pd.DataFrame, test: pd.DataFrame) -> None:
        dataset = dataset_of(pa.Table.from_pandas(pd.concat([train, test]), preserve_index=False))
        self._space = AttributeSpace.of(dataset.schema.quasi_identifiers, scan(dataset))
        self._tested, self._truth = self._points(test), test[LABEL].to_numpy()

    def ncp(self, release: pd.DataFrame) -> float:
        """The mean penalty of a cell."""
        return float(np.mean([one.extent()[one.code_of].mean() for one in self._regions(release)]))

    def accuracies(self, release: pd.DataFrame, seed: int = 0) -> Mapping[str, float]:
        """Of what the rows teach, on originals that nobody has seen."""
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.neighbors import KNeighborsClassifier

        learners: dict[str, Any] = {
            "random forest": RandomForestClassifier(100, min_samples_leaf=5, random_state=seed),
            "logistic regression": LogisticRegression(max_iter=500),
            "1-NN": KNeighborsClassifier(1),
        }
        points, labels = self._points(release), release[LABEL].to_numpy()
        return {
            name: float((one.fit(points, labels).predict(self._tested) == self._truth).mean())
            for name, one in learners.items()
        }

    def _points(self, rows: pd.DataFrame) -> Floats:
        return region_points(self._space, self._regions(rows))

    def _regions(self, rows: pd.DataFrame) -> list[generalization.Regions]:
        return [
            generalization.read(pa.array(rows[one.name].astype(str)), one, its)
            for one, its in zip(self._space.attributes, self._space.domains, strict=True)
        ]


def in_our_words(made: pd.DataFrame, names: Sequence[str] = QUASI) -> pd.DataFrame:
    """What anonypy and anonypyx wrote (`17-25`, `a,b`) as our texts."""
    found = made.copy()
    for name in names:
        kinds = {str(cell): _our_text(str(cell), name) for cell in made[name].unique()}
        found[name] = made[name].astype(str).map(kinds)
    return found


def _our_text(cell: str, name: str) -> str:
    if name == "age":
        low, dash, high = cell.partition("-")
        return f"[{low}, {high}]" if dash else str(int(float(cell)))
    return "{" + ", ".join(sorted(cell.split(","))) + "}" if "," in cell else cell
