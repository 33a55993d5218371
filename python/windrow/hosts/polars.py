"""The Polars host. A result shares unchanged columns with its DataFrame; for a LazyFrame the calls join its plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from .._execute.explained_call import ExplainedCall
from .._execute.in_memory import WorkingColumns
from .._execute.run_metrics import Run, measure
from .._execute.steps import run_steps
from .._execute.top_rows import top_rows
from .._model.expressions import Expr, HostExpression, Scalar, is_instance_by_name, selected
from .._plan.steps import StepPlan
from .._scalars.to_polars import within_limits
from ..exceptions import SpecError
from ..settings import current
from .base import ComputeArguments, FrameSchema
from .explanation import Explanation
from .polars_lazy import condition_of, filter_below, keep_top_rows, run_lazy
from .polars_out_of_core import choose_execution
from .polars_rows import columns_and_other_rows
from .polars_steps import PolarsRunner, Working, arrow_schema
from .query import QueryHost, not_boolean

if TYPE_CHECKING:
    pass

__all__ = ["PolarsHost", "PolarsReader", "PolarsSelectors"]

#: The name of the host for Polars expressions.
HOST = "polars"


class PolarsSelectors:
    """Finds the columns of Polars' selectors, ``pl.col("a", "b")`` among them."""

    def is_selector(self, value: Any) -> bool:
        """Whether a Polars expression chooses columns, and computes nothing."""
        within_limits(value)  # Polars would walk through an expression of any size
        return bool(value.meta.has_multiple_outputs() and value.meta.is_column_selection())

    def selected(self, value: Any, schema: Any) -> list[str]:
        """Name the columns of a schema, Polars' or Arrow's, that a selector chooses."""
        import polars as pl

        frame = pl.DataFrame(schema=schema) if isinstance(schema, pl.Schema) else pl.DataFrame(schema.empty_table())
        try:
            return list(frame.lazy().select(value).collect_schema().names())
        except pl.exceptions.PolarsError as error:
            raise SpecError(f"{value}: {str(error).partition(chr(10))[0]}") from None


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
            "a list of their names; the first argument of a call alone may be several, as in wr.sum(pl.col('a', 'b'))"
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
        return FrameSchema(arrow_schema(value.collect_schema() if _is_lazy(value) else value))

    def columns(self, frame: Any) -> list[str]:
        """List the names of a frame's columns."""
        return list(frame.collect_schema().names() if _is_lazy(frame) else frame.columns)

    def selected(self, frame: Any, selector: HostExpression) -> list[str]:
        """Name a frame's columns that a selector chooses."""
        return selected(selector, frame.collect_schema())

    def run(self, frame: Any, plan: StepPlan, arguments: ComputeArguments) -> Any:
        """Run the steps of a plan over a DataFrame, or add them to the plan of a LazyFrame."""
        presorted = arguments.in_memory() is False
        if _is_lazy(frame):
            return run_lazy(frame, plan, presorted=presorted)
        with measure(plan.shown, frame.height) as run:
            return run_steps(PolarsRunner(plan, run, current(), presorted=presorted), Working(frame), plan)

    def explained(self, frame: Any, plan: StepPlan, sort: bool | None) -> list[list[ExplainedCall]]:
        """Run the steps of a plan over an empty frame, and return the explanation of each Compute step."""
        import polars as pl

        explained: list[list[ExplainedCall]] = []
        runner = PolarsRunner(plan, Run(str), current(), presorted=sort is False, explained=explained)
        run_steps(runner, Working(pl.DataFrame(schema=frame.collect_schema())), plan)
        return explained

    def explain(self, frame: Any, plan: StepPlan, arguments: ComputeArguments, *, metrics: bool) -> Explanation:
        """Explain how the steps would be run; for a LazyFrame also whether in memory or in batches, and why."""
        explanation = super().explain(frame, plan, arguments, metrics=metrics)
        if _is_lazy(frame) and plan.computes():
            choice = choose_execution(frame, plan, current(), presorted=arguments.in_memory() is False)
            explanation.steps.append(choice.text)
        return explanation

    def finish(self, result: Any) -> None:
        """Collect a LazyFrame."""
        if _is_lazy(result):
            result.collect()

    def where(self, frame: Any, condition: Scalar) -> Any:
        """Keep the rows for which a condition is true; for a LazyFrame, in its plan."""
        if _is_lazy(frame):
            below = filter_below(frame, condition)
            return frame.filter(condition_of(frame, condition, current())) if below is None else below
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

    def concat_rows(self, frames: Sequence[Any]) -> Any:
        """Put the rows of frames with the same columns below one another."""
        import polars as pl

        return pl.concat(frames, how="vertical_relaxed") if len(frames) > 1 else frames[0]

    def top_rows(self, frame: Any, plan: StepPlan, most: int, counted: str) -> Any:
        """Leave out rows behind the first ``most`` of each partition; of a LazyFrame when it is collected."""
        import polars as pl

        if _is_lazy(frame):
            return keep_top_rows(frame, plan, most, counted)
        columns = {i: pa.chunked_array(frame.to_series(i)) for i in plan.columns_computed_from()}
        rows = top_rows(WorkingColumns(columns, plan.width, frame.height), plan, most, counted, current())
        return None if rows is None else frame[pl.Series(rows)]

    def null_row(self, frame: Any) -> Any:
        """Make a frame of the same columns with one row of NULLs."""
        row = frame.clear(1)
        return row.lazy() if _is_lazy(frame) and not _is_lazy(row) else row


def _is_lazy(frame: Any) -> bool:
    return is_instance_by_name(frame, "polars", "LazyFrame")
