"""What a type checker must refuse. Each line is an error of both checkers: an ignore that is not needed is one too."""

import datetime as dt

import windrow as wr
from windrow.typing import Bound, FrameLike, Order

from .accepted import ColumnLike, PandasLike, PolarsLike, ReaderLike, SparkLike, StreamOfRows, TableLike, call, w


def names() -> None:
    wr.summ("x")  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    wr.rownumber()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    wr.functions.summ("x")  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    print(wr.typing.IntoExprs)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType, reportUnknownMemberType]
    wr.spark.acelerate(SparkLike())  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    wr.sum("x").overr(w)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    wr.sum("x").distinkt()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    print(w.partitions)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType, reportUnknownMemberType]
    raise wr.SpecificationError  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


def keywords() -> None:
    wr.window(partitionby="k")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wr.window("k", "t", row=(-1, 0))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wr.desc("x", null="first")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wr.with_columns(PolarsLike(), call, sorted=True)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.select(PandasLike(), "x", sorted=True)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.explain(PolarsLike(), call, metric=True)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.operator(call, PolarsLike(), sorted=True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wr.config(thread=2)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wr.interval(day=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wr.ewm_mean("x", halflife=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wr.aggregate(Spread, "x", return_type=int)  # type: ignore[arg-type, call-arg]  # pyright: ignore[reportCallIssue]
    wr.max(x="x", y="y")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def words() -> None:
    wr.window("k", "t", rows=(-1, 0), exclude="tie")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.window("k", "t", exclude="current row")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.asc("x", nulls="top")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.config(engine="polars")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.config(strategy="fastest")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.config(spread="maybe")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.with_columns(SparkLike(), call, engine="polars")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(SparkLike(), call, spread="maybe")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(SparkLike(), call, sort="windrow")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.select(SparkLike(), "x", engine="polars")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.explain(SparkLike(), call, engine="polars")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]


def arguments() -> None:
    wr.max({"x": 1})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.max(PolarsLike())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.max()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wr.max("x", "y")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wr.rank("x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.lag("x", w)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.covar_pop("x")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wr.max_by("x", "y", "k")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.percentile("x", "p")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.col(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.lit({"x": 1})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.expr(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.window({"k"})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.window("k", rows="3")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.window("k", rows=(-1,))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.window("k", rows=(-1, 0, 1))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.window("k", min_rows="2")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.window("k", wr.preceding(1))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.asc(wr.desc("x"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.preceding(wr.window())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.sum("x").over("k", 1j)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
    wr.sum("x").filter(True)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.sum("x").over("k", frame=(-1, 0))  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    wr.sum("x").filter(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.sum("x").order_by(w)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.sum("x").alias(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.interval(days="1")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.config(threads="many", ansi="no")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.Call("sum", 3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def frames(reader: ReaderLike, table: TableLike, stream: StreamOfRows) -> None:
    wr.with_columns(3, call)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns([1], call)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(PolarsLike(), w)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(PolarsLike(), wr.asc("x"))  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(PolarsLike(), s=3)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(PolarsLike(), {"s": 3})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(PolarsLike(), {3: call})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(PolarsLike(), ColumnLike())  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(PolarsLike(), call, engine="windrow")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(PandasLike(), call, spread="never")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(table, call, sort="spark")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(reader, call, sort="spark")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(stream, call, engine="auto")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.select(PolarsLike(), 3)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.select(table, w)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.select(stream, ColumnLike())  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.sql(3, f=table)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.sql("SELECT * FROM f", f=3)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.sql("SELECT * FROM f", f=PolarsLike(), arg=[1])  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.explain(3, call)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.explain(table, call, engine="spark")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.plot_frame(w, table)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    wr.plot_frame("k", table, row=0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.explain(table, w)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.operator(w, table)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.operator(call, 3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.spark.accelerate(PolarsLike())  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]


class Spread:
    """An aggregate that is none."""

    def initialize(self) -> int:
        return 0


def length(x: object, begin: object, end: object) -> int:
    return 0


def users() -> None:
    wr.aggregate(Spread, "x", returns=int)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.aggregate(Spread(), "x", returns=int)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.vectorized(length, "x", returns=int)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.vectorized(3, "x", returns=int)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.partition_function(len, "x", returns=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.partition_function(sorted, ["x"], returns="int")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def results(frame: FrameLike) -> None:
    a: Bound = wr.asc("x")  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    b: Order = wr.preceding(1)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    c: wr.Window = wr.sum("x").over(w)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    d: dt.timedelta = wr.interval("1 day")  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    e: int = wr.explain(frame, call)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    f: PandasLike = wr.with_columns(PolarsLike(), call)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    g: PolarsLike = wr.select(PandasLike(), "x")  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    h: SparkLike = wr.sql("SELECT * FROM f", f=TableLike())  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    print(a, b, c, d, e, f, g, h)
