"""The new columns of a frame in memory whose columns are, or can be made, Arrow arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from .._model.calls import Call
from .._model.names import unique_names
from .._model.outputs import Output
from .._model.result_columns import place
from .._plan.bind import bind, scalars
from .._plan.bound import BoundCall, BoundCalls, Temporary
from .._plan.levels import levels
from ..settings import Options, current
from .evaluate import evaluate
from .native import input_table, make_plan, output_fields, window_columns
from .ordered_categories import with_order
from .run_metrics import Run, in_memory
from .validation import Checker

__all__ = ["columns_in_order", "new_columns"]


def new_columns(
    outputs: Sequence[Output],
    names: Sequence[str],
    columns: Any,
    rows: int,
    schema: pa.Schema | None = None,
    *,
    in_order: bool,
) -> tuple[list[pa.Field], list[pa.ChunkedArray]]:
    """Compute the new columns of a frame whose columns are, or can be made, Arrow arrays.

    Parameters
    ----------
    outputs
        What was asked for.
    names
        The frame's columns.
    columns
        The Arrow array of each, by position; only those that are needed are asked for.
    rows
        How many rows there are.
    schema
        The frame's Arrow fields, where it has such.
    in_order
        Whether the rows must already be grouped and ordered.

    Returns
    -------
    tuple
        The new fields and the new columns.
    """
    options = current()
    working = _Working(list(names), columns, schema)
    with in_memory(lambda: Output.shown(outputs), rows) as run:
        for calls in levels(o.item for o in outputs if o.item is not None):
            bound = bind([Output(at, call) for at, call in calls.items()], working.names)
            temporaries = _evaluated(run, bound.temporaries, bound.names, working, rows, options, bound.native)
            table = input_table(bound, working, temporaries, rows, working.schema, checker=working.checker)
            if in_order:
                working.add(list(calls), *columns_in_order(table, bound, options))
            else:
                working.add(list(calls), *window_columns(table, bound, options))
            run.metrics.sections += 1
        last = scalars(outputs, working.names)
        evaluated = _evaluated(run, last, unique_names(working.names), working, rows, options)
    made = dict(zip([t.name for t in last], evaluated, strict=True))
    fields, results = [], []
    for output in outputs:
        if isinstance(output.item, Call):
            field, column = working.result(place(output.item))
        elif output.item is not None:
            column = made[output.name]
            field = pa.field(output.name, column.type)
        else:
            continue
        fields.append(field)
        results.append(column)
    return fields, results


class _Working:
    """The columns that calls may read: the frame's, and the results so far by their places."""

    def __init__(self, names: list[str], columns: Any, schema: pa.Schema | None) -> None:
        self.names = names
        self.checker = Checker()
        self._schema = schema
        self._columns = columns
        self._read: dict[int, Any] = {}  # a host may make them when they are asked for
        self._own = len(names)
        self._fields: list[pa.Field] = []
        self._results: list[pa.ChunkedArray] = []
        self._places: dict[str, int] = {}

    def __getitem__(self, index: int) -> Any:
        if index >= self._own:
            return self._results[index - self._own]
        if index not in self._read:
            self._read[index] = self._columns[index]
        return self._read[index]

    @property
    def schema(self) -> pa.Schema | None:
        return self._schema if self._schema is None or not self._fields else pa.schema([*self._schema, *self._fields])

    def add(self, places: Sequence[str], fields: Sequence[pa.Field], columns: Sequence[pa.ChunkedArray]) -> None:
        self._places |= {at: len(self._results) + i for i, at in enumerate(places)}
        self.names += places
        self._fields += fields
        self._results += columns

    def result(self, at: str) -> tuple[pa.Field, pa.ChunkedArray]:
        index = self._places[at]
        return self._fields[index], self._results[index]


def _evaluated(
    run: Run,
    temporaries: Sequence[Temporary],
    names: Sequence[str],
    working: _Working,
    rows: int,
    options: Options,
    calls: Sequence[BoundCall] = (),
) -> list[pa.ChunkedArray]:
    if not temporaries:
        return []
    with run.stage("evaluate"):
        return evaluate(temporaries, _ByName(names, working), rows, options, working.checker, calls)


class _ByName(Mapping[str, Any]):
    """Columns by name, made only when they are asked for."""

    def __init__(self, names: Sequence[str], columns: Any) -> None:
        self._positions = {n: i for i, n in enumerate(names)}
        self._columns = columns

    def __getitem__(self, name: str) -> Any:
        return self._columns[self._positions[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)


def columns_in_order(
    table: pa.Table, bound: BoundCalls, options: Options
) -> tuple[list[pa.Field], list[pa.ChunkedArray]]:
    """Compute the new columns of a table whose rows must already be grouped and ordered: an error where they are not.

    Parameters
    ----------
    table
        What the calls read.
    bound
        The bound calls.
    options
        The settings in force.

    Returns
    -------
    tuple
        The new fields and the new columns.
    """
    plan = make_plan(table.schema, bound.beside(table.column_names), options)
    fields = output_fields(plan)
    stream = plan.stream()
    done: list[Any] = []
    for batch in table.to_batches():
        done += stream.push(batch)
    done += stream.finish()
    pieces = [pa.record_batch(b) for b in done]
    first = table.num_columns
    columns = [pa.chunked_array([p.column(first + i) for p in pieces], type=f.type) for i, f in enumerate(fields)]
    return with_order(table.schema, bound, fields, columns)
