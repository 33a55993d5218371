"""``df.wr`` and ``lf.wr`` of Polars frames, once this module is imported.

>>> import polars as pl
>>> import windrow.polars
>>> frame = pl.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 3]})
>>> frame.wr.with_columns("sum(x) OVER (PARTITION BY k) AS total")["total"].to_list()
[4, 2, 4]

Type checkers do not know attributes that are registered; they know ``windrow.polars.Frame(frame)``, which is the same.
"""

from __future__ import annotations

import polars as pl

from ._accessor import Accessor

__all__ = ["Frame", "LazyFrame"]


@pl.api.register_dataframe_namespace("wr")
class Frame(Accessor[pl.DataFrame]):
    """windrow's functions as methods of a DataFrame."""


@pl.api.register_lazyframe_namespace("wr")
class LazyFrame(Accessor[pl.LazyFrame]):
    """windrow's functions as methods of a LazyFrame, all of which stay lazy."""
