"""Functions of the user's own, in Python: aggregates, functions over blocks of frames, functions of partitions."""

from __future__ import annotations

import array
import collections
import copyreg
import datetime as dt
import inspect
import pickle
import struct
import sys
import traceback
import uuid
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Final

import pyarrow as pa

from ._model.calls import Call
from ._model.catalog import function_names
from ._model.expressions import as_expr
from ._parse.types import arrow_type
from .exceptions import SpecError, UserError

__all__ = ["aggregate", "partition_function", "vectorized"]

_CONSTANT: Final = frozenset(
    [dt.date, dt.datetime, dt.time, dt.timedelta, dt.timezone, Decimal, Fraction, uuid.UUID, range, type]
)
_SHALLOW: Final = frozenset(
    [bytearray, array.array, collections.deque, collections.Counter, collections.defaultdict, collections.OrderedDict]
)
_PICKLERS: Final = [("pyspark", "pyspark.cloudpickle"), ("cloudpickle", "cloudpickle")]
_SHOWN: Final = 80
_POINTER: Final = struct.calcsize("P")


def aggregate(cls: Any, *args: Any, returns: Any, name: str | None = None) -> Call:
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
    given = cls
    if isinstance(cls, type):
        name = name or cls.__name__
        _methods(cls, name)
        try:
            given = cls()
        except TypeError as error:
            raise SpecError(f"{name} cannot be made without arguments ({error}); pass an instance") from error
    name = _name(name or type(given).__name__)
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


def vectorized(function: Callable[..., Any], *args: Any, returns: Any, name: str | None = None) -> Call:
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
    name = _name(name or _name_of(function))
    _takes(function, len(args) + 2, f"{name}()", "begin and end", len(args))
    return _call(Frames(function, arrow_type(returns, name), name), args)


def partition_function(function: Callable[..., Any], *args: Any, returns: Any, name: str | None = None) -> Call:
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
    name = _name(name or _name_of(function))
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
        raise SpecError(f"{method!r} is no function")
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
        raise SpecError(f"name={name!r} is no name")
    if name in function_names():
        raise SpecError(f"{name!r} is a function of windrow's; give yours another name with name=...")
    return name


class UserFunction:
    """A function of the user's with what the native module needs of it: how values and results go to and fro."""

    kind: ClassVar[str]
    shallow: Final = _SHALLOW

    def __init__(self, given: Any, returns: pa.DataType, name: str) -> None:
        self.instance = given
        self.returns = returns
        self.name = name

    @staticmethod
    def attributes(cls: type) -> tuple[str, ...] | None:
        """Say which attributes make up objects of a class, ``__dict__`` for all it has no slots for.

        None where ``copy.deepcopy`` does more than to copy each: for classes written in C, or with pickling, copying or
        attributes of their own making.
        """
        own = ("__new__", "__reduce__", "__reduce_ex__", "__getattribute__", "__getstate__")
        custom = any(getattr(cls, n, None) is not getattr(object, n, None) for n in own)
        custom = custom or any(hasattr(cls, n) for n in ("__deepcopy__", "__setstate__", "__getattr__"))
        slots: list[str] = copyreg._slotnames(cls)  # type: ignore[attr-defined]
        # beyond its slots, __dict__ and __weakref__ a class has room only for what C keeps there
        room = cls.__basicsize__ - object.__basicsize__ - _POINTER * (len(slots) + 2)
        if custom or cls in copyreg.dispatch_table or room > 0:
            return None
        return (*slots, *(["__dict__"] if cls.__dictoffset__ else []))

    @property
    def constant(self) -> frozenset[type]:
        """The types whose values nobody can change, beside Python's numbers and texts."""
        numpy = sys.modules.get("numpy")
        return _CONSTANT if numpy is None else _CONSTANT | {numpy.dtype(c).type for c in "?bhilqBHILQefdFDmMUS"}

    def __reduce__(self) -> Any:
        """Pickle the user's code by value where cloudpickle is there, as PySpark does: a notebook's classes too."""
        return _restored, (type(self), _dumps(self.instance, self.name), self.returns, self.name)

    @staticmethod
    def values(column: pa.Array) -> list[Any]:
        """Give a column as Python values; each is converted once, whatever the number of frames it lies in."""
        kind = column.type
        values: list[Any]
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            plain = column.fill_null(False if pa.types.is_boolean(kind) else 0) if column.null_count else column
            values = plain.to_numpy(zero_copy_only=False).tolist()
            if column.null_count:
                for row in column.is_null().to_numpy(zero_copy_only=False).nonzero()[0].tolist():
                    values[row] = None
            return values
        values = column.to_pylist()
        return values

    def convert(self, results: list[Any]) -> pa.Array:
        """Give results as a column of the declared type."""
        try:
            return pa.array(results, type=self.returns)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            for result in results:
                try:
                    pa.array([result], type=self.returns)
                except (pa.ArrowException, TypeError, ValueError, OverflowError) as fault:
                    shown = _shown(result)
                    raise UserError(
                        f"{self.name} gave {shown} ({type(result).__name__}), which is no {self.returns}: {fault}; "
                        "give what fits, or another returns="
                    ) from fault
            raise UserError(f"the results of {self.name} do not make a column of {self.returns}: {error}") from error

    def column(self, results: Any, rows: int) -> pa.Array:
        """Give what a function returned for many rows as a column, its length and type checked."""
        if isinstance(results, pa.ChunkedArray):
            results = pa.concat_arrays(results.chunks) if results.num_chunks else pa.nulls(0, results.type)
        elif not isinstance(results, pa.Array) and hasattr(results, "__arrow_c_stream__"):
            chunked = pa.chunked_array(results)
            results = pa.concat_arrays(chunked.chunks) if chunked.num_chunks else pa.nulls(0, chunked.type)
        if results is None or isinstance(results, (str, bytes)) or not hasattr(results, "__len__"):
            raise UserError(
                f"{self.name} returned {_shown(results)} ({type(results).__name__}) and not one value per row; "
                "return an array or a list"
            )
        if len(results) != rows:
            raise UserError(f"{self.name} returned {len(results)} values for {rows} rows; return one per row")
        if not isinstance(results, pa.Array):
            results = self.convert(results)
        if results.type == self.returns:
            return results
        try:
            return results.cast(self.returns)
        except pa.ArrowException as error:
            raise UserError(
                f"{self.name} returned {results.type}, which does not become {self.returns}: {error}; "
                "return what fits, or give another returns="
            ) from error

    def called(self, *args: Any) -> Any:
        """Call the user's function; what it raises is said of it by name."""
        try:
            return self.instance(*args)
        except Exception as error:
            text = f": {error}" if str(error) else ""
            raise UserError(f"{self.name}() raised {type(error).__name__}{text}") from error


