"""Functions that Spark has and windrow has not: on a Spark frame Spark computes them, beside windrow's."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from ..._model.calls import Call, Derived, expressions_of
from ..._model.catalog import function_names
from ..._model.expressions import Expr, HostExpression, Sql
from ..._model.outputs import Output
from ..._model.replace import replace
from ..._plan.levels import calls_in
from ...exceptions import UnsupportedError

__all__ = ["with_spark_fallback"]


def with_spark_fallback(output: Output, frame: Any, level: int) -> Output:
    """Give an output whose functions windrow does not all know as an expression that Spark evaluates.

    Parameters
    ----------
    output
        One column of the result.
    frame
        The Spark DataFrame.
    level
        How many frames up the user's line is, which the warning is about.

    Returns
    -------
    Output
        The same output, if windrow knows all of its functions, or Spark refuses the expression as well.

    Raises
    ------
    UnsupportedError
        If the item holds a Column of PySpark's, which has no text for Spark to read.
    """
    item = output.item
    if item is None:
        return output
    calls = list(_calls(item))
    unknown = sorted({c.function for c in calls if c.user is None and c.function not in function_names()})
    if not unknown:
        return output
    named = " and ".join(unknown)
    if any(isinstance(e, HostExpression) for c in calls for e in expressions_of(c)):
        raise UnsupportedError(
            f"{item.sql}: windrow has no function {named}; add the column with frame.withColumn(...)"
        )
    if not _spark_reads(frame, item.sql):
        return output
    warnings.warn(
        f"windrow has no function {named} and leaves the column to Spark: {item.sql}", UserWarning, stacklevel=level
    )
    return replace(output, item=Derived(Sql(item.sql), {}, item.sql, output.name))


def _spark_reads(frame: Any, text: str) -> bool:
    """Whether Spark's analyser takes an expression over a frame; nothing is computed."""
    from pyspark.errors import PySparkException

    try:
        return frame.selectExpr(text).schema is not None
    except PySparkException:
        return False


def _calls(item: Call | Derived | Expr) -> Iterator[Call]:
    """Give all calls in an item, those inside calls too."""
    for call in calls_in(item).values():
        yield call
        for expression in expressions_of(call):
            yield from _calls(expression)
