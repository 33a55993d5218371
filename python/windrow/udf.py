"""Functions of the user's own, in Python: aggregates, functions over blocks of frames, functions of partitions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ._execute.user_functions import Aggregate, Frames, Partitions, UserFunction
from ._model.calls import Call
from ._model.catalog import function_names
from ._model.expressions import IntoExpr, as_expr
from ._parse.types import arrow_type
from .exceptions import SpecError, short_traceback, shown
from .typing import IntoArray, IntoDataType, UserAggregate

__all__ = ["aggregate", "partition_function", "vectorized"]


@short_traceback
def aggregate(
    cls: type[UserAggregate] | UserAggregate, *args: IntoExpr, returns: IntoDataType, name: str | None = None
) -> Call:
    """Make a window call of an aggregate written in Python.

    Parameters
    ----------
    cls
        A class without constructor arguments, or an instance, with these methods:

        - ``initialize() -> state``: the state of no rows, for example ``0``, ``[]`` or ``(0, 0.0)``.
        - ``update(state, *values) -> state``: the state with one more row; a null is None.
        - ``merge(left, right) -> state``, optional: the state of the rows of ``left``, then those of ``right``; either
          may be the state of no rows.
        - ``retract(state, *values) -> state``, optional: the state without its first row.
        - ``evaluate(state) -> value``, optional: what the state comes to; without it, the state itself.

        A state is a value: what a method is given is its own, to change or to keep, and what it returns is the new
        state. ``evaluate`` alone reads only. Keep nothing on ``self``: a state lives for one run of rows, ``self`` for
        all of them.
    *args
        Columns' names, literals, or expressions of the host, one for each value that ``update`` takes.
    returns
        The result's type: pyarrow's, Polars', PySpark's, Spark's DDL (``"struct<n: bigint, last: string>"``), or
        ``int``, ``float``, ``str``, ``bool``.
    name
        The function's name in messages and of the column; without it, the class's.

    Returns
    -------
    Call
        Takes every frame, ``.filter(...)`` and ``.order_by(...)``; its rows are read in the order asked for. A value of
        None is null. With ``.order_by`` rows are folded in that order.

    Raises
    ------
    SpecError
        For a missing method, one that takes another number of values, a type that is none.
    UserError
        While computing, for what a method raised (its exception is ``__cause__``) or a value that does not fit
        ``returns``.

    Notes
    -----
    Cost in calls per row: growing frames and whole partitions, one ``update``. Moving frames: with ``retract``, one
    ``update`` and one ``retract``; with ``merge``, two of each whatever the frame's length; with neither, one
    ``update`` for every row of every frame. ``retract`` must be exact: sums of floats drift, and windrow cannot see it.
    Mutable states are copied where two frames share one: lists, dicts and sets of plain values in some 100 ns, objects
    of plain classes in less than a microsecond, all else by ``copy.deepcopy``, which is slow; tuples and numbers cost
    nothing. Methods run on the caller's thread.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> class Spread:
    ...     def initialize(self):
    ...         return None
    ...     def update(self, state, x):
    ...         return self.merge(state, None if x is None else (x, x))
    ...     def merge(self, left, right):
    ...         if left is None or right is None:
    ...             return left or right
    ...         return min(left[0], right[0]), max(left[1], right[1])
    ...     def evaluate(self, state):
    ...         return None if state is None else state[1] - state[0]
    >>> table = pa.table({"t": [1, 2, 3, 4], "x": [5, 3, 9, None]})
    >>> w = wr.window(order_by="t", rows=(-1, 0))
    >>> wr.with_columns(table, s=wr.aggregate(Spread, "x", returns=int).over(w))["s"].to_pylist()
    [0, 2, 6, 0]
    """
    given: Any = cls
    name = _name((cls if isinstance(cls, type) else type(cls)).__name__ if name is None else name)
    if isinstance(cls, type):
        _methods(cls, name)
        try:
            given = cls()
        except TypeError as error:
            raise SpecError(f"{name} cannot be made without arguments ({error}); pass an instance") from error
    _methods(given, name)
    _takes(given.initialize, 0, f"{name}.initialize()")
    for method, before in (("update", "the state"), ("retract", "the state")):
        if hasattr(given, method):
            _takes(getattr(given, method), 1 + len(args), f"{name}.{method}()", before, len(args))
    if hasattr(given, "merge"):
        _takes(given.merge, 2, f"{name}.merge()", "two states")
    if hasattr(given, "evaluate"):
        _takes(given.evaluate, 1, f"{name}.evaluate()", "the state")
    return _call(Aggregate(given, arrow_type(returns, name), name), args)


@short_traceback
def vectorized(
    function: Callable[..., IntoArray], *args: IntoExpr, returns: IntoDataType, name: str | None = None
) -> Call:
    """Make a window call of a function that answers many frames at once, from whole columns.

    Parameters
    ----------
    function
        Called with a ``pyarrow.Array`` for each argument, then ``begin`` and ``end``, two int64 arrays with one frame
        a row: the frame is the values at ``begin[i]`` to ``end[i] - 1``, none where they are equal. The values are of
        many partitions one after another; a frame never leaves its own. It returns one value per frame: an Arrow array,
        a numpy array, a Polars Series or a list.
    *args
        Columns' names, literals, or expressions of the host.
    returns
        The result's type, as for :func:`aggregate`.
    name
        The function's name in messages and of the column; without it, the function's own.

    Returns
    -------
    Call
        Takes every frame but those with EXCLUDE, and ``.filter(...)``: values that it leaves out are not handed over.

    Raises
    ------
    SpecError
        For EXCLUDE, DISTINCT or an argument order, and a type that is none.
    UserError
        While computing, for what the function raised, another number of results, or values that do not fit.

    Notes
    -----
    One call for up to a million rows, whatever the number of partitions.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> def moving_mean(x, begin, end):
    ...     total = np.concatenate([[0], np.cumsum(x)])
    ...     begin, end = np.asarray(begin), np.asarray(end)
    ...     return (total[end] - total[begin]) / (end - begin)
    >>> table = pa.table({"t": [1, 2, 3], "x": [2.0, 4.0, 9.0]})
    >>> w = wr.window(order_by="t", rows=(-1, 0))
    >>> wr.with_columns(table, m=wr.vectorized(moving_mean, "x", returns=float).over(w))["m"].to_pylist()
    [2.0, 3.0, 6.5]
    """
    name = _name(_name_of(function) if name is None else name)
    _takes(function, len(args) + 2, f"{name}()", "begin and end", len(args))
    return _call(Frames(function, arrow_type(returns, name), name), args)


@short_traceback
def partition_function(
    function: Callable[..., IntoArray], *args: IntoExpr, returns: IntoDataType, name: str | None = None
) -> Call:
    """Make a window call of a function of whole partitions.

    Parameters
    ----------
    function
        Called once per partition with a ``pyarrow.Array`` for each argument, in the window's order. It returns one
        value per row: an Arrow array, a numpy array, a Polars Series or a list.
    *args
        Columns' names, literals, or expressions of the host; at least one.
    returns
        The result's type, as for :func:`aggregate`.
    name
        The function's name in messages and of the column; without it, the function's own.

    Returns
    -------
    Call
        Takes a window with or without an order, and neither a frame nor a filter.

    Raises
    ------
    SpecError
        For a frame, a filter, a call without arguments, and a type that is none.
    UserError
        While computing, for what the function raised, another number of results, or values that do not fit.

    Notes
    -----
    One call for each partition, some microseconds; a stream holds a partition until its end.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"k": ["a", "a", "b"], "x": [3.0, 1.0, 5.0]})
    >>> def share(x):
    ...     return np.asarray(x) / np.asarray(x).sum()
    >>> call = wr.partition_function(share, "x", returns=float).over(wr.window("k"))
    >>> wr.with_columns(table, s=call)["s"].to_pylist()
    [0.75, 0.25, 1.0]
    """
    name = _name(_name_of(function) if name is None else name)
    _takes(function, len(args), f"{name}()", None, len(args))
    return _call(Partitions(function, arrow_type(returns, name), name), args)


def _call(function: UserFunction, args: Sequence[Any]) -> Call:
    return Call(function.name, tuple(as_expr(a, f"{function.name}()") for a in args), user=function)


def _methods(given: Any, name: str) -> None:
    missing = [m for m in ("initialize", "update") if not callable(getattr(given, m, None))]
    if missing:
        raise SpecError(
            f"{name} has no {' and no '.join(missing)}; an aggregate is a class with initialize() and "
            "update(state, *values), and if you like merge, retract and evaluate"
        )
    for method in ("merge", "retract", "evaluate"):
        if hasattr(given, method) and not callable(getattr(given, method)):
            raise SpecError(f"{name}.{method} is {getattr(given, method)!r} and no method; leave it out, or write it")


def _takes(method: Any, count: int, what: str, first: str | None = None, values: int | None = None) -> None:
    if not callable(method):
        raise SpecError(f"{shown(method)} is no function")
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):
        return  # written in C, and does not say
    try:
        signature.bind(*[None] * count)
    except TypeError as error:
        given = [] if first is None else [first]
        if values is not None:
            given.append(f"{values} value{'' if values == 1 else 's'}")
        raise SpecError(f"{what} is called with {' and '.join(given) or 'nothing'}, and {error}") from None


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", None) or type(function).__name__
    return "function" if name == "<lambda>" else str(name)


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise SpecError(f"name={shown(name)} is no name")
    if name in function_names():
        raise SpecError(f"{name!r} is a function of windrow's; give yours another name with name=...")
    return name
