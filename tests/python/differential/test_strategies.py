"""What holds whatever is computed: no copies, no GIL, interrupts, pickles and processes, strategies, threads, sorts."""

import copy
import math
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import windrow as wr
from alike import alike
from oracle import FUZZ, NUMERIC, listed, make_ask, make_spec, make_table, same

STRATEGIES = ["whole", "scan", "prefix", "index", "deque", "two_stacks", "segment_tree", "naive"]


# ---- no copies


def addresses(array):
    """Give the addresses of all buffers of an array, those of its children too."""
    return [None if b is None else b.address for b in array.buffers()]


ROWS = 1000
WIDE = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int64()),
        "text": pa.array([None if i % 7 == 0 else f"text {i}" for i in range(ROWS)]),
        "large": pa.array([f"text {i}" for i in range(ROWS)], pa.large_string()),
        "view": pa.array([f"a text that is not short {i}" for i in range(ROWS)], pa.string_view()),
        "flag": pa.array([i % 3 == 0 for i in range(ROWS)]),
        "list": pa.array([list(range(i % 4)) for i in range(ROWS)], pa.list_(pa.int32())),
        "struct": pa.array([{"a": i, "b": str(i)} for i in range(ROWS)]),
        "map": pa.array([[("k", i)] for i in range(ROWS)], pa.map_(pa.string(), pa.int64())),
        "code": pa.array([f"c{i % 5}" for i in range(ROWS)]).dictionary_encode(),
        "decimal": pa.array(range(ROWS), pa.decimal128(20, 2)),
        "zoned": pa.array(range(ROWS), pa.timestamp("us", "Europe/Paris")),
        "fixed": pa.array([b"abcd"] * ROWS, pa.binary(4)),
        "nothing": pa.nulls(ROWS),
    }
)
RUNNING = wr.sum("id").over(wr.window(order_by="id")).alias("s")


def test_a_tables_columns_keep_their_buffers():
    out = wr.with_columns(WIDE, RUNNING)
    for name in WIDE.column_names:
        assert out[name].num_chunks == WIDE[name].num_chunks
        for ours, theirs in zip(out[name].chunks, WIDE[name].chunks, strict=True):
            assert addresses(ours) == addresses(theirs), name


def test_a_shuffled_tables_columns_keep_their_buffers():
    calls = [wr.sum("id").over(wr.window(order_by=wr.desc("id"))), wr.rank().over(wr.window("code", "text"))]
    out = wr.with_columns(WIDE, calls)
    assert all(addresses(out[n].chunk(0)) == addresses(WIDE[n].chunk(0)) for n in WIDE.column_names)


def test_batches_keep_their_buffers():
    (batch,) = WIDE.to_batches()
    out = wr.with_columns(batch, RUNNING)
    assert all(addresses(out[n]) == addresses(batch[n]) for n in WIDE.column_names)


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("size", [1000, 130, 64, 7])
def test_an_operators_batches_are_slices_of_what_came_in(size, sort):
    (whole,) = WIDE.to_batches()
    batches = [whole.slice(at, size) for at in range(0, ROWS, size)]
    calls = [RUNNING, wr.lead("id", 3).over(wr.window(order_by="id")).alias("later")]
    rows = 0
    for out in wr.operator(calls, WIDE.schema, sort=sort)(batches):
        for name in WIDE.column_names:
            ours, theirs = out[name], whole[name]
            assert ours.equals(theirs.slice(rows, out.num_rows)), name
            if pa.types.is_struct(ours.type) or pa.types.is_null(ours.type):
                continue  # the offset of a slice moves into its fields
            ends = [(b.address, b.address + b.size) for b in theirs.buffers() if b is not None]
            for buffer in ours.buffers():
                inside = buffer is None or any(low <= buffer.address <= high for low, high in ends)
                # a bitmap may be cut at a bit, and then it is the one thing made anew
                assert inside or buffer.size <= out.num_rows // 8 + 64, name
        rows += out.num_rows
    assert rows == ROWS


def test_polars_columns_keep_their_buffers():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"id": range(ROWS), "x": [i / 2 for i in range(ROWS)], "s": [f"text {i}" for i in range(ROWS)]}
    )
    out = wr.with_columns(frame, RUNNING)
    for name in ("id", "x"):
        assert addresses(out[name].to_arrow())[1] == addresses(frame[name].to_arrow())[1], name


# ---- the GIL


