"""Which calls Spark's own windows compute, and the calls as Spark's SQL.

The way through Arrow costs about what Spark's sort does. A ranking, an offset or a running total costs Spark little
beyond its exchange and its sort, so a stage that asks for nothing else is left to Spark, unless it needs more than one
sort, or Spark's answer could be another than windrow's.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyspark.sql.types as T  # noqa: N812 - its usual name

from .._model.calls import ORDERED_SET
from .._model.expressions import literal_sql
from ..exceptions import UnsupportedError
from .plan import quoted

__all__ = ["better_left", "row_of", "spark_sql", "with_windows"]

_RANKING = frozenset(["cume_dist", "dense_rank", "ntile", "percent_rank", "rank", "row_number"])
_OFFSET = frozenset(["lag", "lead"])
_VALUE = frozenset(["any_value", "first", "first_value", "last", "last_value", "nth_value"])
# Aggregates whose answer is the same in whatever order and groups the rows are folded.
_EXACT = frozenset([
    "any", "bit_and", "bit_or", "bit_xor", "bool_and", "bool_or", "count", "count_if", "every", "max", "min", "some",
])  # fmt: skip
_WITHIN_GROUP = frozenset(["listagg", "string_agg", *ORDERED_SET])


def better_left(
    calls: Sequence[dict[str, Any]], types: Mapping[str, T.DataType], constants: Collection[str] = ()
) -> bool:
    """Whether the calls of a stage had better stay with Spark: it computes each in O(n), behind one sort, alike.

    Parameters
    ----------
    calls
        The stage's native calls.
    types
        The types of the columns that they read.
    constants
        The columns of one value for all rows, which part nothing.

    Returns
    -------
    bool
        True where ``engine="auto"`` leaves them to Spark.
    """
    keys = {frozenset(c["partition_by"]).difference(constants) for c in calls}
    # a longer order would serve a shorter one, but break its ties otherwise
    orders = {tuple(map(_order, c["order_by"])) for c in calls if c["order_by"]}
    return len(keys) == 1 and all(keys) and len(orders) < 2 and all(_cheap(c, types) for c in calls)


def _cheap(call: dict[str, Any], types: Mapping[str, T.DataType]) -> bool:
    """Whether Spark computes a call in O(n), and gives windrow's answer whatever the data are.

    Ties come in the order of arrival in both, but where there is one key in all: then Spark's radix sort moves rows.
    """
    function, ordered = call["function"], bool(call["order_by"])
    if call["user"] is not None or call["distinct"] or call["argument_order"] or call["min_rows"] is not None:
        return False
    if function in _RANKING:
        return ordered
    if function in _OFFSET:
        return ordered and all(_whole(a) for a in call["args"][1:2])
    shape = _shape(call)
    if shape is None:
        return False
    if function in _VALUE:  # Spark's optimizer loses the filter of first() over some frames
        return ordered and call["filter"] is None and all(_whole(a) for a in call["args"][1:2])
    if function == "sum" and "column" in call["args"][0]:
        summed = types.get(call["args"][0]["column"])
        # a total of bigint may pass 2^63 on its way, which is an error to Spark alone; a running one is an answer there
        return isinstance(summed, (T.ByteType, T.ShortType, T.IntegerType, T.DecimalType)) or (
            isinstance(summed, T.LongType) and shape == "growing"
        )
    return function in _EXACT


def _whole(argument: dict[str, Any]) -> bool:
    """Whether an argument is a literal that Spark takes for an offset."""
    value = argument.get("literal")
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31


def _shape(call: dict[str, Any]) -> str | None:
    """Say whether a frame is the entire partition or grows by a row or a group of peers; None for all others."""
    frame = call["frame"]
    if frame is None:
        return "growing" if call["order_by"] else "entire"
    if frame["exclude"] != "no_others" or frame["units"] not in ("rows", "range"):
        return None
    ends = (frame["start"][0], frame["end"][0])
    if ends == ("unbounded_preceding", "current_row"):
        return "growing" if call["order_by"] else None
    return "entire" if ends == ("unbounded_preceding", "unbounded_following") else None


def spark_sql(call: dict[str, Any]) -> str:
    """Write a native call in Spark's SQL.

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
    function, frame = call["function"], call["frame"]
    bounds = [] if frame is None else [frame["start"], frame["end"]]
    missing = next(
        (
            words
            for said, words in (
                (call["user"] is not None, "functions of your own"),
                (call["distinct"], "DISTINCT over a window"),
                (call["min_rows"] is not None, "min_rows"),
                (call["argument_order"] and function not in _WITHIN_GROUP, "order inside the parentheses"),
                (frame is not None and frame["units"] == "groups", "GROUPS"),
                (frame is not None and frame["exclude"] != "no_others", "EXCLUDE"),
                (any("column" in (b[1] or {}) for b in bounds), "bounds of each row's own"),
            )
            if said
        ),
        None,
    )
    if missing is not None:
        raise _refused(call, f"Spark's windows have no {missing}")
    args = call["args"]
    within = call["argument_order"]
    if function in ORDERED_SET and within:
        args = args[1:]  # the key of an ordered set is its first argument as well
    inside = ", ".join(map(_argument, args)) or ("*" if function == "count" else "")
    parts = [f"{function}({inside})"]
    if within:
        parts.append(f"WITHIN GROUP (ORDER BY {', '.join(map(_order, within))})")
    if call["filter"]:
        parts.append(f"FILTER (WHERE {quoted(call['filter'])})")
    if call["ignore_nulls"] is not None:
        parts.append("IGNORE NULLS" if call["ignore_nulls"] else "RESPECT NULLS")
    over = []
    if call["partition_by"]:
        over.append("PARTITION BY " + ", ".join(map(quoted, call["partition_by"])))
    if call["order_by"]:
        over.append("ORDER BY " + ", ".join(map(_order, call["order_by"])))
    if frame is not None:
        over.append(f"{frame['units'].upper()} BETWEEN {_bound(frame['start'])} AND {_bound(frame['end'])}")
    return f"{' '.join(parts)} OVER ({' '.join(over)})"


