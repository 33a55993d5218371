"""The Polars host. A result shares unchanged columns with its DataFrame; for a LazyFrame the calls join its plan."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from .._execute.evaluate import ColumnTypes, Expressions, polars_errors_translated
from .._execute.explained_call import ExplainedCall
from .._execute.native import input_table, window_columns
from .._execute.ordered_categories import ordered_columns, ordered_results, ordered_type
from .._execute.run_metrics import Run, current_reporter, measure
from .._execute.steps import run_steps
from .._model.expressions import Expr, HostExpression, Scalar, is_instance_by_name
from .._plan.bound import BoundCall
from .._plan.steps import Compute, Evaluate, NamedScalar, Project, StepPlan
from .._scalars.to_polars import within_limits
from ..exceptions import DataError, SpecError, UnsupportedError
from ..settings import Options, current
from .base import ComputeArguments, FrameSchema
from .polars_rows import columns_and_other_rows
from .query import QueryHost, not_boolean

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PolarsHost", "PolarsReader"]

#: The name of the host for Polars expressions.
HOST = "polars"


class PolarsReader:
    """Reads Polars expressions and types."""

    host = HOST

    def owns(self, value: Any) -> bool:
        """Whether a value is a Polars expression."""
        return is_instance_by_name(value, "polars", "Expr")

    def expression(self, value: Any) -> Expr:
        """Convert an argument, a key or a condition."""
        return _host(value)

    def order(self, value: Any) -> tuple[Expr, bool, bool]:
        """Convert an order key; a Polars expression has no direction, so the default applies."""
        return _host(value), False, True

    def item(self, value: Any, *, plain: bool, frame_column: Callable[[Any], str | None] | None) -> NoReturn:
        """Refuse a Polars expression as an item."""
        raise SpecError(
            "a Polars expression is not a window call; write wr.sum('x').over(wr.window(...)) or a SQL string, and use "
            "Polars expressions as its arguments, keys and filters"
        )

    def arrow_type(self, value: Any) -> pa.DataType | None:
        """Return the Arrow type of a Polars dtype; None for all other values."""
        classes = (value if isinstance(value, type) else type(value)).__mro__
        if all(c.__module__.partition(".")[0] != "polars" for c in classes):
            return None
        import polars as pl

        try:
            return pl.Series([], dtype=value).to_arrow(compat_level=pl.CompatLevel.oldest()).type
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            return None


def _host(value: Any) -> HostExpression:
    within_limits(value)
    if value.meta.has_multiple_outputs():
        raise SpecError(
            f"{value} is several columns, and one expression is one column: write a call for each of them, or as keys "
            "a list of their names"
        )
    reads, other_rows = columns_and_other_rows(value)
    return HostExpression(value, HOST, reads=reads, other_rows=other_rows)


class PolarsHost(QueryHost):
    """The host of DataFrames and LazyFrames."""

    name = "polars"

    def accepts(self, value: Any) -> bool:
        """Whether a value is a DataFrame or a LazyFrame."""
        return is_instance_by_name(value, "polars", "DataFrame") or _is_lazy(value)

    def schema(self, value: Any) -> FrameSchema:
        """Return the schema of a frame."""
        return FrameSchema(schema_of(value.collect_schema() if _is_lazy(value) else value))

    def columns(self, frame: Any) -> list[str]:
        """List the names of a frame's columns."""
        return list(frame.collect_schema().names())

    def run(self, frame: Any, plan: StepPlan, arguments: ComputeArguments) -> Any:
        """Run the steps of a plan over a DataFrame, or add them to the plan of a LazyFrame."""
        presorted = arguments.in_memory() is False
        if _is_lazy(frame):
            return run_lazy(frame, plan, presorted=presorted)
        with measure(plan.shown, frame.height) as run:
            return run_steps(_PolarsRunner(plan, run, current(), presorted=presorted), _Working(frame), plan)

    def explained(self, frame: Any, plan: StepPlan, sort: bool | None) -> list[list[ExplainedCall]]:
        """Run the steps of a plan over an empty frame, and return the explanation of each Compute step."""
        import polars as pl

        explained: list[list[ExplainedCall]] = []
        runner = _PolarsRunner(plan, Run(str), current(), presorted=sort is False, explained=explained)
        run_steps(runner, _Working(pl.DataFrame(schema=frame.collect_schema())), plan)
        return explained

    def finish(self, result: Any) -> None:
        """Collect a LazyFrame."""
        if _is_lazy(result):
            result.collect()

    def where(self, frame: Any, condition: Scalar) -> Any:
        """Keep the rows for which a condition is true; for a LazyFrame, in its plan."""
        if _is_lazy(frame):
            return frame.filter(condition_of(frame, condition, current()))
        return super().where(frame, condition)

    def keep_rows(self, frame: Any, keep: str, text: str) -> Any:
        """Keep the rows for which the column ``keep`` is true, and drop it."""
        import polars as pl

        dtype = frame.collect_schema()[keep]
        if dtype not in (pl.Boolean, pl.Null):
            raise not_boolean(text, dtype)
        return frame.filter(pl.col(keep).cast(pl.Boolean)).drop(keep)

    def sort_rows(self, frame: Any, number: str) -> Any:
        """Sort the rows by the column ``number``, and drop that column."""
        return frame.sort(number).drop(number)

    def slice_rows(self, frame: Any, offset: int, limit: int | None) -> Any:
        """Skip ``offset`` rows, then keep at most ``limit``."""
        import polars as pl

        rows = 2**32 - 1 if pl.get_index_type() == pl.UInt32 else 2**62  # more than a frame can have
        return frame.slice(min(offset, rows), None if limit is None or limit > rows else limit)


