"""Ranking functions: the position of a row in its partition."""

from __future__ import annotations

from typing import Literal, TypeAlias

from .._model.calls import Call, call
from .._model.checks import flag
from .._model.expressions import IntoExpr, Literal as Constant, lit
from ..exceptions import SpecError, short_traceback, shown

__all__ = ["cume_dist", "dense_rank", "ntile", "percent_rank", "rank", "rank_with", "row_number"]

RankMethod: TypeAlias = Literal["min", "max", "average", "dense", "ordinal"]

#: SQL's function of each method, if there is one.
_METHODS: dict[str, str | None] = {
    "min": "rank",
    "max": None,
    "average": None,
    "dense": "dense_rank",
    "ordinal": "row_number",
}


@short_traceback
def row_number() -> Call:
    """Number the partition's rows from 1 in the window's order; ties are numbered in input order.

    With ``.order_by(...)`` it takes a frame, and ranks the row among the frame's rows by that order.

    Returns
    -------
    Call
        An int, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order, or has a frame and the call no order of its own.

    Notes
    -----
    O(1) per row; O(log n) with an order of its own.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [30, 10, 20]})
    >>> wr.with_columns(table, n=wr.row_number().over(wr.window(order_by="x")))["n"].to_pylist()
    [3, 1, 2]
    """
    return Call("row_number")


@short_traceback
def rank(method: RankMethod = "min", *, pct: bool = False, nulls: Literal["keep"] | None = None) -> Call:
    """Rank the partition's rows in the window's order; ties share a rank, and ranks after them are skipped.

    With ``.order_by(...)`` it takes a frame, and ranks the row among the frame's rows by that order.

    Parameters
    ----------
    method
        What ties get: the ``"min"`` or ``"max"`` of their row numbers, or the ``"average"``; ``"dense"`` skips no rank
        (:func:`dense_rank`), and ``"ordinal"`` numbers them in input order (:func:`row_number`).
    pct
        Give fractions: the rank divided by the number of rows, for ``"dense"`` by the number of peer groups.
    nulls
        ``"keep"``: a row whose key is null has no rank, and is not counted, as in Polars and pandas. None: nulls are
        ranked where the order puts them, as in SQL.

    Returns
    -------
    Call
        An int, or a double for ``"average"`` and ``pct``. Null for null keys that are kept.

    Raises
    ------
    SpecError
        For another method. When the plan is made, if the window has no order, has a frame and the call no order of its
        own, or several keys with ``nulls="keep"``; for ``"dense"`` with ``pct`` or ``nulls`` among a frame's rows.

    Notes
    -----
    O(1) per row; O(log n) with an order of its own. All but SQL's ``rank()``, ``dense_rank()`` and ``row_number()``
    hold a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 10]})
    >>> wr.with_columns(table, r=wr.rank().over(wr.window(order_by="x")))["r"].to_pylist()
    [1, 3, 1]
    >>> wr.with_columns(table, r=wr.rank("average").over(wr.window(order_by="x")))["r"].to_pylist()
    [1.5, 3.0, 1.5]
    >>> table = pa.table({"day": [1, 2, 3, 4], "score": [50, 70, 60, 80]})
    >>> so_far = wr.rank().order_by(wr.desc("score")).over(wr.window(order_by="day", rows=(-2, 0)))
    >>> wr.with_columns(table, r=so_far)["r"].to_pylist()
    [1, 1, 2, 1]
    """
    if not isinstance(method, str) or method not in _METHODS:
        raise SpecError(f"rank(): method is one of {', '.join(map(repr, _METHODS))}, not {shown(method)}")
    if nulls not in (None, "keep"):
        raise SpecError(f'rank(): nulls is "keep", or None for SQL\'s order of nulls, not {shown(nulls)}')
    fraction, keep = flag(pct, "rank(): pct"), nulls == "keep"
    plain = _METHODS[method]
    return Call(plain) if plain and not fraction and not keep else rank_with(method, fraction, keep)


