"""Polars frames: DataFrames share their columns with the result, LazyFrames get the calls into their plan."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from .._execute.evaluate import ColumnTypes, Expressions, evaluating
from .._execute.in_memory import columns_in_order
from .._execute.native import input_table, window_columns
from .._execute.run_metrics import Run, in_memory, listener
from .._model.calls import Call, Derived
from .._model.catalog import function_of
from .._model.expressions import Column, Expr, Host, Scalar, identifier, is_instance
from .._model.outputs import Output
from .._model.replace import replace
from .._model.result_columns import place
from .._parse.items import read_items
from .._parse.query import Query
from .._plan.bind import bind, scalars
from .._plan.bound import BoundCalls, Temporary
from .._plan.layout import arrange
from .._plan.levels import levels
from .._scalars.to_polars import within_limits
from ..exceptions import DataError, SpecError, UnsupportedError
from ..settings import Options, current
from .base import ComputeArguments, FrameSchema, MemoryHost
from .polars_rows import other_rows
from .query import KEEP, NUMBER, answer, not_boolean

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PolarsHost", "PolarsReader"]

#: The host of expressions that are Polars'.
HOST = "polars"


class PolarsReader:
    """Polars' expressions, which the host evaluates, and its types."""

    host = HOST

    def owns(self, value: Any) -> bool:
        """Whether a value is a Polars expression."""
        return is_instance(value, "polars", "Expr")

    def expression(self, value: Any) -> Expr:
        """Read an argument, a key or a condition."""
        return _host(value)

    def order(self, value: Any) -> tuple[Expr, bool, bool]:
        """Read an order key: a Polars expression says nothing of an order."""
        return _host(value), False, True

    def item(self, value: Any, *, plain: bool, own: Callable[[Any], str | None] | None) -> NoReturn:
        """Refuse an item, which no Polars expression can be."""
        raise SpecError(
            "a Polars expression is not a window call; write wr.sum('x').over(wr.window(...)) or a SQL string, and use "
            "Polars expressions as its arguments, keys and filters"
        )

    def arrow_type(self, value: Any) -> pa.DataType | None:
        """Give the Arrow type of a Polars dtype; None for all other values."""
        classes = (value if isinstance(value, type) else type(value)).__mro__
        if all(c.__module__.partition(".")[0] != "polars" for c in classes):
            return None
        import polars as pl

        try:
            return pl.Series([], dtype=value).to_arrow(compat_level=pl.CompatLevel.oldest()).type
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            return None


def _host(value: Any) -> Host:
    within_limits(value)
    if value.meta.has_multiple_outputs():
        raise SpecError(f"{value} is several columns, and one is expected here; write a call for each")
    return Host(value, HOST, other_rows=other_rows(value))


class PolarsHost(MemoryHost):
    """Polars' DataFrames and LazyFrames, whose methods mostly have the same names."""

    name = "polars"

    def accepts(self, value: Any) -> bool:
        """Whether a value is a DataFrame or a LazyFrame."""
        return is_instance(value, "polars", "DataFrame") or _is_lazy(value)

    def schema(self, value: Any) -> FrameSchema:
        """Give the schema of a frame."""
        return FrameSchema(schema_of(value.collect_schema() if _is_lazy(value) else value))

    def columns(self, frame: Any) -> list[str]:
        """List the names of a frame's columns."""
        return list(frame.collect_schema().names())

    def run(
        self,
        frame: Any,
        items: Sequence[Any],
        named: Mapping[str, Any],
        arguments: ComputeArguments,
        *,
        selecting: bool,
    ) -> Any:
        """Compute calls on a frame."""
        in_order = arguments.in_memory() is False
        run: Callable[..., Any] = run_lazy if _is_lazy(frame) else run_frame
        return run(frame, items, named, selecting=selecting, in_order=in_order)

    def finish(self, result: Any) -> None:
        """Collect a LazyFrame."""
        if _is_lazy(result):
            result.collect()

    def answer(self, frame: Any, query: Query) -> Any:
        """Answer a query over a frame."""
        return answer(self, frame, query)

    def where(self, frame: Any, condition: Scalar) -> Any:
        """Keep the rows for which a condition over the frame's columns is true."""
        return frame.filter(condition_of(frame, condition, current()))

    def kept(self, frame: Any, text: str) -> Any:
        """Keep the rows for which the column ``KEEP`` is true, and drop it."""
        import polars as pl

        dtype = frame.collect_schema()[KEEP]
        if dtype not in (pl.Boolean, pl.Null):
            raise not_boolean(text, dtype)
        return frame.filter(pl.col(KEEP).cast(pl.Boolean)).drop(KEEP)

    def ordered(self, frame: Any) -> Any:
        """Order the rows by the column ``NUMBER``, and drop it."""
        return frame.sort(NUMBER).drop(NUMBER)

    def cut(self, frame: Any, offset: int, limit: int | None) -> Any:
        """Pass over some rows, and keep some of the rest."""
        import polars as pl

        rows = 2**32 - 1 if pl.get_index_type() == pl.UInt32 else 2**62  # more than a frame can have
        return frame.slice(min(offset, rows), None if limit is None or limit > rows else limit)


