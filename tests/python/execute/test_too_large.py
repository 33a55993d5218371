"""Results and rows that cannot fit: the right answer, or an error before anything is filled; no process ends."""

import json
import subprocess
import sys

import pyarrow as pa
import pytest

import windrow as wr
from support.random_calls import FUZZ, SEED

#: Calls whose lists and texts together have some 1.6e9 to 2.2e9 values or more, of 47,000 rows.
LONG = [
    "collect_list(x) OVER ()",
    "collect_list(DISTINCT id) OVER ()",
    "collect_set(id) OVER ()",
    "array_agg(x) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW)",
    "array_agg(s) OVER ()",
    "collect_list(x) OVER (PARTITION BY id < 0)",
    "listagg(s, ', ') OVER ()",
    "listagg(s) WITHIN GROUP (ORDER BY id DESC) OVER ()",
    "listagg(DISTINCT s, ', ') OVER (PARTITION BY id < 0)",
]

REFUSED = """
import json, resource, sys, time
import pyarrow as pa
import windrow as wr

rows = 47_000
ids = pa.array(range(rows))
table = pa.table({"id": ids, "x": pa.array([i % 100 for i in range(rows)], pa.int8()), "s": ids.cast(pa.string())})
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, resource.RLIM_INFINITY))
for threads in (1, 2):
    for call in json.loads(sys.argv[1]):
        before = time.monotonic()
        try:
            with wr.config(threads=threads):
                found = str(wr.select(table, call).num_rows)
        except wr.MemoryLimitError as error:
            found = f"MemoryLimitError: {error}"
        print(json.dumps([call, found, time.monotonic() - before]), flush=True)
"""


