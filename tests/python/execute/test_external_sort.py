"""Rows that memory does not hold: sorted by way of the disk, and answered as in memory."""

import os
import re
import resource
import signal
import subprocess
import sys
import textwrap

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import windrow as wr
from support.paths import ROOT

np = pytest.importorskip("numpy")


def rows(number, seed=1):
    rng = np.random.default_rng(seed)
    masked = rng.random(number) < 0.1
    return pa.table(
        {
            "id": rng.permutation(number),
            "k": pa.array(rng.integers(0, 20, number), mask=rng.random(number) < 0.02),
            "t": rng.integers(0, number // 3, number),
            "v": pa.array(rng.integers(-1000, 1000, number), mask=masked),
            "d": rng.normal(size=number).round(3),
            "s": pa.array([f"text {i % 97}" * (i % 3) for i in range(number)], mask=masked),
            "view": pa.array([f"a longer text than fits a view {i % 13}" for i in range(number)], pa.string_view()),
        }
    )


ORDERED = "PARTITION BY k ORDER BY t, id"
CALLS = {
    "n": f"row_number() OVER ({ORDERED})",
    "before": f"lag(view, 2) OVER ({ORDERED})",
    "near": f"sum(v) OVER ({ORDERED} ROWS BETWEEN 20 PRECEDING AND 20 FOLLOWING)",
    "so_far": f"sum(v) OVER ({ORDERED})",
    "peers": "rank() OVER (PARTITION BY k ORDER BY t)",
    "other": "min(d) OVER (PARTITION BY k, s ORDER BY d DESC, id ROWS 3 PRECEDING)",
    "all": "count(*) OVER (ORDER BY id DESC)",
    "scalar": f"v - avg(v) OVER ({ORDERED} ROWS 5 PRECEDING)",
}


def answered(table, calls, limit, spill_dir=None, rows_per_batch=500):
    with wr.config(memory_limit=limit, spill_dir=spill_dir):
        operator = wr.operator([calls], table.schema, sort=True)
        out = list(operator(table.to_batches(rows_per_batch)))
    assert all(b.schema.equals(operator.schema) for b in out)
    return pa.Table.from_batches(out, operator.schema)


def by_id(table):
    plain = [pa.field(f.name, pa.string()) if pa.types.is_string_view(f.type) else f for f in table.schema]
    return table.cast(pa.schema(plain)).take(pc.sort_indices(table["id"]))


@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, "300MB", 1])
def test_answers_are_those_of_memory(limit, tmp_path):
    table = rows(8_000)
    expected = wr.with_columns(table, CALLS)
    found = answered(table, CALLS, limit, tmp_path)
    assert found.schema.equals(expected.schema)
    for name in expected.column_names:
        assert found[name].combine_chunks().equals(expected[name].combine_chunks()), name
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("limit", [1, None])
def test_a_single_column_and_no_rows(limit):
    table = pa.table({"id": [3, 1, 2]})
    assert by_id(answered(table, {"n": "row_number() OVER (ORDER BY id)"}, limit))["n"].to_pylist() == [1, 2, 3]
    assert answered(table, {"n": "count(*) OVER ()"}, None)["n"].to_pylist() == [3, 3, 3]
    assert answered(table.slice(0, 0), {"n": "row_number() OVER (ORDER BY id)"}, limit).num_rows == 0


AHEAD = {
    "buckets": "ntile(3) OVER (ORDER BY id)",
    "share": "percent_rank() OVER (PARTITION BY k ORDER BY t)",
    "of all": "max(d) OVER ()",
    "of each": "sum(v) OVER (PARTITION BY k)",
    "to come": "sum(v) OVER (PARTITION BY k ORDER BY t, id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "last": "last_value(view) OVER (ORDER BY t, id ROWS BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING)",
    "next": "lead(s, 3) IGNORE NULLS OVER (ORDER BY t, id)",
    "others": "count(s) OVER (ORDER BY id ROWS BETWEEN 9 PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW)",
}


def test_calls_of_following_rows_are_read_twice(tmp_path, monkeypatch):
    monkeypatch.setattr("windrow._execute.sectioned._MAX_ROWS", 1500)
    table = rows(20_000)
    expected = wr.with_columns(table, AHEAD)
    found = answered(table, AHEAD, 1, tmp_path, 2000)
    for name in AHEAD:
        assert by_id(found)[name].combine_chunks().equals(by_id(expected)[name].combine_chunks()), name
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("call", ["median(v) OVER (ORDER BY id)", "count(DISTINCT v) OVER ()"])
def test_what_needs_all_rows_at_once_says_so(call):
    with pytest.raises(wr.MemoryLimitError) as caught:
        answered(rows(150_000), {"x": call}, 400_000)
    message = str(caught.value)
    assert message.startswith(call.split(" OVER")[0]), message
    assert "memory_limit" in message
    assert "partition" in message