def _is_lazy(frame: Any) -> bool:
    return is_instance(frame, "polars", "LazyFrame")


def run_frame(
    frame: pl.DataFrame, items: Sequence[Any], named: Mapping[str, Any], *, selecting: bool, in_order: bool
) -> pl.DataFrame:
    """Compute window calls on a DataFrame.

    Parameters
    ----------
    frame
        The frame.
    items, named
        What the user wrote.
    selecting
        Whether only the items are wanted.
    in_order
        Whether the rows must already be grouped and ordered.

    Returns
    -------
    polars.DataFrame
        The frame with the new columns, its own columns shared.
    """
    outputs = read_items(items, named, frame.columns, selecting=selecting)
    with in_memory(lambda: Output.shown(outputs), frame.height) as run:
        return _compute(frame, outputs, current(), run, selecting=selecting, in_order=in_order)


def run_lazy(
    frame: pl.LazyFrame, items: Sequence[Any], named: Mapping[str, Any], *, selecting: bool, in_order: bool
) -> pl.LazyFrame:
    """Put window calls into a LazyFrame's plan; mistakes are raised now, rows are read when it is collected.

    Parameters
    ----------
    frame
        The frame.
    items, named
        What the user wrote.
    selecting
        Whether only the items are wanted.
    in_order
        Whether the rows must already be grouped and ordered.

    Returns
    -------
    polars.LazyFrame
        With the schema it will have.
    """
    import polars as pl

    schema = frame.collect_schema()
    columns = schema.names()
    outputs = read_items(items, named, columns, selecting=selecting)
    options = current()
    # what is wrong is found on no rows
    nothing, unheard = pl.DataFrame(schema=schema), Run(str)
    result = _compute(nothing, outputs, options, unheard, selecting=selecting, in_order=False).schema
    report = listener()  # Polars may compute on a thread of its own

    def compute(collected: pl.DataFrame) -> pl.DataFrame:
        with in_memory(lambda: Output.shown(outputs), collected.height, report) as run:
            return _compute(collected, outputs, options, run, selecting=selecting, in_order=in_order)

    # The function sees whole partitions only if nothing is pushed through it: a filter, slice or projection after it
    # must stay after it.
    return frame.map_batches(
        compute,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
        schema=result,
        validate_output_schema=True,
    )


