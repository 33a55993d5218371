"""PySpark Columns of every shape, for Classic and for Connect, where ``python -m`` on this module compares them."""

from functools import partial

import pyspark.sql.functions as F  # noqa: N812
import pytest
from pyspark.sql import Window

import windrow as wr
from support.comparison import equal


def frame(spark):
    """Give a frame of many types in four partitions."""
    return spark.range(60).selectExpr(
        "id", "id % 4 AS device", "id * 7 % 5 AS level", "if(id % 3 > 0, id * 7 % 5, null) AS part",
        "named_struct('a', id, 'b', id % 3) AS s", "cast(id AS string) AS txt", "id + 1 AS `a.b`", "id % 2 = 0 AS even",
        "timestamp '2024-03-09 12:00:00' + make_dt_interval(0, id) AS ts", "id / 7 AS x", "id % 11 * 0.5D AS y",
    )  # fmt: skip


def shapes(df):
    """Give scalars around windows, windows inside windows, and windows in all places where a Column may stand."""
    w = Window.partitionBy("device").orderBy("id")
    near, all_rows = w.rowsBetween(-2, 1), Window.partitionBy("device")
    level, rank = F.col("level"), F.rank().over(w)
    plus_one = F.udf(lambda x: None if x is None else x + 1, "long")
    return {
        "difference": level - F.lag("level").over(w),
        "bound to the frame": df.level - F.lag(df.level).over(Window.partitionBy(df.device).orderBy(df.id)),
        "a bound field": df["s.a"] + F.sum(df["s.b"]).over(w),
        "a bound name with a dot": df["`a.b`"] * F.max(df["`a.b`"]).over(w),
        "share": F.round(level / F.sum("level").over(all_rows), 3),
        "when": F.when(F.row_number().over(w) == 1, F.lit("first"))
        .when(F.sum("level").over(near) > 3, F.col("txt"))
        .otherwise(F.concat(F.lit("n"), rank)),
        "cast": F.sum("level").over(near).cast("decimal(12,2)"),
        "field": F.first("s").over(near)["a"],
        "field of an expression": F.last(F.struct("id", "txt")).over(near).getField("txt"),
        "coalesce": F.coalesce(F.lag("part", 3).over(w), F.lit(-1)),
        "nested": F.sum(F.row_number().over(w)).over(w),
        "nested expression": F.avg(level - F.lag("level", 1, 0).over(w)).over(near),
        "window in partition": F.count("*").over(
            Window.partitionBy(F.floor(F.row_number().over(w) / 3), "device").orderBy("id")
        ),
        "window in order": F.row_number().over(all_rows.orderBy(F.sum("level").over(w).desc(), "id")),
        "several windows": F.col("id").between(F.min("id").over(near), F.max("id").over(w)),
        "isin": rank.isin(1, 3),
        "is null": F.lag("part").over(w).isNull(),
        "logic": (rank > 2) & ~(F.sum("level").over(near) > 3),
        "struct": F.struct(rank.alias("r"), level, df.id.alias("i")),
        "names of a struct": F.struct(rank, level, df["s.a"], F.col("s.b"), F.lag("id").over(w)),
        "lambda": F.transform(F.array(F.lag("level").over(w), level), lambda x: x + level),
        "with field": F.col("s").withField("c", F.lag("id").over(w)),
        "map": F.create_map(F.lit("a"), rank),
        "text": F.expr("level - lag(level, 1, 0) OVER (PARTITION BY device ORDER BY id)"),
        "text inside": level + F.expr(
            "sum(level) FILTER (WHERE level > 1) OVER (PARTITION BY device ORDER BY id ROWS 2 PRECEDING) * 2"
        ),
        "text that is a call": F.expr(
            "last_value(part) IGNORE NULLS OVER (PARTITION BY device ORDER BY ts RANGE BETWEEN INTERVAL 20 HOUR "
            "PRECEDING AND CURRENT ROW)"
        ),
        "a Python function": plus_one(F.sum("level").over(w)),
        "literal keys": F.sum("level").over(Window.partitionBy(F.lit(1), "device").orderBy(F.lit(2), "id")),
        "range": F.sum("level").over(w.rangeBetween(-9, Window.currentRow)),
        "unbounded range": F.sum("level").over(w.rangeBetween(Window.unboundedPreceding, -4)),
        "int literal": F.first(F.lit(2)).over(w),
        "text literal": F.max(F.lit("x")).over(w),
        "literal counted": F.count(F.lit(1)).over(near),
        "nulls first": F.rank().over(all_rows.orderBy(F.desc_nulls_first("part"))),
        "negated": -rank,
        "alias inside": F.sum((level * 2).alias("q")).over(all_rows.orderBy(F.col("id").alias("z").desc())),
        "timestamps": F.col("ts") - F.lag("ts").over(w),
        "fields by name": F.col("s.a") - F.lag("s.a").over(w),
        "square root": F.sqrt(F.var_pop("level").over(near)),
        "null safe": F.lag("part").over(w).eqNullSafe(F.col("part")),
    }  # fmt: skip