def _is_lazy(frame: Any) -> bool:
    return is_instance_by_name(frame, "polars", "LazyFrame")


def run_lazy(frame: pl.LazyFrame, plan: StepPlan, *, presorted: bool) -> pl.LazyFrame:
    """Add the steps of a plan to the plan of a LazyFrame. Errors are raised now; rows are read when it is collected.

    Parameters
    ----------
    frame
        The frame.
    plan
        The plan.
    presorted
        Whether the rows must already be grouped and ordered.

    Returns
    -------
    polars.LazyFrame
        The LazyFrame, with the schema of its result.
    """
    import polars as pl

    # one column carries the number of rows
    read = plan.frame_columns() or [0]
    if len(read) < plan.width:
        frame = frame.select(pl.nth(read))
    options = current()
    schema = frame.collect_schema()
    # a run over no rows finds mistakes
    nothing = _Working(pl.DataFrame(schema=schema))
    result = run_steps(_PolarsRunner(plan, Run(str), options, presorted=False), nothing, plan).schema
    report = current_reporter()  # Polars may call this on another thread

    def compute(collected: pl.DataFrame) -> pl.DataFrame:
        with measure(plan.shown, collected.height, report) as run:
            return run_steps(_PolarsRunner(plan, run, options, presorted=presorted), _Working(collected), plan)

    # The function needs whole partitions, so Polars must not push a later filter, slice or projection below it.
    return frame.map_batches(
        compute,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
        schema=result,
        validate_output_schema=True,
    )


@dataclass(slots=True)
class _Working:
    """A DataFrame with the columns that earlier steps added."""

    frame: pl.DataFrame
    #: The names of the columns that hold ordered categories as text.
    ordered: dict[str, str] = field(default_factory=dict)
    #: Names for hidden columns in messages.
    texts: dict[str, str] = field(default_factory=dict)


class _PolarsRunner:
    """Runs steps over a DataFrame, whose columns have the plan's names."""

    def __init__(
        self,
        plan: StepPlan,
        run: Run,
        options: Options,
        *,
        presorted: bool,
        explained: list[list[ExplainedCall]] | None = None,
    ) -> None:
        self._plan = plan
        self._run = run
        self._options = options
        self._presorted = presorted
        #: Receives the explanation of each Compute step.
        self._explained = explained

    def evaluate(self, working: _Working, step: Evaluate) -> _Working:
        """Add the results of scalar expressions."""
        with self._run.stage("evaluate"):
            types = _types_of(working.frame.schema, working.ordered)
            expressions = Expressions(step.scalars, types, self._options)
            frame = expressions.with_expressions(working.frame)
        texts = working.texts | {s.name: s.text for s in step.scalars}
        return _Working(frame, working.ordered | expressions.ordered, texts)

    def compute(self, working: _Working, step: Compute) -> _Working:
        """Add the results of calls."""
        import polars as pl

        frame = working.frame
        schema = frame.schema
        with self._run.stage("evaluate"):
            table = _read(working, step)
        known = {**ordered_columns(table.schema), **working.ordered}
        fields, columns = window_columns(
            table, step.calls, self._options, presorted=self._presorted, ordered=known, explained=self._explained
        )
        ordered = working.ordered | ordered_results(step.calls, fields, working.ordered)
        self._run.metrics.sections += 1
        made = [_decimals(column, call) for column, call in zip(columns, step.calls, strict=True)]
        computed = pl.DataFrame(pa.table(made, names=[c.name for c in step.calls]))
        results = {
            call.name: _restore(series, call, schema)
            for series, call in zip(computed.iter_columns(), step.calls, strict=True)
        }
        if self._explained is not None:
            types = [results[call.name].dtype for call in step.calls]
            self._explained[-1] = [
                replace(row, type="Enum" if isinstance(dtype, pl.Enum) else str(dtype))
                for row, dtype in zip(self._explained[-1], types, strict=True)
            ]
        hidden = set(step.names[self._plan.width :]).difference(self._plan.names[i] for i in step.keeps)
        # by name, because Polars renames '' in a list of Series
        kept = {name: frame[name] for name in frame.columns if name not in hidden}
        return _Working(pl.DataFrame(kept | results), ordered, working.texts)

    def project(self, working: _Working, step: Project) -> pl.DataFrame:
        """Choose the columns of the result."""
        import polars as pl

        names = self._plan.names
        result = {name: working.frame[names[i]] for name, i in step.columns}
        if len(result) < len(step.columns):
            repeated = next(n for n, times in Counter(n for n, _ in step.columns).items() if times > 1)
            raise SpecError(f"two columns of the result are called {repeated!r}, and Polars takes each name once")
        return pl.DataFrame(result)


