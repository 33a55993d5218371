"""Rows beyond the memory limit, computed on disk and returned in the order in which they came.

batches -> held up to the limit                                 -> computed in memory
        -> more, all calls share partition keys: divided by their hash, a part at a time in memory
        -> more, of no common key: sorted on disk by each order, and then by row number
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa

from .._model.expressions import HostExpression
from .._model.replace import replace
from .._plan.steps import Evaluate, StepPlan
from .._windrow import HashPartitions
from ..exceptions import UnsupportedError
from ..settings import Options
from .arrow_columns import text_restored
from .level import pop_all
from .memory import (
    SORT_MEMORY_FACTOR,
    available_bytes,
    batch_bytes,
    default_limit,
    least_available,
    release_unused,
    releasing,
)
from .native import refuse_nested_runs
from .run_metrics import Run
from .sectioned import read_batches
from .stream import Operator, stream_operator
from .take_rows import has_dictionary

__all__ = ["operator_in_row_order"]

# A part beyond the limit is divided once more; if that does not help, it holds a large partition, and is sorted.
_MAX_DIVISIONS = 2

# Bytes of a part that are computed in memory whatever the limit: files of a few rows cost more than they save.
_MIN_PART_BYTES = 1 << 20


def operator_in_row_order(
    plan: StepPlan,
    schema: pa.Schema,
    options: Options,
    sort: bool | None,
    host_schema: object = None,
    *,
    operator_class: type[Operator] = Operator,
    divisions: int = 0,
) -> Operator:
    """Make an operator whose rows leave in the order in which they came, however many there are.

    Without ``memory_limit`` the limit is half of the memory that the process may use. Two kinds of rows beyond it leave
    in the order of the windows, and have no limit without ``memory_limit``: those of a Spark task, and those with
    dictionary columns, or results with run ends within other types.

    Parameters
    ----------
    plan, schema, options, sort, host_schema, operator_class
        As for :func:`windrow._execute.stream.stream_operator`; without a sort there is nothing to put back.
    divisions
        How often the rows that will come have been divided already.

    Returns
    -------
    Operator
        The operator.
    """
    operator = stream_operator(plan, schema, options, sort, host_schema, operator_class=operator_class)
    if sort and operator.levels and _keeps_on_disk((schema, operator.schema)):
        operator.in_row_order = _InRowOrder(plan, schema, options, divisions)
    return operator


def _keeps_on_disk(schemas: Sequence[pa.Schema]) -> bool:
    """Whether rows come back from files as they were, which dictionaries of each batch and some run ends do not."""
    try:
        for schema in schemas:
            refuse_nested_runs(schema, spills=True)
    except UnsupportedError:
        return False
    return not any(has_dictionary(t) for schema in schemas for t in schema.types)


@dataclass(frozen=True)
class _InRowOrder:
    """What computes the rows of an operator, in memory or on disk. Plain data."""

    plan: StepPlan
    schema: pa.Schema
    options: Options
    divisions: int

    def compute(self, operator: Operator, batches: Iterable[pa.RecordBatch], run: Run) -> Iterator[pa.RecordBatch]:
        """Compute over batches, whose rows leave in the order in which they came."""
        limit = self.options.memory_limit or default_limit()
        if limit is None:
            yield from operator.compute_rows(batches, run)
            return
        factor = SORT_MEMORY_FACTOR * len(operator.levels)
        held, upper_bound, held_bytes, seen = deque[pa.RecordBatch](), 0, 0, set[int]()
        budget = None
        remaining = operator.levels[0].checked(batches)
        for batch in remaining:
            held.append(batch)
            if budget is None:
                # takes little time, and counts what slices share each time
                upper_bound += batch.get_total_buffer_size()
                if upper_bound * factor <= least_available(limit):
                    continue
                held_bytes = sum(batch_bytes(one, seen) for one in held)
                budget = max(available_bytes(limit, held_bytes), _MIN_PART_BYTES if self.divisions else 0)
            else:
                held_bytes += batch_bytes(batch, seen)
            if held_bytes * factor > budget:
                yield from self._compute_on_disk(operator, chain(pop_all(held), remaining), limit, run)
                return
        yield from operator.compute_rows(pop_all(held), run, is_checked=True, fit=True)

    def _compute_on_disk(
        self, operator: Operator, batches: Iterator[pa.RecordBatch], limit: int, run: Run
    ) -> Iterator[pa.RecordBatch]:
        options = replace(self.options, memory_limit=limit)
        keys = self._shared_keys(operator) if self.divisions < _MAX_DIVISIONS else []
        if keys:
            yield from self._compute_divided(operator, batches, keys, options, limit, run)
            return
        sorting = stream_operator(self.plan, self.schema, options, True, keeps_row_order=True)
        yield from sorting.compute_rows(batches, run, is_checked=True)

    def _shared_keys(self, operator: Operator) -> list[int]:
        """List the keys by which all calls partition, as columns of the first level's input.

        Each level evaluates its own expressions, so those of one text are one key.
        """
        scalars = [s for step in self.plan.steps if isinstance(step, Evaluate) for s in step.scalars]
        texts = {s.name: s.text for s in scalars if not s.inputs and not isinstance(s.expression, HostExpression)}

        def known(name: str) -> tuple[str, bool]:
            return texts.get(name, name), name in texts

        keys = self.plan.shared_keys(known)
        return [i for i, name in enumerate(operator.levels[0].step.names) if known(name) in keys]

    def _compute_divided(
        self,
        operator: Operator,
        batches: Iterator[pa.RecordBatch],
        keys: list[int],
        options: Options,
        limit: int,
        run: Run,
    ) -> Iterator[pa.RecordBatch]:
        """Compute a part of the partitions after another, and return the rows in their order."""
        first = next(batches)
        output_columns, width, types = self.plan.project.columns, self.plan.width, first.schema.types
        part_plan, read = self.plan.only([name for name, i in output_columns if i >= width])
        passed = sorted({i for _, i in output_columns if i < width})
        with_scalars = operator.levels[0].with_scalars(chain([first], batches), run)
        rows = _divided(with_scalars, keys, read, passed, available_bytes(limit), options.spill_dir, run)
        del first
        declared = pa.schema([self.schema.field(i) for i in read], self.schema.metadata)
        part_operator = operator_in_row_order(part_plan, declared, options, True, divisions=self.divisions + 1)
        # columns that the first level does not read may have come with other types than declared
        part_schema = pa.schema([f.with_type(types[i]) for f, i in zip(declared, read, strict=True)])
        results = [place for place, (_, i) in enumerate(part_plan.project.columns) if i >= part_plan.width]
        for part in range(HashPartitions.COUNT):
            incoming = (text_restored(batch.columns, part_schema) for batch in _part_batches(rows, part))
            for out in releasing(part_operator.compute_in_row_order(incoming, run)):
                with run.stage("divide"):
                    rows.push_results(out.select(results))
            run.metrics.spilled_bytes += rows.end_part()
        schema = operator.schema
        fields = [f if i >= width else f.with_type(types[i]) for f, (_, i) in zip(schema, output_columns, strict=True)]
        schema = pa.schema(fields, metadata=schema.metadata)
        places = {i: place for place, i in enumerate(passed)}
        next_result = iter(range(len(passed), len(passed) + len(results)))
        order = [places[i] if i < width else next(next_result) for _, i in output_columns]
        for batch in releasing(run.time_items("divide", read_batches(rows))):
            yield text_restored(batch.select(order).columns, schema)
            del batch


def _divided(
    batches: Iterator[pa.RecordBatch],
    keys: Sequence[int],
    read: Sequence[int],
    passed: Sequence[int],
    limit: int,
    spill_dir: str | None,
    run: Run,
) -> HashPartitions:
    """Divide rows by a hash of some columns; parts have the columns that are read."""
    first = next(batches)
    rows = HashPartitions(first.schema, keys, read, passed, limit, spill_dir)
    for batch in releasing(chain([first], batches)):
        with run.stage("divide"):
            rows.push(batch)
    with run.stage("divide"):
        run.metrics.spilled_bytes += rows.finish()
    release_unused()  # what reading needed
    return rows


def _part_batches(rows: HashPartitions, part: int) -> Iterator[pa.RecordBatch]:
    while (batch := rows.next_of_part(part)) is not None:
        yield pa.record_batch(batch)