def functions():
    """Give each function that PySpark's ``functions`` offers over a window and windrow has."""
    w = Window.partitionBy("device").orderBy("id")
    m = w.rowsBetween(-3, 1)
    return {
        "count_star": F.count("*").over(m), "count": F.count("part").over(m), "sum": F.sum("part").over(m),
        "avg": F.avg("x").over(m), "mean": F.mean("level").over(m), "min": F.min("s").over(m),
        "max": F.max("txt").over(m),
        "stddev": F.stddev("x").over(m), "std": F.std("x").over(m), "stddev_samp": F.stddev_samp("x").over(m),
        "stddev_pop": F.stddev_pop("x").over(m), "variance": F.variance("x").over(m),
        "var_samp": F.var_samp("x").over(m),
        "var_pop": F.var_pop("x").over(m), "bool_and": F.bool_and("even").over(m), "bool_or": F.bool_or("even").over(m),
        "every": F.every("even").over(m), "some": F.some("even").over(m), "first": F.first("part").over(m),
        "first_ignoring": F.first("part", ignorenulls=True).over(m), "last": F.last("part").over(m),
        "last_ignoring": F.last("part", True).over(m), "first_value": F.first_value("part").over(m),
        "last_value": F.last_value("part", F.lit(True)).over(m), "any_value": F.any_value("part", F.lit(True)).over(m),
        "nth_value": F.nth_value("part", 2).over(m), "nth_ignoring": F.nth_value("part", 2, True).over(m),
        "lag": F.lag("level").over(w), "lag_default": F.lag("level", 2, -1).over(w),
        "lead": F.lead("txt", 1, "z").over(w),
        "lag_null": F.lag("part", 1, None).over(w), "row_number": F.row_number().over(w), "rank": F.rank().over(w),
        "dense_rank": F.dense_rank().over(w), "percent_rank": F.percent_rank().over(w),
        "cume_dist": F.cume_dist().over(w),
        "ntile": F.ntile(3).over(w), "by_name": F.call_function("sum", F.col("level")).over(w),
    }  # fmt: skip


def aggregates():
    """Give the aggregates whose nodes have more in them than a name and columns, and their kin."""
    w = Window.partitionBy("device").orderBy("id")
    m, everything = w.rowsBetween(-3, 1), Window.partitionBy("device")
    pairs = ["corr", "covar_pop", "covar_samp", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2",
             "regr_slope", "regr_sxx", "regr_sxy", "regr_syy"]  # fmt: skip
    return {
        **{name: getattr(F, name)("x", "y").over(m) for name in pairs},
        **{name: getattr(F, name)("level").over(m) for name in ("bit_and", "bit_or", "bit_xor")},
        "skewness": F.skewness("level").over(m), "kurtosis": F.kurtosis("level").over(m),
        "count_if": F.count_if(F.col("level") > 2).over(m), "try_sum": F.try_sum("part").over(m),
        "try_avg": F.try_avg("part").over(m), "product": F.product("level").over(m),
        "min_by": F.min_by("txt", "y").over(w), "max_by": F.max_by("txt", "x").over(m),
        "median": F.median("part").over(everything),
        "percentile": F.percentile("level", 0.3).over(m), "percentiles": F.percentile("level", [0.1, 0.9]).over(m),
        "percentile_approx": F.percentile_approx("level", 0.5, 100).over(m),
        "percentiles_approx": F.percentile_approx("level", [0.25, 0.75]).over(m),
        "mode": F.mode("level", deterministic=True).over(m),
        "approx_count_distinct": F.approx_count_distinct("level", 0.1).over(m),
        "collect_list": F.collect_list("part").over(m), "array_agg": F.array_agg("s").over(m),
        "collect_set": F.sort_array(F.collect_set("part").over(m)), "listagg": F.listagg("txt", ",").over(m),
        "string_agg": F.string_agg("txt").over(w), "counter_diff": F.counter_diff("id").over(w),
        "within_group": F.expr("percentile_cont(0.25) WITHIN GROUP (ORDER BY level DESC) OVER (PARTITION BY device)"),
        "discrete": F.expr("percentile_disc(0.25) WITHIN GROUP (ORDER BY level DESC) OVER (PARTITION BY device)"),
        "joined_in_order": F.expr("listagg(txt, '-') WITHIN GROUP (ORDER BY id DESC) OVER (PARTITION BY device)"),
        "mode_in_order": F.expr("mode() WITHIN GROUP (ORDER BY level DESC) OVER (PARTITION BY device)"),
        "with_nulls": F.expr("collect_list(part) RESPECT NULLS OVER (PARTITION BY device ORDER BY id)"),
    }  # fmt: skip


