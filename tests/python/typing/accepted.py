"""What a type checker must take, and the types it must see, where pyarrow is the only library beside windrow."""

import datetime as dt
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from typing_extensions import assert_type

import windrow as wr
from windrow.typing import (
    Bound,
    Column,
    Config,
    Derived,
    Explanation,
    Formula,
    FrameLike,
    IntoExpr,
    IntoItem,
    Literal,
    Order,
    SchemaLike,
)


class PolarsLike:
    """What tells Polars' frames from others."""

    def lazy(self) -> "PolarsLike":
        return self

    def collect_schema(self) -> dict[str, str]:
        return {}


class PandasLike:
    """What tells pandas' frames from others."""

    def iterrows(self) -> Iterator[Any]:
        yield self

    def set_index(self, keys: str, *, drop: bool = True) -> "PandasLike":
        return self


class TableLike:
    """What tells pyarrow's tables from others."""

    def to_struct_array(self, max_chunksize: int | None = None) -> object:
        return self

    def rename_columns(self, names: Sequence[str]) -> "TableLike":
        return self

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self


class ReaderLike:
    """What tells pyarrow's readers from others."""

    def read_next_batch(self) -> TableLike:
        return TableLike()

    def read_all(self) -> TableLike:
        return TableLike()


class SparkLike:
    """What tells PySpark's frames from others."""

    @property
    def isStreaming(self) -> bool:  # noqa: N802
        return False

    def mapInArrow(self, func: object, schema: str, barrier: bool = False) -> "SparkLike":  # noqa: N802
        return self

    def __getattr__(self, name: str) -> "ColumnLike":
        return ColumnLike()


class SessionLike:
    """What tells Spark's sessions from others."""

    @property
    def catalog(self) -> object:
        return self

    def table(self, tableName: str) -> SparkLike:  # noqa: N803
        return SparkLike()


class ColumnLike:
    """What tells PySpark's Columns from others."""

    def eqNullSafe(self, other: "ColumnLike | str") -> "ColumnLike":  # noqa: N802
        return self

    def isNotNull(self) -> "ColumnLike":  # noqa: N802
        return self


class ExprLike:
    """What tells Polars' expressions from others."""

    @property
    def meta(self) -> object:
        return self

    def map_batches(self, function: object, return_dtype: object = None) -> "ExprLike":
        return self


