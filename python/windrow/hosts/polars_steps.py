"""The steps of a plan over the columns of a Polars DataFrame."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from .._execute.evaluate import ColumnTypes, Expressions
from .._execute.explained_call import ExplainedCall
from .._execute.native import input_table, window_columns
from .._execute.ordered_categories import ordered_columns, ordered_results, ordered_type
from .._execute.run_metrics import Run
from .._plan.bound import BoundCall
from .._plan.steps import Compute, Evaluate, Project, StepPlan
from ..exceptions import DataError, SpecError, UnsupportedError
from ..settings import Options

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PolarsRunner", "Working", "arrow_schema", "as_decimals", "column_named", "refuse_repeated", "types_of"]


@dataclass(slots=True)
class Working:
    """A DataFrame, and beside it the columns that steps have added: a frame of both is made only if it is needed."""

    frame: pl.DataFrame
    added: dict[str, pl.Series] = field(default_factory=dict)
    #: The names of the columns that hold ordered categories as text.
    ordered: dict[str, str] = field(default_factory=dict)
    #: Names for hidden columns in messages.
    texts: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> pl.Series:
        return self.added[name] if name in self.added else self.frame.get_column(name)

    def merged(self) -> pl.DataFrame:
        """Give all columns as one frame."""
        return self.frame.hstack(list(self.added.values())) if self.added else self.frame


class PolarsRunner:
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

    def evaluate(self, working: Working, step: Evaluate) -> Working:
        """Add the results of scalar expressions."""
        with self._run.stage("evaluate"):
            frame = working.merged()
            expressions = Expressions(step.scalars, types_of(frame.schema, working.ordered), self._options)
            frame = expressions.with_expressions(frame)
        added = working.added | {s.name: frame.get_column(s.name) for s in step.scalars}
        texts = working.texts | {s.name: s.text for s in step.scalars}
        return Working(working.frame, added, working.ordered | expressions.ordered, texts)

    def compute(self, working: Working, step: Compute) -> Working:
        """Add the results of calls."""
        import polars as pl

        with self._run.stage("evaluate"):
            table = _read(working, step)
        known = {**ordered_columns(table.schema), **working.ordered}
        fields, columns = window_columns(
            table, step.calls, self._options, presorted=self._presorted, ordered=known, explained=self._explained
        )
        ordered = working.ordered | ordered_results(step.calls, fields, working.ordered)
        self._run.metrics.sections += 1
        results = {
            call.name: _restore(series, call, working)
            for series, call in zip(_series(columns, step.calls), step.calls, strict=True)
        }
        if self._explained is not None:
            types = [results[call.name].dtype for call in step.calls]
            self._explained[-1] = [
                replace(row, type="Enum" if isinstance(dtype, pl.Enum) else str(dtype))
                for row, dtype in zip(self._explained[-1], types, strict=True)
            ]
        kept = {self._plan.names[i] for i in step.keeps}
        added = {name: series for name, series in (working.added | results).items() if name in kept}
        return Working(working.frame, added, ordered, working.texts)

    def project(self, working: Working, step: Project) -> pl.DataFrame:
        """Choose the columns of the result."""
        import polars as pl

        refuse_repeated(step.columns)
        names, frame, width = self._plan.names, working.frame, self._plan.width
        if width and step.columns[:width] == tuple(zip(frame.columns, range(width), strict=False)):
            new = [working.added[names[i]].alias(name) for name, i in step.columns[width:] if i >= width]
            if len(new) == len(step.columns) - width:
                return frame.hstack(new)
        # by name, because Polars renames '' in a list of Series
        return pl.DataFrame({name: working[names[i]] for name, i in step.columns})


def refuse_repeated(columns: Sequence[tuple[str, int]]) -> None:
    """Refuse a result in which a name occurs twice.

    Parameters
    ----------
    columns
        The columns of the result, each as its name and the index of its working column.

    Raises
    ------
    SpecError
        If one does.
    """
    repeated = next((n for n, times in Counter(n for n, _ in columns).items() if times > 1), None)
    if repeated is not None:
        raise SpecError(f"two columns of the result are called {repeated!r}, and Polars takes each name once")


def column_named(name: str) -> pl.Expr:
    """Give a column of exactly that name, which Polars takes for a pattern if it is written ``^...$`` or ``*``."""
    import polars as pl
    import polars.selectors as cs

    pattern = name == "*" or (name.startswith("^") and name.endswith("$"))
    return cs.by_name(name).as_expr() if pattern else pl.col(name)


def types_of(schema: Mapping[str, pl.DataType], ordered: Collection[str] = ()) -> ColumnTypes:
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
    reason = _why_unreadable(dtype)
    if reason is None:
        return
    of_column, text = reason
    column = f"column {name!r}"
    raise UnsupportedError(f"{name if shown and not of_column else column} {text}")


@cache
def _why_unreadable(dtype: pl.DataType) -> tuple[bool, str] | None:
    """Say why Arrow has no equivalent of a type, and whether only a column can have it; None if it has one."""
    import polars as pl

    extension = getattr(pl, "BaseExtension", getattr(pl, "Extension", None))
    if isinstance(dtype, pl.Object):
        return True, "holds Python objects (Object), of which Polars gives addresses alone; give it a type"
    if extension is not None and isinstance(dtype, extension):
        text = (
            f"is of the extension type {dtype}, which would be read as its storage; cast it to a type that has the "
            "values you mean"
        )
        return True, text
    if (found := re.search("U?Int128", str(dtype))) is not None:
        return False, f"is {dtype}, and Arrow has no {found[0]}; cast it to Int64 or Decimal(38, 0)"
    return None


def _read(working: Working, step: Compute) -> pa.Table:
    """Return the columns that calls read as Arrow arrays, with Polars' buffers."""
    if not step.reads:
        return input_table(step, [], working.frame.height)
    columns = {name: working[name] for name in (step.names[i] for i in step.reads)}
    for name, series in columns.items():
        _refuse_unreadable(working.texts.get(name, name), series.dtype, shown=name in working.texts)
    try:
        return pa.Table.from_arrays(list(map(pa.chunked_array, columns.values())), list(columns))
    except pa.ArrowException as error:
        raise DataError(f"the frame cannot be read as Arrow: {error}") from error


