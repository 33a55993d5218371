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

__all__ = ["PolarsRunner", "Working", "arrow_schema", "refuse_repeated", "types_of"]


@dataclass(slots=True)
class Working:
    """A DataFrame with the columns that earlier steps added."""

    frame: pl.DataFrame
    #: The names of the columns that hold ordered categories as text.
    ordered: dict[str, str] = field(default_factory=dict)
    #: Names for hidden columns in messages.
    texts: dict[str, str] = field(default_factory=dict)


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
            types = types_of(working.frame.schema, working.ordered)
            expressions = Expressions(step.scalars, types, self._options)
            frame = expressions.with_expressions(working.frame)
        texts = working.texts | {s.name: s.text for s in step.scalars}
        return Working(frame, working.ordered | expressions.ordered, texts)

    def compute(self, working: Working, step: Compute) -> Working:
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
        return Working(pl.DataFrame(kept | results), ordered, working.texts)

    def project(self, working: Working, step: Project) -> pl.DataFrame:
        """Choose the columns of the result."""
        import polars as pl

        refuse_repeated(step.columns)
        names = self._plan.names
        return pl.DataFrame({name: working.frame[names[i]] for name, i in step.columns})


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


def _read(working: Working, step: Compute) -> pa.Table:
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


def arrow_schema(schema: pl.Schema | pl.DataFrame) -> pa.Schema:
    """Return the Arrow schema of a Polars schema."""
    import polars as pl

    frame = schema if isinstance(schema, pl.DataFrame) else pl.DataFrame(schema=schema)
    return _as_arrow(frame.clear()).schema