def big(rows=2_000_000):
    ids = pa.array(range(rows), pa.int64())
    scattered = pa.compute.bit_wise_and(pa.compute.multiply(ids, 2_654_435_761), 2**31 - 1)
    return pa.table({"id": ids, "k": scattered, "x": pa.compute.divide(scattered, 7)})


SLOW = [
    wr.min("x").over(wr.window(order_by="k", rows=(-500, 500))),
    wr.sum("x").over(wr.window(order_by=wr.desc("k"))),
    wr.stddev_samp("x").over(wr.window(order_by=["x", "k"], rows=(-50, 3))),
]


def test_other_threads_run_while_rust_works():
    table = big()
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    wr.with_columns(table, SLOW)
    end = time.perf_counter()
    done.set()
    thread.join()
    during = [t for t in ticks if start < t < end]
    assert end - start > 0.05
    assert len(during) > (end - start) / 0.001 / 20
    assert max(b - a for a, b in zip([start, *during], [*during, end], strict=True)) < 0.5


def test_many_threads_at_once():
    table = big(20_000)
    expected = wr.with_columns(table, SLOW)
    with ThreadPoolExecutor(8) as pool:
        assert all(t.equals(expected) for t in pool.map(lambda _: wr.with_columns(table, SLOW), range(24)))


# ---- Ctrl-C