def _compute(
    frame: pl.DataFrame, outputs: Sequence[Output], options: Options, run: Run, *, selecting: bool, in_order: bool
) -> pl.DataFrame:
    import polars as pl

    working = frame
    for calls in levels(o.item for o in outputs if o.item is not None):
        level = [Output(at, call) for at, call in calls.items()]
        bound = bind(_enums_by_position(level, working.schema), working.columns)
        with run.stage("evaluate"):
            table = _read(working, bound, options)
        if in_order:
            _, columns = columns_in_order(table, bound, options)
        else:
            _, columns = window_columns(table, bound, options)
        run.metrics.sections += 1
        computed = pl.DataFrame(
            pa.table([_decimals(c, calls[at]) for c, at in zip(columns, calls, strict=True)], names=list(calls))
        )
        working = working.hstack(
            [
                _restore(series, calls[series.name], working.schema).alias(series.name)
                for series in computed.iter_columns()
            ]
        )
    with run.stage("evaluate"):
        made = _scalars(working, scalars(outputs, working.columns), options)
    new = [
        made[o.name] if isinstance(o.item, Derived) else working[place(o.item)] for o in outputs if o.item is not None
    ]
    slots = arrange(frame.columns, outputs, selecting=selecting)
    # by name: a list of Series would have '' renamed
    result = {s.name: new[s.index] if s.new else frame.to_series(s.index) for s in slots}
    if len(result) < len(slots):
        repeated = next(n for n, times in Counter(s.name for s in slots).items() if times > 1)
        raise SpecError(f"two columns of the result are called {repeated!r}, and Polars takes each name once")
    return pl.DataFrame(result)


def _scalars(frame: pl.DataFrame, temporaries: Sequence[Temporary], options: Options) -> dict[str, pl.Series]:
    """Evaluate expressions over a frame, by their names, which may be those of its columns."""
    if not temporaries:
        return {}
    evaluated = Expressions(temporaries, _types_of(frame.schema), options).computed(frame)
    return {t.name: evaluated[t.name] for t in temporaries}


def _types_of(schema: Mapping[str, pl.DataType]) -> ColumnTypes:
    """Give the Arrow types of a frame's columns; an Enum is a dictionary that is ordered."""
    import polars as pl

    def type_of(name: str) -> pa.DataType:
        dtype = schema[name]
        _refuse_unreadable(name, dtype)
        if isinstance(dtype, (pl.Enum, pl.Categorical)):
            return pa.dictionary(pa.uint32(), pa.large_string(), isinstance(dtype, pl.Enum))
        return _arrow_type(dtype)

    return ColumnTypes(schema, type_of)


@cache
def _arrow_type(dtype: pl.DataType) -> pa.DataType:
    import polars as pl

    return pa.table(pl.DataFrame(schema={"c": dtype})).schema.field(0).type


def _refuse_unreadable(name: str, dtype: pl.DataType, *, shown: bool = False) -> None:
    """Refuse a column that Arrow has not, or as something else: addresses, and the storage of extension types.

    ``shown`` says that the name is the text of an expression.
    """
    import polars as pl

    extension = getattr(pl, "BaseExtension", getattr(pl, "Extension", None))
    if isinstance(dtype, pl.Object):
        raise UnsupportedError(
            f"column {name!r} holds Python objects (Object), of which Polars gives addresses alone; give it a type"
        )
    if extension is not None and isinstance(dtype, extension):
        raise UnsupportedError(
            f"column {name!r} is of the extension type {dtype}, which would be read as its storage; cast it to a type "
            "that has the values you mean"
        )
    if (found := re.search("U?Int128", str(dtype))) is not None:
        raise UnsupportedError(
            f"{name if shown else f'column {name!r}'} is {dtype}, and Arrow has no {found[0]}; cast it to Int64 or "
            "Decimal(38, 0)"
        )


def _read(frame: pl.DataFrame, bound: BoundCalls, options: Options) -> pa.Table:
    """Give what the calls read as Arrow, with Polars' own buffers."""
    names = [bound.names[i] for i in bound.read]
    schema = frame.schema
    for name in names:
        _refuse_unreadable(name, schema[name])
    expressions = Expressions(bound.temporaries, _types_of(schema), options, bound.native)
    wanted = expressions.computed(frame) if bound.temporaries else frame
    wanted = wanted.select([*names, *(t.name for t in bound.temporaries)])
    if not wanted.columns:
        return input_table(bound, [], [], frame.height)
    for temporary in bound.temporaries:
        _refuse_unreadable(temporary.text, wanted.schema[temporary.name], shown=True)
    return _as_arrow(wanted)


def _as_arrow(frame: pl.DataFrame) -> pa.Table:
    try:
        return pa.table(frame)
    except pa.ArrowException as error:
        for name, dtype in frame.schema.items():
            _refuse_unreadable(name, dtype)
        raise DataError(f"the frame cannot be read as Arrow: {error}") from error