@pytest.mark.slow
def test_results_that_cannot_fit_are_refused():
    done = subprocess.run(
        [sys.executable, "-c", REFUSED, json.dumps(LONG)], capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == 2 * len(LONG)
    for call, found, seconds in told:
        assert found.startswith("MemoryLimitError: "), (call, found)
        assert "MiB" in found, (call, found)
        assert call.split("(")[0] in found
        assert seconds < 5, "nothing is filled"


@pytest.mark.parametrize("number", range(4))
def test_results_that_fit_are_answered(number):
    """Lists of all rows of a partition, of a thousand rows."""
    rows = 1000
    table = pa.table({"id": range(rows), "x": pa.array([i % 7 for i in range(rows)], pa.int8())})
    call = ["collect_list(x)", "collect_set(x)", "listagg(x, ',')", "collect_list(DISTINCT id)"][number]
    found = wr.select(table, f"{call} OVER ()").column(0)
    first = found[0].as_py()
    assert len(first) == [rows, 7, 2 * rows - 1, rows][number]
    assert found.unique().to_pylist() == [first] if number == 2 else found.to_pylist() == [first] * rows


# ---- many runs of a sort by way of the disk

MANY_RUNS = """
import os, random, resource, sys
import numpy as np, pyarrow as pa
import windrow as wr

seed, spill_dir = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(seed)
rows, batch = int(rng.integers(30_000, 60_000)), int(rng.integers(150, 400))
drawn = {"k": rng.integers(0, 50, rows), "t": rng.integers(0, 3000, rows), "v": rng.integers(-99, 99, rows)}
table = pa.table({"id": range(rows), **drawn})
calls = {
    "n": "row_number() OVER (PARTITION BY k ORDER BY t)",  # ties as they came
    "s": "sum(v) OVER (PARTITION BY k ORDER BY t ROWS 5 PRECEDING)",
    "m": "max(v) OVER (ORDER BY t DESC, id ROWS 9 PRECEDING)",
}
expected = wr.with_columns(table, calls)
opened = len(os.listdir("/proc/self/fd"))
resource.setrlimit(resource.RLIMIT_NOFILE, (opened + 10, opened + 10))
with wr.config(memory_limit=1, spill_dir=spill_dir, threads=random.Random(seed).choice([1, 2])):
    operator = wr.operator(calls, table.schema, sort=True)
    found = pa.Table.from_batches(list(operator(table.to_batches(batch))))
assert found.sort_by("id").select(expected.column_names).equals(expected)
print(rows // batch)
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED, SEED + 2 * FUZZ))
def test_many_runs_take_few_files(seed, tmp_path):
    """More runs than are merged at once, twice over, where the process may open ten files more."""
    command = [sys.executable, "-c", MANY_RUNS, str(seed), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 64, "runs"
    assert not list(tmp_path.iterdir())


# ---- little memory left

LITTLE = """
import json, random, resource, sys
import numpy as np, pyarrow as pa
import windrow as wr
from windrow._windrow import keep_at_most

keep_at_most(1 << 20)  # nothing is kept from the call before
seed, trials = int(sys.argv[1]), int(sys.argv[2])
draw, rng = random.Random(seed), np.random.default_rng(seed)
rows = 150_000
table = pa.table({
    "id": rng.permutation(rows), "k": rng.integers(0, 40, rows), "far": rng.integers(0, rows // 3, rows),
    "v": pa.array(rng.integers(-999, 999, rows), mask=rng.random(rows) < 0.1), "d": rng.normal(size=rows),
    "s": pa.array(rng.integers(0, 5000, rows)).cast(pa.string()), "b": rng.random(rows) < 0.5,
})
CALLS = [
    "sum(v)", "avg(d)", "count(*)", "min(s)", "max(d)", "median(v)", "percentile(d, 0.3)", "mode(v)",
    "count(DISTINCT far)",
    "sum(DISTINCT v)", "first_value(s)", "last_value(v)", "nth_value(s, 2)", "stddev(d)", "approx_count_distinct(s)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY far)", "max_by(s, d)", "corr(v, d)", "bool_or(b)", "sum(s)",
]
ORDERED = [
    "row_number()", "rank()", "dense_rank()", "ntile(7)", "lag(s, 3)", "lead(v)", "cume_dist()", "lag(d, 2, 0.5)",
]
FRAMES = [
    "", "ROWS 50 PRECEDING", "ROWS BETWEEN 20 PRECEDING AND 20 FOLLOWING",
    "ROWS BETWEEN CURRENT ROW AND 1000 FOLLOWING",
    "ROWS BETWEEN 9 PRECEDING AND 9 FOLLOWING EXCLUDE CURRENT ROW",
]

def drawn():
    partition = draw.choice(["", "PARTITION BY k", "PARTITION BY s", "PARTITION BY far"])
    order = draw.choice(["ORDER BY id", "ORDER BY d DESC, id", "ORDER BY s, id"])
    if draw.random() < 0.3:
        return f"{draw.choice(ORDERED)} OVER ({partition} {order})"
    if draw.random() < 0.2:
        return f"{draw.choice(CALLS)} OVER ({partition})"
    return f"{draw.choice(CALLS)} OVER ({partition} {order} {draw.choice(FRAMES)})"

def space():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmSize"))
    return int(line.split()[1]) * 1024

for _ in range(trials):
    call, threads, headroom = drawn(), draw.choice([1, 2]), int(2 ** draw.uniform(21, 27))
    print(json.dumps([call, threads, headroom, "begun"]), flush=True)
    with wr.config(threads=threads):
        try:
            expected = wr.select(table, call)
        except (wr.SpecError, wr.UnsupportedError) as error:
            print(json.dumps([call, threads, headroom, "no question"]), flush=True)
            continue
        resource.setrlimit(resource.RLIMIT_AS, (space() + headroom, resource.RLIM_INFINITY))
        try:
            told = "answered" if wr.select(table, call).equals(expected) else "another answer"
        except wr.MemoryLimitError as error:
            told = "refused"
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(json.dumps([call, threads, headroom, told]), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED, SEED + 2 * FUZZ))
def test_little_memory_is_an_error(seed):
    """Random calls where the process may have little more: the right answer, or MemoryLimitError."""
    command = [sys.executable, "-c", LITTLE, str(seed), "25"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (told[-1:], done.stderr[-2000:])
    told = [case for case in told if case[-1] not in ("begun", "no question")]
    assert [case for case in told if case[-1] not in ("answered", "refused")] == []
    assert {"answered", "refused"} <= {case[-1] for case in told}
    assert len(told) > 15


PAST_2_GIB = [
    "first_value(s)",
    "any_value(s)",
    "max(s)",
    "nth_value(s, 1)",
    "max_by(s, -id)",
    "collect_list(s)",
    "lag(s, id)",
]


@pytest.mark.parametrize("call", PAST_2_GIB)
def test_text_past_2_gib_names_the_call_and_the_type_that_holds_it(call):
    """One text of a megabyte, of which the result would have thousands."""
    rows = 2300
    table = pa.table({"id": range(rows), "s": ["x" * 1_000_000] + [""] * (rows - 1)})
    text = f"{call} OVER (ORDER BY id)"
    with pytest.raises(wr.UnsupportedError, match=r"cast .*to a large or a view type") as caught:
        wr.with_columns(table, {"y": text})
    assert str(caught.value).startswith(call[:-1])
    assert "2 GiB" in str(caught.value)
    views = table.set_column(1, "s", table["s"].cast(pa.string_view()))
    if call != "collect_list(s)":  # lists that grow hold all values once more in each
        found = wr.with_columns(views, {"y": text})["y"]
        assert found.type == pa.string_view()
        assert found[rows - 1].as_py() == "x" * 1_000_000
