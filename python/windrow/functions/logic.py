"""Boolean and bitwise aggregates."""

from __future__ import annotations

from .._model.calls import Call, call
from .._model.expressions import IntoColumns
from ..exceptions import short_traceback

__all__ = ["any", "bit_and", "bit_or", "bit_xor", "bool_and", "bool_or", "every", "some"]


@short_traceback
def bool_and(x: IntoColumns) -> Call:
    """Whether all of the frame's values are true; nulls are ignored.

    Parameters
    ----------
    x
        A boolean column.

    Returns
    -------
    Call
        A boolean; null for a frame without values.

    Notes
    -----
    O(1) per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "ok": [True, False, True]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, a=wr.bool_and("ok").over(w))["a"].to_pylist()
    [True, False, False]
    """
    return call("bool_and", x)


@short_traceback
def every(x: IntoColumns) -> Call:
    """Whether all of the frame's values are true: another name of :func:`bool_and`.

    Parameters
    ----------
    x
        A boolean column.

    Returns
    -------
    Call
        See :func:`bool_and`.
    """
    return call("every", x)


@short_traceback
def bool_or(x: IntoColumns) -> Call:
    """Whether any of the frame's values is true; nulls are ignored.

    Parameters
    ----------
    x
        A boolean column.

    Returns
    -------
    Call
        A boolean; null for a frame without values.

    Notes
    -----
    O(1) per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "ok": [True, False, False]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, a=wr.bool_or("ok").over(w))["a"].to_pylist()
    [True, True, False]
    """
    return call("bool_or", x)


@short_traceback
def some(x: IntoColumns) -> Call:
    """Whether any of the frame's values is true: another name of :func:`bool_or`.

    Parameters
    ----------
    x
        A boolean column.

    Returns
    -------
    Call
        See :func:`bool_or`.
    """
    return call("some", x)


@short_traceback
def any(x: IntoColumns) -> Call:
    """Whether any of the frame's values is true: another name of :func:`bool_or`.

    Parameters
    ----------
    x
        A boolean column.

    Returns
    -------
    Call
        See :func:`bool_or`.
    """
    return call("any", x)


@short_traceback
def bit_and(x: IntoColumns) -> Call:
    """Return the bitwise AND of the frame's values; nulls are ignored.

    Parameters
    ----------
    x
        A column of integers.

    Returns
    -------
    Call
        The column's own type; null for a frame without values.

    Notes
    -----
    O(1) amortised per row over moving frames, by two stacks.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [7, 5, None]})
    >>> wr.with_columns(table, b=wr.bit_and("x").over(wr.window()))["b"].to_pylist()
    [5, 5, 5]
    """
    return call("bit_and", x)


@short_traceback
def bit_or(x: IntoColumns) -> Call:
    """Return the bitwise OR of the frame's values; nulls are ignored.

    Parameters
    ----------
    x
        A column of integers.

    Returns
    -------
    Call
        The column's own type; null for a frame without values.

    Notes
    -----
    O(1) amortised per row over moving frames, by two stacks.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 4, None]})
    >>> wr.with_columns(table, b=wr.bit_or("x").over(wr.window()))["b"].to_pylist()
    [5, 5, 5]
    """
    return call("bit_or", x)


@short_traceback
def bit_xor(x: IntoColumns) -> Call:
    """Return the bitwise XOR of the frame's values; nulls are ignored.

    Parameters
    ----------
    x
        A column of integers.

    Returns
    -------
    Call
        The column's own type; null for a frame without values.

    Notes
    -----
    O(1) per row over frames of fixed bounds, by difference of prefixes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [7, 5, None]})
    >>> wr.with_columns(table, b=wr.bit_xor("x").over(wr.window()))["b"].to_pylist()
    [2, 2, 2]
    """
    return call("bit_xor", x)