def operators(df):
    """Give expressions of windrow's operators beside Spark's own Columns that mean the same."""
    w, all_rows = Window.partitionBy("device").orderBy("id"), Window.partitionBy("device")
    near = w.rowsBetween(-2, 1)
    level, part, rank = wr.col("level"), wr.col("part"), wr.rank().over(w)
    lag, total = F.lag("level").over(w), F.sum("level").over(near)
    return {
        "difference": (level - wr.lag("level").over(w), F.col("level") - lag),
        "keys": (level - wr.lag("level").over("device", order_by="id"), F.col("level") - lag),
        "a column on the right": (wr.lag("level").over(w) - F.col("level") * 2, lag - F.col("level") * 2),
        "bound to the frame": (wr.lag("level").over(w) * df.level, lag * df.level),
        "a window of PySpark's": (wr.sum("level").over(near) / wr.count().over(all_rows),
                                  total / F.count("*").over(all_rows)),
        "logic": ((rank > 2) & ~(wr.sum("level").over(near) > 3), (F.rank().over(w) > 2) & ~(total > 3)),
        "nulls": (wr.lag("part", 3).over(w).fill_null(-1), F.coalesce(F.lag("part", 3).over(w), F.lit(-1))),
        "a test of null": (wr.lag("part").over(w).is_null(), F.lag("part").over(w).isNull()),
        "in": (rank.is_in([1, 3]), F.rank().over(w).isin(1, 3)),
        "between": (rank.between(2, 4), F.rank().over(w).between(2, 4)),
        "cast": (wr.sum("level").over(near).cast("decimal(12,2)"), total.cast("decimal(12,2)")),
        "case": (wr.when(rank == 1).then(wr.lit("first")).when(part > 2).then(wr.col("txt")).otherwise(None),
                 F.when(F.rank().over(w) == 1, "first").when(F.col("part") > 2, F.col("txt"))),
        "no call": (abs(part - 3) * -1.5 + 2**40, F.abs(F.col("part") - 3) * -1.5 + 2**40),
        "argument": (wr.sum(level * 2 + df.id).over(all_rows), F.sum(F.col("level") * 2 + df.id).over(all_rows)),
        "filter": (wr.count().filter(level > 1).over(all_rows), F.count(F.when(F.col("level") > 1, 1)).over(all_rows)),
        "key": (wr.count().over(wr.col("id") % 2), F.count("*").over(Window.partitionBy(F.col("id") % 2))),
    }  # fmt: skip


def compare_operators(df):
    """Hold them against each other: values and types."""
    both = operators(df)
    ours = wr.with_columns(df, {name: mine for name, (mine, _) in both.items()})
    theirs = df.withColumns({name: column for name, (_, column) in both.items()})
    assert [(f.name, f.dataType) for f in ours.schema] == [(f.name, f.dataType) for f in theirs.schema]
    rows = [f.orderBy("id").collect() for f in (ours, theirs)]
    for name in both:
        wrong = [(a["id"], a[name], b[name]) for a, b in zip(*rows, strict=True) if not close(a[name], b[name])]
        assert not wrong, (name, wrong[:3])
    return len(both) * len(rows[0])


close = partial(equal, signed_zeros=False, rel=1e-11, absolute=1e-12)


def compare(df, columns, accelerated=False):
    """Hold values, types and nullability of new columns against Spark's answer to the very same Columns."""
    theirs = df.withColumns(columns)
    ours = wr.spark.accelerate(theirs) if accelerated else wr.with_columns(df, columns)
    assert ours.columns == theirs.columns
    for mine, spark in zip(ours.schema, theirs.schema, strict=True):
        assert (mine.name, mine.dataType, mine.nullable) == (spark.name, spark.dataType, spark.nullable)
    rows = [f.orderBy("id").collect() for f in (ours, theirs)]
    for name in theirs.columns:
        wrong = [(a["id"], a[name], b[name]) for a, b in zip(*rows, strict=True) if not close(a[name], b[name])]
        assert not wrong, (name, wrong[:3])


def main():
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote("local[1]").config("spark.sql.shuffle.partitions", "1").getOrCreate()
    df = frame(spark)
    compare(df, {**shapes(df), **functions(), **aggregates()})
    assert compare_operators(df) == 16 * 60
    w = Window.partitionBy("device").orderBy("id")
    left = {"rank": F.rank().over(w), "before": F.lag("txt").over(w), "total": F.sum("level").over(w)}
    compare(df, left)  # Spark computes these
    with wr.config(engine="windrow"):
        compare(df, left)
        once = wr.with_columns(df.repartition("device"), left)
        assert wr.with_columns(once, again=F.sum("level").over(w)).where("again != total").count() == 0
    step = df.x - F.lag(df.x).over(Window.partitionBy("device").orderBy("id"))
    total = F.sum("level").over(Window.partitionBy("device"))
    out = wr.select(df, "id", df.level, (F.col("id") + 1).alias("next"), total, b=step)
    assert out.columns == ["id", "level", "next", "sum(level) OVER (PARTITION BY device)", "b"]
    assert out.count() == 60
    python = F.pandas_udf(lambda v: 1.0, "double", F.PandasUDFType.GROUPED_AGG)
    with pytest.raises(wr.UnsupportedError, match=r"wr\.aggregate"):
        wr.with_columns(df, z=python("x").over(Window.partitionBy("device")))
    with pytest.raises(wr.SpecError, match="not a window call"):
        wr.with_columns(df, z=F.col("x") * 2)
    with pytest.raises(wr.UnsupportedError, match="needs Spark Classic"):
        wr.spark.accelerate(df)
    print("same")  # noqa: T201 - the test waits for it


if __name__ == "__main__":
    main()
