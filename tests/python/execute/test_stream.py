"""Batches in, batches out: what leaves when, any cutting gives one answer, rows out of order, bounded memory."""

import random
import subprocess
import sys
import textwrap
import warnings

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, given, seed as seeded, settings, strategies as st

import windrow as wr
from support.random_calls import FUZZ, SEED
from windrow._execute.native import make_plan
from windrow._model.outputs import Output
from windrow._parse.sql_text import parse_call
from windrow._plan.bind import plan_steps
from windrow.settings import current


def emitted(op, batches):
    """Give the number of rows that had left after each batch, and after the end."""
    counts, left = [], 0

    def feed():
        for number, batch in enumerate(batches):
            if number:
                counts.append(left)
            yield batch
        counts.append(left)

    for out in op(feed()):
        left += out.num_rows
    return [*counts, left]


ONE = pa.table({"p": [7] * 12, "id": list(range(12)), "x": [i * i % 7 for i in range(12)]})
# Batches of 4 rows of one partition with keys 0, 1, 2 ...: the rows that had left after each batch. A row whose frame
# ends with its ties waits for the first row that is none.
LEAVES = {
    "sum(x) OVER (PARTITION BY p ORDER BY id ROWS UNBOUNDED PRECEDING)": [4, 8, 12],
    "sum(x) OVER (PARTITION BY p ORDER BY id)": [3, 7, 11],
    "sum(x) OVER (PARTITION BY p ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)": [4, 8, 12],
    "min(x) OVER (PARTITION BY p ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)": [3, 7, 11],
    "avg(x) OVER (PARTITION BY p ORDER BY id ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING)": [1, 5, 9],
    "max(x) OVER (PARTITION BY p ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING)": [4, 8, 12],
    "sum(x) OVER (PARTITION BY p ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)": [3, 7, 11],
    "sum(x) OVER (PARTITION BY p ORDER BY id RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING)": [4, 8, 12],
    "sum(x) OVER (PARTITION BY p ORDER BY id RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)": [2, 6, 10],
    "sum(x) OVER (PARTITION BY p ORDER BY id GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW)": [3, 7, 11],
    "sum(x) OVER (PARTITION BY p ORDER BY id GROUPS BETWEEN CURRENT ROW AND 1 FOLLOWING)": [2, 6, 10],
    "row_number() OVER (PARTITION BY p ORDER BY id)": [4, 8, 12],
    "rank() OVER (PARTITION BY p ORDER BY id)": [4, 8, 12],
    "dense_rank() OVER (PARTITION BY p ORDER BY id)": [4, 8, 12],
    "lag(x, 2) OVER (PARTITION BY p ORDER BY id)": [4, 8, 12],
    "lag(x) IGNORE NULLS OVER (PARTITION BY p ORDER BY id)": [4, 8, 12],
    "lead(x) OVER (PARTITION BY p ORDER BY id)": [3, 7, 11],
    "lead(x, 3) OVER (PARTITION BY p ORDER BY id)": [1, 5, 9],
    "last_value(x) OVER (PARTITION BY p ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)": [3, 7, 11],
    "first_value(x) OVER (PARTITION BY p ORDER BY id ROWS UNBOUNDED PRECEDING)": [4, 8, 12],
    "sum(x) OVER (PARTITION BY p)": [0, 0, 0],
    "sum(x) OVER (PARTITION BY p ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)": [0, 0, 0],
    "ntile(2) OVER (PARTITION BY p ORDER BY id)": [0, 0, 0],
    "percent_rank() OVER (PARTITION BY p ORDER BY id)": [0, 0, 0],
    "cume_dist() OVER (PARTITION BY p ORDER BY id)": [0, 0, 0],
}


@pytest.mark.parametrize("text", LEAVES)
def test_rows_are_output_as_soon_as_they_are_complete(text):
    op = wr.operator({"c": text}, ONE.schema)
    assert emitted(op, ONE.to_batches(max_chunksize=4)) == [*LEAVES[text], 12]


@pytest.mark.parametrize("text", LEAVES)
def test_a_new_partition_completes_the_previous_one(text):
    table = ONE.set_column(0, "p", pa.array([1] * 5 + [2] * 2 + [3] * 5))
    *_, last, end = emitted(wr.operator({"c": text}, table.schema), table.to_batches(max_chunksize=8))
    first, *_ = emitted(wr.operator({"c": text}, table.schema), table.to_batches(max_chunksize=8))
    assert first >= 7
    assert (last, end) == (max(last, 7), 12)


