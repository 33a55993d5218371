"""One partition over many tasks, where these cannot run at once: its ranges are read twice.

    rows -> ranges of (partition keys, order keys)
              |-> each task sums its sections up -> all summaries as one value, a scalar subquery's
              '-> each task's first row brings that value; then the task knows what lies around its rows, and answers

Both readings are of one exchange, which Spark makes once as it finds it twice in the plan. So the ranges are the same,
and a task can be run again by itself. Nothing waits for slots, and what comes behind may read some partitions only.
Windows of no order need no ranges: there both readings may be of a source that gives the same rows each time.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa

from ..._execute.stream import Operator
from ..._model.names import unique_names
from ...exceptions import DataError
from .scalars import quoted
from .types import spark_schema

__all__ = ["read_twice"]

# monotonically_increasing_id() has the row's number within its partition in so many bits.
_ROW_BITS = 33

_TOLD = "place int, rows bigint, summaries array<binary>"
_TOLD_ARROW = pa.schema([("place", pa.int32()), ("rows", pa.int64()), ("summaries", pa.list_(pa.binary()))])


def read_twice(frame: Any, operator: Operator, reader: Operator, functions: Any, *, exchanged: bool) -> Any:
    """Answer an operator's calls over rows in ranges.

    Parameters
    ----------
    frame
        A DataFrame whose last step is the exchange into ranges, or one that gives the same partitions each time.
    operator
        The operator, whose calls may be cut into sections.
    reader
        An operator of the same calls over no more than the columns that they read.
    functions
        PySpark's functions.
    exchanged
        Whether there is such an exchange.

    Returns
    -------
    pyspark.sql.DataFrame
        What the operator gives.
    """
    names, read = list(frame.columns), reader.names_read
    hidden = ["__windrow_rest", "__windrow_place", "__windrow_told"]
    rest, place, told = unique_names([*names, *hidden], case_insensitive=True)[-len(hidden) :]
    first = frame.select(*map(quoted, read))
    if exchanged and (others := [functions.col(quoted(name)) for name in names if name not in read]):
        # A column that nothing reads Spark leaves out of the exchange, which then is another one. It is NULL.
        value = functions.when(functions.spark_partition_id() < 0, functions.struct(*others).cast("string"))
        first = frame.select(*map(quoted, read), value.alias(rest))
    summaries = first.mapInArrow(_Summaries(reader), _TOLD).repartition(1).mapInArrow(_packed, f"{told} binary")
    row = functions.monotonically_increasing_id()
    is_first = row.bitwiseAND(functions.lit((1 << _ROW_BITS) - 1)) == 0
    # Of the place the task's own number says nothing where coalesce or union stands behind.
    marks = [
        functions.shiftright(row, _ROW_BITS).alias(place),
        functions.when(is_first, summaries.scalar()).alias(told),
    ]
    return frame.select("*", *marks).mapInArrow(_Answers(operator), spark_schema(operator))


def _packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Put all summaries into one value: Spark takes 5 µs for each null of a nested column on its way to Arrow."""
    packed = pa.BufferOutputStream()
    with pa.ipc.new_stream(packed, _TOLD_ARROW) as stream:
        for batch in batches:
            stream.write_batch(batch.cast(_TOLD_ARROW))
    yield pa.record_batch([pa.array([packed.getvalue().to_pybytes()])], names=["told"])


class _Summaries:
    """Sums up what a task has: one row."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.__name__ = "windrow_summaries"

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        task = TaskContext.get()
        names = self._operator.names_read
        rows, summaries = self._operator.summarise(batch.select(names) for batch in batches)
        if rows and task is not None:
            told = {"place": [task.partitionId()], "rows": [rows], "summaries": [summaries]}
            yield pa.RecordBatch.from_pydict(told, schema=_TOLD_ARROW)


class _Answers:
    """Answers a task's rows, the first of which brings its place and what all tasks have summed up, in last columns."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.__name__ = operator.__name__

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        batches = iter(batches)
        first = next((b for b in batches if b.num_rows), None)
        if first is None:
            return
        place, told = (first.column(first.num_columns - left)[0].as_py() for left in (2, 1))
        everyone = _Everyone(place, [] if told is None else pa.ipc.open_stream(told).read_all().to_pylist())
        operator = copy.copy(self._operator)
        operator.exchange = everyone
        yield from operator(everyone.counted(chain([first], batches)))


class _Everyone:
    """The summaries of all tasks, for the one at a place."""

    def __init__(self, place: int, told: Sequence[dict[str, Any]]) -> None:
        self._place = place
        self._told = sorted(told, key=lambda t: int(t["place"]))
        self._rows = 0

    def counted(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count rows, and take the last columns away."""
        for batch in batches:
            self._rows += batch.num_rows
            yield batch.select(range(batch.num_columns - 2))

    def __call__(self, summaries: Sequence[bytes]) -> tuple[list[bytes], int]:
        """Put this task's sections in the place of those of the first reading; they may be cut otherwise."""
        place = self._place
        if [t["rows"] for t in self._told if t["place"] == place] != [self._rows]:
            raise DataError(
                "the rows came otherwise at the second reading than at the first, so windows over several tasks cannot "
                "be answered: spark.sql.exchange.reuse must be on, and files stay as they are; spread='never' reads "
                "them once, in one task"
            )
        before = [s for t in self._told if t["place"] < place for s in t["summaries"]]
        behind = [s for t in self._told if t["place"] > place for s in t["summaries"]]
        return [*before, *summaries, *behind], len(before)
