"""Arrow asks for pandas once, in vain, and works without it."""

import subprocess
import sys

_MAKES_ARRAYS = """
import sys
import numpy as np
import pyarrow as pa
from distanon.data.arrow_start import spare_pandas

spare_pandas()
table = pa.table({"a": pa.array(np.arange(3.0)), "b": pa.array(["x", None, "y"])})
assert table.take(pa.array([2])).to_pylist() == [{"a": 2.0, "b": "y"}]
assert "pandas" not in sys.modules
spare_pandas()
import pandas
assert pandas.Series([1]).sum() == 1
spare_pandas()
assert sys.modules["pandas"] is pandas
"""


def test_arrays_are_made_without_pandas_which_can_still_be_imported():
    done = subprocess.run(
        [sys.executable, "-c", _MAKES_ARRAYS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