def test_calls_wait_for_one_another():
    calls = {"a": "row_number() OVER (PARTITION BY p ORDER BY id)", "b": "lead(x, 3) OVER (PARTITION BY p ORDER BY id)"}
    assert emitted(wr.operator(calls, ONE.schema), ONE.to_batches(max_chunksize=4)) == [1, 5, 9, 12]


# ---- any cutting gives the same answer


def data(rng, rows, descending):
    """Make rows grouped by p (nulls first) and ordered by k, then by id."""
    table = pa.table(
        {
            "p": pa.array([rng.choice([None, 1, 1, 1, 2, 3]) for _ in range(rows)], pa.int32()),
            "k": pa.array([rng.choice([None, *range(0, 30, 3)]) for _ in range(rows)], pa.int64()),
            "x": pa.array([rng.choice([None, rng.randint(-9, 9)]) for _ in range(rows)], pa.int64()),
            "y": pa.array([rng.choice([None, rng.gauss(0, 9), 1e18, float("nan")]) for _ in range(rows)]),
            "s": pa.array([rng.choice([None, "", "a", "bb", "cc" * 9]) for _ in range(rows)]),
            "f": pa.array([rng.choice([None, True, True, False]) for _ in range(rows)]),
            "n": pa.array([rng.randint(0, 3) for _ in range(rows)], pa.int64()),
        }
    )
    p, k = table["p"].to_pylist(), table["k"].to_pylist()
    sign = -1 if descending else 1

    def place(i):  # nulls first ascending, last descending
        return (p[i] is not None, p[i] or 0, (k[i] is None) == descending, sign * (k[i] or 0))

    return table.take(pa.array(sorted(range(rows), key=place), pa.int64())).append_column("id", pa.array(range(rows)))


BOUNDS = ["UNBOUNDED {}", "CURRENT ROW", "1 {}", "2 {}", "5 {}", "7 {}"]
FUNCTIONS = [
    "count(*)", "count(x)", "sum(x)", "avg(x)", "min(x)", "max(s)", "sum(y)", "avg(y)", "min(y)", "stddev_samp(y)",
    "bool_and(f)", "bool_or(f)", "sum(x) FILTER (WHERE f)", "first_value(x)", "last_value(s)", "nth_value(x, 2)",
    "first_value(s) IGNORE NULLS", "last_value(x) IGNORE NULLS", "nth_value(y, 2) IGNORE NULLS", "max(y)",
]  # fmt: skip
UNFRAMED = [
    "row_number()", "rank()", "dense_rank()", "percent_rank()", "cume_dist()", "ntile(3)", "lag(x)", "lead(x)",
    "lag(s, 3, 'none')", "lead(y, 4)", "lag(x) IGNORE NULLS", "lead(s, 2) IGNORE NULLS",
    "lag(x, 2, n) IGNORE NULLS", "lead(x, -2)",
]  # fmt: skip