def _series(columns: Sequence[pa.ChunkedArray], calls: Sequence[BoundCall]) -> list[pl.Series]:
    """Give the results of calls to Polars."""
    import polars as pl

    if all(pa.types.is_integer(c.type) or pa.types.is_floating(c.type) for c in columns):  # needs no table
        return [pl.Series(call.name, column) for call, column in zip(calls, columns, strict=True)]
    for column, call in zip(columns, calls, strict=True):
        if pa.types.is_decimal256(column.type) and column.type.precision > 38:
            raise SpecError(
                f"{call.display} gives {column.type}, and Polars' decimals have 38 digits; cast the argument to fewer"
            )
    made = list(map(as_decimals, columns))
    return pl.DataFrame(pa.table(made, names=[c.name for c in calls])).get_columns()


def _as_arrow(frame: pl.DataFrame) -> pa.Table:
    try:
        return pa.table(frame)
    except pa.ArrowException as error:
        for name, dtype in frame.schema.items():
            _refuse_unreadable(name, dtype)
        raise DataError(f"the frame cannot be read as Arrow: {error}") from error


def as_decimals(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Convert decimals to Polars' decimals, which have at most 38 digits; other columns stay as they are."""
    kind = column.type
    return column.cast(pa.decimal128(kind.precision, kind.scale)) if pa.types.is_decimal256(kind) else column


def _restore(series: pl.Series, call: BoundCall, working: Working) -> pl.Series:
    """Cast results over an Enum or Categorical column to the column's type; in Arrow they are dictionaries."""
    import polars as pl

    dtype, argument = series.dtype, call.argument_column()
    if argument is None or call.user is not None or dtype.is_numeric():
        return series
    source = working[argument].dtype
    if not isinstance(source, (pl.Enum, pl.Categorical)):
        return series
    restored = series
    if isinstance(dtype, pl.List) and isinstance(dtype.inner, (pl.Enum, pl.Categorical)):
        restored = series.cast(pl.List(source))
    elif isinstance(dtype, (pl.Enum, pl.Categorical)):
        restored = series.cast(source)
    return restored


def arrow_schema(schema: pl.Schema | pl.DataFrame) -> pa.Schema:
    """Return the Arrow schema of a Polars schema."""
    import polars as pl

    frame = schema if isinstance(schema, pl.DataFrame) else pl.DataFrame(schema=schema)
    return _as_arrow(frame.clear()).schema
