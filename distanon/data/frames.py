"""Tables in memory: pandas data frames and Arrow tables, in and out in the same kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from distanon.data import codes
from distanon.data.classes import is_text
from distanon.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def is_frame(data: Any) -> bool:
    """Whether something is a pandas data frame; pandas is not imported to find out."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.split(".")[0] == "pandas"
        for kind in type(data).__mro__
    )


def name_of(data: Any) -> str:
    """What it is called in messages."""
    return "the data frame" if is_frame(data) else "the table"


def read_frame(data: Any) -> pa.Table:
    """A data frame (its index is left out) or an Arrow table, as an Arrow table.

    Raises:
        InputError: neither of these; a column name that is no text or stands twice; a column
            whose values have no common type.
    """
    if not isinstance(data, pa.Table) and not is_frame(data):
        raise InputError(
            f"expected a pandas DataFrame or a pyarrow Table, got {type(data).__name__}"
        )
    names = list(data.column_names if isinstance(data, pa.Table) else data.columns)
    _check_names(names, name_of(data))
    if isinstance(data, pa.Table):
        columns = {name: codes.stored(data.column(name)) for name in names}
        return pa.table(columns)
    return pa.table({name: _column(data[name], name) for name in names})


def write_frame(table: pa.Table, like: Any) -> Any:
    """A table as the kind of thing that `like` is.

    Args:
        table: columns of `like`, perhaps with other types.
        like: what `read_frame` was given.

    Returns:
        An Arrow table; or a data frame with a fresh RangeIndex and no `attrs`, each column of the
        type that it has in `like` (categories: those in use, in their order there), or the
        nearest one where the release needs another.
    """
    if not is_frame(like):
        return table
    import pandas as pd

    columns = {name: _restored(table.column(name), like[name].dtype) for name in table.column_names}
    return pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows))


def _check_names(names: Sequence[Any], source: str) -> None:
    places = [str(place + 1) for place, name in enumerate(names) if not isinstance(name, str)]
    if places:
        raise InputError(
            f"{source}: the name of column {', '.join(places)} is no text; rename it, for "
            "instance with `frame.columns = frame.columns.astype(str)`"
        )
    times = Counter(names)
    twice = [str(place + 1) for place, name in enumerate(names) if times[name] > 1]
    if twice:
        raise InputError(f"{source}: columns {', '.join(twice)} share their name with another")


def _column(series: pd.Series[Any], name: str) -> pa.Array | pa.ChunkedArray:
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # The message of the cause quotes a value.
        raise InputError(
            f"the data frame: column {name!r} (type {series.dtype}) holds values of several "
            "kinds, or of one that tables can't hold; turn them into one type first"
        ) from None


def _restored(column: pa.ChunkedArray, dtype: Any) -> Any:
    """A column with the pandas type that it had; a wider one where its values need it."""
    import pandas as pd

    is_whole = pa.types.is_integer(column.type)
    if is_text(column.type) and not _holds_text(dtype):
        dtype = np.dtype(object)  # generalized: ranges are text
    if isinstance(dtype, pd.CategoricalDtype):
        return _categorical(column, dtype)
    if isinstance(dtype, pd.ArrowDtype):
        return pd.Series(column.to_pandas(types_mapper=pd.ArrowDtype))
    if isinstance(dtype, pd.api.extensions.ExtensionDtype):
        if pd.api.types.is_integer_dtype(dtype) and not is_whole:
            dtype = pd.Float64Dtype()
        return pd.Series(column.to_pandas(types_mapper=lambda _: dtype))
    if pd.api.types.is_object_dtype(dtype):
        return pd.Series(column.to_pylist(), dtype=object)
    values = column.to_pandas()
    if pd.api.types.is_integer_dtype(dtype) and not is_whole:
        return values
    return values.astype(dtype)


def _holds_text(dtype: Any) -> bool:
    """Whether a pandas type can hold any text; categories are those of the original."""
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        return pd.api.types.is_object_dtype(dtype.categories) or _holds_text(dtype.categories.dtype)
    return bool(pd.api.types.is_object_dtype(dtype) or pd.api.types.is_string_dtype(dtype))


def _categorical(column: pa.ChunkedArray, dtype: pd.CategoricalDtype) -> Any:
    """Categories in use alone: the others would tell what the original held."""
    import pandas as pd

    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    values = plain.to_pandas()
    used = set(values.dropna())
    categories = [category for category in dtype.categories if category in used]
    if len(categories) < len(used):  # sets of categories, as text
        return values
    return pd.Series(pd.Categorical(values, categories=categories, ordered=dtype.ordered))
