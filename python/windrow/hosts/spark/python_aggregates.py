"""Aggregates over windows that Spark runs as Python functions: ``pandas_udf`` and ``arrow_udf``.

    m(v) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING)

The function stands pickled in Spark's plan. windrow's stage calls it as Spark's worker does: once for the frame of each
row, or once for a partition where the frame is all of it, with parts of the partition's columns. Only the way there is
another: many partitions come in one batch, and calls of other kinds share the stage.

The conversions are those of PySpark's worker for types that it hands over as they are; other types stay with Spark.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..._execute.user_functions import Partitions
from ..._model.calls import Call
from ..._model.catalog import function_names
from ..._model.expressions import Expr
from ...exceptions import UnsupportedError, UserError
from .catalyst_node import CatalystNode, value_of
from .types import arrow_type

__all__ = ["PythonSettings", "python_aggregate"]

# What aggregates are called in Spark's protocol; those that take iterators have no windows.
_PANDAS = 202
_KINDS = {_PANDAS: "pandas", 252: "arrow"}
# Types that PySpark's worker converts as pyarrow does, without regard to settings.
_PLAIN = frozenset(["tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "string", "binary", "date"])
_KEYS = _PLAIN | {"timestamp", "timestamp_ntz"}
_BOUNDS: dict[str, int | None] = {"CurrentRow": 0, "UnboundedPreceding": None, "UnboundedFollowing": None}


@dataclass(frozen=True, slots=True)
class PythonSettings:
    """Settings of Spark's by which PySpark's worker converts values, or profiles functions.

    Parameters
    ----------
    safe
        Whether a result that loses a part in its type is an error.
    others
        Those that are on and that windrow does not follow.
    """

    safe: bool
    others: tuple[str, ...]

    NAMES = (
        "spark.sql.execution.pandas.convertToArrowArraySafely",
        "spark.sql.execution.pythonUDF.pandas.intToDecimalCoercionEnabled",
        "spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype",
        "spark.sql.pyspark.udf.profiler",
    )

    @classmethod
    def of(cls, values: Mapping[str, str | None]) -> PythonSettings:
        """Read them, by their names."""
        safe, *others = cls.NAMES
        on = [name for name in cls.NAMES if str(values.get(name)).lower() in ("true", "perf", "memory")]
        return cls(safe in on, tuple(name for name in others if name in on))


def python_aggregate(
    function: CatalystNode, spec: CatalystNode, column: Callable[[CatalystNode], Expr], settings: PythonSettings
) -> Call:
    """Give the call that computes a Python aggregate of Spark's, frame and all.

    Parameters
    ----------
    function
        A Catalyst ``PythonUDAF``.
    spec
        Its window.
    column
        Gives the column that holds an expression.
    settings
        The session's.

    Returns
    -------
    Call
        The call, without its window.

    Raises
    ------
    UnsupportedError
        With the reason, if it stays with Spark.
    """
    # Spark 3.5 has no others than those of pandas
    kind, python = _KINDS.get((function.fields or {}).get("evalType", _PANDAS)), function["func"]
    if kind is None:
        raise UnsupportedError(f"{function.sql} is a Python function of a kind that Spark runs")
    if not function["udfDeterministic"]:
        raise UnsupportedError(f"{function.sql} is not deterministic, so Spark decides how often it runs")
    if python["broadcasts"]:
        raise UnsupportedError(f"{function.sql} reads broadcast variables (or is larger than 1 MB), which stay Spark's")
    if settings.others:
        raise UnsupportedError(f"{settings.others[0]} is set, which windrow does not follow")
    arguments: list[CatalystNode] = [c["value"] if _is_named(c) else c for c in function["children"]]
    if not arguments:
        raise UnsupportedError(f"{function.sql} has no arguments")
    _check(function, [function], "results", _PLAIN)
    _check(function, arguments, "arguments", _PLAIN)
    frame = spec["frameSpecification"]
    in_rows = frame["frameType"] == "RowFrame"
    start, end = (_offset(frame[side], in_rows=in_rows) for side in ("lower", "upper"))
    is_whole = start is None and end is None
    keys = [] if in_rows or is_whole else [order["child"] for order in spec["orderSpec"]]
    _check(function, keys, "order keys with RANGE", _KEYS)
    instance = _Frames(
        command=base64.b64decode(python["command"]),
        kind=kind,
        arguments=len(arguments),
        keywords=tuple(str(c["key"]) for c in function["children"] if _is_named(c)),
        start=start,
        end=end,
        in_rows=in_rows,
        safe=settings.safe,
    )
    returns = arrow_type(T._parse_datatype_json_string(function.type), "UTC")
    name = str(function["name"])
    if name in function_names():  # it is not windrow's function of that name
        name = f"{name}_udf"
    token = hashlib.sha256(repr((instance, returns, name)).encode()).hexdigest()
    return Call(name, tuple(map(column, [*arguments, *keys])), user=_PythonAggregate(instance, returns, name, token))


def _is_named(argument: CatalystNode) -> bool:
    return argument.kind == "NamedArgumentExpression"


def _check(function: CatalystNode, nodes: Sequence[CatalystNode], what: str, known: frozenset[str]) -> None:
    for node in nodes:
        if node.type_name not in known and not node.type_name.startswith("decimal("):
            raise UnsupportedError(f"{function.sql} has {what} of type {node.type_name}, which Spark converts itself")


def _offset(bound: CatalystNode, *, in_rows: bool) -> int | None:
    """Give a frame's bound: rows from the current row, 0 for it or its peers, None for the partition's end."""
    if bound.kind in _BOUNDS:
        return _BOUNDS[bound.kind]
    if not in_rows:
        raise UnsupportedError("a Python function over RANGE with an offset is Spark's")
    return int(value_of(bound, "the frame's bound"))


@dataclass(frozen=True)
class _Frames:
    """Calls a pickled function of Spark's for the frames of a partition; gives a result a row, or one for all."""

    command: bytes
    kind: str
    arguments: int
    keywords: tuple[str, ...]
    start: int | None
    end: int | None
    in_rows: bool
    safe: bool

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function, unpickled once a task, as it may have state and accumulators."""
        from pyspark.serializers import CPickleSerializer

        function: Callable[..., Any] = CPickleSerializer().loads(self.command)[0]  # type: ignore[no-untyped-call]
        positional = self.arguments - len(self.keywords)
        if not self.keywords:
            return function
        return lambda *values: function(
            *values[:positional], **dict(zip(self.keywords, values[positional:], strict=True))
        )

    def __call__(self, *columns: pa.Array) -> list[Any]:
        """Give the results."""
        function, values, rows = self.function, columns[: self.arguments], len(columns[0])
        if self.kind == "pandas":
            series = [c.to_pandas(date_as_object=True) for c in values]
            if self.start is None and self.end is None:
                return [function(*series)]
            places = [s.iloc for s in series]
            return [function(*[p[begin:end] for p in places]) for begin, end in self._bounds(rows, columns)]
        if self.start is None and self.end is None:
            return [function(*values)]
        return [function(*[v.slice(begin, end - begin) for v in values]) for begin, end in self._bounds(rows, columns)]

    def _bounds(self, rows: int, columns: Sequence[pa.Array]) -> Iterator[tuple[int, int]]:
        """Give the first row of each row's frame, and the row after its last."""
        peers = [(i, i + 1) for i in range(rows)] if self.in_rows else _peers(rows, columns[self.arguments :])
        for first, after in peers:
            begin = 0 if self.start is None else min(max(first + self.start, 0), rows)
            end = rows if self.end is None else min(max(after + self.end, 0), rows)
            yield begin, max(begin, end)