def make_call(rng, order):
    over = f"PARTITION BY p ORDER BY {order}" if rng.random() < 0.9 else "PARTITION BY p"
    if rng.random() < 0.3 and "ORDER" in over:
        return f"{rng.choice(UNFRAMED)} OVER ({over})"
    if rng.random() < 0.1 or "ORDER" not in over:
        function = rng.choice([f for f in FUNCTIONS if "nth" not in f or "ORDER" in over])
        return f"{function} OVER ({over})"
    units = rng.choice(["ROWS", "ROWS", "RANGE", "GROUPS"])
    sides = [("PRECEDING", "FOLLOWING"), ("PRECEDING", "FOLLOWING"), ("PRECEDING", "PRECEDING"), ("FOLLOWING",) * 2]
    first, last = rng.choice(sides)
    start, end = rng.choice(BOUNDS).format(first), rng.choice(BOUNDS).format(last)
    if "UNBOUNDED FOLLOWING" in start:
        start = "CURRENT ROW"
    if "UNBOUNDED PRECEDING" in end:
        end = "1 PRECEDING"
    if rng.random() < 0.1:
        start, end = "n PRECEDING", "n FOLLOWING"
    exclude = rng.choice(["", "", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"])
    return f"{rng.choice(FUNCTIONS)} OVER ({over} {units} BETWEEN {start} AND {end}{exclude})"


def cut(table, sizes):
    """Cut a table into batches of these sizes, the last repeated; slices of one batch, so they have offsets."""
    (whole,) = table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
    batches, at, turn = [], 0, 0
    while at < table.num_rows:
        size = sizes[min(turn, len(sizes) - 1)]
        size = max(size, 1) if turn >= len(sizes) else size
        batches.append(whole.slice(at, size))
        at, turn = at + size, turn + 1
    return [*batches, whole.slice(table.num_rows, 0)]


def same_column(ours, theirs):
    ours, theirs = ours.to_pylist(), theirs.to_pylist()
    return len(ours) == len(theirs) and all(
        a == b or (a != a and b != b) or (isinstance(a, float) and isinstance(b, float) and abs(a - b) <= 1e-9 * abs(b))
        for a, b in zip(ours, theirs, strict=True)
    )


@pytest.mark.slow
@seeded(SEED)
@settings(
    max_examples=150 * FUZZ,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    seed=st.integers(0, 2**32),
    rows=st.sampled_from([0, 1, 2, 5, 30, 100]),
    sizes=st.lists(st.integers(0, 12), min_size=1, max_size=12),
    descending=st.booleans(),
    calls=st.integers(1, 4),
)
def test_any_cutting_gives_the_same_answer(seed, rows, sizes, descending, calls):
    rng = random.Random(seed)
    table = data(rng, rows, descending)
    asked = {}
    for number in range(calls):
        text = make_call(rng, "k DESC" if descending else "k")
        try:
            wr.operator({"c": text}, table.schema)
        except wr.SpecError:  # bounds the wrong way round
            continue
        asked[f"c{number}"] = text
    if not asked:
        return
    whole = wr.with_columns(table, asked)
    batches = cut(table, sizes)
    out = list(wr.operator(asked, table.schema)(batches))
    streamed = pa.Table.from_batches(out, whole.schema)
    assert streamed.num_rows == table.num_rows
    for name in table.column_names:
        assert same_column(streamed[name], table[name])
    for name, text in asked.items():
        assert same_column(streamed[name], whole[name]), f"{text} in {[b.num_rows for b in batches]}"


@pytest.mark.parametrize("size", [1, 7, 64])
def test_many_partitions_in_a_batch_and_many_batches_in_a_partition(size):
    rng = random.Random(size)
    rows = sorted((rng.choice([*range(300), *[5] * 100]), i) for i in range(2000))
    table = pa.table({"p": [r[0] for r in rows], "id": [r[1] for r in rows], "x": [rng.randint(0, 9) for _ in rows]})
    calls = {f"c{i}": text for i, text in enumerate(LEAVES)}
    streamed = pa.Table.from_batches(wr.operator(calls, table.schema)(table.to_batches(max_chunksize=size)))
    assert streamed.equals(wr.with_columns(table, calls))


def test_partitions_need_not_ascend():
    table = pa.table({"p": ["z", "z", "a", "m", "m"], "id": [1, 2, 1, 1, 2], "x": [1, 2, 3, 4, 5]})
    op = wr.operator({"c": "sum(x) OVER (PARTITION BY p ORDER BY id)"}, table.schema)
    assert [x for b in op(table.to_batches(max_chunksize=1)) for x in b["c"].to_pylist()] == [1, 3, 3, 4, 9]


@pytest.mark.parametrize("text", LEAVES)
def test_a_finished_stream_holds_nothing(text):
    stream = plan_of(ONE.schema, text).stream()
    first = [pa.record_batch(b) for b in stream.push(ONE.to_batches()[0]) + stream.finish()]
    assert stream.buffered_rows == 0
    assert pa.Table.from_batches(first).num_rows == 12


def test_the_same_operator_again_starts_afresh():
    op = wr.operator({"c": "sum(x) OVER (ORDER BY id)"}, ONE.schema)
    once, twice = (pa.Table.from_batches(op(ONE.to_batches(max_chunksize=5))) for _ in range(2))
    assert once.equals(twice)
    halfway = op(iter(ONE.to_batches(max_chunksize=5)))
    next(halfway)
    assert pa.Table.from_batches(op(ONE.to_batches())).equals(once)


# ---- out of order


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("ids", "order", "row"),
    [
        ([1, 2, 4, 3, 5], "id", 3),
        ([5, 4, 4, 2, 3], "id DESC", 4),
        ([1, None, 2, 3, 4], "id", 1),
        ([None, None, 2, 3, 1], "id", 4),
        ([1, 2, None, 3, 3], "id NULLS LAST", 3),
    ],
)
def test_the_row_out_of_order_is_named(size, ids, order, row):
    table = pa.table({"id": pa.array(ids, pa.int64()), "x": [1] * 5})
    op = wr.operator({"c": f"sum(x) OVER (ORDER BY {order})"}, table.schema)
    with pytest.raises(wr.OrderError, match=rf"row {row}\b.*sort=True"):
        list(op(table.to_batches(max_chunksize=size)))


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_partition_that_comes_twice_is_named(size):
    table = pa.table({"p": [1, 1, 2, 2, 1], "id": [1, 2, 1, 2, 3], "x": [1] * 5})
    for text in ("sum(x) OVER (PARTITION BY p ORDER BY id)", "sum(x) OVER (PARTITION BY p)"):
        with pytest.raises(wr.OrderError, match=r"row 4\b.*p.*sort=True"):
            list(wr.operator({"c": text}, table.schema)(table.to_batches(max_chunksize=size)))


def test_sorting_on_request():
    rng = random.Random(3)
    order = rng.sample(range(200), 200)
    table = data(rng, 200, False).take(order)
    calls = {
        f"c{i}": t for i, t in enumerate(["sum(x) OVER (PARTITION BY p ORDER BY id)", "ntile(3) OVER (ORDER BY id)"])
    }
    expected = wr.with_columns(table, calls)
    out = pa.Table.from_batches(wr.operator(calls, table.schema, sort=True)(table.to_batches(max_chunksize=17)))
    assert out.select(list(calls)).equals(expected.select(list(calls)))
    with pytest.raises(wr.SpecError, match="more than one order"):
        list(wr.operator(calls, table.schema, sort=False)(table.to_batches()))


# ---- memory


def plan_of(schema, *texts):
    outputs = [Output(f"c{i}", parse_call(text)) for i, text in enumerate(texts)]
    with wr.config(threads=1, ansi=True, timezone="UTC"):
        [step] = plan_steps(outputs, schema.names).computes()
        return make_plan(schema, step.calls, current())


BATCH = 50_000


def lazily(batches):
    for number in range(batches):
        start = number * BATCH
        ids = pa.array(range(start, start + BATCH), pa.int64())
        yield pa.record_batch(
            {"p": pa.nulls(BATCH, pa.int32()).fill_null(1), "id": ids, "x": pc.bit_wise_and(ids, 1023)}
        )


BOUNDED = {
    "sum(x) OVER (PARTITION BY p ORDER BY id)": 2,
    "sum(x) OVER (PARTITION BY p ORDER BY id ROWS BETWEEN 1000 PRECEDING AND CURRENT ROW)": 1_000,
    "min(x) OVER (PARTITION BY p ORDER BY id ROWS BETWEEN 1000 PRECEDING AND 1000 FOLLOWING)": 2_000,
    "avg(x) OVER (PARTITION BY p ORDER BY id RANGE BETWEEN 500 PRECEDING AND CURRENT ROW)": 502,
    "first_value(x) OVER (PARTITION BY p ORDER BY id ROWS UNBOUNDED PRECEDING)": 2,
    "last_value(x) IGNORE NULLS OVER (PARTITION BY p ORDER BY id ROWS UNBOUNDED PRECEDING)": 2,
    "max(x) OVER (PARTITION BY p ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 10 PRECEDING)": 12,
    "sum(x) OVER (PARTITION BY p ORDER BY id GROUPS BETWEEN 3 PRECEDING AND 3 FOLLOWING)": 8,
    "rank() OVER (PARTITION BY p ORDER BY id)": 2,
    "lag(x, 100) OVER (PARTITION BY p ORDER BY id)": 101,
    "lag(x, 2) IGNORE NULLS OVER (PARTITION BY p ORDER BY id)": 4,
}


@pytest.mark.parametrize("text", BOUNDED)
def test_moving_and_growing_frames_hold_no_more_than_their_reach(text):
    batches = list(lazily(8))
    stream = plan_of(batches[0].schema, text).stream()
    held = []
    for batch in batches:
        stream.push(batch)
        held.append(stream.buffered_rows)
    assert max(held) <= BOUNDED[text] + 2
    stream.finish()
    assert stream.buffered_rows == 0


@pytest.mark.parametrize(
    "text",
    [
        "sum(x) OVER (PARTITION BY p)",
        "sum(x) OVER (PARTITION BY p ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)",
    ],
)
def test_entire_and_shrinking_frames_hold_their_partition(text):
    schema = next(lazily(1)).schema
    stream = plan_of(schema, text).stream()
    for number, batch in enumerate(lazily(3), 1):
        assert stream.push(batch) == []
        assert stream.buffered_rows == number * BATCH
    other = pa.record_batch([pa.array([2], pa.int32()), pa.array([0]), pa.array([0])], schema=schema)
    assert sum(pa.record_batch(b).num_rows for b in stream.push(other)) == 3 * BATCH
    assert stream.buffered_rows <= 2


@pytest.mark.slow
def test_memory_stays_bounded_over_millions_of_rows():
    """Millions of rows of one partition, made as they are asked for, in a process of its own."""
    program = """
        import resource, sys
        import pyarrow as pa, pyarrow.compute as pc
        import windrow as wr
        ROWS = 65_536
        def lazily(batches):
            steps = pa.array(range(ROWS), pa.int64())
            for number in range(batches):
                ids = pc.add(steps, number * ROWS)
                yield pa.record_batch({"id": ids, "x": pc.bit_wise_and(ids, 1023)})
        op = wr.operator([
            wr.sum("x").over(wr.window(order_by="id")).alias("growing"),
            wr.sum("x").over(wr.window(order_by="id", rows=(-1000, 1000))).alias("moving"),
            wr.min("x").over(wr.window(order_by="id", rows=(-1000, 0))).alias("least"),
            wr.avg("x").over(wr.window(order_by="id", range=(-500, 500))).alias("near"),
            wr.row_number().over(wr.window(order_by="id")).alias("number"),
            wr.lag("x").over(wr.window(order_by="id")).alias("before"),
        ], pa.schema({"id": pa.int64(), "x": pa.int64()}))
        def run(batches):
            rows = 0
            for out in op(lazily(batches)):
                rows += out.num_rows
                last = out.slice(out.num_rows - 1).to_pylist()[0]
            return rows, last
        run(8)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rows, last = run(64)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert rows == 64 * ROWS and last["number"] == rows, last
        assert last["growing"] == rows // 1024 * (1023 * 1024 // 2), last
        print((after - before) // 1024)
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
    assert int(out.stdout) < 40, f"grew by {out.stdout} MB over 4 million rows (64 MB of them are the input alone)"


# ---- Spark


def test_state_never_leaks_between_groups_of_one_spark_partition(oracle_spark):
    rng = random.Random(11)
    rows = [(g, i, rng.choice([None, rng.randint(-9, 9)])) for g in range(60) for i in range(rng.choice([1, 1, 2, 9]))]
    rng.shuffle(rows)
    arrow = pa.table(
        {"g": [r[0] for r in rows], "id": [r[1] for r in rows], "x": pa.array([r[2] for r in rows], pa.int64())}
    )
    texts = [t.replace("PARTITION BY p", "PARTITION BY g") for t in LEAVES]
    calls = {f"c{i}": text for i, text in enumerate(texts)}
    frame = oracle_spark.createDataFrame(arrow)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        together = wr.with_columns(frame, calls)
        assert together.rdd.getNumPartitions() == 1
        together = together.toArrow().sort_by([("g", "ascending"), ("id", "ascending")])
    spark = frame.selectExpr("*", *[f"{t} AS c{i}" for i, t in enumerate(texts) if "GROUPS" not in t]).toArrow()
    spark = spark.sort_by([("g", "ascending"), ("id", "ascending")])
    for name in spark.column_names:
        assert together[name].to_pylist() == spark[name].to_pylist(), name
    for g in range(60):
        alone = wr.with_columns(arrow.filter(pc.equal(arrow["g"], g)).sort_by("id"), calls)
        assert together.filter(pc.equal(together["g"], g)).to_pydict() == alone.to_pydict()