def with_windows(frame: Any, calls: Mapping[str, dict[str, Any]], functions: Any) -> Any:
    """Add calls to a DataFrame as columns that Spark computes.

    Parameters
    ----------
    frame
        The DataFrame.
    calls
        Native calls by the names of their columns.
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
        call = next(iter(calls.values()))
        said = str(error).partition("\n")[0].partition(" SQLSTATE")[0]
        raise _refused(call, f"Spark refuses it: {said}") from None


def row_of(call: dict[str, Any], field: T.StructField, row: Mapping[str, Any] | None) -> dict[str, Any]:
    """Say of a call that Spark computes what ``explain`` says of windrow's.

    Parameters
    ----------
    call
        The native call.
    field
        Its column in Spark's schema.
    row
        What windrow would say, where it knows the call.

    Returns
    -------
    dict
        One row of the explanation.
    """
    known = {
        "call": call["display"],
        "partition_by": list(call["partition_by"]),
        "order_by": [_order(o) for o in call["order_by"]],
        "frame": None,
        "shape": None,
        "reach_before": None,
        "reach_after": None,
        "type": field.dataType.simpleString(),
        **(row or {}),
    }
    return {
        **known,
        "strategy": "spark",
        "reason": "Spark's own window costs little here, and nothing else needs the way through Arrow",
    }


def _refused(call: dict[str, Any], why: str) -> UnsupportedError:
    return UnsupportedError(f"{call['display']}: {why}; leave it to windrow, with engine='auto' or 'windrow'")


def _argument(argument: dict[str, Any]) -> str:
    return quoted(argument["column"]) if "column" in argument else _literal(argument["literal"])


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


def _order(order: dict[str, Any]) -> str:
    """Write an order key in Spark's SQL."""
    way, nulls = "DESC" if order["descending"] else "ASC", "FIRST" if order["nulls_first"] else "LAST"
    return f"{quoted(order['column'])} {way} NULLS {nulls}"


def _bound(bound: tuple[str, dict[str, Any] | None]) -> str:
    kind, offset = bound
    words = kind.replace("_", " ").upper()
    return words if offset is None else f"{_argument(offset)} {words}"