class Aggregate(UserFunction):
    """A class with initialize, update, and maybe merge, retract and evaluate."""

    kind = "aggregate"

    def dumps(self, state: Any) -> bytes:
        """Give a state as bytes, for a partition that goes on in a later batch of a stream."""
        try:
            return pickle.dumps(state, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise UserError(
                f"the state of {self.name}, {_shown(state)} ({type(state).__name__}), cannot be pickled: {error}. "
                "A stream keeps it so between batches: make it of plain values, or let windrow sort (sort=True)"
            ) from error

    @staticmethod
    def loads(state: bytes) -> Any:
        """Give the state that ``dumps`` wrote."""
        return pickle.loads(state)


class Frames(UserFunction):
    """A function of columns and the begins and ends of frames."""

    kind = "frames"

    def answer(self, args: Sequence[pa.Array], begin: pa.Array, end: pa.Array) -> pa.Array:
        """Answer a block of frames."""
        return self.column(self.called(*args, begin, end), len(begin))


class Partitions(UserFunction):
    """A function of a partition's columns."""

    kind = "partitions"

    def answer(self, args: Sequence[pa.Array], begin: Sequence[int], end: Sequence[int]) -> pa.Array:
        """Answer partitions, one call each."""
        done = []
        for first, last in zip(begin, end, strict=True):
            rows = last - first
            done.append(self.column(self.called(*[a.slice(first, rows) for a in args]), rows))
        return pa.concat_arrays(done) if done else pa.array([], type=self.returns)


def telling(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pass batches on, and put the user's traceback into what a failure says: Spark's driver sees the message alone."""
    try:
        yield from batches
    except UserError as error:
        cause = error.__cause__
        if cause is None:
            raise
        text = "".join(traceback.format_exception(type(cause), cause, cause.__traceback__))
        raise UserError(f"{error}\n\n{text.rstrip()}") from cause


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as error:
        return f"<no repr: {error}>"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _dumps(given: Any, name: str) -> bytes:
    pickler: Any = pickle
    # PySpark brings its own: it is at hand where Spark is used, and too much to load where not
    for package, module in _PICKLERS:
        if package in sys.modules or (package != "pyspark" and find_spec(package) is not None):
            pickler = import_module(module)
            break
    try:
        data: bytes = pickler.dumps(given)
    except Exception as error:
        remedy = "pip install cloudpickle, or define it at the top of a module" if pickler is pickle else "look inside"
        raise pickle.PicklingError(f"{name} cannot be sent to another process: {error}; {remedy}") from error
    return data


def _restored(cls: type[UserFunction], data: bytes, returns: pa.DataType, name: str) -> UserFunction:
    return cls(pickle.loads(data), returns, name)
