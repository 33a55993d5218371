"""The public functions over frames, and the operator over record batches that one of them makes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from ._execute.arrow_columns import empty_table
from ._execute.stream import Operator as _Operator, stream_operator
from ._model.expressions import is_instance_by_name
from ._model.names import columns_named, quoted
from ._model.replace import replace
from ._parse.items import read_items
from ._parse.query import read_select
from ._plan.bind import plan_steps
from .exceptions import SpecError, UnsupportedError, shown, suggest
from .hosts.base import ComputeArguments, host_of, host_of_schema, opened, schema_of
from .hosts.explanation import Explanation
from .settings import Engine, Spread, current
from .typing import (
    FrameLike,
    FrameT_co,
    IntoItem,
    IntoItems,
    IntoSelectItems,
    MemoryFrameT,
    SchemaLike,
    SparkFrame,
    SparkFrameT,
    SparkItem,
    SparkItems,
    SparkSchema,
    SparkSelectItems,
    SparkSession,
    StreamLike,
)

if TYPE_CHECKING:
    from pyspark.sql.types import StructType
else:  # annotations may be asked for where there is no PySpark
    StructType = Any

__all__ = ["Operator", "explain", "operator", "select", "sql", "with_columns"]

Sort: TypeAlias = bool | Literal["spark"] | None


@overload
def with_columns(
    frame: SparkFrameT,
    *exprs: SparkItems,
    sort: Sort = None,
    engine: Engine | None = None,
    spread: Spread | None = None,
    **named: SparkItem,
) -> SparkFrameT: ...


@overload
def with_columns(
    frame: MemoryFrameT,
    *exprs: IntoItems,
    sort: bool | None = None,
    engine: None = None,
    spread: None = None,
    **named: IntoItem,
) -> MemoryFrameT: ...


@overload
def with_columns(
    frame: StreamLike,
    *exprs: IntoItems,
    sort: bool | None = None,
    engine: None = None,
    spread: None = None,
    **named: IntoItem,
) -> Any: ...  # a pyarrow Table


def with_columns(
    frame: FrameLike,
    *exprs: SparkItems,
    sort: Sort = None,
    engine: Engine | None = None,
    spread: Spread | None = None,
    **named: SparkItem,
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
    host, frame = opened(frame)
    plan = host.plan(frame, exprs, named, selecting=False)
    return host.run(frame, plan, ComputeArguments(sort, engine, spread))


@overload
def select(
    frame: SparkFrameT,
    *items: SparkSelectItems,
    sort: Sort = None,
    engine: Engine | None = None,
    spread: Spread | None = None,
    **named: SparkItem,
) -> SparkFrameT: ...


@overload
def select(
    frame: MemoryFrameT,
    *items: IntoSelectItems,
    sort: bool | None = None,
    engine: None = None,
    spread: None = None,
    **named: IntoItem,
) -> MemoryFrameT: ...


@overload
def select(
    frame: StreamLike,
    *items: IntoSelectItems,
    sort: bool | None = None,
    engine: None = None,
    spread: None = None,
    **named: IntoItem,
) -> Any: ...  # a pyarrow Table


def select(
    frame: FrameLike,
    *items: SparkSelectItems,
    sort: Sort = None,
    engine: Engine | None = None,
    spread: Spread | None = None,
    **named: SparkItem,
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
    host, frame = opened(frame)
    plan = host.plan(frame, items, named, selecting=True)
    return host.run(frame, plan, ComputeArguments(sort, engine, spread))


@overload
def sql(  # type: ignore[overload-overlap]  # only without frames
    query: str,
    /,
    *,
    spark: SparkSession[FrameT_co],
    args: Mapping[str, Any] | Sequence[Any] | None = None,
) -> FrameT_co: ...


@overload
def sql(
    query: str,
    /,
    *,
    spark: None = None,
    args: Mapping[str, Any] | Sequence[Any] | None = None,
) -> Any: ...


@overload
def sql(
    query: str,
    /,
    *,
    spark: SparkSession[Any] | None = None,
    args: Mapping[str, Any] | Sequence[Any] | None = None,
    **frames: SparkFrameT,
) -> SparkFrameT: ...


@overload
def sql(query: str, /, *, spark: None = None, args: None = None, **frames: MemoryFrameT) -> MemoryFrameT: ...


@overload
def sql(query: str, /, *, spark: None = None, args: None = None, **frames: StreamLike) -> Any: ...  # a pyarrow Table


@overload
def sql(
    query: str,
    /,
    *,
    spark: SparkSession[Any] | None = None,
    args: Mapping[str, Any] | Sequence[Any] | None = None,
    **frames: FrameLike,
) -> Any: ...


def sql(
    query: str,
    /,
    *,
    spark: SparkSession[Any] | None = None,
    args: Mapping[str, Any] | Sequence[Any] | None = None,
    **frames: FrameLike,
) -> Any:
    """Answer one SQL query over a frame: ``SELECT ... FROM frame``, with window functions wherever they make sense.

    ``SELECT [DISTINCT] items FROM frame [WHERE c] [WINDOW w AS (...), ...] [QUALIFY c] [ORDER BY ...] [LIMIT n [OFFSET
    m]]``. Items are columns, ``*``, and expressions with window calls in them or without; an item without an alias is
    named by its text. A window may refine a named one, ``OVER (w ROWS 1 PRECEDING)``. QUALIFY and ORDER BY know the
    items' aliases, which go before columns of the same name, and may hold window calls of their own; ORDER BY knows
    the items' numbers. Nulls come first in ascending and last in descending order, as in Spark.

    On Spark Classic 4.0 to 4.3, where all that the query names are tables and DataFrames, Spark parses and plans it,
    with joins, subqueries, WITH, GROUP BY, UNION and whatever else its SQL has, and windrow computes the windows in the
    plan, as :func:`windrow.spark.accelerate` does. What only windrow's grammar has (GROUPS, EXCLUDE, medians over
    frames, ...) is one SELECT from one frame there too.

    Parameters
    ----------
    query
        The query, in Spark's dialect. Scalars are evaluated by Spark on Spark, by Polars elsewhere.
    spark
        The SparkSession whose tables and views FROM may name; without it the active one.
    args
        On Spark Classic, the values of parameters: a dict for ``:name``, a list for ``?``.
    **frames
        Frames of any kind by the names that FROM may use; they go before Spark's tables.

    Returns
    -------
    same kind as the frame
        As for :func:`windrow.select`: lazy in, lazy out. A reader is read when its result is, and as a whole. Without
        ORDER BY frames in memory keep their row order.

    Raises
    ------
    SpecError
        Before any row is read: for what cannot be read, unknown names, a window function in WHERE or without OVER,
        QUALIFY without a window function; for ``spark=`` that is no SparkSession.
    UnsupportedError
        For what goes beyond one SELECT from one frame, where Spark does not plan it: joins, GROUP BY, subqueries,
        UNION, WITH. On Spark Connect and 3.5, for items that Spark evaluates before the windows: ``explode(a)``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> scores = pa.table({"player": ["ann", "bob", "cid"], "team": ["red", "red", "blue"], "score": [7, 9, 3]})
    >>> wr.sql(
    ...     '''
    ...     SELECT player, score - avg(score) OVER w AS above
    ...     FROM scores
    ...     WINDOW w AS (PARTITION BY team)
    ...     QUALIFY rank() OVER (w ORDER BY score DESC) = 1
    ...     ORDER BY player
    ...     ''',
    ...     scores=scores,
    ... ).to_pydict()
    {'player': ['bob', 'cid'], 'above': [1.0, 0.0]}
    """
    if not isinstance(query, str):
        raise SpecError(f"sql() takes a query's text, not {type(query).__name__}")
    if args is not None and (isinstance(args, (str, bytes)) or not isinstance(args, (Mapping, Sequence))):
        raise SpecError(f"args={shown(args)}: parameters are a dict for :name, or a list for ?")
    if spark is not None and not is_instance_by_name(spark, "pyspark", "SparkSession"):
        raise SpecError(f"spark= takes a SparkSession, not {type(spark).__name__}; give a frame another name")
    refused = None
    if "pyspark.sql" in sys.modules:  # as it is where there is a session
        from .hosts.spark.session_query import answer_in_session

        try:
            answered = answer_in_session(query, frames, spark, args)
        except SpecError as error:
            refused = error
        else:
            if answered is not None:
                return answered
    if args:
        raise refused or SpecError("args: only a query over tables of Spark's, on Spark Classic, takes parameters")
    try:
        tree = read_select(query)
    except UnsupportedError as error:
        raise (refused or error) from None
    host, frame = opened(_frame(tree.args["from_"].this, frames, spark))
    return host.answer(frame, host.query(frame, tree))


def _frame(table: Any, frames: Mapping[str, Any], spark: Any) -> Any:
    parts = [p.name for p in table.parts]
    name = ".".join(parts)
    if len(parts) == 1:
        found = columns_named(name, list(frames), case_insensitive=True)
        if len(found) == 1:
            return list(frames.values())[found[0]]
        if found:
            several = ", ".join(repr(list(frames)[i]) for i in found)
            raise SpecError(f"FROM {name}: {several} differ in case alone, and each may be meant; rename all but one")
    session = spark
    if session is None and "pyspark.sql" in sys.modules:
        session = sys.modules["pyspark.sql"].SparkSession.getActiveSession()
    if session is None:
        raise SpecError(
            f"FROM {name}: write wr.sql(query, {parts[-1]}=frame), as no frame has that name{suggest(name, frames)}"
        )
    from .hosts.spark.jvm import depth_limited

    table_name = ".".join(map(quoted, parts))
    with depth_limited(f"FROM {name}"):
        exists = session.catalog.tableExists(table_name)
    if not exists:
        raise SpecError(
            f"FROM {name}: write wr.sql(query, {parts[-1]}=frame), as there is no frame, table or view of that name"
            f"{suggest(name, frames)}"
        )
    return session.table(table_name)


@overload
def explain(
    frame: SparkFrame | SparkSchema,
    *exprs: SparkItems,
    sort: Sort = None,
    engine: Engine | None = None,
    spread: Spread | None = None,
    metrics: bool = False,
    **named: SparkItem,
) -> Explanation: ...


@overload
def explain(
    frame: FrameLike | SchemaLike,
    *exprs: IntoItems,
    sort: bool | None = None,
    engine: None = None,
    spread: None = None,
    metrics: bool = False,
    **named: IntoItem,
) -> Explanation: ...


def explain(
    frame: FrameLike | SchemaLike,
    *exprs: SparkItems,
    sort: Sort = None,
    engine: Engine | None = None,
    spread: Spread | None = None,
    metrics: bool = False,
    **named: SparkItem,
) -> Explanation:
    """Say how window calls would be computed; with ``metrics`` compute them, and say what that took.

    Parameters
    ----------
    frame
        A frame of any kind, or a schema (pyarrow, PySpark). Nothing is read, unless ``metrics`` asks for it.
    *exprs
        Calls as for :func:`windrow.with_columns`.
    sort, engine, spread
        As for :func:`windrow.with_columns`.
    metrics
        Whether to compute the calls, throw the answers away, and give the figures: rows, sections, bytes spilled, the
        peak of the process's memory in bytes, and seconds by stage. A reader is read to its end. A LazyFrame is
        collected. On Spark a job runs into the ``noop`` sink, and each task of windrow's counts as a run; a stage that
        Spark computes twice (for a sample, or after a failure) tells its figures twice. A column of this name is
        written in a dict.
    **named
        Further calls by the names of their columns.

    Returns
    -------
    Explanation
        Prints as text, shows as a table in a notebook; ``rows`` has one dict per call, ``metrics`` the figures.

    Raises
    ------
    SpecError, UnsupportedError
        As :func:`windrow.with_columns` would; with ``metrics``, also for a schema and on Spark Connect.
    WindrowError
        With ``metrics``, whatever computing the calls raises.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> schema = pa.schema({"device": pa.int64(), "id": pa.int64(), "level": pa.float64()})
    >>> w = wr.window("device", "id", rows=(-1000, 1000))
    >>> plan = wr.explain(schema, wr.max("level").over(w).alias("peak"))
    >>> plan.rows[0]["strategy"]
    'two_stacks'
    >>> table = pa.table({"device": [0, 0, 5], "id": [1, 2, 1], "level": [3.0, 4.0, 5.0]})
    >>> plan = wr.explain(table, wr.max("level").over(w).alias("peak"), metrics=True)
    >>> plan.metrics[0].total().rows
    3
    """
    if not isinstance(metrics, bool):
        raise SpecError(
            f"metrics={shown(metrics)} is neither True nor False; to call a column so, write {{'metrics': ...}}"
        )
    arguments = ComputeArguments(sort, engine, spread)
    schema_host = host_of_schema(frame)
    if schema_host is None:
        host, frame = opened(frame)
        plan = host.plan(frame, exprs, named, selecting=False)
        return host.explain(frame, plan, arguments, metrics=metrics)
    if metrics:
        raise SpecError("metrics=True computes the calls, and a schema has no rows; give a frame")
    schema_host.check(arguments)
    nothing = empty_table(schema_of(frame).arrow)
    host = host_of(nothing)
    plan = host.plan(nothing, exprs, named, selecting=False)
    return host.explain(nothing, plan, ComputeArguments(sort if isinstance(sort, bool) else None), metrics=False)


def operator(exprs: SparkItems, schema: SchemaLike | FrameLike, *, sort: bool | None = None) -> Operator:
    """Make an operator over record batches: for PySpark's ``mapInArrow``, for streams, for any loop over batches.

    Each run over batches that comes to its end logs one line at INFO to the logger ``windrow``: rows, sections, bytes
    spilled, seconds by stage; in Spark's tasks where that logger listened when the operator was made. Outside Spark
    ``wr.config(progress=True)`` shows a bar.

    Parameters
    ----------
    exprs
        A call, a SQL string, a dict of names to these, or a list of them.
    schema
        What the batches look like: a ``pyarrow.Schema``, a PySpark ``StructType``, or a frame of any kind, of which no
        row is read. A stream that can be opened only once is spent by it: give its schema.
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
    arrow, host_schema, timezone = schema_of(schema)
    outputs = read_items([exprs], {}, arrow.names)
    if any(o.item is None for o in outputs) or not outputs:
        raise SpecError("operator() takes at least one window call")
    options = current()
    if options.timezone is None and timezone is not None:
        options = replace(options, timezone=timezone)
    made = stream_operator(plan_steps(outputs, arrow.names), arrow, options, sort, host_schema, operator_class=Operator)
    assert isinstance(made, Operator)
    return made


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

        Raises
        ------
        UnsupportedError
            If the input has no columns: ``mapInArrow`` would hand over none of its rows.
        """
        from .hosts.spark.types import spark_schema

        return spark_schema(self)
