"""Runs the steps of a plan over a frame in memory, whose columns are or become Arrow arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import pyarrow as pa

from .._model.replace import replace
from .._plan.bound import BoundCall
from .._plan.steps import Compute, Evaluate, Project, StepPlan
from ..settings import Options
from .evaluate import evaluate
from .explained_call import ExplainedCall
from .native import input_table, window_columns
from .ordered_categories import ordered_columns, ordered_results
from .run_metrics import Run
from .steps import run_steps
from .validation import Checker

__all__ = ["ArrowRunner", "WorkingColumns", "explained_calls"]

R = TypeVar("R")


class WorkingColumns:
    """The columns that steps may read: those of the frame, converted on request, and those that steps add.

    Parameters
    ----------
    columns
        The Arrow array of each of the frame's columns, by position.
    width, rows
        How many there are, and how many rows.
    schema
        Their fields, where the frame has such.
    """

    def __init__(self, columns: Any, width: int, rows: int, schema: pa.Schema | None = None) -> None:
        self.width = width
        self.rows = rows
        self.checker = Checker()
        #: The names of the columns that hold ordered categories, though their types may not say so.
        self.ordered: dict[str, str] = {}
        self._schema = schema
        self._columns = columns
        self._cache: dict[int, Any] = {}
        self._added: list[pa.ChunkedArray | None] = []
        self._fields: list[pa.Field] = []

    def __getitem__(self, index: int) -> Any:
        if index >= self.width:
            return self._added[index - self.width]
        if index not in self._cache:
            self._cache[index] = self._columns[index]
        return self._cache[index]

    def field(self, index: int) -> pa.Field:
        """Return the field of a column."""
        if index >= self.width:
            return self._fields[index - self.width]
        if self._schema is not None:
            return self._schema.field(index)
        return pa.field("", self[index].type)

    def add(self, fields: Sequence[pa.Field], columns: Sequence[pa.ChunkedArray]) -> None:
        """Append columns."""
        self._fields += fields
        self._added += columns

    def keep(self, positions: Sequence[int]) -> None:
        """Drop the added columns, except some."""
        kept = {i - self.width for i in positions}
        self._added = [c if i in kept else None for i, c in enumerate(self._added)]


class ArrowRunner(Generic[R]):
    """Runs steps over working columns; a host makes its result in :meth:`project`.

    Parameters
    ----------
    run
        Whose figures these are.
    options
        The settings in force.
    presorted
        Whether the rows must already be grouped and ordered.
    explained
        Takes, for each step of calls, how they are computed.
    """

    def __init__(
        self,
        run: Run,
        options: Options,
        *,
        presorted: bool = False,
        explained: list[list[ExplainedCall]] | None = None,
    ) -> None:
        self.run = run
        self._options = options
        self._presorted = presorted
        self._explained = explained

    def evaluate(self, working: WorkingColumns, step: Evaluate) -> WorkingColumns:
        """Evaluate scalars with Polars."""
        columns = _ColumnsByName(step.names, working)
        with self.run.stage("evaluate"):
            made = evaluate(step.scalars, columns, working.rows, self._options, working.checker, working.ordered)
        working.add([pa.field(s.name, c.type) for s, c in zip(step.scalars, made, strict=True)], made)
        return working

    def compute(self, working: WorkingColumns, step: Compute) -> WorkingColumns:
        """Compute calls with the native module."""
        table = self.input_table(working, step)
        ordered = ordered_columns(table.schema) | working.ordered
        fields, columns = window_columns(
            table,
            step.calls,
            self._options,
            presorted=self._presorted,
            ordered=ordered,
            explained=self._explained,
        )
        if ordered:
            working.ordered |= ordered_results(step.calls, fields, ordered)
        working.add(fields, columns)
        working.keep(step.keeps)
        self.run.metrics.sections += 1
        return working

    def input_table(self, working: WorkingColumns, step: Compute) -> pa.Table:
        """Return the columns that calls read, for the native module."""
        return input_table(
            step,
            working,
            working.rows,
            nullable=lambda i: working.field(i).nullable,
            already_validated=lambda i: i >= working.width,
            checker=working.checker,
        )

    def project(self, working: WorkingColumns, step: Project) -> R:
        """Make the host's result."""
        raise NotImplementedError


class _Explainer(ArrowRunner[None]):
    """Runs steps over no rows, to explain their calls."""

    def __init__(
        self,
        options: Options,
        explained: list[list[ExplainedCall]],
        type_name: Callable[[BoundCall, pa.Field], str] | None,
        *,
        presorted: bool,
    ) -> None:
        super().__init__(Run(str), options, presorted=presorted, explained=explained)
        self._rows = explained
        self._type_name = type_name

    def compute(self, working: WorkingColumns, step: Compute) -> WorkingColumns:
        """Plan calls, and add columns without rows of their result types."""
        working = super().compute(working, step)
        if self._type_name is not None:
            fields = [working.field(len(step.names) + i) for i in range(len(step.calls))]
            named = zip(self._rows[-1], step.calls, fields, strict=True)
            self._rows[-1] = [replace(row, type=self._type_name(call, field)) for row, call, field in named]
        return working

    def project(self, working: WorkingColumns, step: Project) -> None:
        """Make no result."""


def explained_calls(
    columns: Any,
    plan: StepPlan,
    options: Options,
    schema: pa.Schema | None = None,
    *,
    presorted: bool = False,
    type_name: Callable[[BoundCall, pa.Field], str] | None = None,
) -> list[list[ExplainedCall]]:
    """Run the steps of a plan over no rows, and return how their calls are computed.

    Parameters
    ----------
    columns
        The columns of a frame without rows, as for :class:`WorkingColumns`.
    plan
        The plan.
    options
        The settings in force.
    schema
        The columns' fields, where the frame has such.
    presorted
        Whether the rows must already be grouped and ordered.
    type_name
        Gives the host's name for the type of a call's results; None: Arrow's.

    Returns
    -------
    list
        For each step of calls, how each is computed.

    Raises
    ------
    WindrowError
        Whatever running the plan over such a frame raises.
    """
    explained: list[list[ExplainedCall]] = []
    runner = _Explainer(options, explained, type_name, presorted=presorted)
    run_steps(runner, WorkingColumns(columns, plan.width, 0, schema), plan)
    return explained


class _ColumnsByName(Mapping[str, Any]):
    """Columns by name, converted on request."""

    def __init__(self, names: Sequence[str], columns: WorkingColumns) -> None:
        self._positions = {n: i for i, n in enumerate(names)}
        self._columns = columns

    def __getitem__(self, name: str) -> Any:
        return self._columns[self._positions[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)
