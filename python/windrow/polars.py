"""Polars frames, and Polars as the one who evaluates scalar expressions for all frames that are not Spark's."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .binding import BoundCalls, Output, Temporary, arrange, bind, read_items, scalars
from .call import Call
from .config import Options, current
from .derived import Derived, levels, place, without_places
from .exceptions import SpecError, UnsupportedError, near
from .expr import Column, Expr, Host, Literal, Scalar, identifier
from .metrics import Run, in_memory, listener
from .native import checked, input_table, window_columns
from .values import replace

if TYPE_CHECKING:
    import polars as pl

__all__ = ["condition_of", "evaluate", "run_frame", "run_lazy", "schema_of"]


_EXTREMES = ("min", "max")


def require() -> None:
    """Say what to install where Polars is missing."""
    try:
        import polars  # noqa: F401
    except ImportError:
        raise UnsupportedError(
            "expressions as arguments, keys and filters are evaluated by Polars: pip install 'windrow[polars]', "
            "or compute the column first and name it"
        ) from None


def to_polars(expression: Scalar) -> pl.Expr:
    """Turn an expression into one of Polars."""
    import polars as pl

    if isinstance(expression, Host):
        made = expression.value
    elif isinstance(expression, Column):
        made = pl.col(expression.name)
    elif isinstance(expression, Literal):
        made = pl.lit(expression.value)
    else:
        try:
            from .polars_sql import polars_text

            text = polars_text(expression.text)
        except ImportError:  # without sqlglot it is Polars' SQL
            text = expression.text
        try:
            made = pl.sql_expr(text)
        except pl.exceptions.PolarsError as error:
            raise SpecError(
                f"{without_places(expression.text)}: Polars, which evaluates expressions here, cannot read it: "
                f"{without_places(str(error))}; compute the column first with the frame's own methods, or give a "
                "Polars expression"
            ) from None
    return made  # type: ignore[no-any-return]


def evaluate(temporaries: Sequence[Temporary], columns: Mapping[str, Any], rows: int) -> list[pa.ChunkedArray]:
    """Let Polars compute expressions over Arrow columns.

    Parameters
    ----------
    temporaries
        The expressions.
    columns
        The frame's columns by name; only those an expression names are handed over.
    rows
        How many rows there are.

    Returns
    -------
    list of pyarrow.ChunkedArray
        One for each expression.
    """
    if not temporaries:
        return []
    require()
    import polars as pl

    made, needed = _checked(temporaries, columns)
    data = {name: checked(columns[name], name) for name in needed} or {"": pa.nulls(rows)}
    frame = pl.DataFrame(pa.table(list(data.values()), names=list(data)))
    try:
        result = frame.with_columns(made).select([t.name for t in temporaries])
    except pl.exceptions.PolarsError as error:
        raise _failed(temporaries, error) from None
    return list(result.to_arrow(compat_level=pl.CompatLevel.oldest()).columns)


def _checked(temporaries: Sequence[Temporary], columns: Collection[str]) -> tuple[list[pl.Expr], list[str]]:
    """Turn expressions into Polars' own, and list the columns they read, all of which must be known."""
    made = [to_polars(t.expression).alias(t.name) for t in temporaries]
    needed: list[str] = []
    for temporary, expression in zip(temporaries, made, strict=True):
        for name in expression.meta.root_names():
            if name not in columns:
                raise SpecError(f"expression {temporary.text}: column {name!r} is unknown{near(name, columns)}")
            needed.append(name)
    return made, list(dict.fromkeys(needed))


def _failed(temporaries: Sequence[Temporary], error: Exception) -> SpecError:
    texts = ", ".join(t.text for t in temporaries)
    return SpecError(f"Polars cannot evaluate {texts}: {without_places(str(error).splitlines()[0])}")


