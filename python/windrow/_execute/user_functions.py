"""User-defined functions as the native module calls them: converts their arguments and results."""

from __future__ import annotations

import array
import collections
import copyreg
import datetime as dt
import os
import pickle
import struct
import sys
import traceback
import uuid
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Final

import pyarrow as pa

from .._model.tokens import unique_token
from ..exceptions import DataError, UserError, WindrowError
from .arrow_columns import as_single_array
from .lossless import fits, same_fields
from .validation import Checker

__all__ = ["Aggregate", "Frames", "Partitions", "UserFunction", "with_message_first", "with_users_traceback"]

_CONSTANT: Final = frozenset(
    [dt.date, dt.datetime, dt.time, dt.timedelta, dt.timezone, Decimal, Fraction, uuid.UUID, range, type]
)
_SHALLOW: Final = frozenset(
    [bytearray, array.array, collections.deque, collections.Counter, collections.defaultdict, collections.OrderedDict]
)
_PICKLERS: Final = [("pyspark", "pyspark.cloudpickle"), ("cloudpickle", "cloudpickle")]
_SHOWN: Final = 80
_POINTER: Final = struct.calcsize("P")


class UserFunction:
    """A user-defined function, with the conversions of values and results that the native module needs."""

    kind: ClassVar[str]
    shallow: Final = _SHALLOW

    def __init__(self, given: Any, returns: pa.DataType, name: str, token: str | None = None) -> None:
        self.instance = given
        self.returns = returns
        self.name = name
        self.token = unique_token() if token is None else token

    def __repr__(self) -> str:
        """Name the function."""
        return self.name

    @staticmethod
    def attributes(cls: type) -> tuple[str, ...] | None:
        """Say which attributes make up objects of a class, ``__dict__`` for all it has no slots for.

        None where ``copy.deepcopy`` does more than to copy each: for classes written in C, or with pickling, copying or
        attributes of their own making.
        """
        protocol_methods = ("__new__", "__reduce__", "__reduce_ex__", "__getattribute__", "__getstate__")
        custom = any(getattr(cls, n, None) is not getattr(object, n, None) for n in protocol_methods)
        custom = custom or any(hasattr(cls, n) for n in ("__deepcopy__", "__setstate__", "__getattr__"))
        slots: list[str] = copyreg._slotnames(cls)  # type: ignore[attr-defined]
        # beyond its slots, __dict__ and __weakref__ a class has room only for what C keeps there
        extra_bytes = cls.__basicsize__ - object.__basicsize__ - _POINTER * (len(slots) + 2)
        if custom or cls in copyreg.dispatch_table or extra_bytes > 0:
            return None
        return (*slots, *(["__dict__"] if cls.__dictoffset__ else []))

    @property
    def constant(self) -> frozenset[type]:
        """The types with immutable values, beside Python's numbers and strings."""
        numpy = sys.modules.get("numpy")
        return _CONSTANT if numpy is None else _CONSTANT | {numpy.dtype(c).type for c in "?bhilqBHILQefdFDmMUS"}

    def __reduce__(self) -> Any:
        """Pickle the user's code by value if cloudpickle is installed, like PySpark, for classes of a notebook."""
        return _restored, (type(self), _dumps(self.instance, self.name), self.returns, self.name, self.token)

    @staticmethod
    def values(column: pa.Array) -> list[Any]:
        """Return a column as Python values; each is converted once, however many frames contain it."""
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
        """Convert results to a column of the declared type; values that do not fit it exactly are refused."""
        results = _missing_to_none(results)
        try:
            column = pa.array(results, type=self.returns)
            if fits(results, self.returns):
                return column
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
        shown = next(r for r in results if not fits([r], self.returns))
        raise UserError(
            f"{self.name} gave {_shown(shown)} ({type(shown).__name__}), of which {self.returns} would lose a part; "
            "give what fits, or another returns="
        )

    def column(self, results: Any, rows: int) -> pa.Array:
        """Convert the result of a vectorized function to a column; its length and type are checked."""
        if not isinstance(results, (pa.Array, pa.ChunkedArray)) and hasattr(results, "__arrow_c_stream__"):
            results = pa.chunked_array(results)
        if isinstance(results, (pa.Array, pa.ChunkedArray)):
            try:
                results = as_single_array(Checker().validated(results, "result"))
            except DataError as error:
                raise UserError(f"{self.name} returned wrong Arrow data: {error}") from None
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
            if not same_fields(results.type, self.returns):
                raise pa.ArrowInvalid("it has fields of other names")
            return results.cast(self.returns)
        except pa.ArrowException as error:
            raise UserError(
                f"{self.name} returned {results.type}, which does not become {self.returns}: {error}; "
                "return what fits, or give another returns="
            ) from error

    def call_user(self, *args: Any) -> Any:
        """Call the user's function; errors that it raises name it."""
        try:
            return self.instance(*args)
        except Exception as error:
            text = f": {error}" if str(error) else ""
            raise UserError(f"{self.name}() raised {type(error).__name__}{text}") from error


