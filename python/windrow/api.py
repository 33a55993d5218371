"""The public functions over data frames, and the operator over record batches."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from ._execute.arrow_columns import empty_table
from ._execute.on_disk import operator_in_row_order
from ._execute.stream import Operator as _Operator
from ._model.expressions import is_instance_by_name, selected
from ._model.names import columns_named, quoted
from ._model.replace import replace
from ._parse.items import read_items
from ._parse.relations import read_relation
from ._plan.bind import plan_steps
from .exceptions import SpecError, UnsupportedError, short_traceback, shown, suggest
from .hosts.base import ComputeArguments, host_of, host_of_schema, opened, run_items, schema_of
from .hosts.explanation import Explanation
from .hosts.relations import answer_relation
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


@short_traceback
def with_columns(
    frame: FrameLike,
    *exprs: SparkItems,
    sort: Sort = None,
    engine: Engine | None = None,
    spread: Spread | None = None,
    **named: SparkItem,
) -> Any:
    """Add the results of window calls to a frame as columns; an existing column of the same name is replaced.

    Parameters
    ----------
    frame
        A polars DataFrame or LazyFrame, a pyarrow Table, RecordBatch or RecordBatchReader, a pandas DataFrame, a
        PySpark DataFrame (Classic or Connect), a Narwhals frame over any of these, or any object with
        ``__arrow_c_stream__``. A pyarrow Dataset or Scanner, a DuckDB relation, an Ibis table or a DataFusion
        DataFrame, of which only the columns are read that are needed. Frames in memory keep their row order. In pandas
        frames NaN is a missing value.
    *exprs
        Calls such as ``wr.sum("x").over(w)``, SQL strings such as ``"sum(x) OVER (PARTITION BY k) AS s"``, on Spark
        also PySpark Columns such as ``F.col("x") - F.lag("x").over(window)``, and dicts of names to any of these.
    sort
        For readers, ``True`` reads all batches, in any order, and returns them in that order; rows beyond
        ``memory_limit`` are computed on disk. Otherwise the rows must be grouped by the partition keys and sorted by
        the order keys, and the result is a stream. For frames in memory, ``False`` checks that the rows are in that
        order. For Spark, ``False`` declares that every Spark partition is grouped and sorted already, so there is no
        exchange and no sort. ``"spark"`` lets Spark sort the rows, so that windrow holds only the rows that frames
        need.
    engine
        For Spark: ``"auto"``, ``"windrow"`` or ``"spark"``. The default is the setting of that name
        (:func:`windrow.config`). To add a column of this name, use a dict.
    spread
        For Spark: ``"auto"``, ``"always"`` or ``"never"``: whether a partition may be split across tasks. The default
        is the setting of that name. To add a column of this name, use a dict.
    **named
        Further calls by the names of their columns.

    Returns
    -------
    same kind as ``frame``
        A pyarrow Table for Datasets, Scanners, DataFusion's DataFrames and other objects with ``__arrow_c_stream__``.
        Unchanged columns keep their buffers; relations and Ibis' tables are views of Arrow data in memory.

    Raises
    ------
    SpecError, UnsupportedError
        Before any row is read, for every mistake that can be found without data.
    OrderError
        If the rows are not in the required order.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"device": [5, 0, 5], "id": [2, 0, 5], "level": [2, 1, 3]})
    >>> w = wr.window(partition_by="device", order_by="id")
    >>> wr.with_columns(table, wr.sum("level").over(w).alias("total"), "rank() OVER (ORDER BY id) AS r").to_pydict()
    {'device': [5, 0, 5], 'id': [2, 0, 5], 'level': [2, 1, 3], 'total': [2, 1, 5], 'r': [2, 1, 3]}
    """
    return run_items(frame, exprs, named, ComputeArguments(sort, engine, spread), selecting=False)


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


@short_traceback
def select(
    frame: FrameLike,
    *items: SparkSelectItems,
    sort: Sort = None,
    engine: Engine | None = None,
    spread: Spread | None = None,
    **named: SparkItem,
) -> Any:
    """Return a frame with the given columns and window calls, in the order written.

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
        Before any row is read, for every mistake that can be found without data.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": [9, 7, 8]})
    >>> wr.select(table, "id", wr.rank().over(wr.window(order_by="x")).alias("r")).to_pydict()
    {'id': [1, 2, 3], 'r': [3, 1, 2]}
    """
    return run_items(frame, items, named, ComputeArguments(sort, engine, spread), selecting=True)


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


@short_traceback
def sql(
    query: str,
    /,
    *,
    spark: SparkSession[Any] | None = None,
    args: Mapping[str, Any] | Sequence[Any] | None = None,
    **frames: FrameLike,
) -> Any:
    """Compute a SQL query with window functions over frames.

    ``[WITH name AS (query), ...] SELECT [DISTINCT] items FROM frame [WHERE c] [GROUP BY keys] [HAVING c] [WINDOW w AS
    (...), ...] [QUALIFY c] [UNION ALL ...] [ORDER BY ...] [LIMIT n [OFFSET m]]``. Items are columns, ``*``, ``* EXCEPT
    (a, b)``, and expressions with or without window calls; an item without an alias is named by its text. FROM may be a
    query in parentheses, and ``t AS x(a, b)`` renames columns. With GROUP BY, HAVING or an aggregate without OVER there
    is one row a group, and windows are computed over the groups: ``sum(sum(x)) OVER ()``. A window may extend a named
    one, ``OVER (w ROWS 1 PRECEDING)``. QUALIFY and ORDER BY may contain window calls, and aliases of items, which take
    precedence over columns of the same name. ORDER BY and GROUP BY may contain positions of items, or be ``ALL``. Nulls
    come first in ascending and last in descending order, as in Spark.

    On Spark Classic 4.0 to 4.3, if all names in the query are tables and DataFrames, Spark parses and plans the query,
    so it may contain joins and all other SQL of Spark. windrow computes the windows in the plan, as
    :func:`windrow.spark.accelerate` does. A query with extensions that Spark lacks (GROUPS, EXCLUDE, medians over
    frames, ...) must be one SELECT from one frame without GROUP BY there.

    Parameters
    ----------
    query
        The query, in Spark's dialect. Spark evaluates scalar expressions on Spark frames, Polars on all others.
    spark
        The SparkSession whose tables and views FROM may name; the default is the active one.
    args
        On Spark Classic, the values of the query's parameters: a dict for ``:name``, a list for ``?``.
    **frames
        Frames by the names for FROM; they take precedence over Spark's tables. Those of one query are of one kind.

    Returns
    -------
    same kind as the frame
        As for :func:`windrow.select`; for a LazyFrame the result is lazy. A reader is read completely when its result
        is read. Without ORDER BY, frames in memory keep their row order; groups are in the order of their first rows.

    Raises
    ------
    SpecError
        Before any row is read: for syntax errors, unknown names, a window function in WHERE or without OVER, QUALIFY
        without a window function, a column that is neither grouped nor aggregated; for ``spark=`` that is no
        SparkSession. For columns of a UNION that have no common type.
    UnsupportedError
        If Spark does not plan the query: for joins, ROLLUP, CUBE, INTERSECT, EXCEPT, and subqueries outside FROM; over
        Spark's frames also for GROUP BY, WITH, UNION and subqueries. On Spark Connect and 3.5, for items that Spark
        evaluates before the windows: ``explode(a)``.

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
        relation = read_relation(query)
    except UnsupportedError as error:
        raise (refused or error) from None
    return answer_relation(relation, lambda table: _frame(table, frames, spark), refused)


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


