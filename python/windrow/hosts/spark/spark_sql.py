"""Calls as Spark's SQL, and as columns that Spark's own windows compute."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..._execute.explained_call import ExplainedCall
from ..._execute.stream import Operator
from ..._model.catalog import function_of
from ..._model.expressions import literal_sql
from ..._model.replace import replace
from ..._plan.bound import Argument, BoundCall, ColumnArgument, FrameBound, SortKey
from ...exceptions import UnsupportedError, WindrowError
from .scalars import quoted

__all__ = ["explained_spark_call", "order_sql", "refused_window", "rows_by_windrow", "spark_sql", "with_windows"]


def spark_sql(call: BoundCall) -> str:
    """Write a call in Spark's SQL.

    Parameters
    ----------
    call
        The call; its columns have names of their own.

    Returns
    -------
    str
        The window expression.

    Raises
    ------
    UnsupportedError
        If Spark's SQL cannot say it.
    """
    function, frame = call.function, call.frame
    known = function_of(function)
    group = None if known is None else known.within_group
    bounds = [] if frame is None else [frame.start, frame.end]
    missing = next(
        (
            words
            for said, words in (
                (call.user is not None, "functions of your own"),
                (call.distinct, "DISTINCT over a window"),
                (call.min_rows is not None, "min_rows"),
                (call.argument_order and group is None, "order inside the parentheses"),
                (frame is not None and frame.units == "groups", "GROUPS"),
                (frame is not None and frame.exclude != "no_others", "EXCLUDE"),
                (frame is not None and any(frame.open), "open bounds"),
                (frame is not None and frame.elapsed, "days of elapsed time"),
                (any(isinstance(b.offset, ColumnArgument) for b in bounds), "bounds of each row's own"),
            )
            if said
        ),
        None,
    )
    if missing is not None:
        raise _refused(call, f"Spark's windows have no {missing}")
    args = call.args
    within = call.argument_order
    if group == "key" and within:
        args = args[1:]  # the key is the first argument as well
    inside = ", ".join(map(_argument, args)) or ("*" if known is not None and known.takes_star else "")
    parts = [f"{function}({inside})"]
    if within:
        parts.append(f"WITHIN GROUP (ORDER BY {', '.join(map(order_sql, within))})")
    if call.filter:
        parts.append(f"FILTER (WHERE {quoted(call.filter)})")
    if call.ignore_nulls is not None:
        parts.append("IGNORE NULLS" if call.ignore_nulls else "RESPECT NULLS")
    over = []
    if call.partition_by:
        over.append("PARTITION BY " + ", ".join(map(quoted, call.partition_by)))
    if call.order_by:
        over.append("ORDER BY " + ", ".join(map(order_sql, call.order_by)))
    if frame is not None:
        over.append(f"{frame.units.upper()} BETWEEN {_bound(frame.start)} AND {_bound(frame.end)}")
    return f"{' '.join(parts)} OVER ({' '.join(over)})"


def with_windows(frame: Any, calls: Mapping[str, BoundCall], functions: Any) -> Any:
    """Add calls to a DataFrame as columns that Spark computes.

    Parameters
    ----------
    frame
        The DataFrame.
    calls
        Calls by the names of their columns.
    functions
        PySpark's functions.

    Returns
    -------
    pyspark.sql.DataFrame
        The frame with the columns, analysed.

    Raises
    ------
    UnsupportedError
        If Spark has no such window, or refuses it.
    """
    from pyspark.errors import PySparkException

    texts = {name: spark_sql(call) for name, call in calls.items()}
    try:
        result = frame.select("*", *[functions.expr(t).alias(n) for n, t in texts.items()])
        result.schema  # noqa: B018 - Connect analyses no earlier
        return result
    except PySparkException as error:
        for name, call in calls.items() if len(calls) > 1 else ():
            with_windows(frame, {name: call}, functions)
        raise refused_window(next(iter(calls.values())), error) from None


def refused_window(call: BoundCall, error: Exception) -> UnsupportedError:
    """Make the error of a window that Spark refuses.

    Parameters
    ----------
    call
        The call.
    error
        What Spark said.

    Returns
    -------
    UnsupportedError
        The same in one line.
    """
    said = str(error).partition("\n")[0].partition(" SQLSTATE")[0]
    return _refused(call, f"Spark refuses it: {said}")


def rows_by_windrow(make: Callable[[], Operator], calls: int, *, asked: bool) -> Sequence[ExplainedCall | None]:
    """Say what windrow would say of calls that Spark computes: a mistake is told in the same words whoever computes.

    Parameters
    ----------
    make
        Makes the operator of the calls.
    calls
        Their number.
    asked
        Whether Spark computes them because the user wants it so; then a mistake is for Spark to tell.

    Returns
    -------
    sequence of ExplainedCall or None
        A row for each call; None for all of them where windrow has nothing to say.

    Raises
    ------
    WindrowError
        For a mistake, unless Spark was asked for.
    """
    try:
        return make().explain_rows() if calls else []
    except UnsupportedError:
        pass  # what cannot go through Arrow, and is not to
    except WindrowError:
        if not asked:
            raise
    return [None] * calls


def explained_spark_call(
    call: BoundCall, field: T.StructField, row: ExplainedCall | None, *, asked: bool = False
) -> ExplainedCall:
    """Say of a call that Spark computes what ``explain`` says of windrow's.

    Parameters
    ----------
    call
        The call.
    field
        Its column in Spark's schema.
    row
        What windrow would say, where it knows the call.
    asked
        Whether Spark computes it because the user wants it so.

    Returns
    -------
    ExplainedCall
        One row of the explanation.
    """
    reason = "Spark's own window costs little here, and nothing else needs the way through Arrow"
    if asked:
        reason = "engine='spark' leaves all windows to Spark"
    if row is not None:
        return replace(row, strategy="spark", reason=reason, type=field.dataType.simpleString())
    return ExplainedCall(
        name=call.name,
        call=call.display,
        partition_by=list(call.partition_by),
        order_by=[order_sql(o) for o in call.order_by],
        frame=None,
        shape=None,
        strategy="spark",
        reason=reason,
        reach_before=None,
        reach_after=None,
        sort=None,
        type=field.dataType.simpleString(),
    )


def _refused(call: BoundCall, why: str) -> UnsupportedError:
    return UnsupportedError(f"{call.display}: {why}; leave it to windrow, with engine='auto' or 'windrow'")


def _argument(argument: Argument) -> str:
    return quoted(argument.column) if isinstance(argument, ColumnArgument) else _literal(argument.value)


def _literal(value: Any) -> str:
    """Write a value as Spark reads it with the type that windrow gives it."""
    if isinstance(value, (list, tuple)):
        return f"array({', '.join(map(_literal, value))})"
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return f"{value!r}D"
    if isinstance(value, Decimal):
        return f"{value:f}BD"
    if isinstance(value, dt.datetime):
        return f"TIMESTAMP{'_NTZ' if value.tzinfo is None else ''} '{value.isoformat(sep=' ')}'"
    return literal_sql(value)


def order_sql(key: SortKey) -> str:
    """Write an order key in Spark's SQL."""
    way, nulls = "DESC" if key.descending else "ASC", "FIRST" if key.nulls_first else "LAST"
    return f"{quoted(key.column)} {way} NULLS {nulls}"


def _bound(bound: FrameBound) -> str:
    offset = bound.offset
    words = bound.kind.replace("_", " ").upper()
    return words if offset is None else f"{_argument(offset)} {words}"