def _peers(rows: int, keys: Sequence[pa.Array]) -> list[tuple[int, int]]:
    """Give the begin and the end of each row's peers."""
    columns = []
    for key in keys:
        if pa.types.is_floating(key.type):
            # NaN equals NaN, and -0.0 equals 0.0
            columns.append(["NaN" if v is not None and v != v else v for v in key.to_pylist()])
        else:
            columns.append(key.dictionary_encode("encode").indices.to_pylist())
    values = list(zip(*columns, strict=True))
    peers: list[tuple[int, int]] = []
    begin = 0
    for i in range(1, rows + 1):
        if i == rows or (values and values[i] != values[begin]):
            peers += [(begin, i)] * (i - begin)
            begin = i
    return peers


class _PythonAggregate(Partitions):
    """An aggregate of Spark's whose results become a column as PySpark's worker makes it."""

    def column(self, results: Any, rows: int) -> pa.Array:
        """Convert the results for a partition."""
        try:
            made = self._from_pandas(results) if self.instance.kind == "pandas" else self._from_arrow(results)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise UserError(
                f"the results of {self.name} do not make a column of {self.returns}: {error}; return what fits, or "
                "declare another type"
            ) from error
        return made if len(made) == rows else pa.repeat(made[0], rows)

    def _from_pandas(self, results: list[Any]) -> pa.Array:
        import pandas as pd

        series = pd.Series(results)
        mask = None if hasattr(series.array, "__arrow_array__") else series.isnull()
        safe = self.instance.safe
        try:
            return pa.Array.from_pandas(series, mask=mask, type=self.returns, safe=safe)
        except pa.ArrowInvalid:
            return pa.Array.from_pandas(series, mask=mask).cast(self.returns, safe=safe)

    def _from_arrow(self, results: list[Any]) -> pa.Array:
        import pyspark

        is_always_safe = tuple(map(int, pyspark.__version__.split(".")[:2])) >= (4, 3)
        return pa.array(results).cast(self.returns, safe=self.instance.safe or is_always_safe)