@short_traceback
def rank_with(method: str | Constant, pct: bool | Constant = False, keep_nulls: bool | Constant = False) -> Call:
    """Rank rows with a method for ties: the function of SQL behind :func:`rank`.

    Parameters
    ----------
    method, pct
        As for :func:`rank`.
    keep_nulls
        Whether a row whose key is null has no rank.

    Returns
    -------
    Call
        As for :func:`rank`.

    Notes
    -----
    O(1) per row, O(log n) with an order of its own; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 10, None]})
    >>> wr.select(table, r="rank_with('max', true, true) OVER (ORDER BY x)")["r"].to_pylist()
    [0.6666666666666666, 1.0, 0.6666666666666666, None]
    """
    name = method.value if isinstance(method, Constant) else method
    if not isinstance(name, str):
        raise SpecError(f"rank_with(): method is one of {', '.join(map(repr, _METHODS))}, not {shown(method)}")
    given = {"pct": pct, "keep_nulls": keep_nulls}
    flags = [
        flag(value.value if isinstance(value, Constant) else value, f"rank_with(): {parameter}")
        for parameter, value in given.items()
    ]
    while flags and not flags[-1]:
        flags.pop()
    return call("rank_with", lit(name), *flags)


@short_traceback
def dense_rank() -> Call:
    """Rank the partition's rows in the window's order; ties share a rank, and no rank is skipped.

    With ``.order_by(...)`` it takes a frame, and ranks the row among the frame's rows by that order.

    Returns
    -------
    Call
        An int, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order, or has a frame and the call no order of its own.

    Notes
    -----
    O(1) per row; O(log n) with an order of its own.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 10]})
    >>> wr.with_columns(table, r=wr.dense_rank().over(wr.window(order_by="x")))["r"].to_pylist()
    [1, 2, 1]
    """
    return Call("dense_rank")


@short_traceback
def percent_rank() -> Call:
    """Return each row's relative rank in the partition: ``(rank - 1) / (rows - 1)``, and 0.0 for a lone row.

    With ``.order_by(...)`` it takes a frame, and ranks the row among the frame's rows by that order.

    Returns
    -------
    Call
        A double, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order, or has a frame and the call no order of its own.

    Notes
    -----
    O(1) per row, O(log n) with an order of its own; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 30]})
    >>> wr.with_columns(table, r=wr.percent_rank().over(wr.window(order_by="x")))["r"].to_pylist()
    [0.0, 0.5, 1.0]
    """
    return Call("percent_rank")


@short_traceback
def cume_dist() -> Call:
    """Return the fraction of the partition's rows that are ordered before the row or equal to it.

    With ``.order_by(...)`` it takes a frame, and ranks the row among the frame's rows by that order.

    Returns
    -------
    Call
        A double, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order, or has a frame and the call no order of its own.

    Notes
    -----
    O(1) per row, O(log n) with an order of its own; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 20, 30]})
    >>> wr.with_columns(table, r=wr.cume_dist().over(wr.window(order_by="x")))["r"].to_pylist()
    [0.25, 0.75, 0.75, 1.0]
    """
    return Call("cume_dist")


@short_traceback
def ntile(n: IntoExpr = 1) -> Call:
    """Split the partition's sorted rows into n buckets whose sizes differ by at most one; return the bucket, from 1.

    With ``.order_by(...)`` it takes a frame, and ranks the row among the frame's rows by that order.

    Parameters
    ----------
    n
        How many buckets.

    Returns
    -------
    Call
        An int, never null.

    Raises
    ------
    SpecError
        When the plan is made, if n is less than 1, if the window has no order, or has a frame and the call no order of
        its own.

    Notes
    -----
    O(1) per row, O(log n) with an order of its own; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 2, 3, 4, 5]})
    >>> wr.with_columns(table, b=wr.ntile(2).over(wr.window(order_by="x")))["b"].to_pylist()
    [1, 1, 1, 2, 2]
    """
    if isinstance(n, str):
        raise SpecError(f"ntile() takes a number of buckets, not {shown(n)}")
    return call("ntile", n)
