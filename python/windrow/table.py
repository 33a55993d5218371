"""``with_columns`` and ``select``: which kind of frame it is, and the frames that are Arrow already.

A pyarrow Table, RecordBatch or RecordBatchReader, and any object with ``__arrow_c_stream__``, are handled here; Polars,
pandas and PySpark frames in modules of their own, which are imported only when such a frame comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

import pyarrow as pa

from .binding import Output, Slot, Temporary, arrange, bind, read_items, scalars
from .call import Call
from .config import current
from .derived import levels, place
from .exceptions import SpecError, UnsupportedError
from .metrics import in_memory
from .names import unique_names
from .native import input_table, whole, window_columns

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from pyspark.sql import DataFrame as SparkDataFrame
    from pyspark.sql.types import StructType

    from .metrics import Run

    Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame, pd.DataFrame, SparkDataFrame)

__all__ = ["compute", "kind_of", "schema_of", "select", "with_columns"]


@overload
def with_columns(
    frame: Frame,
    *exprs: Any,
    sort: bool | str | None = None,
    engine: str | None = None,
    spread: str | None = None,
    **named: Any,
) -> Frame: ...
@overload
def with_columns(
    frame: Any,
    *exprs: Any,
    sort: bool | str | None = None,
    engine: str | None = None,
    spread: str | None = None,
    **named: Any,
) -> Any: ...
def with_columns(
    frame: Any,
    *exprs: Any,
    sort: bool | str | None = None,
    engine: str | None = None,
    spread: str | None = None,
    **named: Any,
) -> Any:
    """Add the results of window calls to a frame as columns; one of the same name is replaced in its place.

    Parameters
    ----------
    frame
        A polars DataFrame or LazyFrame, a pyarrow Table, RecordBatch or RecordBatchReader, a pandas DataFrame, a
        PySpark DataFrame (Classic or Connect), or any object with ``__arrow_c_stream__``. Frames in memory keep their
        row order. pandas' NaN counts as missing.
    *exprs
        Calls such as ``wr.sum("x").over(w)``, SQL strings such as ``"sum(x) OVER (PARTITION BY k) AS s"``, on Spark
        also PySpark Columns such as ``F.col("x") - F.lag("x").over(window)``, and dicts of names to any of these.
    sort
        For readers: ``True`` reads all batches and sorts, beyond ``memory_limit`` by way of files, whereupon rows leave
        in the order of the windows; otherwise rows must come grouped by the partition keys and ordered, and the answer
        streams. For frames in memory ``False`` asks for the same check of the rows' order. For
        Spark ``False`` says that every Spark partition is grouped and ordered already: no exchange, no sort; and
        ``"spark"`` has Spark sort the rows in place of windrow, which then holds no more of them than frames need.
    engine
        For Spark: ``"auto"``, ``"windrow"`` or ``"spark"``, as the setting of that name (:func:`windrow.config`), which
        is asked where nothing is said here. A column of this name is written in a dict.
    spread
        For Spark: ``"auto"``, ``"always"`` or ``"never"``, as the setting of that name: whether one partition may be
        shared out over tasks. A column of this name is written in a dict.
    **named
        Further calls by the names of their columns.

    Returns
    -------
    same kind as ``frame``
        A pyarrow Table for other objects with ``__arrow_c_stream__``. Columns that pass through keep their buffers.

    Raises
    ------
    SpecError, UnsupportedError
        Before any row is read, for every mistake that needs no data.
    OrderError
        If rows had to be in order and are not.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"device": [5, 0, 5], "id": [2, 0, 5], "level": [2, 1, 3]})
    >>> w = wr.window(partition_by="device", order_by="id")
    >>> wr.with_columns(table, wr.sum("level").over(w).alias("total"), "rank() OVER (ORDER BY id) AS r").to_pydict()
    {'device': [5, 0, 5], 'id': [2, 0, 5], 'level': [2, 1, 3], 'total': [2, 1, 5], 'r': [2, 1, 3]}
    """
    return compute(frame, exprs, named, sort, engine, spread, selecting=False)


@overload
def select(
    frame: Frame,
    *items: Any,
    sort: bool | str | None = None,
    engine: str | None = None,
    spread: str | None = None,
    **named: Any,
) -> Frame: ...
@overload
def select(
    frame: Any,
    *items: Any,
    sort: bool | str | None = None,
    engine: str | None = None,
    spread: str | None = None,
    **named: Any,
) -> Any: ...
def select(
    frame: Any,
    *items: Any,
    sort: bool | str | None = None,
    engine: str | None = None,
    spread: str | None = None,
    **named: Any,
) -> Any:
    """Give a frame of the columns and window calls named, in the order written.

    Parameters
    ----------
    frame
        As for :func:`with_columns`.
    *items
        Names of columns, ``"*"`` for all of them, and calls as for :func:`with_columns`; on Spark any PySpark Column.
    sort, engine, spread
        As for :func:`with_columns`.
    **named
        Further calls by the names of their columns.

    Returns
    -------
    same kind as ``frame``
        As for :func:`with_columns`.

    Raises
    ------
    SpecError, UnsupportedError
        Before any row is read, for every mistake that needs no data.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": [9, 7, 8]})
    >>> wr.select(table, "id", wr.rank().over(wr.window(order_by="x")).alias("r")).to_pydict()
    {'id': [1, 2, 3], 'r': [3, 1, 2]}
    """
    return compute(frame, items, named, sort, engine, spread, selecting=True)


def compute(
    frame: Any,
    items: Sequence[Any],
    named: Mapping[str, Any],
    sort: bool | str | None,
    engine: str | None,
    spread: str | None,
    *,
    selecting: bool,
) -> Any:
    """Do what :func:`with_columns` does, or :func:`select`; the parameters are theirs."""
    kind = kind_of(frame)
    if kind == "spark":
        from .spark.dataframe import Way, run_spark

        return run_spark(frame, items, named, Way(sort, engine, spread), selecting=selecting)
    if sort is not None and not isinstance(sort, bool):
        raise SpecError(f"sort={sort!r} is neither True, False nor None; 'spark' is for Spark frames")
    for name, value in (("engine", engine), ("spread", spread)):
        if value is not None:
            raise SpecError(f"{name}={value!r} is for Spark frames; to call a column so, write {{{name!r}: ...}}")
    in_order = sort is False
    if kind == "polars":
        from .polars import run_frame

        return run_frame(frame, items, named, selecting=selecting, in_order=in_order)
    if kind == "polars lazy":
        from .polars import run_lazy

        return run_lazy(frame, items, named, selecting=selecting, in_order=in_order)
    if kind == "pandas":
        from .pandas import run_pandas

        return run_pandas(frame, items, named, selecting=selecting, in_order=in_order)
    if kind == "reader":
        return _run_reader(frame, items, named, sort, selecting=selecting)
    if kind == "batch":
        table = pa.Table.from_batches([frame])
        result = _run_table(table, items, named, selecting=selecting, in_order=in_order)
        return pa.RecordBatch.from_arrays([whole(c) for c in result.columns], schema=result.schema)
    table = frame if kind == "table" else pa.table(frame)
    return _run_table(table, items, named, selecting=selecting, in_order=in_order)


def kind_of(frame: Any) -> str:
    """Say what kind of frame an object is, without importing the library it comes from.

    Parameters
    ----------
    frame
        Any object.

    Returns
    -------
    str
        One of ``table``, ``batch``, ``reader``, ``polars``, ``polars lazy``, ``pandas``, ``spark``, ``stream``.

    Raises
    ------
    SpecError
        If it is no frame.
    """
    if isinstance(frame, pa.Table):
        return "table"
    if isinstance(frame, pa.RecordBatch):
        return "batch"
    if isinstance(frame, pa.RecordBatchReader):
        return "reader"
    for cls in type(frame).__mro__:
        module, _, _ = cls.__module__.partition(".")
        if module == "polars" and cls.__name__ == "DataFrame":
            return "polars"
        if module == "polars" and cls.__name__ == "LazyFrame":
            return "polars lazy"
        if module == "pandas" and cls.__name__ == "DataFrame":
            return "pandas"
        if module == "pyspark" and cls.__name__ == "DataFrame":
            if cls.__module__.startswith("pyspark.sql"):
                return "spark"
            raise UnsupportedError("a pandas-on-Spark frame is not supported; use its Spark frame: frame.to_spark()")
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        return "stream"
    raise SpecError(
        f"{type(frame).__name__} is not a frame windrow knows: it takes polars, pyarrow, pandas and PySpark frames and "
        "objects with __arrow_c_stream__"
    )


def schema_of(schema: Any) -> tuple[pa.Schema, StructType | None, str | None]:
    """Give the Arrow schema of a schema or a frame of any kind.

    Parameters
    ----------
    schema
        A pyarrow Schema, a PySpark StructType, an object with ``__arrow_c_schema__``, or a frame.

    Returns
    -------
    tuple
        The Arrow schema; for Spark also the Spark schema and the session's time zone.
    """
    if isinstance(schema, pa.Schema):
        return schema, None, None
    if any(c.__module__ == "pyspark.sql.types" and c.__name__ == "StructType" for c in type(schema).__mro__):
        from .spark.schema import session_timezone, to_arrow

        zone = session_timezone()
        return to_arrow(schema, zone), schema, zone
    if hasattr(schema, "__arrow_c_schema__") and not hasattr(schema, "__arrow_c_array__"):
        return pa.schema(schema), None, None
    kind = kind_of(schema)
    if kind == "spark":
        from .spark.schema import session_timezone, to_arrow

        zone = session_timezone(schema.sparkSession)
        return to_arrow(schema.schema, zone), schema.schema, zone
    if kind == "polars":
        from .polars import schema_of as polars_schema

        return polars_schema(schema), None, None
    if kind == "polars lazy":
        from .polars import schema_of as polars_schema

        return polars_schema(schema.collect_schema()), None, None
    if kind == "pandas":
        return pa.Schema.from_pandas(schema, preserve_index=False), None, None
    if kind == "stream":
        return pa.table(schema).schema, None, None
    return schema.schema, None, None


def _run_table(
    table: pa.Table, items: Sequence[Any], named: Mapping[str, Any], *, selecting: bool, in_order: bool
) -> pa.Table:
    names = table.column_names
    outputs = read_items(items, named, names, selecting=selecting)
    fields, columns = new_columns(outputs, names, table.columns, table.num_rows, table.schema, in_order=in_order)
    slots = arrange(names, outputs, selecting=selecting)
    schema = pa.schema(
        [(fields if s.new else table.schema)[s.index].with_name(s.name) for s in slots], metadata=table.schema.metadata
    )
    return pa.Table.from_arrays([columns[s.index] if s.new else table.column(s.index) for s in slots], schema=schema)


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
    working = _Working(list(names), columns, schema)
    with in_memory(lambda: Output.shown(outputs), rows) as run:
        for calls in levels(o.item for o in outputs if o.item is not None):
            bound = bind([Output(at, call) for at, call in calls.items()], working.names)
            temporaries = _evaluated(run, bound.temporaries, bound.names, working, rows)
            table = input_table(bound, working, temporaries, rows, working.schema)
            if in_order:
                from .operator import columns_in_order

                working.add(list(calls), *columns_in_order(table, bound, current()))
            else:
                working.add(list(calls), *window_columns(table, bound, current()))
            run.metrics.sections += 1
        last = scalars(outputs, working.names)
        evaluated = _evaluated(run, last, unique_names(working.names), working, rows)
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
        self._schema = schema
        self._columns = columns
        self._own = len(names)
        self._fields: list[pa.Field] = []
        self._results: list[pa.ChunkedArray] = []

    def __getitem__(self, index: int) -> Any:
        return self._columns[index] if index < self._own else self._results[index - self._own]

    @property
    def schema(self) -> pa.Schema | None:
        return self._schema if self._schema is None or not self._fields else pa.schema([*self._schema, *self._fields])

    def add(self, places: Sequence[str], fields: Sequence[pa.Field], columns: Sequence[pa.ChunkedArray]) -> None:
        self.names += places
        self._fields += fields
        self._results += columns

    def result(self, at: str) -> tuple[pa.Field, pa.ChunkedArray]:
        index = self.names.index(at, self._own) - self._own
        return self._fields[index], self._results[index]


def _evaluated(
    run: Run, temporaries: Sequence[Temporary], names: Sequence[str], working: _Working, rows: int
) -> list[pa.ChunkedArray]:
    if not temporaries:
        return []
    from .polars import evaluate

    with run.stage("evaluate"):
        return evaluate(temporaries, _ByName(names, working), rows)


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


def _run_reader(
    reader: pa.RecordBatchReader, items: Sequence[Any], named: Mapping[str, Any], sort: bool | None, *, selecting: bool
) -> pa.RecordBatchReader:
    names = reader.schema.names
    outputs = read_items(items, named, names, selecting=selecting)
    slots = arrange(names, outputs, selecting=selecting)
    if all(o.item is None for o in outputs):
        schema = pa.schema([reader.schema.field(s.index) for s in slots], metadata=reader.schema.metadata)
        return pa.RecordBatchReader.from_batches(schema, _projected(reader, slots, schema))
    from .chain import make_operator

    # A reader's rows arrive as they come: order is expected unless sorting is asked for, in a Spark task as elsewhere.
    op = make_operator(outputs, slots, reader.schema, current(), bool(sort))
    return pa.RecordBatchReader.from_batches(op.schema, op(reader))


def _projected(reader: pa.RecordBatchReader, slots: Sequence[Slot], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in reader:
        yield pa.RecordBatch.from_arrays([batch.column(s.index) for s in slots], schema=schema)
