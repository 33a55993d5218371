"""Rows beyond the memory limit: on disk, and back in the order in which they came."""

import pickle
import subprocess
import sys
import textwrap

import pyarrow as pa
import pytest

import windrow as wr
from support.comparison import equal
from support.random_calls import rounds

np = pytest.importorskip("numpy")

LIMIT = 1 << 20


def rows(number, seed):
    """Rows in random order; a tenth of the partitions has half of them, keys of floats hold NaN, -0.0 and nulls."""
    rng = np.random.default_rng(seed)
    few = rng.random(number) < 0.5
    k = np.where(few, rng.integers(0, 20, number), rng.integers(0, max(2, number // 10), number))
    missing = rng.random(number) < 0.1
    return pa.table({
        "id": rng.permutation(number),
        "k": pa.array(k, mask=rng.random(number) < 0.02),
        "f": pa.array(rng.choice([0.0, -0.0, np.nan, 1.5, -np.inf], number), mask=missing),
        "s": pa.array([f"text {i % 211}" * (i % 3) for i in rng.integers(0, number, number)], mask=missing),
        "view": pa.array([f"longer than a view holds {i % 13}" for i in range(number)], pa.string_view()),
        "t": rng.integers(0, 50, number),
        "v": pa.array(rng.integers(-1000, 1000, number), mask=rng.random(number) < 0.1),
        "x": pa.array([[i, i + 1] for i in rng.integers(0, 9, number)], pa.list_(pa.int64())),
    })  # fmt: skip


CALLS = [
    "sum(v) OVER (PARTITION BY {k} ORDER BY t, id ROWS 20 PRECEDING)",
    "row_number() OVER (PARTITION BY {k} ORDER BY t)",  # ties are in the order of the rows
    "max(s) OVER (PARTITION BY {k})",
    "lag(view, 2) OVER (PARTITION BY {k} ORDER BY id DESC)",
    "collect_list(v) OVER (PARTITION BY {k} ORDER BY t, id ROWS 3 PRECEDING)",
    "last_value(x) OVER (PARTITION BY {k}, t ORDER BY id)",
    "median(v) OVER (PARTITION BY t, {k})",
    "v - avg(v) OVER (PARTITION BY {k} ORDER BY id ROWS 5 PRECEDING)",
    "sum(sum(v * 2) OVER (PARTITION BY {k} ORDER BY t, -id)) OVER (PARTITION BY {k} ORDER BY id ROWS 2 PRECEDING)",
]
KEYS = ["k", "f", "s", "view", "lower(s)", "k % 7", "x"]
OTHER = "count(*) OVER (PARTITION BY t ORDER BY id)"


def same(found, expected):
    """Compare two tables value by value; give how many values they have."""
    assert found.schema.equals(expected.schema)
    for name in expected.column_names:
        pairs = zip(found[name].to_pylist(), expected[name].to_pylist(), strict=True)
        differing = [row for row, (a, b) in enumerate(pairs) if not equal(a, b, rel=1e-12)]
        assert not differing, (name, differing[:5])
    return found.num_rows * found.num_columns


def computed(table, calls, limit, rows_per_batch, **options):
    with wr.config(memory_limit=limit, **options):
        operator = wr.operator([calls], table.schema, sort=True)
        batches = list(operator(table.to_batches(rows_per_batch)))
    assert all(b.schema.equals(operator.schema, check_metadata=True) for b in batches)
    return pa.Table.from_batches(batches, operator.schema)


@pytest.fixture
def divided(monkeypatch):
    """Count how often rows are divided."""
    from windrow._execute import on_disk

    made = []
    own = on_disk.HashPartitions

    class Counted:
        COUNT = own.COUNT

        def __new__(cls, *args):
            made.append(args)
            return own(*args)

    monkeypatch.setattr(on_disk, "HashPartitions", Counted)
    return made


@pytest.mark.parametrize("seed", rounds(28, 7))
def test_rows_are_those_of_memory_in_their_order(seed, divided, tmp_path):
    rng = np.random.default_rng(seed)
    table = rows(int(rng.integers(12_000, 20_000)), seed)
    key = KEYS[seed % len(KEYS)]
    calls = {f"c{i}": CALLS[i].format(k=key) for i in rng.choice(len(CALLS), 3, replace=False)}
    if rng.random() < 0.2:
        calls["other"] = OTHER
    found = computed(table, calls, LIMIT, int(rng.integers(100, 5_000)), spill_dir=str(tmp_path))
    assert same(found, wr.with_columns(table, calls)) == table.num_rows * (table.num_columns + len(calls))
    assert bool(divided) == ("other" not in calls)
    assert not list(tmp_path.iterdir())


def test_a_large_partition_is_sorted(divided):
    table = rows(30_000, 1).set_column(1, "k", pa.array(np.where(np.arange(30_000) % 10, 0, np.arange(30_000) % 50)))
    calls = {"near": CALLS[0].format(k="k"), "n": CALLS[1].format(k="k")}
    found = computed(table, calls, LIMIT, 1_000)
    assert same(found, wr.with_columns(table, calls)) == 30_000 * 10
    assert len(divided) > 1, "the part of the large partition is divided again, in vain"


def test_fewer_columns_and_what_passes(divided):
    """Columns that are not read pass through, text that is not UTF-8 as well; others are left out."""
    number = 20_000
    bad = pa.array([b"\xff" * (i % 7) for i in range(number)], pa.binary()).view(pa.string())
    table = rows(number, 2).append_column("bad", bad)
    with wr.config(memory_limit=LIMIT):
        reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(1_000))
        found = wr.select(reader, "bad", n=CALLS[1].format(k="k"), sort=True).read_all()
    assert divided
    assert found.column_names == ["bad", "n"]
    assert found["bad"].cast(pa.binary()).to_pylist() == bad.view(pa.binary()).to_pylist()
    assert found["n"].equals(wr.with_columns(table.drop_columns("bad"), n=CALLS[1].format(k="k"))["n"])


def test_columns_that_come_with_other_types(divided):
    """A column that no call reads keeps the type in which it came, and one that is read gets the declared one."""
    number = 20_000
    table = rows(number, 3).select(["k", "id", "t", "v"])
    table = table.append_column("later", table["id"])
    so_far = "sum(v) OVER (PARTITION BY k ORDER BY id)"
    calls = {"n": so_far, "before": f"lag(later) OVER (PARTITION BY k ORDER BY {so_far}, id)"}
    with wr.config(memory_limit=1 << 18):
        operator = wr.operator(calls, table.schema, sort=True)
        narrow = table.set_column(2, "t", table["t"].cast(pa.int32())).set_column(3, "v", table["v"].cast(pa.int16()))
        narrow = narrow.set_column(4, "later", table["later"].cast(pa.int32()))
        found = pa.Table.from_batches(operator(narrow.to_batches(1_000)))
    assert divided
    expected = wr.with_columns(table, calls)
    assert found["before"].equals(expected["before"])
    assert found.schema.field("t").type == pa.int32()
    assert found["n"].equals(expected["n"])
    assert found["v"].cast(pa.int64()).equals(expected["v"])


def test_columns_without_nulls_that_nobody_reads():
    table = rows(20_000, 9).select(["t", "id"])
    table = table.cast(pa.schema([f.with_nullable(False) for f in table.schema]))
    with wr.config(memory_limit=1 << 18):
        for call in ("row_number() OVER (ORDER BY id)", "sum(id) OVER (PARTITION BY t)"):
            found = wr.select(table.to_reader(1_000), n=call, sort=True).read_all()
            assert found["n"].equals(wr.select(table, n=call)["n"])


def test_wide_rows_stay_within_the_limit():
    """Two partitions of texts: a batch of a part is bounded by its bytes."""
    code = """
        import pyarrow as pa, windrow as wr
        schema = pa.schema({"k": pa.int64(), "id": pa.int64(), "s": pa.string()})
        def batches():
            for first in range(0, 40_000, 400):
                ids = range(first, first + 400)
                yield pa.record_batch([[i % 2 for i in ids], list(ids), [f"{i:08}" * 1000 for i in ids]], schema=schema)
        with wr.config(memory_limit="64MB", threads=1):
            op = wr.operator({"before": "lag(s) OVER (PARTITION BY k ORDER BY id)"}, schema, sort=True)
            rows = sum(batch.num_rows for batch in op(batches()))
        print(rows, int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) >> 10)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    number, peak = map(int, done.stdout.split())
    assert number == 40_000
    assert peak < 400, "320 MB of text, and as much again in results"


def test_half_of_the_memory_is_the_default(divided, monkeypatch):
    table = rows(20_000, 4)
    calls = {"near": CALLS[0].format(k="k")}
    monkeypatch.setattr("windrow._execute.on_disk.default_limit", lambda: LIMIT)
    found = computed(table, calls, None, 1_000)
    assert divided
    assert same(found, wr.with_columns(table, calls)) == 20_000 * 9
    divided.clear()
    monkeypatch.setattr("windrow._execute.on_disk.default_limit", lambda: None)
    assert same(computed(table, calls, None, 1_000), found) == 20_000 * 9
    assert not divided


def test_rows_with_categories_leave_in_the_order_of_the_windows(divided):
    table = rows(20_000, 5).drop_columns("view")
    table = table.set_column(3, "s", table["s"].dictionary_encode())
    calls = {"near": CALLS[0].format(k="s"), "most": "max(s) OVER (PARTITION BY k)"}
    found = computed(table, calls, LIMIT, 1_000)
    assert found["id"].to_pylist() != table["id"].to_pylist()
    assert same(found.sort_by("id"), wr.with_columns(table, calls).sort_by("id")) == 20_000 * 9
    assert not divided


def test_an_operator_is_pickled():
    table = rows(20_000, 6)
    calls = {"near": CALLS[0].format(k="lower(s)")}
    with wr.config(memory_limit=LIMIT):
        operator = pickle.loads(pickle.dumps(wr.operator(calls, table.schema, sort=True)))
    found = pa.Table.from_batches(operator(table.to_batches(1_000)))
    assert same(found, wr.with_columns(table, calls)) == 20_000 * 9


def test_errors_name_the_row():
    table = rows(20_000, 7)
    broken = pa.Array.from_buffers(pa.string(), 100, [None, *pa.array(["a"] * 99 + ["\u00e9"]).buffers()[1:]])
    cut = pa.py_buffer(broken.buffers()[2].to_pybytes()[:-1] + b"\xff")
    broken = pa.Array.from_buffers(pa.string(), 100, [None, broken.buffers()[1], cut])
    batch = table.slice(0, 100).combine_chunks().to_batches()[0].set_column(3, "s", broken)
    call = {"m": "max(s) OVER (PARTITION BY k)"}
    with wr.config(memory_limit=LIMIT):
        operator = wr.operator(call, table.schema, sort=True)
        with pytest.raises(wr.DataError, match=r"column 's' is broken at row 20099: .*UTF-8"):
            list(operator([*table.to_batches(1_000), batch]))


def test_what_runs_say():
    table = rows(20_000, 8)
    operator_runs = []
    with wr.config(memory_limit=LIMIT):
        operator = wr.operator({"near": CALLS[0].format(k="k")}, table.schema, sort=True)
        operator.report = operator_runs.append
        assert sum(b.num_rows for b in operator(table.to_batches(1_000))) == 20_000
    [run] = operator_runs
    assert run.rows == 20_000
    assert run.spilled_bytes > 20_000 * 24
    assert run.seconds["divide"] > 0