INTERRUPTED = {
    "naive": """
        with wr.config(strategy="naive", threads=THREADS):
            wr.with_columns(table(300_000), wr.min("x").over(wr.window(order_by="id", rows=(-200_000, 200_000))))
    """,
    "tree": """
        with wr.config(strategy="segment_tree", threads=THREADS):
            while True:
                wr.with_columns(table(3_000_000), wr.sum("y").over(wr.window(order_by="k", rows=(-1000, 1000))))
    """,
    "sort": """
        with wr.config(threads=THREADS):
            t = table(6_000_000)
            print("ready", flush=True)
            while True:
                wr.with_columns(t, wr.rank().over(wr.window(order_by=["s", "k"])))
    """,
    "stream": """
        op = wr.operator(wr.sum("y").over(wr.window(order_by="id", rows=(-100_000, 100_000))), table(1).schema)
        with wr.config(threads=THREADS):
            while True:
                list(op(table(2_000_000).to_batches(max_chunksize=1000)))
    """,
    "polars": """
        import polars as pl
        frame = pl.from_arrow(table(300_000))
        with wr.config(strategy="naive", threads=THREADS):
            wr.with_columns(frame, wr.min("x").over(wr.window(order_by="id", rows=(-200_000, 200_000))))
    """,
}
PROLOGUE = """
import pyarrow as pa, pyarrow.compute as pc
import windrow as wr
THREADS = {threads}
def table(rows):
    ids = pa.array(range(rows), pa.int64())
    k = pc.bit_wise_and(pc.multiply(ids, 2654435761), 2**31 - 1)
    return pa.table({{"id": ids, "k": k, "x": k, "y": pc.divide(pc.cast(k, "double"), 7.0), "s": pc.cast(k, "string")}})
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("work", INTERRUPTED)
def test_ctrl_c_stops_long_work_within_a_second(work, threads):
    body = textwrap.indent(textwrap.dedent(INTERRUPTED[work]).strip(), "    ").strip()
    program = PROLOGUE.format(threads=threads, work=body)
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(1 + INTERRUPTED[work].count('"ready"')):
            assert child.stdout.readline() == "ready\n"
        time.sleep(1.5)
        assert child.poll() is None
        start = time.perf_counter()
        child.send_signal(signal.SIGINT)
        said = child.stdout.readline()
        took = time.perf_counter() - start
        assert said == "interrupted\n", child.stderr.read()
        assert took < 1.0
    finally:
        child.kill()
        child.communicate()


# ---- pickles and processes

CALLS = {
    "a": "sum(x) FILTER (WHERE f) OVER (PARTITION BY p ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "b": "last_value(x) IGNORE NULLS OVER (PARTITION BY p ORDER BY id ROWS 3 PRECEDING EXCLUDE GROUP)",
    "c": "lag(x, 2, 0) OVER (PARTITION BY p ORDER BY id)",
    "d": "avg(d) OVER (PARTITION BY p ORDER BY id RANGE BETWEEN 2 PRECEDING AND CURRENT ROW)",
}
ROWS_IN_ORDER = pa.table(
    {
        "p": [1] * 6 + [2] * 4,
        "id": [*range(6), *range(4)],
        "x": [1, None, 3, 4, None, 6, 7, 8, None, 10],
        "f": [True, False, None, True, True, True, False, True, True, True],
        "d": pa.array(range(10), pa.decimal128(10, 2)),
    }
)


def run(op):
    return pa.Table.from_batches(op(ROWS_IN_ORDER.to_batches(max_chunksize=3))).to_pydict()


def build_and_run(_):
    return wr.with_columns(ROWS_IN_ORDER, CALLS).to_pydict()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_operators_and_calls_pickle(protocol):
    op = wr.operator(CALLS, ROWS_IN_ORDER.schema)
    expected = run(op)
    again = pickle.loads(pickle.dumps(op, protocol))
    assert run(again) == run(copy.deepcopy(op)) == expected
    assert again.schema == op.schema
    call = wr.sum("x").filter("f").over(wr.window("p", wr.desc("id", nulls="first"), range=("-1 mo", 0), min_rows=2))
    assert pickle.loads(pickle.dumps(call, protocol)) == call


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_forked_and_spawned_processes_answer_alike(method):
    op = wr.operator(CALLS, ROWS_IN_ORDER.schema)
    expected = run(op)
    with wr.config(threads=2):
        wr.with_columns(big(100_000), SLOW)  # this process has its threads by now
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        assert list(pool.map(run, [op] * 4)) == [expected] * 4
        assert list(pool.map(build_and_run, range(4))) == [expected] * 4


# ---- strategies and threads


def agree(a, b, tolerant):
    if tolerant and isinstance(a, float) and isinstance(b, float) and a != b:
        return abs(a - b) <= 1e-9 * max(abs(a), abs(b)) or (a != a and b != b)
    return same(a, b)


@pytest.mark.parametrize("number", range(12 * FUZZ))
def test_strategies_and_threads_agree(number):
    """The same random calls by each strategy that can, by one thread and by two."""
    rng = random.Random(number)
    table = make_table(rng, rng.choice([1, 30, 100]))
    asks = [make_ask(rng, spec) for spec in [make_spec(rng) for _ in range(5)] for _ in range(6)]
    tried = 0
    for ask in asks:
        try:
            expected = listed(wr.select(table, {"c": ask.text})["c"])
        except wr.WindrowError:
            continue
        tolerant = ask.argument.removeprefix("v_") in [*NUMERIC, "numeral"]
        for strategy in STRATEGIES:
            for threads in (1, 2):
                try:
                    with wr.config(strategy=strategy, threads=threads):
                        got = listed(wr.select(table, {"c": ask.text})["c"])
                except wr.SpecError as error:
                    assert "the strategy option asks for" in str(error)  # noqa: PT017
                    continue
                tried += 1
                assert all(agree(a, b, tolerant) for a, b in zip(got, expected, strict=True)), (ask.text, strategy)
    assert tried > 50


@pytest.mark.parametrize("strategy", [None, *[s for s in STRATEGIES if s != "scan"]])
def test_threads_change_nothing(strategy):
    """Large enough to be cut between threads, one huge partition and many small ones; the very same bits."""
    table = big(300_000).append_column("p", pa.array([i % 1000 for i in range(300_000)]))
    calls = [
        wr.sum("x").over(wr.window(order_by="id", rows=(-7, 7))),
        wr.avg("x").over(wr.window("p", "id", rows=(-7, 7))),
        wr.max("x").over(wr.window("p", "id", rows=(-3, 3))),
        wr.last_value("x").over(wr.window("p", "k", rows=(-3, 3))),
        wr.sum("y").over(wr.window(order_by="id", rows=(-9, 9))),
    ]
    table = table.append_column("y", pa.compute.divide(table["x"].cast(pa.float64()), 3.0))
    for call in calls:
        answers = []
        for threads in (1, 2, 3):
            try:
                with wr.config(threads=threads, strategy=strategy):
                    answers.append(wr.select(table, c=call)["c"])
            except wr.SpecError:
                break
        assert all(a.equals(answers[0]) for a in answers)


# ---- sorts


def test_one_sort_serves_all_calls_of_an_order():
    w = wr.window("p", "id")
    shown = repr(
        wr.explain(
            ROWS_IN_ORDER,
            wr.sum("x").over(w),
            wr.rank().over(w),
            wr.min("x").over(wr.window("p", "id", rows=(-1, 1))),
            wr.lag("x").over(wr.window(["p"], [wr.asc("id")])),
            wr.rank().over(wr.window("p", wr.desc("id"))),
            wr.count().over(wr.window("p", wr.asc("id", nulls="last"))),
        )
    )
    assert "sort 0: " in shown
    assert "sort 2: " in shown
    assert "sort 3: " not in shown


def test_sorted_input_is_not_sorted_again():
    """Sorted rows cost far less than shuffled ones; measured, because nothing else shows it."""
    rows = 1_500_000
    ordered = pa.table({"k": pa.array([f"{i:012d}" for i in range(rows)])})
    places = list(range(rows))
    random.Random(1).shuffle(places)
    shuffled = ordered.take(pa.array(places))
    call = wr.row_number().over(wr.window(order_by="k"))

    def best(table):
        times = []
        for _ in range(3):
            start = time.perf_counter()
            wr.select(table, n=call)
            times.append(time.perf_counter() - start)
        return min(times)

    assert best(ordered) < best(shuffled) / 2
    assert wr.select(ordered, n=call)["n"].to_pylist() == list(range(1, rows + 1))
    assert [n - 1 for n in wr.select(shuffled, n=call)["n"].to_pylist()] == places


FROM_START, TO_END = "UNBOUNDED PRECEDING AND", "AND UNBOUNDED FOLLOWING"
ENDS = [
    "first_value(x)",
    f"first_value(x) OVER (? ROWS BETWEEN {FROM_START} CURRENT ROW)",
    "first_value(x) IGNORE NULLS",
    f"first_value(x) IGNORE NULLS OVER (? ROWS BETWEEN {FROM_START} UNBOUNDED FOLLOWING)",
    f"first_value(x) OVER (? ROWS BETWEEN {FROM_START} 1 PRECEDING)",
    f"first_value(x) OVER (? GROUPS BETWEEN {FROM_START} CURRENT ROW EXCLUDE GROUP)",
    f"last_value(x) OVER (? RANGE BETWEEN CURRENT ROW {TO_END})",
    f"last_value(text) OVER (? ROWS BETWEEN {FROM_START} UNBOUNDED FOLLOWING)",
    f"last_value(x) FILTER (WHERE x > 0) OVER (? ROWS BETWEEN CURRENT ROW {TO_END})",
    f"last_value(x) FILTER (WHERE x > 0) OVER (? ROWS BETWEEN {FROM_START} UNBOUNDED FOLLOWING)",
    f"min(x) OVER (? ROWS BETWEEN {FROM_START} UNBOUNDED FOLLOWING)",
    f"max(y) OVER (? ROWS BETWEEN {FROM_START} UNBOUNDED FOLLOWING)",
    f"sum(x) OVER (? ROWS BETWEEN {FROM_START} UNBOUNDED FOLLOWING)",
]
ORDERS = ["t", "t DESC", "y NULLS LAST", "y DESC, t", "wide", "text", "x DESC NULLS LAST, text DESC"]


@pytest.mark.parametrize("rows", [5, 400, 300_000])
@pytest.mark.parametrize("keys", ["p", "p, text", None])
def test_answers_that_need_no_sort_are_those_of_sorted_rows(rows, keys):
    """A call alone may do without a sort; beside row_number() all rows are sorted."""
    rng = random.Random(rows)
    odd = [math.nan, -0.0, 0.0, math.inf, -1.5, None]
    table = pa.table(
        {
            "p": pa.array([rng.randrange(20) for _ in range(rows)], pa.int32()),
            "t": pa.array([rng.randrange(rows) for _ in range(rows)], pa.timestamp("us")),
            "x": pa.array([rng.choice([None, *range(-5, 40)]) for _ in range(rows)], pa.int64()),
            "y": pa.array([rng.choice(odd) for _ in range(rows)], pa.float64()),
            "wide": pa.array([rng.getrandbits(63) for _ in range(rows)], pa.int64()),
            "text": pa.array([f"a text too long for any word {rng.randrange(9)}" for _ in range(rows)]),
        }
    ).slice(1)
    for order in ORDERS:
        window = f"PARTITION BY {keys} ORDER BY {order}" if keys else f"ORDER BY {order}"
        for end in ENDS:
            call = end.replace("?", window) if "?" in end else f"{end} OVER ({window})"
            alone = wr.select(table, c=call)["c"]
            beside = wr.select(table, c=call, n=f"row_number() OVER ({window})")["c"]
            assert alone.type == beside.type
            assert [str(v) for v in listed(alone)] == [str(v) for v in listed(beside)], call


WITHIN = [
    "ROWS BETWEEN 6 PRECEDING AND 6 FOLLOWING",
    "ROWS BETWEEN 6 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 8 PRECEDING AND 2 PRECEDING",
    "ROWS BETWEEN 2 FOLLOWING AND 7 FOLLOWING",
    "ROWS BETWEEN 6 PRECEDING AND 9 FOLLOWING EXCLUDE TIES",
    "GROUPS BETWEEN 3 PRECEDING AND 6 FOLLOWING",
]
HELD = {
    "sum(x)": "naive",
    "avg(m)": "naive",
    "stddev_samp(x)": "naive",
    "min(x)": "naive",
    "max(y)": "naive",
    "max(text)": "naive",
    "first_value(y)": "naive",
    "last_value(x) IGNORE NULLS": "naive",
    "first_value(x) FILTER (WHERE x > 20) IGNORE NULLS": "naive",
    "nth_value(x, 3)": "naive",
    "collect_list(x)": "naive",
    "median(x)": "wavelet",
    "count(DISTINCT x)": "codes",
    "mode(x)": "codes",
}


@pytest.mark.parametrize("longest", [1, 4, 7, 8, 60])
@pytest.mark.parametrize("ordered", [False, True])
def test_frames_that_hold_their_partition(longest, ordered):
    """Partitions shorter than their frames, as long, and longer: each alone and beside others, sorted and not."""
    rng = random.Random(longest)
    sizes = [rng.randint(1, longest) for _ in range(2000)]
    keys = [key for key, size in enumerate(sizes) for _ in range(size)]
    rows = [(k, t, rng.choice([None, *range(40)]), rng.choice([-0.0, 0.0, None, -1.5])) for t, k in enumerate(keys)]
    if not ordered:
        rng.shuffle(rows)
    k, t, x, y = zip(*rows, strict=True)
    table = pa.table({"k": k, "t": [t // 2 for t in t], "u": t, "x": x, "y": y})
    table = table.append_column("text", pc.cast(table["x"], pa.string()))
    table = table.append_column("m", pc.cast(table["x"], pa.decimal128(21, 2)))
    for frame in WITHIN:
        order = "t" if "GROUPS" in frame or "TIES" in frame else "u"
        calls = {call: f"{call} OVER (PARTITION BY k ORDER BY {order} {frame})" for call in HELD}
        together = wr.select(table, **{f"c{i}": text for i, text in enumerate(calls.values())})
        for i, (call, text) in enumerate(calls.items()):
            with wr.config(strategy=HELD[call]):
                expected = wr.select(table, c=text)["c"]
            for got in (wr.select(table, c=text)["c"], together[f"c{i}"]):
                assert got.type == expected.type
                assert all(map(alike, got.to_pylist(), expected.to_pylist())), text


def test_ties_keep_input_order():
    table = pa.table({"k": [2, 1, 2, None, 1, None, 2], "i": range(7)})
    out = wr.select(table, "i", n=wr.row_number().over(wr.window(order_by="k"))).sort_by("n")
    assert out["i"].to_pylist() == [3, 5, 1, 4, 0, 2, 6]
    out = wr.select(table, "i", n=wr.row_number().over(wr.window(order_by=wr.desc("k")))).sort_by("n")
    assert out["i"].to_pylist() == [0, 2, 6, 1, 4, 3, 5]


# ---- one value, many Arrow types

TWINS = {
    "text": (pa.string(), [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.binary()]),
    "whole": (pa.int16(), [pa.int8(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]),
    "half": (pa.float64(), [pa.float32(), pa.float16()]),
    "money": (pa.decimal128(12, 2), [pa.decimal256(12, 2), pa.decimal128(30, 2), pa.decimal256(60, 2)]),
    "day": (pa.date32(), [pa.date64(), pa.timestamp("s"), pa.timestamp("ns")]),
    "moment": (pa.timestamp("us"), [pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("ns")]),
    "clock": (pa.time64("us"), [pa.time32("s"), pa.time32("ms"), pa.time64("ns")]),
    "span": (pa.duration("us"), [pa.duration("s"), pa.duration("ms"), pa.duration("ns")]),
}
TWIN_CALLS = [
    "count(*) OVER (PARTITION BY {c})",
    "dense_rank() OVER (ORDER BY {c})",
    "row_number() OVER (ORDER BY {c} DESC NULLS FIRST, id)",
    "count({c}) OVER (ORDER BY id ROWS 3 PRECEDING)",
    "min({c}) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING)",
    "max({c}) OVER (PARTITION BY p ORDER BY id)",
    "first_value({c}) IGNORE NULLS OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "lag({c}, 2) OVER (PARTITION BY p ORDER BY id)",
    "nth_value({c}, 2) OVER (PARTITION BY p ORDER BY id)",
    "count(*) OVER (PARTITION BY p ORDER BY {c} GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
]
TWIN_RANGES = {
    "whole": ["1", "2"],
    "half": ["0.5", "1"],
    "money": ["1", "0.25"],
    "day": ["INTERVAL '1' DAY", "INTERVAL '1' MONTH"],
    "moment": ["INTERVAL '1' DAY", "INTERVAL '1' MONTH", "INTERVAL '3' HOUR"],
    "clock": ["INTERVAL '1' HOUR"],
    "span": ["INTERVAL '1' HOUR"],
}
TWIN_SUMS = {
    "whole": ["sum", "avg", "stddev_pop"],
    "half": ["sum", "avg", "var_samp"],
    "money": ["sum"],
    "span": ["sum"],
}


def twins(rng, rows):
    draw = {
        "text": lambda: rng.choice(["", "a", "ab", "b", "a text that is not short"]),
        "whole": lambda: rng.randint(0, 9),
        "half": lambda: rng.randint(-8, 8) / 2,
        "money": lambda: rng.randint(-400, 400),
        "day": lambda: rng.randint(19_750, 19_790),
        "moment": lambda: (1_706_500_000 + rng.randint(0, 900) * 3600) * 1_000_000,
        "clock": lambda: rng.randint(0, 23) * 3_600_000_000,
        "span": lambda: rng.randint(-9, 9) * 3_600_000_000,
    }
    columns = {"id": pa.array(rng.sample(range(rows), rows)), "p": pa.array([rng.randint(0, 2) for _ in range(rows)])}
    for name, (data_type, _) in TWINS.items():
        columns[name] = pa.array([None if rng.random() < 0.15 else draw[name]() for _ in range(rows)], data_type)
    return pa.table(columns)


def comparable(column, data_type):
    """Give a result as Python values of the first type, so that twins can be told apart only by their values."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_binary(column.type) and pa.types.is_string(data_type):
        column = column.cast(pa.string())
    if pa.types.is_float16(column.type):
        return [None if v is None else float(v) for v in column.to_pylist()]
    if pa.types.is_temporal(column.type):
        return listed(column.cast(data_type))
    return [v if isinstance(v, (float, str, bool)) or v is None else int(v * 100) for v in column.to_pylist()]


