"""Window calls in the plan of a LazyFrame: one Polars expression for all calls of a set.

    with_columns(map_batches(the columns that the calls read) AS a struct) -> select(columns, the struct's fields)

The expression is neither elementwise nor a scalar, so Polars calls it once with all rows, also in its streaming engine,
and moves no filter and no slice below it. Columns that no call reads are Polars' own matter: they are read only if the
result has them.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from .._execute.evaluate import Expressions, polars_errors_translated
from .._execute.in_memory import WorkingColumns
from .._execute.run_metrics import Run, current_reporter, measure
from .._execute.steps import run_steps
from .._execute.top_rows import top_rows
from .._model.calls import Call, Derived
from .._model.expressions import HostExpression, Scalar, selected
from .._model.names import unused_name
from .._model.replace import replace
from .._parse.items import read_items
from .._parse.sql_text import columns_of
from .._plan.bind import plan_steps
from .._plan.steps import Evaluate, NamedScalar, Project, StepPlan
from ..exceptions import SpecError, WindrowError
from ..settings import Options, current
from .base import schema_of
from .polars_out_of_core import choose_execution, fits_in_memory, run_out_of_core
from .polars_steps import PolarsRunner, Working, column_named, refuse_repeated, types_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["condition_of", "expression_of", "filter_below", "keep_top_rows", "run_lazy"]


class _Origin(NamedTuple):
    """What a LazyFrame with results was made of."""

    frame: pl.LazyFrame
    plan: StepPlan
    presorted: bool
    options: Options


#: The origins of LazyFrames that exist, by their ids: a LazyFrame has no hash.
_ORIGINS: dict[int, tuple[weakref.ref[pl.LazyFrame], _Origin]] = {}

# The struct's column is named after the calls, up to so many characters.
_MAX_NAME = 160


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

    columns = plan.project.columns
    refuse_repeated(columns)
    origin = _Origin(frame, plan, presorted, current())
    schema = frame.collect_schema()
    computed = [(name, i) for name, i in columns if i >= plan.width]
    if not computed:
        return frame.select([column_named(plan.names[i]).alias(name) for name, i in columns])
    if not plan.width:  # a column that carries the number of rows
        frame = frame.with_row_index("rows")
        schema = frame.collect_schema()
    if (choice := choose_execution(frame, plan, current(), presorted=presorted)).operator is not None:
        return _with_origin(run_out_of_core(frame, plan, choice), origin)
    passed_on = [plan.names[i] for _, i in columns if i < plan.width]
    rows = (passed_on or list(schema))[0]
    struct = _struct(schema, plan, computed, rows, presorted=presorted)
    text = f"windrow: {plan.shown()}"
    hidden = unused_name(text if len(text) <= _MAX_NAME else f"{text[: _MAX_NAME - 3]}...", {n.lower() for n in schema})
    results = pl.col(hidden).struct
    result = frame.with_columns(struct.alias(hidden)).select(
        [
            results.field(name).alias(name) if i >= plan.width else column_named(plan.names[i]).alias(name)
            for name, i in columns
        ]
    )
    return _with_origin(result, origin)


def _with_origin(result: pl.LazyFrame, origin: _Origin) -> pl.LazyFrame:
    key = id(result)
    _ORIGINS[key] = weakref.ref(result, lambda _: _ORIGINS.pop(key, None)), origin
    return result


def filter_below(frame: pl.LazyFrame, condition: Scalar) -> pl.LazyFrame | None:
    """Filter the rows that go into the windows of a LazyFrame, where that keeps the same rows and their results.

    That is so if the condition reads keys by which all calls partition, so that it keeps partitions whole.

    Parameters
    ----------
    frame
        The frame.
    condition
        The condition.

    Returns
    -------
    polars.LazyFrame or None
        The result; None if the filter must come after the windows.
    """
    _, origin = _ORIGINS.get(id(frame), (None, None))
    read = columns_of(condition)
    if origin is None or not read or origin.options != current():
        return None
    plan = origin.plan
    keys = plan.shared_keys()
    passed_on = {name: i for name, i in plan.project.columns if i < plan.width and plan.names[i] == name}
    named = {name.lower(): [n for n in plan.names if n.lower() == name.lower()] for name in read}
    of_keys = all(len(names) == 1 and names[0] in keys and names[0] in passed_on for names in named.values())
    expressions = [s.expression for step in plan.steps if isinstance(step, Evaluate) for s in step.scalars]
    if not of_keys or any(isinstance(e, HostExpression) and e.other_rows for e in (*expressions, condition)):
        return None
    below = filter_below(origin.frame, condition)
    if below is None:
        below = origin.frame.filter(condition_of(origin.frame, condition, origin.options))
    return run_lazy(below, plan, presorted=origin.presorted)


def keep_top_rows(frame: pl.LazyFrame, plan: StepPlan, most: int, counted: str) -> pl.LazyFrame | None:
    """Filter a LazyFrame by an expression over the keys of a rank, before its windows.

    Parameters
    ----------
    frame
        The frame.
    plan
        The plan of the rank's call.
    most
        How many rows of each partition are kept at least.
    counted
        As for :func:`windrow._execute.top_rows.top_rows`.

    Returns
    -------
    polars.LazyFrame or None
        The frame without rows that cannot be among the first; None if it may not fit in memory, or there are no keys.
    """
    import polars as pl

    positions, options = plan.columns_computed_from(), current()
    if not positions or not fits_in_memory(frame, options):  # an expression reads all rows at once
        return None

    def mark(series: Sequence[pl.Series]) -> pl.Series:
        rows = len(series[0])
        columns = {i: pa.chunked_array(one) for i, one in zip(positions, series, strict=True)}
        with _errors_kept():
            found = top_rows(WorkingColumns(columns, plan.width, rows), plan, most, counted, options)
        kept = pl.repeat(found is None, rows, dtype=pl.Boolean, eager=True)
        return kept if found is None else kept.scatter(pl.Series(found), True)

    keys = [column_named(plan.names[i]) for i in positions]
    name = f"windrow: the first {most} by {plan.shown()}"
    return frame.filter(pl.map_batches(keys, mark, return_dtype=pl.Boolean).alias(name))


def _struct(
    schema: pl.Schema, plan: StepPlan, computed: Sequence[tuple[str, int]], rows: str, *, presorted: bool
) -> pl.Expr:
    """Make the expression whose fields are the results of a plan; the column ``rows`` says how many rows there are."""
    import polars as pl

    read = [plan.names[i] for i in plan.columns_computed_from()] or [rows]
    own = replace(plan, steps=(*plan.steps[:-1], Project(tuple(computed))))
    options = current()
    # a run over no rows finds mistakes, and gives the types
    nothing = Working(pl.DataFrame(schema={name: schema[name] for name in read}))
    result = run_steps(PolarsRunner(own, Run(str), options, presorted=False), nothing, own).schema
    report = current_reporter()  # Polars may call this on another thread

    def compute(series: Sequence[pl.Series]) -> pl.Series:
        # by position: within group_by, Polars passes series without names
        frame = pl.DataFrame(dict(zip(read, series, strict=True)))
        with _errors_kept(), measure(plan.shown, frame.height, report) as run:
            made = run_steps(PolarsRunner(own, run, options, presorted=presorted), Working(frame), own)
        return made.to_struct()

    return pl.map_batches([column_named(name) for name in read], compute, return_dtype=pl.Struct(result))


@contextmanager
def _errors_kept() -> Iterator[None]:
    """Raise windrow's errors from within an expression of Polars so that they reach the caller as they are."""
    try:
        yield
    except WindrowError as error:
        raise _same_when_made_anew(error) from error.__cause__


