"""The frame's values as a list, or joined to a string."""

from __future__ import annotations

from .._model.calls import Call, call
from .._model.expressions import IntoColumns, lit
from ..exceptions import short_traceback

__all__ = ["array_agg", "collect_list", "collect_set", "listagg", "string_agg"]


@short_traceback
def collect_list(x: IntoColumns) -> Call:
    """Return the frame's values as a list, in row order; nulls are ignored.

    ``.respect_nulls()`` keeps nulls; ``.order_by(...)`` orders the values by other columns; ``.distinct()`` keeps each
    value once.

    Parameters
    ----------
    x
        A column of any type.

    Returns
    -------
    Call
        A list of the column's type, never null; empty for a frame without values.

    Notes
    -----
    Over frames without EXCLUDE and in the window's order, all lists share one copy of the values if the host supports
    list views: O(1) per row. Otherwise the cost is proportional to the lengths of the lists.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": ["a", None, "c"]})
    >>> w = wr.window(order_by="id")
    >>> wr.with_columns(table, xs=wr.collect_list("x").over(w))["xs"].to_pylist()
    [['a'], ['a'], ['a', 'c']]
    >>> wr.with_columns(table, xs=wr.collect_list("x").respect_nulls().over(w))["xs"].to_pylist()
    [['a'], ['a', None], ['a', None, 'c']]
    """
    return call("collect_list", x)


@short_traceback
def array_agg(x: IntoColumns) -> Call:
    """Return the frame's values as a list: another name of :func:`collect_list`.

    Parameters
    ----------
    x
        A column of any type.

    Returns
    -------
    Call
        See :func:`collect_list`.
    """
    return call("array_agg", x)


@short_traceback
def collect_set(x: IntoColumns) -> Call:
    """Return the frame's distinct values as a list, in ascending order; nulls are ignored.

    Parameters
    ----------
    x
        A column of any type that has an order.

    Returns
    -------
    Call
        A list of the column's type, never null; empty for a frame without values.

    Notes
    -----
    Proportional to the lengths of the lists, and O(1) amortised per row for the counts of values. -0.0 becomes 0.0, and
    all NaNs are one value. In Spark the order of the values is that of a hash table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": ["b", "a", "b"]})
    >>> wr.with_columns(table, xs=wr.collect_set("x").over(wr.window(order_by="id")))["xs"].to_pylist()
    [['b'], ['a', 'b'], ['a', 'b']]
    """
    return call("collect_set", x)


@short_traceback
def listagg(x: IntoColumns, delimiter: str | bytes | None = None) -> Call:
    """Join the frame's values to a string, in row order; nulls are ignored.

    ``.order_by(...)`` orders the values by other columns, as SQL's ``WITHIN GROUP (ORDER BY ...)``; ``.distinct()``
    keeps each value once.

    Parameters
    ----------
    x
        A column of any type that can be cast to a string; bytes stay bytes.
    delimiter
        What to write between two values; nothing by default.

    Returns
    -------
    Call
        A string, or bytes for bytes; null for a frame without values.

    Notes
    -----
    Proportional to the lengths of the results.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": ["b", "a", None]})
    >>> wr.with_columns(table, s=wr.listagg("x", ", ").over(wr.window(order_by="id")))["s"].to_pylist()
    ['b', 'b, a', 'b, a']
    >>> wr.with_columns(table, s=wr.listagg("x").order_by("x").over(wr.window()))["s"].to_pylist()
    ['ab', 'ab', 'ab']
    """
    return call("listagg", x) if delimiter is None else call("listagg", x, lit(delimiter))


@short_traceback
def string_agg(x: IntoColumns, delimiter: str | bytes | None = None) -> Call:
    """Join the frame's values to a string: another name of :func:`listagg`.

    Parameters
    ----------
    x
        A column of any type that can be cast to a string.
    delimiter
        What to write between two values; nothing by default.

    Returns
    -------
    Call
        See :func:`listagg`.
    """
    return call("string_agg", x) if delimiter is None else call("string_agg", x, lit(delimiter))