def condition_of(frame: pl.DataFrame | pl.LazyFrame, condition: Scalar) -> pl.Expr:
    """Turn a condition into an expression of Polars, checked against a frame's columns and types.

    Parameters
    ----------
    frame
        The frame that is to be filtered.
    condition
        The condition.

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
    (made,), _ = _checked([temporary], schema.names())
    try:
        dtype = pl.DataFrame(schema=schema).lazy().select(made).collect_schema()[""]
    except pl.exceptions.PolarsError as error:
        raise _failed([temporary], error) from None
    if dtype not in (pl.Boolean, pl.Null):
        raise SpecError(f"WHERE {condition} gives {dtype}, and a condition gives true or false")
    return made


def schema_of(schema: pl.Schema | pl.DataFrame) -> pa.Schema:
    """Give the Arrow schema of a Polars one."""
    import polars as pl

    frame = schema if isinstance(schema, pl.DataFrame) else pl.DataFrame(schema=schema)
    return pa.table(frame.clear()).schema


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


def _compute(
    frame: pl.DataFrame, outputs: Sequence[Output], options: Options, run: Run, *, selecting: bool, in_order: bool
) -> pl.DataFrame:
    import polars as pl

    working = frame
    for calls in levels(o.item for o in outputs if o.item is not None):
        level = [Output(at, call) for at, call in calls.items()]
        bound = bind(_enums_by_position(level, working.schema), working.columns)
        with run.stage("evaluate"):
            table = _read(working, bound)
        if in_order:
            from .operator import columns_in_order

            _, columns = columns_in_order(table, bound, options)
        else:
            _, columns = window_columns(table, bound, options)
        run.metrics.sections += 1
        computed = pl.DataFrame(pa.table(columns, names=list(calls)))
        working = working.hstack(
            [
                _restore(series, calls[series.name], working.schema).alias(series.name)
                for series in computed.iter_columns()
            ]
        )
    with run.stage("evaluate"):
        made = _scalars(working, scalars(outputs, working.columns))
    new = [
        made[o.name] if isinstance(o.item, Derived) else working[place(o.item)] for o in outputs if o.item is not None
    ]
    slots = arrange(frame.columns, outputs, selecting=selecting)
    return pl.DataFrame([(new[s.index] if s.new else frame.to_series(s.index)).alias(s.name) for s in slots])


def _scalars(frame: pl.DataFrame, temporaries: Sequence[Temporary]) -> dict[str, pl.Series]:
    """Evaluate expressions over a frame, by their names, which may be those of its columns."""
    import polars as pl

    if not temporaries:
        return {}
    made, _ = _checked(temporaries, frame.columns)
    try:
        evaluated = frame.with_columns(made)
    except pl.exceptions.PolarsError as error:
        raise _failed(temporaries, error) from None
    return {t.name: evaluated[t.name] for t in temporaries}


def _read(frame: pl.DataFrame, bound: BoundCalls) -> pa.Table:
    """Give what the calls read as Arrow, with Polars' own buffers."""
    import polars as pl

    names = [bound.names[i] for i in bound.read]
    try:
        wanted = frame.with_columns(_checked(bound.temporaries, frame.columns)[0]) if bound.temporaries else frame
    except pl.exceptions.PolarsError as error:
        raise _failed(bound.temporaries, error) from None
    wanted = wanted.select([*names, *(t.name for t in bound.temporaries)])
    if not wanted.columns:
        return input_table(bound, [], [], frame.height)
    return pa.table(wanted)


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
    if isinstance(source, pl.Enum) and call.function in _EXTREMES:
        return source
    same = isinstance(source, (pl.Enum, pl.Categorical)) and isinstance(result, (pl.Enum, pl.Categorical, pl.String))
    return source if same else None


def _enums_by_position(outputs: Sequence[Output], schema: Mapping[str, pl.DataType]) -> list[Output]:
    """Order Enums as Polars does, by the position of their categories: to Arrow, and so to windrow, they are text."""
    import polars as pl

    positions = {
        n: Host(pl.col(n).to_physical(), identifier(n)) for n, dtype in schema.items() if isinstance(dtype, pl.Enum)
    }

    def key(expression: Expr) -> Expr:
        return positions.get(expression.name, expression) if isinstance(expression, Column) else expression

    def ordered(call: Call) -> Call:
        args = call.args
        if call.function in _EXTREMES and args:
            args = (key(args[0]), *args[1:])
        window = call.window
        if window is not None:
            window = replace(window, order_by=tuple(replace(o, key=key(o.key)) for o in window.order_by))
        return replace(call, args=args, window=window)

    if not positions:
        return list(outputs)
    return [replace(o, item=ordered(o.item)) if isinstance(o.item, Call) else o for o in outputs]


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
