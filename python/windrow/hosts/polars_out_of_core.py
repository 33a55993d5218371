"""LazyFrames larger than memory: a source of batches that an operator computes, on disk beyond the memory limit.

    the frame's batches (Polars' streaming engine) -> operator: compute, in memory or on disk -> IO source

Polars asks the source for the columns that are read, for rows by a condition, or for the first rows. Calls and columns
that nobody reads are left out, and a condition on keys by which all calls partition goes below the windows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from .._execute.memory import default_limit, held_bytes
from .._execute.on_disk import operator_in_row_order
from .._execute.run_metrics import Run, current_reporter, size_text
from .._execute.steps import run_steps
from .._execute.stream import Operator
from .._execute.take_rows import has_dictionary
from .._model.replace import replace
from .._plan.steps import Project, StepPlan
from ..exceptions import UnsupportedError, WindrowError
from ..settings import Options
from .polars_rows import columns_and_other_rows
from .polars_steps import PolarsRunner, Working, arrow_schema, as_decimals, column_named

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ExecutionChoice", "choose_execution", "fits_in_memory", "run_out_of_core"]

# What Polars writes of a plan: sources, and what may give more rows than come in.
_SOURCE = re.compile(r"^\s*(?:\S+ SCAN \[|DF \[)", re.MULTILINE)
_IN_MEMORY = re.compile(r"^\s*DF \[", re.MULTILINE)
_ROWS = re.compile(r"^\s*ESTIMATED ROWS: (\d+)$", re.MULTILINE)
_ADDS_ROWS = re.compile("JOIN|EXPLODE|UNPIVOT|HCONCAT|PYTHON|CACHE|MAP|UDF|GATHER", re.IGNORECASE)
_ADDS_COLUMNS = re.compile("WITH_COLUMNS|SELECT|AGGREGATE", re.IGNORECASE)
_NAME = re.compile(r'"(?:[^"\\]|\\.)*"')
# windrow's own expressions, which give as many rows as come in
_OWN = re.compile(r'\.python_udf\((?:[^()]|\([^()]*\))*\)\.alias\("windrow: ')


class ExecutionChoice(NamedTuple):
    """How the calls of a LazyFrame are computed."""

    #: What computes the batches; None: one Polars expression over all rows.
    operator: Operator | None
    options: Options
    presorted: bool
    #: What was chosen, and why.
    text: str


def choose_execution(frame: pl.LazyFrame, plan: StepPlan, options: Options, *, presorted: bool) -> ExecutionChoice:
    """Choose whether the calls of a LazyFrame are computed over batches, on disk beyond the limit, or in memory.

    Parameters
    ----------
    frame
        The frame.
    plan
        The plan.
    options
        The settings in force.
    presorted
        Whether the rows must already be grouped and ordered.

    Returns
    -------
    ExecutionChoice
        Batches if ``memory_limit`` is set, or if the input may be larger than half of the memory that the process may
        use. A size that cannot be told counts as larger: what turns out to fit is then computed in memory all the same.
    """
    limit, reason = _limit(frame, [plan.names[i] for i in plan.frame_columns()], options)
    if limit is None:
        return _in_memory(options, presorted, reason)
    options = replace(options, memory_limit=limit)
    if not plan.width:
        return _in_memory(options, presorted, "the frame has no columns")
    try:
        operator = _operator(frame, plan, options, presorted=presorted)
    except WindrowError as error:
        return _in_memory(options, presorted, f"batches cannot be computed: {error}")
    how = "in their order" if presorted else f"on disk beyond {size_text(limit)}"
    return ExecutionChoice(operator, options, presorted, f"the rows are computed in batches, {how}: {reason}")


def _limit(frame: pl.LazyFrame, columns: Collection[str], options: Options) -> tuple[int | None, str]:
    """Give the limit beyond which some columns of a frame are computed on disk, None if in memory; and why."""
    if options.memory_limit is not None:
        return options.memory_limit, "memory_limit is set"
    limit = default_limit()
    if limit is None:
        return None, "this system does not tell how much memory there is"
    if not _names_sources():
        return None, "memory_limit is not set, and this Polars is older than 2"
    estimate = _input_bytes(frame, columns)
    if estimate is not None and estimate <= limit:
        return None, f"the input has less than half of the memory, {size_text(limit)}"
    size = "an unknown size" if estimate is None else f"about {size_text(estimate)}"
    return limit, f"the input has {size}, and half of the memory is the limit"


def fits_in_memory(frame: pl.LazyFrame, options: Options) -> bool:
    """Whether all columns of a frame are estimated to fit in memory.

    Parameters
    ----------
    frame
        The frame.
    options
        The settings in force.

    Returns
    -------
    bool
        Whether they do.
    """
    return _limit(frame, frame.collect_schema().names(), options)[0] is None


def _in_memory(options: Options, presorted: bool, reason: str) -> ExecutionChoice:
    return ExecutionChoice(None, options, presorted, f"all rows are computed in memory: {reason}")


def _operator(frame: pl.LazyFrame, plan: StepPlan, options: Options, *, presorted: bool) -> Operator:
    own, columns = plan.only([name for name, _ in plan.project.columns])
    schema = arrow_schema(frame.select(_columns(plan, columns)).collect_schema())
    if (name := next((f.name for f in schema if has_dictionary(f.type)), None)) is not None:
        raise UnsupportedError(f"column {name!r} has categories, which would be put together anew for each batch")
    return operator_in_row_order(own, schema, options, not presorted)


def _columns(plan: StepPlan, columns: Sequence[int]) -> list[pl.Expr]:
    return [column_named(plan.names[i]) for i in columns]


def _input_bytes(frame: pl.LazyFrame, columns: Collection[str]) -> int | None:
    """Estimate the bytes of a frame's columns, without reading rows; None if that cannot be told."""
    text = _NAME.sub('""', _OWN.sub('.alias("', frame.explain(optimized=False)))
    if _ADDS_ROWS.search(text) is not None:
        return None
    in_memory, sources, rows = len(_IN_MEMORY.findall(text)), len(_SOURCE.findall(text)), _ROWS.findall(text)
    if not sources or in_memory + len(rows) != sources:
        return None
    total = 0
    if rows:
        schema = frame.collect_schema()
        widths = [_width(schema[name]) for name in columns]
        if None in widths:
            return None
        total = sum(map(int, rows)) * sum(w for w in widths if w is not None)
    if in_memory:
        held = held_bytes()  # the rows of frames in memory are among that
        if held is None:
            return None
        total += held * (1 + len(columns) if _ADDS_COLUMNS.search(text) is not None else 1)
    return total


