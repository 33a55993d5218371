"""SQL window functions over Arrow, at memory speed: for Polars, PySpark, pyarrow, pandas and all that speaks Arrow.

>>> import pyarrow as pa
>>> import windrow as wr
>>> table = pa.table({"device": [5, 0, 5], "id": [2, 0, 5], "level": [2, 1, 3]})
>>> w = wr.window(partition_by="device", order_by="id", range=(-1, 0))
>>> wr.with_columns(table, wr.sum("level").over(w).alias("sum"))["sum"].to_pylist()
[2, 1, 3]

No frame given means what it means in SQL and Spark: with an order, the rows up to the current one and its ties (a
running total); without an order, the whole partition.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import functions, hosts  # noqa: F401 - which registers windrow's own hosts
from ._model.calls import Call
from ._model.expressions import col, lit
from ._model.intervals import Interval, interval
from ._model.windows import Window, asc, desc, following, preceding, window
from ._parse.sql_text import expr
from .api import Operator, explain, operator, select, sql, with_columns
from .exceptions import (
    ArithmeticOverflowError,
    DataError,
    InternalError,
    MemoryLimitError,
    OrderError,
    SpecError,
    SpillError,
    UnsupportedError,
    UserError,
    WindrowError,
)
from .functions import *  # noqa: F403
from .settings import config
from .udf import aggregate, partition_function, vectorized

if TYPE_CHECKING:
    from . import spark

    __version__: str


def __getattr__(name: str) -> Any:
    """Look up what costs more than all of this package when it is asked for: the version, and what is for Spark."""
    if name == "spark":
        return import_module(".spark", __name__)
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("windrow-arrow")
        except PackageNotFoundError:  # the source tree on the path, not installed
            return "0.0.0"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "ArithmeticOverflowError",
    "Call",
    "DataError",
    "InternalError",
    "Interval",
    "MemoryLimitError",
    "Operator",
    "OrderError",
    "SpecError",
    "SpillError",
    "UnsupportedError",
    "UserError",
    "Window",
    "WindrowError",
    "aggregate",
    "asc",
    "col",
    "config",
    "desc",
    "explain",
    "expr",
    "following",
    "interval",
    "lit",
    "operator",
    "partition_function",
    "preceding",
    "select",
    "spark",
    "sql",
    "vectorized",
    "window",
    "with_columns",
]
__all__ += functions.__all__