def _same_when_made_anew(error: WindrowError) -> WindrowError:
    """Return an error like another, of a class that gives that other one when an error is made of it.

    Polars makes an error of an expression anew, of its class and a longer message: causes and attributes would be lost.
    """
    cls = type(error)
    carrier_class = type(cls.__name__, (cls,), {"__new__": lambda _, *args: error, "__module__": cls.__module__})
    carrier: WindrowError = cls.__new__(carrier_class, *error.args)
    carrier.__dict__.update(error.__dict__)
    return carrier


def expression_of(item: Call | Derived, schema: Any) -> pl.Expr:
    """Make a Polars expression of a call, over columns of a schema.

    Parameters
    ----------
    item
        The call, or an expression over calls.
    schema
        A Polars schema or frame, or whatever has an Arrow schema.

    Returns
    -------
    polars.Expr
        The expression, named as the call's column.
    """
    import polars as pl

    if isinstance(schema, (pl.DataFrame, pl.LazyFrame)):
        schema = schema.collect_schema()
    elif not isinstance(schema, pl.Schema):
        schema = pl.DataFrame(schema_of(schema).arrow.empty_table()).schema
    names = schema.names()
    outputs = read_items([item], {}, names, selecting=True, select=lambda selector: selected(selector, schema))
    if len(outputs) > 1:
        raise SpecError(
            f"{item.sql} is {len(outputs)} columns, and one expression is one column: write a call for each"
        )
    plan = plan_steps(outputs, names, selecting=True)
    if not names:
        raise SpecError(f"{item.sql}: the schema has no columns, and a Polars expression reads at least one")
    ((name, _),) = plan.project.columns
    return _struct(schema, plan, plan.project.columns, names[0], presorted=False).struct.field(name)


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
    expressions = Expressions([scalar], types_of(schema), options)
    with polars_errors_translated([scalar]):
        dtype = pl.DataFrame(schema=schema).lazy().select(expressions.exprs[0]).collect_schema()[""]
    if dtype not in (pl.Boolean, pl.Null):
        raise SpecError(f"WHERE {condition} gives {dtype}, and a condition gives true or false")
    return expressions.condition()