def _decimals(column: pa.ChunkedArray, call: Call) -> pa.ChunkedArray:
    """Give decimals as Polars has them, with at most 38 digits."""
    kind = column.type
    if not pa.types.is_decimal256(kind):
        return column
    if kind.precision > 38:
        raise SpecError(f"{call.sql} gives {kind}, and Polars' decimals have 38 digits; cast the argument to fewer")
    return column.cast(pa.decimal128(kind.precision, kind.scale))


def _restore(series: pl.Series, call: Call, schema: Mapping[str, pl.DataType]) -> pl.Series:
    """Give a value function over an Enum or Categorical column that column's type: Arrow knows only a dictionary."""
    dtype = _dictionary_type(call, schema, series.dtype)
    if dtype is None:
        return series
    categories: pl.Series | None = getattr(dtype, "categories", None)
    if categories is not None and series.dtype.is_integer():
        series = categories.gather(series)
    restored: pl.Series = series.cast(dtype)
    return restored


def _dictionary_type(call: Call, schema: Mapping[str, pl.DataType], result: pl.DataType) -> pl.DataType | None:
    import polars as pl

    if call.user is not None or not call.args or not isinstance(call.args[0], Column):
        return None
    source = schema.get(call.args[0].name)
    if isinstance(source, pl.Enum) and _is_extremum(call):
        return source
    if not isinstance(source, (pl.Enum, pl.Categorical)):
        return None
    if isinstance(result, pl.List):
        return pl.List(source) if isinstance(result.inner, (pl.Enum, pl.Categorical)) else None
    return source if isinstance(result, (pl.Enum, pl.Categorical)) else None


def _is_extremum(call: Call) -> bool:
    known = function_of(call.function) if call.user is None else None
    return known is not None and known.is_extremum


def _enums_by_position(outputs: Sequence[Output], schema: Mapping[str, pl.DataType]) -> list[Output]:
    """Order Enums as Polars does, by the position of their categories: to Arrow, and so to windrow, they are text."""
    import polars as pl

    positions = {
        n: Host(pl.col(n).to_physical(), HOST, identifier(n))
        for n, dtype in schema.items()
        if isinstance(dtype, pl.Enum)
    }

    def key(expression: Expr) -> Expr:
        return positions.get(expression.name, expression) if isinstance(expression, Column) else expression

    def ordered(call: Call) -> Call:
        args = call.args
        if _is_extremum(call) and args:
            args = (key(args[0]), *args[1:])
        window = call.window
        if window is not None:
            window = replace(window, order_by=tuple(replace(o, key=key(o.key)) for o in window.order_by))
        return replace(call, args=args, window=window)

    if not positions:
        return list(outputs)
    return [replace(o, item=ordered(o.item)) if isinstance(o.item, Call) else o for o in outputs]


def condition_of(frame: pl.DataFrame | pl.LazyFrame, condition: Scalar, options: Options) -> pl.Expr:
    """Turn a condition into an expression of Polars, checked against a frame's columns and types.

    Parameters
    ----------
    frame
        The frame that is to be filtered.
    condition
        The condition.
    options
        The settings in force.

    Returns
    -------
    polars.Expr
        The expression.

    Raises
    ------
    SpecError
        If it names no column of the frame, or is neither true nor false.
    """
    import polars as pl

    schema = frame.collect_schema()
    temporary = Temporary("", condition, str(condition))
    expressions = Expressions([temporary], _types_of(schema), options)
    with evaluating([temporary]):
        dtype = pl.DataFrame(schema=schema).lazy().select(expressions.made[0]).collect_schema()[""]
    if dtype not in (pl.Boolean, pl.Null):
        raise SpecError(f"WHERE {condition} gives {dtype}, and a condition gives true or false")
    return expressions.condition()


def schema_of(schema: pl.Schema | pl.DataFrame) -> pa.Schema:
    """Give the Arrow schema of a Polars one."""
    import polars as pl

    frame = schema if isinstance(schema, pl.DataFrame) else pl.DataFrame(schema=schema)
    return _as_arrow(frame.clear()).schema