class StreamOfRows:
    """What gives an Arrow stream, and no more."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self


class Schema:
    """What gives an Arrow schema."""

    def __arrow_c_schema__(self) -> object:
        return self


w = wr.window("k", ["a", wr.desc("b", nulls="first"), wr.expr("c + 1")], rows=(-1, 0), exclude="ties", min_rows=2)
call = wr.sum("x").over(w)
wr.sum("x").over("k", order_by="t", rows=7, min_span="30d")


def calls() -> None:
    assert_type(wr.sum("x"), wr.Call)
    assert_type(wr.sum("x").filter(wr.expr("x > 0")).distinct().order_by("a", wr.asc("b")).over(w).alias("s"), wr.Call)
    assert_type(wr.lag("x", 1, wr.lit("none")).ignore_nulls(), wr.Call)
    assert_type(wr.percentile("x", [0.25, 0.5]).over(), wr.Call)
    assert_type(wr.count(), wr.Call)
    assert_type(wr.sum("x").over("k", wr.col("l"), order_by=wr.desc("t"), rows=(-1, 0)), wr.Call)
    assert_type(wr.sum("x").filter((wr.col("x") == 1) & ~wr.col("y").is_null()), wr.Call)
    assert_type(wr.max(wr.when(wr.col("x") > 0).then(1).otherwise(call - 2.5)), wr.Call)
    assert_type(wr.col("x").equals(call), bool)
    assert_type(wr.max(call).over(w), wr.Call)
    assert_type(wr.sum(["a", "b"]).over(w).alias("{name}_sum"), wr.Call)
    assert_type(wr.diff("x", 2), Formula)
    assert_type(wr.mean("x", weights=[0.5, 1]), Formula)
    assert_type(wr.sum("x", weights="triang").over(w), Derived)
    assert_type(wr.sum("x", weights=("gaussian", 1.5)).over(w), Derived)
    assert_type(wr.mean("x"), wr.Call)
    assert_type(wr.diff("x").alias("d").over("k", order_by="t"), Derived)
    assert_type(wr.z_score(["a", "b"]).over(w.reset(wr.col("x").is_null())), Derived)
    assert_type(wr.shift("x", -1, 0).over(w), wr.Call)
    assert_type(wr.islands("x", wr.col("y") > 1).over(w), Derived)
    assert_type(wr.sum(ExprLike()), wr.Call)
    assert_type(wr.sum(ColumnLike()).filter(ColumnLike()), wr.Call)
    assert_type(wr.ewm_mean_by("x", "t", dt.timedelta(1)), wr.Call)
    assert_type(wr.ewm_var("x", half_life="1h", bias=True), wr.Call)
    assert_type(wr.group_id(max_gap="30m", max_span=dt.timedelta(hours=8), max_sum=("x", 100)), wr.Call)
    assert_type(wr.bounded_sum("x", 0, high=1.5), wr.Call)
    assert_type(wr.rank("average", pct=True, nulls="keep"), wr.Call)
    assert_type(wr.lag("x", dt.timedelta(hours=1)), wr.Call)
    assert_type(wr.fill("x", max_gap=wr.interval(days=1)), wr.Call)
    assert_type(wr.first_value("x").sql, str)


def windows() -> None:
    assert_type(w, wr.Window)
    assert_type(wr.window(), wr.Window)
    assert_type(wr.window(["a", "b"], wr.asc("x"), range=("-7 days", 0)), wr.Window)
    assert_type(wr.window(order_by="t", range=(dt.timedelta(-1), Decimal("0.5"))), wr.Window)
    assert_type(wr.window(order_by="t", groups=(None, wr.col("n")), exclude="current_row"), wr.Window)
    assert_type(wr.window(order_by="t", rows=(wr.preceding(2), wr.following())), wr.Window)
    assert_type(wr.window(order_by="t", range=(wr.interval(months=-1), wr.interval("1 day"))), wr.Window)
    assert_type(wr.asc("x"), Order)
    assert_type(wr.following(3), Bound)
    assert_type(wr.col("x"), Column)
    assert_type(wr.lit([1, 2]), Literal)
    assert_type(wr.interval("1 day"), wr.Interval)
    wr.expr("x - lag(x) OVER (ORDER BY t)").alias("step")


def frames(polars: PolarsLike, pandas: PandasLike, table: TableLike, reader: ReaderLike, spark: SparkLike) -> None:
    assert_type(wr.with_columns(polars, call, "sum(x) OVER () AS t", s=call, sort=False), PolarsLike)
    assert_type(wr.with_columns(pandas, {"a": call, "b": "rank() OVER (ORDER BY x)"}), PandasLike)
    assert_type(wr.with_columns(table, [call, {"b": "rank() OVER (ORDER BY x)"}]), TableLike)
    assert_type(wr.with_columns(reader, call, sort=True), ReaderLike)
    assert_type(wr.with_columns(spark, call, ColumnLike(), sort="spark", engine="auto", spread="never"), SparkLike)
    assert_type(wr.select(polars, "id", "*", wr.col("x"), call), PolarsLike)
    assert_type(wr.select(pandas, ["id", wr.col("x"), call], t=call), PandasLike)
    assert_type(wr.select(table, "id", {"a": call}), TableLike)
    assert_type(wr.select(reader, "id"), ReaderLike)
    assert_type(wr.select(spark, "id", ColumnLike(), engine="windrow"), SparkLike)
    assert_type(wr.sql("SELECT * FROM f", f=polars), PolarsLike)
    assert_type(wr.sql("SELECT * FROM f", f=pandas), PandasLike)
    assert_type(wr.sql("SELECT * FROM f", f=table), TableLike)
    assert_type(wr.sql("SELECT * FROM f", f=reader), ReaderLike)
    assert_type(wr.sql("SELECT * FROM f JOIN g", f=spark, g=spark, args={"a": 1}), SparkLike)
    assert_type(wr.sql("SELECT * FROM t", spark=SessionLike()), SparkLike)
    assert_type(wr.sql("SELECT * FROM t WHERE x = ?", args=[1]), Any)
    assert_type(wr.spark.accelerate(spark), SparkLike)
    assert_type(wr.with_columns(StreamOfRows(), call), Any)
    assert_type(wr.select(StreamOfRows(), "x"), Any)
    assert_type(wr.sql("SELECT * FROM f", f=StreamOfRows()), Any)


def unions(either: PolarsLike | PandasLike, items: list[wr.Call], named: dict[str, wr.Call]) -> None:
    wr.with_columns(either, items, named)


def plans(frame: FrameLike, schema: SchemaLike, spark: SparkLike) -> None:
    plan = wr.explain(frame, call, sort=False, metrics=True)
    assert_type(plan, Explanation)
    assert_type(plan.rows, list[dict[str, Any]])
    assert_type(plan.metrics[0].total().rows, int)
    assert_type(wr.explain(Schema(), call), Explanation)
    assert_type(wr.explain(spark, ColumnLike(), engine="spark"), Explanation)
    assert_type(wr.operator([call, {"n": call}], schema, sort=True), wr.Operator)
    assert_type(wr.plot_frame(w, PolarsLike(), row=-1), wr.FramePlot)
    assert_type(wr.plot_frame(w, StreamOfRows(), row=0).rows, list[int])
    assert_type(wr.operator("sum(x) OVER ()", frame), wr.Operator)


def settings() -> None:
    with wr.config(threads=2, memory_limit="1GB", engine="spark", strategy="naive", spread="always") as given:
        assert_type(given, Config)


class Spread:
    """An aggregate."""

    def initialize(self) -> tuple[int, int] | None:
        return None

    def update(self, state: tuple[int, int] | None, x: int) -> tuple[int, int] | None:
        return state or (x, x)


def moving(x: Any, begin: Any, end: Any) -> list[int]:
    return [0]


def share(x: StreamOfRows) -> StreamOfRows:
    return x


def users() -> None:
    assert_type(wr.aggregate(Spread, "x", returns=int), wr.Call)
    assert_type(wr.aggregate(Spread(), "x", returns="bigint", name="spread"), wr.Call)
    assert_type(wr.vectorized(moving, "x", returns=float).over(w), wr.Call)
    assert_type(wr.partition_function(share, "x", returns="array<int>"), wr.Call)


def of_my_own(x: IntoExpr, item: IntoItem, derived: Derived) -> IntoItem:
    """Annotations of a user's."""
    wr.with_columns(PolarsLike(), item, derived)
    return wr.sum(x).over(w) if isinstance(x, str) else derived.alias("d")
