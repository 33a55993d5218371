"""Splits a partition across tasks: its ranges are read twice.

    rows -> ranges of (partition keys, order keys)
              |-> each task sums its sections up -> all summaries as one value, a scalar subquery's
              '-> each task's first row brings that value; then the task knows what lies around its rows, and answers

Both readings are of one exchange, which Spark makes once as it finds it twice in the plan. So the ranges are the same,
and a task can be run again by itself. Nothing waits for slots, and what comes behind may read some partitions only.
Windows of no order need no ranges: there both readings may be of a source that gives the same rows each time.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..._execute.stream import Operator
from ..._execute.user_functions import with_message_first, with_users_traceback
from ..._model.names import unique_names
from ...exceptions import DataError, SpillError, WindrowError
from .scalars import quoted
from .types import declared_schema

__all__ = ["HIDDEN", "PACKED_SCHEMA", "SUMMARY_SCHEMA", "FirstPass", "SecondPass", "pack_summaries", "run_two_pass"]

#: The columns that tell a task its own number and all summaries.
HIDDEN = ("__windrow_place", "__windrow_told")
#: What a task's rows are summed up in, and what all summaries are joined in.
SUMMARY_SCHEMA = T.StructType(
    [
        T.StructField("place", T.IntegerType()),
        T.StructField("rows", T.LongType()),
        T.StructField("summaries", T.ArrayType(T.BinaryType())),
    ]
)
PACKED_SCHEMA = T.StructType([T.StructField(HIDDEN[1], T.BinaryType())])

# The number of rows that a task tells if it could not sum them up; then the summary is the error.
_FAILED = -1

# monotonically_increasing_id() has the row's number within its partition in this many bits (also in StageBuilder.java).
_ROW_BITS = 33

_SUMMARY_ARROW_SCHEMA = pa.schema([("place", pa.int32()), ("rows", pa.int64()), ("summaries", pa.list_(pa.binary()))])


def run_two_pass(frame: Any, operator: Operator, reader: Operator, functions: Any) -> Any:
    """Answer an operator's calls over rows in ranges of a DataFrame, where they are no windows of Spark's plan.

    Parameters
    ----------
    frame
        A DataFrame whose last step is the exchange into ranges.
    operator
        The operator, whose calls may be cut into sections.
    reader
        An operator of the same calls over no more than the columns that they read.
    functions
        PySpark's functions.

    Returns
    -------
    pyspark.sql.DataFrame
        What the operator gives.
    """
    names, read = list(frame.columns), reader.names_read
    hidden = ["__windrow_rest", *HIDDEN]
    rest, partition, summaries_name = unique_names([*names, *hidden], case_insensitive=True)[-len(hidden) :]
    first = frame.select(*map(quoted, read))
    if others := [functions.col(quoted(name)) for name in names if name not in read]:
        # Reference all columns, so that both plans contain the same exchange (ReuseExchange); the value is always NULL.
        value = functions.when(functions.spark_partition_id() < 0, functions.struct(*others).cast("string"))
        first = frame.select(*map(quoted, read), value.alias(rest))
    summaries = (
        first.mapInArrow(FirstPass(reader), SUMMARY_SCHEMA).repartition(1).mapInArrow(pack_summaries, PACKED_SCHEMA)
    )
    row = functions.monotonically_increasing_id()
    is_first = row.bitwiseAND(functions.lit((1 << _ROW_BITS) - 1)) == 0
    # Of the place the task's own number says nothing where coalesce or union stands behind.
    marks = [
        functions.shiftright(row, _ROW_BITS).alias(partition),
        functions.when(is_first, summaries.scalar()).alias(summaries_name),
    ]
    return frame.select("*", *marks).mapInArrow(SecondPass(operator), declared_schema(operator))


def pack_summaries(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pack all summaries into one value, as Spark converts nulls of nested columns to Arrow slowly."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, _SUMMARY_ARROW_SCHEMA) as stream:
        for batch in batches:
            stream.write_batch(batch.cast(_SUMMARY_ARROW_SCHEMA))
    yield pa.record_batch([pa.array([sink.getvalue().to_pybytes()])], names=PACKED_SCHEMA.names)


class FirstPass:
    """Summarises a task's rows into one row; a function for ``mapInArrow``."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.__name__ = "windrow_summaries"

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Give no row for no rows."""
        from pyspark import TaskContext

        task = TaskContext.get()
        names = self._operator.names_read
        try:
            rows, summaries = self._operator.summarise(batch.select(names) for batch in batches)
        except SpillError:  # another executor may have room
            raise
        except WindrowError as error:
            # of a subquery's task Spark tells less than of the query's own, so these raise it
            rows, summaries = _FAILED, [pickle.dumps(with_users_traceback(error))]
        if rows and task is not None:
            row = {"place": [task.partitionId()], "rows": [rows], "summaries": [summaries]}
            yield pa.RecordBatch.from_pydict(row, schema=_SUMMARY_ARROW_SCHEMA)


class SecondPass:
    """Computes a task's rows; the last columns of the first row have the task's partition and all summaries."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.__name__ = operator.__name__

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Give the task's rows with the results."""
        batches = iter(batches)
        first = next((b for b in batches if b.num_rows), None)
        if first is None:
            return
        partition, packed_summaries = (first.column(first.num_columns - left)[0].as_py() for left in (2, 1))
        told = [] if packed_summaries is None else pa.ipc.open_stream(packed_summaries).read_all().to_pylist()
        failed = next((t["summaries"] for t in told if t["rows"] == _FAILED), None)
        if failed is not None:
            yield from with_message_first(map(_raise, [pickle.loads(failed[0])]))
        exchange = TaskSummaries(partition, told)
        operator = copy.copy(self._operator)
        operator.exchange = exchange
        yield from operator(exchange.counted(chain([first], batches)))


def _raise(error: WindrowError) -> pa.RecordBatch:
    raise error


class TaskSummaries:
    """The summaries of all tasks, as the ``ExchangeSummaries`` of one of them."""

    def __init__(self, partition: int, task_summaries: Sequence[dict[str, Any]]) -> None:
        self._partition = partition
        self._task_summaries = sorted(task_summaries, key=lambda t: int(t["place"]))
        self._rows = 0

    def counted(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count rows, and take the last columns away."""
        for batch in batches:
            self._rows += batch.num_rows
            yield batch.select(range(batch.num_columns - 2))

    def __call__(self, summaries: Sequence[bytes]) -> tuple[list[bytes], int]:
        """Replace this task's summaries of the first reading, as its sections may be cut differently now."""
        partition = self._partition
        if [t["rows"] for t in self._task_summaries if t["place"] == partition] != [self._rows]:
            raise DataError(
                "the rows came otherwise at the second reading than at the first, so windows over several tasks cannot "
                "be answered: spark.sql.exchange.reuse must be on, and files stay as they are; spread='never' reads "
                "them once, in one task"
            )
        before = [s for t in self._task_summaries if t["place"] < partition for s in t["summaries"]]
        after = [s for t in self._task_summaries if t["place"] > partition for s in t["summaries"]]
        return [*before, *summaries, *after], len(before)
