"""Rows put back into the order in which they came, by their numbers.

batches that go on where the last one ended -> passed on        the others -> sorted, in memory or on disk
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from .._model.names import unused_name
from .._plan.bound import BoundCall, SortKey
from .._plan.steps import Compute, Project
from ..settings import Options
from .level import Level
from .run_metrics import Run

__all__ = ["in_input_order", "row_order_level"]


def row_order_level(schema: pa.Schema, options: Options) -> Level:
    """Make the level that sorts rows by their numbers.

    Parameters
    ----------
    schema
        The schema of the rows; the last column is their numbers, which are left out of the result.
    options
        The settings in force.

    Returns
    -------
    Level
        The level.
    """
    names = tuple(schema.names)
    number = unused_name("row_number", {n.lower() for n in names})
    by_number = BoundCall(
        function="row_number",
        args=(),
        partition_by=(),
        order_by=(SortKey(names[-1]),),
        frame=None,
        filter=None,
        distinct=False,
        ignore_nulls=None,
        argument_order=(),
        min_rows=None,
        user=None,
        name=number,
        display="the order of the input",
    )
    width = len(names) - 1
    return Level(
        Compute((by_number,), names, (width,)),
        (),
        Project(tuple((name, i) for i, name in enumerate(names[:-1]))),
        schema,
        options,
        sort=True,
        already_validated=frozenset(names),
        shares_memory=True,
        in_window_order=True,
    )


def in_input_order(batches: Iterable[pa.RecordBatch], level: Level, run: Run) -> Iterator[pa.RecordBatch]:
    """Put rows back into the order in which they came.

    Parameters
    ----------
    batches
        The rows, whose numbers from 0 are the last column.
    level
        What :func:`row_order_level` gives.
    run
        Whose figures these are.

    Yields
    ------
    pyarrow.RecordBatch
        The rows without their numbers. Those that are in order already are passed on as they come.
    """
    schema, next_row = level.schema, 0
    remaining = iter(batches)
    for batch in remaining:
        numbers = batch.column(batch.num_columns - 1)
        if not _goes_on(numbers, next_row):
            yield from level.compute(chain([batch], remaining), run, None)
            return
        next_row += batch.num_rows
        columns = batch.columns[:-1]
        fields = [f.with_type(c.type) for f, c in zip(schema, columns, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, metadata=schema.metadata))


def _goes_on(numbers: pa.Array, first: int) -> bool:
    """Whether numbers are exactly first, first + 1, ... in order."""
    if not len(numbers):
        return True
    if numbers[0].as_py() != first or numbers[-1].as_py() != first + len(numbers) - 1:
        return False
    return pc.all(pc.less(numbers[:-1], numbers[1:])).as_py() is not False
