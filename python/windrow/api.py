"""The public functions over frames, and the operator over record batches that one of them makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .binding import arrange, read_items
from .chain import Chain, make_operator
from .config import current
from .exceptions import SpecError
from .operator import Operator as _Operator
from .table import schema_of
from .values import replace

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["Operator", "operator"]


class Operator(_Operator):
    """What :func:`operator` gives: from an iterable of record batches to an iterator of record batches.

    Its state is plain data, so it may be sent to another process by fork, spawn or pickle.
    """

    @property
    def spark_schema(self) -> StructType:
        """The schema of the batches that leave as PySpark's ``mapInArrow`` wants it.

        Returns
        -------
        pyspark.sql.types.StructType
            Input columns as they came, results of calls with their type and nullability, expressions over calls as
            Polars types them.
        """
        from .spark.schema import spark_schema

        return spark_schema(self)


class _Chain(Chain, Operator):
    """The same for calls inside calls, and for expressions over calls."""


def operator(exprs: Any, schema: Any, *, sort: bool | None = None) -> Operator:
    """Make an operator over record batches: for PySpark's ``mapInArrow``, for streams, for any loop over batches.

    Each run over batches that comes to its end logs one line at INFO to the logger ``windrow``: rows, sections, bytes
    spilled, seconds by stage; in Spark's tasks where that logger listened when the operator was made. Outside Spark
    ``wr.config(progress=True)`` shows a bar.

    Parameters
    ----------
    exprs
        A call, a SQL string, a dict of names to these, or a list of them.
    schema
        What the batches look like: a ``pyarrow.Schema``, a PySpark ``StructType``, or a frame of any kind.
    sort
        ``False``: rows must come grouped by the partition keys and ordered by the order keys; each row leaves as soon
        as no later row can change it, and only what the frames need is held. A row out of order is an ``OrderError``.
        ``True``: all batches are held and sorted; they leave as they came, with the new columns attached. Where they
        pass ``memory_limit``, they are sorted by way of files in ``spill_dir``, and leave in the order of the windows.
        ``None``: sort inside a Spark task, expect order everywhere else.

    Returns
    -------
    Operator
        Callable with an iterable of batches; picklable; knows its ``schema`` and ``spark_schema``.

    Raises
    ------
    SpecError, UnsupportedError
        At once, for every mistake that needs no data.
    MemoryLimitError
        While batches are answered: a call needs more rows of a partition at once than ``memory_limit`` lets be held.
    SpillError
        ``spill_dir`` takes no more rows.

    See Also
    --------
    windrow.config : ``memory_limit``, ``spill_dir``, ``progress``.
    windrow.explain : With ``metrics=True``, the figures of a run in place of its answers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> w = wr.window("device", "id", rows=(-1, 0))
    >>> schema = pa.schema({"device": pa.int64(), "id": pa.int64(), "level": pa.int64()})
    >>> op = wr.operator(wr.sum("level").over(w).alias("s"), schema)
    >>> batch = pa.record_batch({"device": [0, 0, 5], "id": [1, 2, 1], "level": [3, 4, 5]})
    >>> [out["s"].to_pylist() for out in op([batch])]
    [[3, 7, 5]]
    """
    arrow, spark, timezone = schema_of(schema)
    outputs = read_items([exprs], {}, arrow.names)
    if any(o.item is None for o in outputs) or not outputs:
        raise SpecError("operator() takes at least one window call")
    options = current()
    if options.timezone is None and timezone is not None:
        options = replace(options, timezone=timezone)
    slots = arrange(arrow.names, outputs, selecting=False)
    made = make_operator(outputs, slots, arrow, options, sort, spark, kinds=(Operator, _Chain))
    assert isinstance(made, Operator)
    return made