class Aggregate(UserFunction):
    """A class with initialize, update, and maybe merge, retract and evaluate."""

    kind = "aggregate"

    def dumps(self, state: Any) -> bytes:
        """Serialize a state, for a partition that continues in a later batch of a stream."""
        try:
            return pickle.dumps(state, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise UserError(
                f"the state of {self.name}, {_shown(state)} ({type(state).__name__}), cannot be pickled: {error}. "
                "A stream keeps it so between batches: make it of plain values, or let windrow sort (sort=True)"
            ) from error

    @staticmethod
    def loads(state: bytes) -> Any:
        """Deserialize a state that ``dumps`` wrote."""
        return pickle.loads(state)


class Frames(UserFunction):
    """A function of columns and the begins and ends of frames."""

    kind = "frames"

    def answer(self, args: Sequence[pa.Array], begin: pa.Array, end: pa.Array) -> pa.Array:
        """Answer a block of frames."""
        return self.column(self.call_user(*args, begin, end), len(begin))


class Partitions(UserFunction):
    """A function of a partition's columns."""

    kind = "partitions"

    def answer(self, args: Sequence[pa.Array], begin: Sequence[int], end: Sequence[int]) -> pa.Array:
        """Answer partitions, one call each."""
        done = []
        for first, last in zip(begin, end, strict=True):
            rows = last - first
            done.append(self.column(self.call_user(*[a.slice(first, rows) for a in args]), rows))
        return pa.concat_arrays(done) if done else pa.array([], type=self.returns)


def _missing_to_none(results: list[Any]) -> list[Any]:
    """Replace pandas' missing values in results by None; Arrow would accept some of them as values."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return results
    missing = (type(pandas.NaT), type(pandas.NA))
    return (
        [None if isinstance(r, missing) else r for r in results] if set(missing) & set(map(type, results)) else results
    )


def with_message_first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield a Spark task's batches; a failure's message comes first in what the driver shows of it.

    The driver has nothing but the text that PySpark's worker sends: the traceback, and the message at its end. So the
    worker, which ends with the task's failure, is told to send no traceback but that of the user's own function.
    """
    try:
        yield from batches
    except WindrowError as error:
        if not os.environ.get("WINDROW_FULL_TRACEBACK"):
            os.environ["SPARK_HIDE_TRACEBACK"] = "1"
        raise with_users_traceback(error) from error.__cause__


def with_users_traceback(error: WindrowError) -> WindrowError:
    """Give an error whose message has the traceback of the user's function, where that is what failed."""
    cause = error.__cause__
    if not isinstance(error, UserError) or cause is None:
        return error
    text = "".join(traceback.format_exception(type(cause), cause, cause.__traceback__))
    return UserError(f"{error}\n\n{text.rstrip()}")


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as error:
        return f"<no repr: {error}>"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _dumps(given: Any, name: str) -> bytes:
    pickler: Any = pickle
    # PySpark's own copy is used only if PySpark is loaded already: loading it takes long
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


def _restored(cls: type[UserFunction], data: bytes, returns: pa.DataType, name: str, token: str) -> UserFunction:
    return cls(pickle.loads(data), returns, name, token)
