"""The first rows of each partition, found without sorting the others."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from .._plan.steps import Compute, Project, StepPlan
from ..settings import Options
from .dictionaries import Dictionaries
from .in_memory import ArrowRunner, WorkingColumns
from .native import kept_plan
from .ordered_categories import ordered_columns
from .run_metrics import Run
from .steps import run_steps

__all__ = ["top_rows"]

# fewer rows are sorted as fast
_MIN_ROWS: Final = 10_000


def top_rows(working: WorkingColumns, plan: StepPlan, most: int, counted: str, options: Options) -> pa.Array | None:
    """Find the rows that may be among the first of their partition.

    Parameters
    ----------
    working
        The columns of a frame.
    plan
        The plan of one call, whose window has the keys.
    most
        How many there are to be at least.
    counted
        What is counted up to ``most``: ``"rows"`` (as by row_number), ``"peers"`` (rank) or ``"values"`` (dense_rank).
    options
        The settings in force.

    Returns
    -------
    pyarrow.Array or None
        Row numbers, ascending: those of all rows up to the limit, and of few others. None if sorting costs no more.
    """
    if working.rows < _MIN_ROWS:
        return None
    return run_steps(_TopRows(options, most, counted), working, plan)


class _TopRows(ArrowRunner["pa.Array | None"]):
    """Evaluates the keys of a call, and finds the first rows in place of computing it."""

    def __init__(self, options: Options, most: int, counted: str) -> None:
        super().__init__(Run(str), options)
        self._most = most
        self._counted = counted
        self._rows: pa.Array | None = None

    def compute(self, working: WorkingColumns, step: Compute) -> WorkingColumns:
        """Find the rows; no column is added."""
        table = self.input_table(working, step)
        ordered = ordered_columns(table.schema) | working.ordered
        table, calls = Dictionaries(table.schema, step.calls).by_position(table)
        plan = kept_plan(table.schema, calls, self._options, ordered)
        found = plan.top_rows(table, self._most, self._counted)
        rows = None if found is None else pa.table(found)["row"].combine_chunks()
        # long texts that begin alike are kept together
        self._rows = None if rows is None or len(rows) > working.rows // 2 else rows
        return working

    def project(self, working: WorkingColumns, step: Project) -> pa.Array | None:
        """Return the rows."""
        return self._rows
