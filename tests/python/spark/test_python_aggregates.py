"""``pandas_udf`` and ``arrow_udf`` over windows, in sessions that windrow computes: Spark's answers."""

import re
import warnings
from types import SimpleNamespace

import pytest

import windrow as wr
from support.spark_plans import exchanges, executed_plan, passages

pytest.importorskip("pyspark")

import pyarrow as pa
import pyspark
from pyspark.sql import (
    Window,
    functions as F,  # noqa: N812 - its usual name
)

from support.spark_sessions import settings

pytestmark = pytest.mark.engine

pd = pytest.importorskip("pandas")
RELEASE = tuple(map(int, pyspark.__version__.split(".")[:2]))


def keyed():
    return Window.partitionBy("k").orderBy("id")


def moving():
    return keyed().rowsBetween(-2, 1)


def windows():
    """Give frames of all kinds; there are none before a session is."""
    return {
        "moving": moving(),
        "ahead": keyed().rowsBetween(1, 3),
        "growing": keyed().rowsBetween(Window.unboundedPreceding, 0),
        "growing by peers": Window.partitionBy("k").orderBy("o"),
        "shrinking by peers": Window.partitionBy("k").orderBy("f").rangeBetween(0, Window.unboundedFollowing),
        "peers": Window.partitionBy("k").orderBy("d", "f").rangeBetween(0, 0),
        "whole": Window.partitionBy("k"),
        "of all rows": Window.orderBy("id").rowsBetween(-1, 1),
        "falling": Window.partitionBy("x").orderBy(F.desc("id")).rowsBetween(-3, 0),
    }


@pytest.fixture(scope="module")
def spark(oracle_spark):
    return oracle_spark


@pytest.fixture(scope="module")
def t(spark):
    return spark.range(60).selectExpr(
        "id",
        "id % 4 AS k",
        "if(id % 3 = 0, NULL, id % 2) AS x",
        "int(id * 7 % 5) AS o",
        "CASE id % 6 WHEN 0 THEN double('NaN') WHEN 1 THEN -0D WHEN 2 THEN 0D WHEN 3 THEN NULL ELSE id % 2 END AS f",
        "date'2024-01-01' + int(id % 3) AS d",
        "if(id % 4 = 1 AND id % 5 = 0, NULL, id) AS i",
        "if(id % 7 = 0, NULL, id % 3 = 0) AS b",
        "if(id % 7 = 0, NULL, string(id)) AS s",
        "CAST(id AS DECIMAL(10, 2)) / 4 AS p",
        "CAST(string(id) AS BINARY) AS y",
    )


@pytest.fixture(scope="module")
def f(spark):
    """Functions; those of a module that workers cannot import would not reach them."""

    @F.pandas_udf("double")
    def mean(v: pd.Series) -> float:
        return v.mean()

    @F.pandas_udf("string")
    def seen(v: pd.Series) -> str:
        """Say what a function can see of its frame: types, places, values."""
        return f"{v.dtype} {list(v.index)} {list(v)}"

    @F.pandas_udf("bigint")
    def last(v: pd.Series) -> int:
        return None if len(v) == 0 or pd.isna(v.iloc[-1]) else v.iloc[-1]

    @F.pandas_udf("int")
    def truncated(v: pd.Series) -> float:
        return 0.0 if len(v) == 0 else float(v.iloc[0]) + 0.75

    @F.pandas_udf("decimal(12,4)")
    def total(v: pd.Series) -> object:
        return sum(v) if len(v) else None

    @F.pandas_udf("boolean")
    def any_of(v: pd.Series) -> bool:
        return bool(v.any()) if len(v) else None

    @F.pandas_udf("date")
    def latest(v: pd.Series) -> object:
        return max(v) if len(v) else None

    @F.pandas_udf("binary")
    def joined(v: pd.Series) -> bytes:
        return b",".join(v)

    @F.pandas_udf("double")
    def weighted(v: pd.Series, w: pd.Series) -> float:
        return float((v * w).sum())

    return SimpleNamespace(
        mean=mean,
        seen=seen,
        last=last,
        truncated=truncated,
        total=total,
        any_of=any_of,
        latest=latest,
        joined=joined,
        weighted=weighted,
    )


