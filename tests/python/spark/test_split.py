"""One partition over many tasks: no PARTITION BY, and hot keys."""

import math
import random
import re
from contextlib import nullcontext
from functools import partial
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import windrow as wr
from support.comparison import equal

pytest.importorskip("pyspark")

SETTINGS = {"spark.sql.shuffle.partitions": "3", "spark.sql.session.timeZone": "America/New_York"}
ROWS = 3000


def number(value):
    return random.Random(value).randrange(1 << 30)


@pytest.fixture(scope="module")
def frame(spark):
    """Give ties, nulls, NaN, a hot key and rows in no order."""
    rng = random.Random(5)
    rows = []
    for i in range(ROWS):
        tied = None if rng.random() < 0.05 else rng.randrange(ROWS // 4)
        real = rng.choice([None, math.nan, math.inf, -0.0, 0.0, rng.random(), rng.random(), rng.random()])
        rows.append((i, "hot" if rng.random() < 0.9 else f"k{rng.randrange(5)}", tied, rng.randrange(-99, 99), real))
    rng.shuffle(rows)
    rows = [(*r, None if r[3] % 7 == 0 else f"s{r[3] % 11}") for r in rows]
    return spark.createDataFrame(rows, "id bigint, k string, t int, v bigint, d double, s string").repartition(4)


ROWS_1000 = "ROWS BETWEEN 1000 PRECEDING AND 1000 FOLLOWING"
SPREAD = [
    "row_number() OVER (ORDER BY t, id)", "rank() OVER (ORDER BY t)", "dense_rank() OVER (ORDER BY t DESC)",
    "percent_rank() OVER (ORDER BY t NULLS LAST)", "cume_dist() OVER (ORDER BY t)", "ntile(7) OVER (ORDER BY id)",
    "lag(v, 3, -1) OVER (ORDER BY t, id)", "lead(s, 700) OVER (ORDER BY id)",
    "lag(s, 2) IGNORE NULLS OVER (ORDER BY id)", "lead(s, 2) IGNORE NULLS OVER (ORDER BY id DESC)",
    "sum(v) OVER (ORDER BY t, id)", "sum(v) OVER (ORDER BY t)", f"sum(v) OVER (ORDER BY id {ROWS_1000})",
    f"min(v) OVER (ORDER BY t DESC NULLS FIRST, id {ROWS_1000})", f"avg(d) OVER (ORDER BY id {ROWS_1000})",
    "sum(v) OVER (ORDER BY t RANGE BETWEEN 40 PRECEDING AND 90 FOLLOWING)",
    "count(*) OVER (ORDER BY t GROUPS BETWEEN 30 PRECEDING AND 2 FOLLOWING)",
    "max(s) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "sum(v) OVER (ORDER BY t RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "sum(v) OVER ()", "count(s) OVER ()", "max(d) OVER ()", "avg(v) FILTER (WHERE v > 0) OVER ()",
    "first_value(s) IGNORE NULLS OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
    "last_value(s) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING)",
    "nth_value(v, 2000) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
    f"count(DISTINCT v) OVER (ORDER BY id {ROWS_1000})", f"median(v) OVER (ORDER BY id {ROWS_1000})",
    "sum(v) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW)",
    "count(*) OVER (ORDER BY t GROUPS BETWEEN UNBOUNDED PRECEDING AND 5 FOLLOWING EXCLUDE GROUP)",
    "stddev(v) OVER (ORDER BY t, id)", "collect_list(v) OVER (ORDER BY id ROWS 4 PRECEDING)",
]  # fmt: skip
ONE_TASK = [
    "median(v) OVER ()", "count(DISTINCT v) OVER (ORDER BY id)", "collect_list(v) OVER (ORDER BY id)",
    "lag(v, id) OVER (ORDER BY id)", "sum(v) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES)",
]  # fmt: skip


agree = partial(equal, signed_zeros=False, types=False, rel=1e-12)


def answers(result):
    return {row["id"]: row for row in result.collect()}


def check(frame, calls, **how):
    """Hold shared-out calls against windrow on the same rows in memory."""
    how.setdefault("spread", "always")
    named = {f"c{i}": call for i, call in enumerate(calls)}
    expected = {row["id"]: row for row in wr.with_columns(frame.toArrow(), named).to_pylist()}
    found = answers(wr.with_columns(frame, named, **how))
    assert len(found) == len(expected)
    for key, row in expected.items():
        for name, call in named.items():
            assert agree(found[key][name], row[name]), (call, key, found[key][name], row[name])


def test_no_task_has_all_rows(frame):
    plan = str(wr.explain(frame, {f"c{i}": call for i, call in enumerate(SPREAD)}))
    assert plan.count("read twice") > 3  # a sort each
    assert "in one task" not in plan
    check(frame, SPREAD)


def test_small_inputs_are_not_split(spark, frame, tmp_path):
    """Spark's statistics say how large a file is; of other frames they may say nothing."""
    frame.write.parquet(str(tmp_path / "rows"))
    files = spark.read.parquet(str(tmp_path / "rows"))
    calls = {"n": SPREAD[0], "s": "sum(v) OVER ()"}
    assert "all rows in one task" in str(wr.explain(files, calls))
    assert "read twice" in str(wr.explain(files, calls, spread="always"))
    assert "read twice" in str(wr.explain(frame, calls))
    found = {tuple(sorted(map(tuple, wr.select(files, "id", calls, spread=s).collect()))) for s in ("auto", "always")}
    assert len(found) == 1


def test_split_columns_are_the_frames(frame):
    """They are windows of Spark's plan as others are."""
    out = wr.with_columns(frame.alias("a"), {"n": SPREAD[0], "m": "sum(v) OVER (PARTITION BY k)"}, spread="always")
    assert out.select("a.id").count() == ROWS
    assert out.filter(frame.v > 50).count() == frame.filter("v > 50").count() > 0
    assert out.drop(frame.v).columns == ["id", "k", "t", "d", "s", "n", "m"]
    below = out.select("id", "m")._jdf.queryExecution().optimizedPlan().toString()
    assert "row_number" not in below
    replaced = wr.with_columns(frame, id="sum(v) OVER ()", spread="always")
    assert replaced.columns == frame.columns
    assert len(set(replaced.select("id").collect())) == 1


def test_rows_without_an_order_stay_in_that_of_the_file(spark, frame, tmp_path):
    """Where rows of a file can be read twice they are split; all others go to one task."""
    frame.coalesce(1).write.parquet(str(tmp_path / "rows"))
    files = spark.read.parquet(str(tmp_path / "rows"))
    ids = [row["id"] for row in files.collect()]
    calls = {
        "n": "count(*) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
        "near": "sum(v) OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
        "first": "first_value(id) OVER ()",
    }
    expected = files.selectExpr("id", *[f"{text} AS {name}" for name, text in calls.items()]).collect()
    assert [row["n"] for row in expected] == list(range(1, ROWS + 1))
    for spread in ("auto", "always", "never"):
        with pytest.warns(UserWarning, match="No Partition") if spread == "never" else nullcontext():
            ours = wr.select(files, "id", calls, spread=spread)
        assert ours.collect() == expected, spread
        assert [row["id"] for row in ours.collect()] == ids
    assert "as the rows are read" in str(wr.explain(files, calls, spread="always"))
    plan = str(wr.explain(files.repartition(1), calls, spread="always"))
    assert "without ORDER BY its rows stay in the order in which they come" in plan


@pytest.mark.parametrize("call", ONE_TASK)
def test_what_cannot_be_parted_says_so(frame, call):
    with pytest.warns(UserWarning, match="No Partition Defined") as caught:
        result = wr.with_columns(frame.limit(100), {"x": call})
    assert str(caught[0].message).count("(") > 1
    assert any(words in str(caught[0].message) for words in ("all rows of its partition", "all rows of a partition"))
    assert result.count() == 100


def test_skewed_keys(frame):
    calls = [c.replace("OVER (ORDER", "OVER (PARTITION BY k ORDER") for c in SPREAD if "OVER (ORDER" in c]
    plan = str(wr.explain(frame, {f"c{i}": call for i, call in enumerate(calls)}, spread="always"))
    assert "ranges of k, t" in plan
    assert "as spread='always' asks, read twice" in plan
    check(frame, calls)
    assert "read twice" not in str(wr.explain(frame, calls))


def test_never(frame):
    with pytest.warns(UserWarning, match="No Partition Defined"):
        check(frame, SPREAD[:1], spread="never")
    with wr.config(spread="never"), pytest.warns(UserWarning, match="No Partition Defined"):
        wr.with_columns(frame, {"n": SPREAD[0]})
    with pytest.raises(wr.SpecError, match="spread='often'"):
        wr.with_columns(frame, {"n": SPREAD[0]}, spread="often")
    with pytest.raises(wr.SpecError, match="for Spark frames"):
        wr.with_columns(frame.toArrow(), {"n": SPREAD[0]}, spread="always")


@pytest.mark.parametrize("rows", [0, 1, 2, 5])
def test_few_rows(frame, rows):
    few = frame.orderBy("id").limit(rows)
    check(few, SPREAD)


def test_parts_of_the_rows_can_be_read(frame):
    """Whatever stands behind a stage that is split."""
    calls = {"n": "row_number() OVER (ORDER BY id)", "all": "count(*) OVER ()"}
    result = wr.with_columns(frame, calls, spread="always")
    assert len(result.take(3)) == 3
    assert result.limit(5).count() == 5
    assert not result.isEmpty()
    assert result.coalesce(1).union(result).count() == 2 * ROWS
    assert {row["n"] - row["id"] for row in result.where("id % 100 = 0").collect()} == {1}


def test_one_key_for_all(frame):
    """All rows are peers, in one task of several; the others have none."""
    from pyspark.sql import functions as F  # noqa: N812

    check(frame.withColumn("t", F.lit(3)), ["rank() OVER (ORDER BY t)", "sum(v) OVER (ORDER BY t)", "count(*) OVER ()"])


def test_beside_calls_of_partitions(frame):
    calls = [
        "sum(v) OVER (PARTITION BY k)",
        "row_number() OVER (ORDER BY id)",
        "rank() OVER (PARTITION BY k ORDER BY v)",
    ]
    check(frame, calls)
    mixed = {
        "n": "row_number() OVER (ORDER BY id) - 1",
        "m": "max(row_number() OVER (ORDER BY id)) OVER (PARTITION BY k)",
    }
    expected = {row["id"]: row for row in wr.with_columns(frame.toArrow(), mixed).to_pylist()}
    found = answers(wr.with_columns(frame, mixed, spread="always"))
    assert all(found[key][name] == row[name] for key, row in expected.items() for name in mixed)


def test_a_user_aggregate_with_merge(frame):
    class Total:
        def initialize(self):
            return 0

        def update(self, state, value):
            return state if value is None else state + value

        def merge(self, left, right):
            return left + right

        def evaluate(self, state):
            return state

    w = wr.window(order_by="id")
    result = wr.with_columns(
        frame, wr.aggregate(Total, "v", returns=int).over(w).alias("a"), wr.sum("v").over(w).alias("b")
    )
    assert "read twice" in str(wr.explain(frame, wr.aggregate(Total, "v", returns=int).over(w).alias("a")))
    assert all(row["a"] == row["b"] for row in result.collect())


def test_a_second_reading_that_differs_is_an_error(frame):
    """The ranges of the second reading must be those of the first."""
    from windrow.hosts.spark.split_two_pass import TaskSummaries

    told = [{"place": 2, "rows": 2, "summaries": [b"own"]}, {"place": 3, "rows": 7, "summaries": [b"x", b"y"]}]
    batch = pa.record_batch({"v": [1, 2], "place": [2, 2], "told": [None, None]})
    everyone = TaskSummaries(2, told)
    assert [b.num_columns for b in everyone.counted(iter([batch]))] == [1]
    assert everyone([b"one", b"two"]) == ([b"one", b"two", b"x", b"y"], 0)
    for other in ([{**told[0], "rows": 3}], told[1:], []):
        everyone = TaskSummaries(2, other)
        list(everyone.counted(iter([batch])))
        with pytest.raises(wr.DataError, match=r"came otherwise at the second reading.*exchange\.reuse"):
            everyone([b"one"])


@pytest.mark.parametrize("columns", [["id"], ["id", "d", "k"]])
def test_the_exchange_of_two_readings_is_one(frame, columns):
    """Also where columns pass through that the first reading has no use for."""
    calls = {"n": "row_number() OVER (ORDER BY t, id)", "m": "max(s) OVER (ORDER BY t, id)"}
    result = wr.select(frame, *columns, calls, spread="always")
    result.collect()
    lines = result._jdf.queryExecution().executedPlan().toString().splitlines()
    run = [below for line, below in pairwise(lines) if "ShuffleQueryStage" in line and "rangepartitioning" in below]
    assert ["ReusedExchange" in line for line in run].count(False) == 1 < len(run), lines


WHOLE = ["sum(v) OVER ()", "count(*) OVER ()", "avg(d) FILTER (WHERE v > 0) OVER ()", "min(s) OVER ()"]


def test_what_needs_no_ranges_needs_no_exchange(spark, frame, tmp_path):
    """Where a source gives the same rows each time; in any other the exchange is what both readings have alike."""
    frame.write.parquet(str(tmp_path / "rows"))
    files = spark.read.parquet(str(tmp_path / "rows"))
    sources = {
        "files": (files, True),
        "some": (files.where("v % 3 = 0").withColumn("u", files.t + 1).union(files.withColumn("u", files.v)), True),
        "none": (files.where("v > 1000"), True),
        "memory": (spark.createDataFrame(frame.limit(500).toPandas(), frame.schema), True),
        "range": (spark.range(100).selectExpr("id", "id AS v", "id * 0.5 AS d", "string(id) AS s"), True),
        "by chance": (files.where("rand(1) < 0.5"), False),
        "shuffled": (files.repartition(3), False),
        "limited": (files.limit(50), False),
    }
    for name, (source, stays) in sources.items():
        for calls in ({f"c{i}": call for i, call in enumerate(WHOLE)}, {"c": WHOLE[0]}):
            plan = str(wr.explain(source, calls, spread="always"))
            assert ("as the rows are read" in plan, "equal shares" in plan) == (stays, not stays), (name, plan)
            found = [tuple(row) for row in wr.select(source, "id", calls, spread="always").collect()]
            if name == "limited":
                assert len({str(row[1:]) for row in found}) == 1
                continue
            whole = wr.select(source.toArrow(), "id", calls).to_pylist()
            expected = [tuple(row.values()) for row in whole]
            assert len(found) == len(expected)
            for ours, theirs in zip(sorted(found), sorted(expected), strict=True):
                assert all(map(agree, ours, theirs)), name


@pytest.fixture(scope="module")
def skewed(spark, tmp_path_factory):
    """Give a file in which one key has most rows."""
    rng = random.Random(3)
    rows = 40_000
    keys = [7 if rng.random() < 0.8 else rng.randrange(500) for _ in range(rows)]
    table = pa.table({"id": range(rows), "k": keys, "v": [rng.randrange(-99, 99) for _ in range(rows)]})
    path = tmp_path_factory.mktemp("skewed") / "rows.parquet"
    pq.write_table(table, path, row_group_size=5_000)
    return spark.read.parquet(str(path))


CALLS = ["row_number() OVER (PARTITION BY k ORDER BY id)", f"sum(v) OVER (PARTITION BY k ORDER BY id {ROWS_1000})"]


def test_a_sample_finds_skewed_keys(skewed):
    with wr.config(memory_limit="100KB"):
        plan = str(wr.explain(skewed, CALLS))
        assert re.search(
            r"ranges of k, id over \d tasks.*, as (79|80|81) % of (\d+,000) sampled rows have one key", plan
        )
        check(skewed, CALLS, spread="auto")


def test_uniform_keys_are_not_split(skewed):
    from pyspark.sql import functions as F  # noqa: N812

    assert "ranges" not in str(wr.explain(skewed, CALLS))  # 1 GiB would be large
    with wr.config(memory_limit="100KB"):
        even = skewed.withColumn("k", F.col("id") % 100)
        assert "ranges" not in str(wr.explain(even, CALLS))
        assert "ranges" not in str(wr.explain(skewed, CALLS, spread="never"))
        assert "ranges" not in str(wr.explain(skewed.limit(0), CALLS))
        assert "ranges" not in str(wr.explain(skewed, "sum(v) OVER (PARTITION BY k)"))  # nothing to cut by
        joined = skewed.join(skewed.select("id"), "id")  # which a sample would compute once more
        assert "ranges" not in str(wr.explain(joined, CALLS))


def test_an_error_in_one_task_is_the_jobs(frame):
    from pyspark.errors import PythonException

    calls = {"x": f"sum(v + if(id = {ROWS // 2}, 9223372036854775807 - abs(v), 0)) OVER (ORDER BY id ROWS 2 PRECEDING)"}
    with pytest.raises(PythonException, match="ArithmeticOverflowError: sum"):
        wr.with_columns(frame, calls, spread="always").collect()
    assert frame.count() == ROWS


def test_little_memory(frame, tmp_path):
    """Each task spills its rows, and those of its sections."""
    with wr.config(memory_limit=1, spill_dir=str(tmp_path)):
        check(frame, SPREAD)
    assert not list(tmp_path.iterdir())