def _types_of(schema: Mapping[str, pl.DataType], ordered: Collection[str] = ()) -> ColumnTypes:
    """Return the Arrow types of a frame's columns; Enums and the columns ``ordered`` are ordered dictionaries."""
    import polars as pl

    def type_of(name: str) -> pa.DataType:
        dtype = schema[name]
        _refuse_unreadable(name, dtype)
        if isinstance(dtype, (pl.Enum, pl.Categorical)):
            return pa.dictionary(pa.uint32(), pa.large_string(), isinstance(dtype, pl.Enum))
        kind = _arrow_type(dtype)
        return ordered_type(kind, text=True) if name in ordered else kind

    return ColumnTypes(schema, type_of)


@cache
def _arrow_type(dtype: pl.DataType) -> pa.DataType:
    import polars as pl

    return pa.table(pl.DataFrame(schema={"c": dtype})).schema.field(0).type


def _refuse_unreadable(name: str, dtype: pl.DataType, *, shown: bool = False) -> None:
    """Refuse a column without an Arrow equivalent: Polars would export addresses, or the storage of extension types.

    ``shown`` means that the name is the text of an expression.
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


def _read(working: _Working, step: Compute) -> pa.Table:
    """Return the columns that calls read as Arrow arrays, with Polars' buffers."""
    import polars as pl

    frame = working.frame
    for name in (step.names[i] for i in step.reads):
        _refuse_unreadable(working.texts.get(name, name), frame.schema[name], shown=name in working.texts)
    if not step.reads:
        return input_table(step, [], frame.height)
    read = dict.fromkeys(n for call in step.calls for n in call.columns_read())
    return _as_arrow(pl.DataFrame({n: frame[n] for n in read}))


def _as_arrow(frame: pl.DataFrame) -> pa.Table:
    try:
        return pa.table(frame)
    except pa.ArrowException as error:
        for name, dtype in frame.schema.items():
            _refuse_unreadable(name, dtype)
        raise DataError(f"the frame cannot be read as Arrow: {error}") from error


def _decimals(column: pa.ChunkedArray, call: BoundCall) -> pa.ChunkedArray:
    """Convert decimals to Polars' decimals, which have at most 38 digits."""
    kind = column.type
    if not pa.types.is_decimal256(kind):
        return column
    if kind.precision > 38:
        raise SpecError(f"{call.display} gives {kind}, and Polars' decimals have 38 digits; cast the argument to fewer")
    return column.cast(pa.decimal128(kind.precision, kind.scale))


def _restore(series: pl.Series, call: BoundCall, schema: Mapping[str, pl.DataType]) -> pl.Series:
    """Cast results over an Enum or Categorical column to the column's type; in Arrow they are dictionaries."""
    import polars as pl

    source = schema.get(call.argument_column() or "")
    if call.user is not None or not isinstance(source, (pl.Enum, pl.Categorical)):
        return series
    dtype = series.dtype
    restored = series
    if isinstance(dtype, pl.List) and isinstance(dtype.inner, (pl.Enum, pl.Categorical)):
        restored = series.cast(pl.List(source))
    elif isinstance(dtype, (pl.Enum, pl.Categorical)):
        restored = series.cast(source)
    return restored


def condition_of(frame: pl.LazyFrame, condition: Scalar, options: Options) -> pl.Expr:
    """Convert a condition to a Polars expression, and check it against a frame's columns and types.

    Parameters
    ----------
    frame
        The frame to be filtered.
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
        If it names an unknown column, or is not boolean.
    """
    import polars as pl

    schema = frame.collect_schema()
    scalar = NamedScalar("", condition, str(condition))
    expressions = Expressions([scalar], _types_of(schema), options)
    with polars_errors_translated([scalar]):
        dtype = pl.DataFrame(schema=schema).lazy().select(expressions.exprs[0]).collect_schema()[""]
    if dtype not in (pl.Boolean, pl.Null):
        raise SpecError(f"WHERE {condition} gives {dtype}, and a condition gives true or false")
    return expressions.condition()


def schema_of(schema: pl.Schema | pl.DataFrame) -> pa.Schema:
    """Return the Arrow schema of a Polars schema."""
    import polars as pl

    frame = schema if isinstance(schema, pl.DataFrame) else pl.DataFrame(schema=schema)
    return _as_arrow(frame.clear()).schema