def rows(frame):
    return sorted(map(repr, map(tuple, frame.collect())))


def calls(f):
    made = {}
    for name, w in windows().items():
        made |= {
            f"mean, {name}": f.mean("i").over(w),
            f"seen, {name}": f.seen("i").over(w),
            f"weighted, {name}": f.weighted("id", F.col("o") + 1).over(w),
        }
    for column in "fbspyd":
        made[f"seen, {column}"] = f.seen(column).over(moving())
    made["last"] = f.last("i").over(moving())
    made["last of others"] = f.last("o").over(windows()["ahead"])
    made["total"] = f.total("p").over(moving())
    made["any_of"] = f.any_of("b").over(windows()["whole"])
    made["latest"] = f.latest("d").over(windows()["growing"])
    made["joined"] = f.joined("y").over(moving())
    return made


def test_answers_are_sparks(spark, t, f):
    compared = 0
    for name, call in calls(f).items():
        expected = t.select("id", call.alias("m"))
        found = rows(expected)
        with wr.spark.accelerated(spark, engine="windrow"), warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
            ours = t.select("id", call.alias("m"))
            assert ours.schema == expected.schema, name
            assert rows(ours) == found, name
            assert passages(executed_plan(ours)) == 1, name
        compared += len(found)
    assert compared == 60 * 39


def test_results_are_converted_by_the_setting(spark, t, f):
    safely = "spark.sql.execution.pandas.convertToArrowArraySafely"
    asked = f.truncated("id").over(moving()).alias("m")
    with settings(spark, {safely: "false"}):
        expected = rows(t.select(asked))
        with wr.spark.accelerated(spark, engine="windrow"):
            assert rows(t.select(asked)) == expected
    told = pytest.raises(Exception, match=r"results of truncated do not make a column of int32: Float value 0\.75")
    with settings(spark, {safely: "true"}), wr.spark.accelerated(spark, engine="windrow"), told:
        t.select(asked).collect()
    assert len(expected) == 60


@pytest.mark.skipif(RELEASE < (4, 1), reason="arrow_udf came with Spark 4.1")
def test_arrow_functions(spark, t):
    import pyarrow.compute as pc

    @F.arrow_udf("double")
    def total_of(v: pa.Array) -> float:
        return pc.sum(v)

    @F.arrow_udf("string")
    def shown(v: pa.Array) -> str:
        return f"{v.type} {v.to_pylist()}"

    compared = 0
    for name, w in windows().items():
        asked = [total_of("i").over(w).alias("a"), shown("s").over(w).alias("b"), shown("p").over(w).alias("c")]
        found = rows(t.select("id", *asked))
        with wr.spark.accelerated(spark, engine="windrow"):
            ours = t.select("id", *asked)
            assert rows(ours) == found, name
            assert passages(executed_plan(ours)) == 1, name
        compared += len(found)
    assert compared == 540


def test_calls_of_other_kinds_share_the_stage(spark, t, f):
    w = moving()
    asked = {
        "a": f.mean("i").over(w),
        "b": F.avg("i").over(w),
        "c": F.row_number().over(keyed()),
        "d": f.weighted("o", "id").over(windows()["whole"]),
    }
    expected = rows(t.withColumns(asked))
    with wr.spark.accelerated(spark, engine="windrow"):
        ours = t.withColumns(asked)
        plan = executed_plan(ours)
        assert (passages(plan), exchanges(plan)) == (1, 1)
        assert rows(ours) == expected
        assert "WindowInPandas" not in plan
        assert "ArrowWindow" not in plan
    assert len(expected) == 60


@pytest.mark.skipif(RELEASE < (4, 0), reason="named arguments came with Spark 4.0")
def test_named_arguments(spark, t, f):
    spark.udf.register("weighted_udf", f.weighted)
    t.createOrReplaceTempView("python_aggregates")
    query = "SELECT id, weighted_udf(w => o, v => id) OVER (PARTITION BY k) AS m FROM python_aggregates"
    expected = rows(spark.sql(query))
    with wr.spark.accelerated(spark, engine="windrow"):
        ours = spark.sql(query)
        assert rows(ours) == expected
        assert passages(executed_plan(ours)) == 1
    assert len(expected) == 60