@short_traceback
def explain(
    frame: FrameLike | SchemaLike,
    *exprs: SparkItems,
    sort: Sort = None,
    engine: Engine | None = None,
    spread: Spread | None = None,
    metrics: bool = False,
    **named: SparkItem,
) -> Explanation:
    """Show how window calls would be computed; with ``metrics``, compute them and show memory and times.

    Parameters
    ----------
    frame
        A frame of any kind, or a schema (pyarrow, PySpark). No row is read without ``metrics``.
    *exprs
        Calls as for :func:`windrow.with_columns`.
    sort, engine, spread
        As for :func:`windrow.with_columns`.
    metrics
        Whether to compute the calls, discard the results, and show rows, sections, bytes spilled, the peak memory of
        the process in bytes, and seconds by stage. A reader is read to its end. A LazyFrame is collected. On Spark a
        job writes to the ``noop`` sink, and each of windrow's tasks counts as a run; a stage that Spark computes twice
        (for a sample, or after a failure) is counted twice. To explain a column of this name, use a dict.
    **named
        Further calls by the names of their columns.

    Returns
    -------
    Explanation
        It prints as text, and as tables and a timeline in a notebook. ``rows`` has one dict per call, ``metrics`` the
        measurements.

    Raises
    ------
    SpecError, UnsupportedError
        As :func:`windrow.with_columns` would; with ``metrics``, also for a schema and on Spark Connect.
    WindrowError
        With ``metrics``, all errors of the computation.

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


@short_traceback
def operator(
    exprs: SparkItems,
    schema: SchemaLike | FrameLike,
    *,
    sort: bool | None = None,
    state: bytes | Literal["new"] | None = None,
) -> Operator:
    """Make an operator over record batches, for PySpark's ``mapInArrow``, for streams, or for your own loops.

    Each completed run logs one line at level INFO to the logger ``windrow``: rows, sections, bytes spilled, seconds by
    stage. In Spark's tasks it does so if the logger had that level when the operator was made. Outside Spark,
    ``wr.config(progress=True)`` shows a progress bar.

    Parameters
    ----------
    exprs
        A call, a SQL string, a dict of names to these, or a list of them.
    schema
        The schema of the batches: a ``pyarrow.Schema``, a PySpark ``StructType``, or a frame of any kind, whose rows
        are not read. For a stream that can be opened only once, pass its schema, since passing it consumes it.
    sort
        ``False``: the rows must be grouped by the partition keys and sorted by the order keys. Each row is returned as
        soon as no later row can change its results, and only the rows that frames need are held. A row out of order is
        an ``OrderError``. ``True``: all batches are read and sorted. They are returned in input order, with the new
        columns. Rows beyond ``memory_limit`` are computed on disk, in ``spill_dir``. ``None``: ``True`` in a Spark
        task, ``False`` elsewhere.
    state
        For rows that come in several runs, such as one a day: ``"new"`` before the first, and then the bytes of
        :attr:`Operator.state` after the runs so far. A run's results are those of one run over all rows, apart from
        the rounding of floats. Each partition goes on from its own last row; partitions may be new, or miss a run. A
        call may read its own row and rows before it: every function over frames that end at CURRENT ROW or n
        PRECEDING, and those without frames that read no later row, such as ``lag`` and ``rank``. Rows of a partition
        must come after its earlier ones; where a call treats rows of equal keys alike (RANGE and GROUPS frames, ranks),
        none may equal the last key. Each partition that goes on is computed by itself, so many small ones take longer
        than without a state. With ``sort=True`` rows then leave in the order of the windows. Not in Spark's tasks.

    Returns
    -------
    Operator
        A callable that takes an iterable of batches. It can be pickled, and has ``schema`` and ``spark_schema``.

    Raises
    ------
    SpecError, UnsupportedError
        When the operator is made, for every mistake that can be found without data; for a state of other calls,
        columns, settings or another version; with ``state`` for calls whose results depend on later rows.
    DataError
        If the bytes of the state are damaged.
    OrderError
        While it runs, for a row out of order, or not after the earlier rows of its partition.
    MemoryLimitError
        While it runs, if a call needs more rows of a partition at once than fit in ``memory_limit``.
    SpillError
        While it runs, if rows cannot be written to ``spill_dir``.

    See Also
    --------
    windrow.config : ``memory_limit``, ``spill_dir``, ``progress``.
    windrow.explain : With ``metrics=True``, memory and times of a run.

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

    With a state, the next day's rows go on where these ended:

    >>> op = wr.operator(wr.sum("level").over(w).alias("s"), schema, state="new")
    >>> monday = list(op([batch]))
    >>> saved = op.state
    >>> op = wr.operator(wr.sum("level").over(w).alias("s"), schema, state=saved)
    >>> tuesday = pa.record_batch({"device": [0, 5, 5], "id": [3, 2, 3], "level": [1, 1, 1]})
    >>> [out["s"].to_pylist() for out in op([tuesday])]
    [[5, 6, 2]]
    """
    arrow, host_schema, timezone = schema_of(schema)
    outputs = read_items([exprs], {}, arrow.names, select=lambda selector: selected(selector, arrow))
    if any(o.item is None for o in outputs) or not outputs:
        raise SpecError("operator() takes at least one window call")
    options = current()
    if options.timezone is None and timezone is not None:
        options = replace(options, timezone=timezone)
    plan = plan_steps(outputs, arrow.names)
    made = operator_in_row_order(plan, arrow, options, sort, host_schema, operator_class=Operator)
    assert isinstance(made, Operator)
    if state is not None:
        made.keep_state(state)
    return made


class Operator(_Operator):
    """The result of :func:`operator`: it takes an iterable of record batches and returns an iterator of record batches.

    It can be passed to another process by fork, spawn or pickle.
    """

    @property
    @short_traceback
    def state(self) -> bytes:
        """What a later run goes on from, after all rows so far: give it to :func:`operator` as ``state``.

        It holds, for every partition, the last rows that later frames reach, of the columns that the calls read, and
        the states of frames from UNBOUNDED PRECEDING. Where no state can stand for the rows of such a frame
        (``median``, ``count(DISTINCT x)``, lists, other quantiles and frequencies), it holds all rows. A run that
        fails, or whose results are not read to the end, leaves it as it was.

        Returns
        -------
        bytes
            With a checksum, windrow's version, and what the operator computes, all of which are compared.

        Raises
        ------
        SpecError
            If the operator was made without ``state``.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import windrow as wr
        >>> so_far = {"so_far": "sum(amount) OVER (PARTITION BY account ORDER BY day)"}
        >>> schema = pa.schema({"account": pa.int64(), "day": pa.int64(), "amount": pa.int64()})
        >>> op = wr.operator(so_far, schema, state="new")
        >>> [b["so_far"].to_pylist() for b in op([pa.record_batch([[1, 2], [1, 1], [10, 5]], schema=schema)])]
        [[10, 5]]
        >>> op = wr.operator(so_far, schema, state=op.state)
        >>> [b["so_far"].to_pylist() for b in op([pa.record_batch([[1, 3], [2, 2], [7, 1]], schema=schema)])]
        [[17, 1]]
        """
        return super().state

    @property
    def spark_schema(self) -> StructType:
        """The schema of the returned batches, as ``mapInArrow`` needs it.

        Returns
        -------
        pyspark.sql.types.StructType
            Input columns with their input type, results of calls with their type and nullability, expressions over
            calls with Polars' type.

        Raises
        ------
        UnsupportedError
            If the input has no columns: ``mapInArrow`` would then pass no rows.
        """
        from .hosts.spark.types import spark_schema

        return spark_schema(self)