def test_a_full_disk_is_named_and_nothing_is_left(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(wr.SpillError, match="spill_dir") as caught:
            answered(rows(50_000), CALLS, 1_000_000, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert isinstance(caught.value, OSError)
    assert str(tmp_path) in str(caught.value)
    assert not list(tmp_path.iterdir())


IN_A_PROCESS = """
import os
import numpy as np, pyarrow as pa
import windrow as wr

LIMIT, BATCH, BATCHES, KEYS = {limit}, 10_000, {batches}, {keys}

def batches():
    rng = np.random.default_rng(1)
    for number in range(BATCHES):
        ids = np.arange(number * BATCH, (number + 1) * BATCH)
        yield pa.record_batch({{
            "id": ids, "k": ids % KEYS, "t": rng.integers(0, 10**9, BATCH), "v": rng.integers(0, 100, BATCH),
            "d": rng.random(BATCH), "s": pa.array([f"passenger {{i}}" for i in ids])}})

schema = next(batches()).schema
calls = {calls!r}
with wr.config(memory_limit=LIMIT, spill_dir={spill_dir!r}, threads=1):
    operator = wr.operator([calls], schema, sort=True)
    rows = total = 0
    for batch in operator(batches()):
        {each}
        rows += batch.num_rows
        total += sum(batch["n"].to_pylist())
# Not ru_maxrss: it begins with what the process had that started this one.
peak = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(rows, total, peak)
"""


def process(tmp_path, limit, batches, keys, calls, each="pass"):
    code = textwrap.dedent(IN_A_PROCESS).format(
        limit=limit, batches=batches, keys=keys, calls=calls, spill_dir=str(tmp_path), each=each
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ)


@pytest.mark.slow
@pytest.mark.parametrize("keys", [1, 1000])
def test_a_process_stays_within_its_limit(keys, tmp_path):
    """A partition five times the limit, or a thousand: 1.4 GB through 256 MB."""
    limit, batches = 256 << 20, 2000
    calls = {
        "n": "row_number() OVER (PARTITION BY k ORDER BY t)",
        "all": "max(d) OVER (PARTITION BY k)",
        "s2": "sum(v) OVER (PARTITION BY k ORDER BY t, id ROWS BETWEEN 100 PRECEDING AND 100 FOLLOWING)",
    }
    done = process(tmp_path, limit, batches, keys, calls)
    assert done.returncode == 0, done.stderr
    rows, total, peak = map(int, done.stdout.split())
    per_key = rows // keys
    assert rows == batches * 10_000
    assert total == keys * per_key * (per_key + 1) // 2
    assert peak <= limit * 1.25, f"{peak >> 20} MiB"
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("keys", [1, 1000])
def test_a_file_goes_through_a_reader_within_the_limit(keys, tmp_path):
    """Parquet to Parquet: examples/large_parquet.py, 0.4 GB through 256 MB."""
    pytest.importorskip("polars")
    source, target, spilled = tmp_path / "trips.parquet", tmp_path / "answered.parquet", tmp_path / "spilled"
    spilled.mkdir()
    example = [sys.executable, "-W", "error", str(ROOT / "examples" / "large_parquet.py")]
    subprocess.run([*example, "--make", "0.4", "--keys", str(keys), source], check=True)
    done = subprocess.run(
        [*example, "--limit", "256MB", source, target],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"WINDROW_SPILL_DIR": str(spilled)},
    )
    assert done.returncode == 0, done.stderr
    rows = pq.read_metadata(source).num_rows
    assert f": rows {rows:,}, batches " in done.stderr
    assert re.search(r", spilled [1-9][\d.]* [MG]iB, ", done.stderr), done.stderr
    first, *_ = done.stdout.splitlines()
    assert first.startswith(f"{rows:,} rows in ")
    assert int(first.split()[-2]) <= 320, first
    answered = pq.read_table(target, columns=["k", "t", "trip"])
    assert pc.sum(answered["trip"]).as_py() == sum(
        n * (n + 1) // 2 for n in pc.value_counts(answered["k"]).field("counts").to_pylist()
    )
    assert not list(spilled.iterdir())


@pytest.mark.slow
def test_a_killed_process_leaves_no_file(tmp_path):
    done = process(
        tmp_path, 64 << 20, 200, 10, {"n": "row_number() OVER (PARTITION BY k ORDER BY t)"}, "os.kill(os.getpid(), 9)"
    )
    assert done.returncode == -9
    assert not list(tmp_path.iterdir())
