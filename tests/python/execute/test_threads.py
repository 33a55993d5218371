"""Threads, signals and processes: the GIL is let go, Ctrl-C is heard, pickles and forks answer alike."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pyarrow as pa
import pytest

import windrow as wr
from support.tables import big

# ---- the GIL

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
            t = table(3_000_000)
            print("ready", flush=True)
            while True:
                wr.with_columns(t, wr.sum("y").over(wr.window(order_by="k", rows=(-1000, 1000))))
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
            t = table(2_000_000)
            print("ready", flush=True)
            while True:
                list(op(t.to_batches(max_chunksize=1000)))
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


@pytest.mark.slow
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
    assert pickle.loads(pickle.dumps(call, protocol)).equals(call)


@pytest.mark.slow
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