@pytest.mark.parametrize("name", TWINS)
def test_the_same_values_in_other_types_give_the_same_answers(name):
    data_type, others = TWINS[name]
    table = twins(random.Random(len(name)), 80)
    calls = [c.format(c=name) for c in TWIN_CALLS]
    calls += [
        f"count(*) OVER (ORDER BY {name}{way} RANGE BETWEEN {by} PRECEDING AND {by} FOLLOWING)"
        for by in TWIN_RANGES.get(name, [])
        for way in ("", " DESC")
    ]
    calls += [f"{f}({name}) OVER (ORDER BY id ROWS 4 PRECEDING)" for f in TWIN_SUMS.get(name, [])]
    for call in calls:
        expected = comparable(wr.select(table, {"c": call})["c"], data_type)
        for other in others:
            twin = table.set_column(table.column_names.index(name), name, table[name].cast(other))
            got = wr.select(twin, {"c": call})
            kept = call.startswith(("min", "max", "first", "lag", "nth"))
            assert not kept or got.schema.field("c").type == other, (call, other)
            assert all(map(same, comparable(got["c"], data_type), expected)), (call, other)


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_infinite_timestamps_disturb_no_others(zone):
    """DuckDB and PostgreSQL write ±infinity as the least and greatest timestamps: beyond most calendars."""
    ends = 2**63 - 1
    keys = [-ends, -ends, -86_400_000_000, 0, 3_600_000_000, ends, None]
    table = pa.table({"k": pa.array(keys, pa.int64()).cast(pa.timestamp("us", zone))})
    for offset, expected in {
        "INTERVAL '1' DAY": [2, 2, 2, 3, 2, 1, 1],
        "INTERVAL '1' MONTH": [2, 2, 3, 3, 3, 1, 1],
        "INTERVAL '2' HOUR": [2, 2, 1, 2, 2, 1, 1],
    }.items():
        for way in ("NULLS LAST", "DESC NULLS FIRST"):
            frame = f"RANGE BETWEEN {offset} PRECEDING AND {offset} FOLLOWING"
            got = wr.select(table, {"c": f"count(*) OVER (ORDER BY k {way} {frame})"})["c"].to_pylist()
            assert got == expected, (offset, way)