@pytest.mark.skipif(RELEASE < (4, 0), reason="accelerate() knows the plans of Spark 4.0 and later")
def test_accelerate_takes_them(t, f):
    frame = t.select("id", f.mean("i").over(moving()).alias("m"))
    with wr.config(engine="windrow"):  # for few rows Spark costs less
        ours = wr.spark.accelerate(frame)
    assert passages(executed_plan(ours)) == 1
    assert rows(ours) == rows(frame)


def test_a_function_named_as_one_of_windrows(spark, t):
    @F.pandas_udf("bigint")
    def median(v: pd.Series) -> int:
        return 7

    with wr.spark.accelerated(spark, engine="windrow"):
        ours = t.select(median("i").over(moving()).alias("m"))
        assert {r.m for r in ours.collect()} == {7}
        assert passages(executed_plan(ours)) == 1


def counting(called):
    def counted(v: pd.Series) -> int:
        called.add(1)
        return len(v)

    return counted


def test_accumulators_count(spark, t):
    for engine in ("windrow", "spark"):
        called = spark.sparkContext.accumulator(0)

        counted = F.pandas_udf(counting(called), "bigint")
        with wr.spark.accelerated(spark, engine=engine):
            for _ in range(2):  # workers are used again
                t.select(counted("i").over(moving()).alias("m")).collect()
        assert called.value == 120, engine


def test_an_exception_reaches_the_driver(spark, t):
    @F.pandas_udf("double")
    def failing(v: pd.Series) -> float:
        raise KeyError("no such sensor")

    @F.pandas_udf("int")
    def wrong(v: pd.Series) -> int:
        return "seven"

    with wr.spark.accelerated(spark, engine="windrow"):
        with pytest.raises(Exception, match=re.escape("failing() raised KeyError: 'no such sensor'")):
            t.select(failing("i").over(keyed())).collect()
        with pytest.raises(Exception, match="the results of wrong do not make a column of int32"):
            t.select(wrong("i").over(keyed())).collect()


def test_what_stays_with_spark_says_why(spark, t):
    plain = t.select("id", "k", "i", F.expr("array(id) AS l"), F.expr("timestamp_seconds(id) AS ts"))
    table = spark.sparkContext.broadcast([1.0, 2.0])

    @F.pandas_udf("double")
    def from_table(v: pd.Series) -> float:
        return table.value[0] * len(v)

    @F.pandas_udf("bigint")
    def length(v: pd.Series) -> int:
        return len(v)

    @F.pandas_udf("bigint")
    def changing(v: pd.Series) -> int:
        return len(v)

    @F.pandas_udf("array<bigint>")
    def listed(v: pd.Series) -> object:
        return list(v)

    in_range = Window.partitionBy("k").orderBy("id").rangeBetween(-2, 0)
    cases = [
        (changing.asNondeterministic()("i").over(keyed()), "is not deterministic"),
        (from_table("i").over(keyed()), "reads broadcast variables"),
        (length("l").over(keyed()), "arguments of type array<bigint>"),
        (length("ts").over(keyed()), "arguments of type timestamp"),
        (listed("id").over(keyed()), "results of type array<bigint>"),
        (length("i").over(in_range), "over RANGE with an offset"),
    ]
    compared = 0
    for call, why in cases:
        asked = plain.select("id", call.alias("m"))
        with wr.spark.accelerated(spark, engine="windrow"), pytest.warns(UserWarning, match=why):
            plan = executed_plan(plain.select("id", call.alias("m")))
        assert passages(plan) == 0
        compared += len(asked.collect()) if "determin" not in why else 0
    assert compared == 300
    followed_by_none = [
        ("spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype", "true"),
        ("spark.sql.pyspark.udf.profiler", "perf"),
    ]
    with wr.spark.accelerated(spark, engine="windrow"):
        for name, value in followed_by_none:
            told = pytest.warns(UserWarning, match=f"{name} is set, which windrow does not follow")
            with settings(spark, {name: value}), told:
                assert passages(executed_plan(plain.select(length("i").over(keyed())))) == 0
            assert passages(executed_plan(plain.select(length("i").over(keyed())))) == 1