def _width(dtype: pl.DataType) -> int | None:
    """Give the bytes of a value; None for those of any length."""
    import polars as pl

    if dtype in (pl.Boolean, pl.Null):
        return 1
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        return 4
    if dtype.is_numeric() or dtype.is_temporal():
        return 16 if dtype.is_decimal() else 8
    return 48 if isinstance(dtype, (pl.String, pl.Binary)) else None


def run_out_of_core(frame: pl.LazyFrame, plan: StepPlan, choice: ExecutionChoice) -> pl.LazyFrame:
    """Make a LazyFrame whose rows an operator computes from a frame's batches, when it is collected.

    Parameters
    ----------
    frame
        The frame.
    plan
        The plan.
    choice
        What was chosen for it, which has an operator.

    Returns
    -------
    polars.LazyFrame
        The result, with its schema.
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    nothing = Working(pl.DataFrame(schema=frame.collect_schema()))
    result = run_steps(PolarsRunner(plan, Run(str), choice.options, presorted=False), nothing, plan).schema
    report = current_reporter()  # Polars reads the source on another thread

    def source(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted = list(result) if columns is None else columns
        below, rest, needed = frame, predicate, set(wanted)
        if predicate is not None:
            if rows is None and _keeps_partitions(predicate, plan):
                below, rest = frame.filter(predicate), None
            else:
                needed.update(predicate.meta.root_names())
        own, positions = plan.only(needed)
        read = below.select(_columns(plan, positions))
        for batch in _first_rows(_computed(read, own, result, choice, report), rows):
            kept = batch if rest is None else batch.filter(rest)
            yield kept.select([column_named(name) for name in wanted])

    named: dict[str, Any] = {"explain_name": "windrow", "explain_detail": plan.shown()} if _names_sources() else {}
    return register_io_source(source, schema=result, **named)


def _names_sources() -> bool:
    """Whether Polars shows the names of sources, as from version 2 on; before, it fails over some plans with them."""
    from polars.io.plugins import register_io_source

    return "explain_name" in signature(register_io_source).parameters


def _computed(
    frame: pl.LazyFrame, plan: StepPlan, result: pl.Schema, choice: ExecutionChoice, report: Any
) -> Iterator[pl.DataFrame]:
    """Compute a plan over the batches of a frame; a plan without calls chooses columns alone."""
    import polars as pl

    batches = frame.collect_batches(maintain_order=True)
    if len(plan.steps) == 1 and isinstance(plan.steps[0], Project):
        names = [name for name, _ in plan.project.columns]
        for batch in batches:
            series = [batch.to_series(i).alias(name) for name, i in plan.project.columns]
            yield pl.DataFrame(dict(zip(names, series, strict=True))) if names else batch
        return
    schema = arrow_schema(frame.collect_schema())
    operator = operator_in_row_order(plan, schema, choice.options, not choice.presorted)
    operator.report = report
    for out in operator(arrow for batch in batches for arrow in pa.table(batch).to_batches()):
        columns = [as_decimals(pa.chunked_array([c])) for c in out.columns]
        made = pl.DataFrame(pa.table(columns, names=out.schema.names))
        yield made.cast({name: result[name] for name, dtype in made.schema.items() if dtype != result[name]})


def _first_rows(batches: Iterator[pl.DataFrame], rows: int | None) -> Iterator[pl.DataFrame]:
    """Give the first rows of batches, and read no further; None: all."""
    for batch in batches:
        if rows is None:
            yield batch
            continue
        yield batch.head(rows)
        rows -= min(rows, batch.height)
        if not rows:
            return


def _keeps_partitions(condition: pl.Expr, plan: StepPlan) -> bool:
    """Whether a condition on a plan's result may go to its input, as it keeps the partitions of all calls whole."""
    read, other_rows = columns_and_other_rows(condition)
    keys = plan.shared_keys()
    if not read or other_rows or not keys:
        return False
    passed_on = {name for name, i in plan.project.columns if i < plan.width and plan.names[i] == name}
    return all(name in keys and name in passed_on for name in condition.meta.root_names())
