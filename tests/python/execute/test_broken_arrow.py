"""Arrow that breaks its promises: a DataError that names column and row, or the right answer, on every way."""

import os
import random
import struct
import subprocess
import sys
from collections import Counter

import pyarrow as pa
import pytest

import windrow as wr
from windrow._execute.arrow_columns import as_binary_type, drop_unreferenced_values
from windrow._execute.validation import Checker

from ..support.broken_arrow import around, draw, without_buffers
from ..support.paths import ROOT

TRIALS = 150


class Listed:
    """An aggregate of the values seen."""

    def initialize(self):
        return ()

    def update(self, state, value):
        return (*state, repr(value))

    def evaluate(self, state):
        return list(state)


W = wr.window(order_by="k")
CALLS = {
    "lag": wr.lag("x", 0).over(W),
    "last": wr.last_value("x").over(wr.window(order_by="k", rows=(None, None))),
    "list": wr.collect_list("x").respect_nulls().over(wr.window(order_by="k", rows=(-1, 0))),
    "user": wr.aggregate(Listed, "x", returns=pa.list_(pa.string())).over(wr.window(order_by="k", rows=(0, 0))),
    "scalar": "max(x IS NULL) OVER (ORDER BY k ROWS BETWEEN CURRENT ROW AND CURRENT ROW)",
    "unread": wr.row_number().over(W),
}
WAYS = ["table", "in_order", "stream", "sorted", "spilled"]


def computed(way, call, column, cuts):
    """Give the new column's values, checked as far as Arrow can."""
    table = pa.RecordBatch.from_arrays([pa.array(range(len(column)), pa.int64()), column], names=["k", "x"])
    if way in ("table", "in_order"):
        out = wr.with_columns(pa.Table.from_batches([table]), y=call, sort=False if way == "in_order" else None)
    else:
        ends = [*cuts, len(column)]
        batches = [table.slice(a, b - a) for a, b in zip([0, *cuts], ends, strict=True)]
        with wr.config(memory_limit="1B" if way == "spilled" else None):
            reader = pa.RecordBatchReader.from_batches(table.schema, batches)
            out = wr.with_columns(reader, y=call, sort=way != "stream").read_all()
    out["y"].validate(full=True)
    return out["y"].to_pylist()


def expected(name, values):
    if name == "lag":
        return values
    if name == "last":
        return values[-1:] * len(values)
    if name == "list":
        return [values[max(i - 1, 0) : i + 1] for i in range(len(values))]
    if name == "user":
        return [[repr(v)] for v in values]
    return [v is None for v in values]


def run_trials(seed, trials):
    """Run random columns through every way; give how often what came of it."""
    rng = random.Random(seed)
    seen = Counter()
    for number in range(trials):
        trial = draw(rng, rng.randrange(1, 9))
        rows = len(trial.column)
        cuts = sorted(rng.sample(range(1, rows), min(2, rows - 1)))
        for name, call in CALLS.items():
            if name == "scalar" and trial.kind in ("run_ends", "list_view"):
                continue  # Polars has no such series
            way = rng.choice(WAYS)
            where = (seed, number, trial.kind, trial.fault, trial.row, name, way, cuts)
            try:
                got = computed(way, call, trial.column, cuts)
            except wr.DataError as error:
                said = str(error)
                named = f"column 'x' is broken at row {trial.row}:" in said
                # a batch's dictionary may be broken at a value that no row of it shows
                shared = trial.kind == "dictionary" and f"value {trial.row} of its dictionary" in said
                if not (named or shared):
                    raise AssertionError((where, said)) from None
                seen["refused", trial.fault] += 1
                continue
            if name == "unread":
                assert got == list(range(1, rows + 1)), where
                seen["passed"] += 1
                continue
            assert trial.row is None, (where, got)
            assert got == expected(name, trial.values), (where, got)
            seen["answered"] += 1
    return seen


def run_empty(seed, trials):
    """Run columns with parts that have no rows and no buffers through every way; give how many were answered."""
    rng = random.Random(seed)
    seen = Counter()
    for number in range(trials):
        column, values = without_buffers(rng), []
        if rng.random() < 0.5:
            column, values = around(rng, column, rng.randrange(2, 5))
        column.validate(full=True)
        for name, call in CALLS.items():
            way = rng.choice(WAYS)
            where = (seed, number, str(column.type), name, way)
            try:
                got = computed(way, call, column, [1] if values else [])
            except wr.UnsupportedError:
                seen["refused"] += 1
                continue
            if name == "unread":
                assert got == list(range(1, len(values) + 1)), where
            else:
                assert got == expected(name, values), (where, got)
            seen["answered", bool(values)] += 1
    return seen


def in_a_process(code):
    """Run code in a process of its own, which broken data may end, and give what it prints."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout


def test_empty_parts_without_buffers():
    out = in_a_process(
        "from tests.python.execute.test_broken_arrow import run_empty\n"
        "seen = run_empty(1, 50)\n"
        "print(seen['answered', False], seen['answered', True])\n"
    )
    assert min(map(int, out.split())) > 60, out


def test_random_broken_columns():
    out = in_a_process(
        "from tests.python.execute.test_broken_arrow import run_trials\n"
        f"seen = run_trials(1, {TRIALS})\n"
        "print(sum(n for k, n in seen.items() if k[0] == 'refused'), seen['answered'], seen['passed'])\n"
        "assert {k[1] for k in seen if k[0] == 'refused'} == {'utf8', 'split', 'offsets', 'indices'}, seen\n"
    )
    refused, answered, passed = map(int, out.split())
    assert min(refused, answered) > TRIALS, out
    assert passed > TRIALS // 2, out


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_keys_of_a_table_may_be_any_bytes(kind, seed):
    """Text of which only the order is asked is compared as its bytes are."""
    rng = random.Random(seed)
    bytes_of = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    values = [rng.choice([None, rng.randbytes(rng.randrange(0, 20)), b"\xff"]) for _ in range(300)]
    column = pa.array(values, bytes_of[kind])
    rows = pa.array(range(300))
    chunks = [column.slice(0, 100).view(kind), column.slice(100).view(kind)]
    table = pa.table({"k": rows, "x": pa.chunked_array(chunks)})
    calls = {
        "rank": wr.dense_rank().over(wr.window(order_by="x")),
        "count": wr.count().over(wr.window("x")),
        "lag": wr.lag("k").over(wr.window("x", "k")),
    }
    expected = wr.select(pa.table({"k": rows, "x": column}), **calls)
    assert wr.select(table, **calls).equals(expected)
    assert expected["rank"].to_pylist().count(1) == values.count(None) > 50
    with pytest.raises(wr.DataError, match="'x' is broken at row"):
        wr.select(table, y=wr.lag("x").over(wr.window("x", "k")))


@pytest.mark.parametrize("seed", range(3))
def test_compaction_counts_no_null_slot(seed):
    rng = random.Random(seed)
    compared = 0
    for _ in range(60):
        rows, held = rng.randrange(1, 8), rng.randrange(1, 60)
        begins = [rng.randrange(held) for _ in range(rows)]
        sizes = [rng.randrange(min(held - b, 9) + 1) for b in begins]
        nulls = [rng.random() < 0.4 for _ in range(rows)]
        large = rng.random() < 0.5
        width, make = (pa.int64(), pa.LargeListViewArray) if large else (pa.int32(), pa.ListViewArray)
        column = make.from_arrays(
            pa.array(begins, width), pa.array(sizes, width), pa.array(range(held)), mask=pa.array(nulls)
        )
        begin = rng.randrange(rows)
        part = column.slice(begin)
        made = drop_unreferenced_values(part)
        made.validate(full=True)
        assert made.to_pylist() == part.to_pylist()
        compared += made is not part
    assert compared > 10


def test_lag_over_list_views_with_a_size_in_a_null_slot():
    views = pa.ListViewArray.from_arrays(
        pa.array([0, 3, 1], pa.int32()), pa.array([1, 2, 2], pa.int32()), pa.array([7, 8, 9, 5, 6])
    )
    table = pa.table({"k": [1, 2, 3], "lv": views})
    call = "lag(lv, 1) OVER (ORDER BY k)"
    for sort in (True, False):
        out = wr.with_columns(table.to_reader(), y=call, sort=sort).read_all()["y"]
        out.validate(full=True)
        assert out.to_pylist() == [None, [7], [5, 6]]


def test_nulls_where_none_may_be_are_named():
    field = pa.field("x", pa.int64(), nullable=False)
    broken = pa.array([1, None, 3])
    inner = pa.StructArray.from_arrays([broken], fields=[field])
    for column, kind in [(broken, field), (inner, pa.field("x", inner.type))]:
        table = pa.table([[1, 2, 3], column], schema=pa.schema([("k", pa.int64()), kind]))
        for frame, sort in [(table, None), (table.to_batches()[0], None), (table.to_reader(), True)]:
            with pytest.raises(wr.DataError, match=r"column 'x'.* row 1"):
                list(wr.with_columns(frame, y=wr.lag("x").over(wr.window(order_by="k")), sort=sort))


@pytest.mark.parametrize("seed", range(4))
def test_nulls_where_none_may_be_are_named_whoever_looked_first(seed):
    rng = random.Random(seed)
    rows = rng.randint(1, 9)
    texts = [rng.choice("pq") for _ in range(rows)]
    texts[row := rng.randrange(rows)] = None
    schema = pa.schema([pa.field("x", pa.string(), nullable=False), pa.field("i", pa.int64())])
    table = pa.table([texts, range(rows)], schema=schema)
    calls = [
        "count(x || 'a') OVER ()",
        "count(x) OVER ()",
        "count(upper(x)) OVER (ORDER BY i)",
        "count(i) OVER (ORDER BY x)",
    ]
    calls += ["count(upper(x)) OVER (ORDER BY x)", "max(x) OVER (ORDER BY i)"]
    for _ in range(4):
        asked = rng.sample(calls, rng.randint(1, 4))
        if not any(c.startswith(("count(x)", "max")) or "BY x" in c for c in asked):
            asked.append("first(x) OVER (ORDER BY i)")
        items = {f"c{n}": c for n, c in enumerate(asked)}
        with pytest.raises(wr.DataError, match=f"'x'.* at row {row}"):
            wr.with_columns(table, items)
        with pytest.raises(wr.DataError, match=f"'x'.* at row {row}"):
            wr.with_columns(table.to_reader(), items, sort=True).read_all()


def test_dictionaries_with_a_null_among_their_values_spill():
    rows = 40
    batches = [
        pa.RecordBatch.from_arrays(
            [
                pa.array([2 * i, 2 * i + 1]),
                pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int32()), pa.array([None, f"v{i}"])),
            ],
            names=["k", "x"],
        )
        for i in reversed(range(rows))
    ]
    calls = {
        "n": wr.count().over(wr.window(order_by="k", rows=(None, None))),
        "last": wr.last_value("x").over(wr.window(order_by="k", rows=(None, None))),
    }
    with wr.config(memory_limit="1B"):
        reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
        out = wr.with_columns(reader, **calls, sort=True).read_all()
    assert out["x"].to_pylist() == [v for i in range(rows) for v in (f"v{i}", None)]
    assert out["n"].to_pylist() == [2 * rows] * (2 * rows)
    assert out["last"].to_pylist() == [None] * (2 * rows)


RUN_ENDS = pa.run_end_encoded(pa.int32(), pa.int64())
UNION = pa.sparse_union([pa.field("a", pa.int64()), pa.field("b", pa.string())])


@pytest.mark.parametrize("inner", [RUN_ENDS, UNION], ids=["run ends", "union"])
@pytest.mark.parametrize("way", ["stream", "sorted"])
def test_unions_and_run_ends_within_others_pass(inner, way):
    if inner is RUN_ENDS:
        values = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3], pa.int32()), pa.array([1, None, 3]))
    else:
        values = pa.UnionArray.from_sparse(
            pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])]
        )
        values = values.cast(inner) if values.type == inner else values
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), values)
    within = pa.StructArray.from_arrays([values], ["f"])
    columns = [values, lists, within]
    for column in columns:
        assert computed(way, CALLS["unread"], column, [1]) == [1, 2, 3]


@pytest.mark.parametrize("kind", [pa.binary(0), pa.list_(pa.int32(), 0)])
def test_types_without_width_are_refused_by_name(kind):
    column = pa.Array.from_buffers(
        kind, 3, [None, pa.py_buffer(b"")] if kind == pa.binary(0) else [None],
        children=[] if kind == pa.binary(0) else [pa.array([], pa.int32())],
    )  # fmt: skip
    for way in WAYS:
        with pytest.raises(wr.UnsupportedError, match='column "x"'):
            computed(way, CALLS["list"], column, [1])


def nested(levels):
    column = pa.array([1, 2, 3])
    for _ in range(levels - 1):
        column = pa.StructArray.from_arrays([column], ["f"])
    return column


LAYERS = ["struct", "struct", "fixed", "fixed", "list", "large_list", "list_view", "map"]


def within(layer, column, rng):
    """Put a column into another: one value, or a pair for each row, with some nulls."""
    rows = len(column)
    nulls = pa.array([rng.random() < 0.2 for _ in range(rows)])
    if layer == "struct":
        return pa.StructArray.from_arrays([pa.array(range(rows)), column], ["n", "f"], mask=nulls)
    if layer == "fixed":
        pairs = pa.array([rng.random() < 0.2 for _ in range(rows // 2)])
        return pa.FixedSizeListArray.from_arrays(column.slice(0, rows // 2 * 2), 2, mask=pairs)
    if layer == "list_view":
        return pa.ListViewArray.from_arrays(pa.array(range(rows), pa.int32()), pa.array([1] * rows, pa.int32()), column)
    if layer == "map":
        return pa.MapArray.from_arrays(pa.array(range(rows + 1), pa.int32()), pa.array(range(rows)), column)
    kind, maker = (pa.int32(), pa.ListArray) if layer == "list" else (pa.int64(), pa.LargeListArray)
    return maker.from_arrays(pa.array(range(rows + 1), kind), column, mask=nulls)


def nested_at_random(rng, depth):
    column = pa.array([None if rng.random() < 0.3 else i for i in range(150)], pa.int64())
    for layer in rng.choices(LAYERS, k=depth):
        column = within(layer, column, rng)
        if rng.random() < 0.5:
            column = column.slice(1, len(column) - 2)
    return column


@pytest.mark.parametrize("seed", range(12))
def test_slices_of_nested_columns(seed):
    rng = random.Random(seed)
    for depth in range(1, 5):
        column = nested_at_random(rng, depth)
        for way in WAYS:
            part = column.slice(rng.randrange(3), rng.randrange(4, 6))
            assert computed(way, CALLS["lag"], part, [1, 3]) == part.to_pylist(), (column.type, way)


@pytest.mark.parametrize("seed", range(12))
def test_nested_columns_beside_columns_in_other_pieces(seed):
    rng = random.Random(seed)
    for depth in range(1, 5):
        column = nested_at_random(rng, depth).slice(rng.randrange(3), rng.randrange(2, 7))
        rows = len(column)
        cut, at = rng.randrange(rows + 1), pa.array(range(rows))
        keys = pa.chunked_array([at.slice(0, cut), at.slice(cut)])
        last = rng.randrange(rows + 1)
        column = pa.chunked_array([column.slice(0, last), column.slice(last)])
        out = wr.with_columns(pa.table({"k": keys, "x": column}), y=CALLS["lag"])
        out.validate(full=True)
        assert out["y"].to_pylist() == column.to_pylist(), column.type


@pytest.mark.parametrize("way", WAYS)
def test_types_nested_too_deep_are_refused_by_name(way):
    for call in (CALLS["lag"], CALLS["list"]):
        assert len(computed(way, call, nested(60), [1])) == 3
        with pytest.raises(wr.UnsupportedError, match="60 types"):
            computed(way, call, nested(61), [1])


def test_results_of_user_functions_are_checked():
    broken = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(struct.pack("<3i", 0, 1, 3)), pa.py_buffer(b"a\xff\xfe")]
    )
    call = wr.vectorized(lambda x, begin, end: broken, "x", returns=str).over(wr.window(order_by="x"))
    with pytest.raises(wr.UserError, match="row 1"):
        wr.with_columns(pa.table({"x": [1, 2]}), y=call)


def test_list_views_of_one_buffer_are_counted_by_what_they_show():
    """Each batch shows one list of a thousand, and all of the buffer would not fit the limit."""
    rows = 1000
    views = pa.ListViewArray.from_arrays(
        pa.array(range(0, 100 * rows, 100), pa.int32()), pa.array([100] * rows, pa.int32()), pa.array(range(100 * rows))
    )
    whole = pa.RecordBatch.from_arrays([pa.array(range(rows, 0, -1)), views], names=["k", "x"])
    batches = [whole.slice(i, 1) for i in range(rows)]
    with wr.config(memory_limit="1MB"):
        reader = pa.RecordBatchReader.from_batches(whole.schema, batches)
        out = wr.with_columns(reader, y=wr.lag("k").over(wr.window(order_by="k")), sort=True).read_all()
    assert out["x"].to_pylist() == whole["x"].to_pylist()
    assert out["y"].to_pylist() == [*range(rows - 1, 0, -1), None]


def test_rows_of_batches_of_other_types_and_of_slices_of_unions_are_named():
    """The row counts from the first batch on, whatever type a batch comes in, and from where a slice begins."""
    rng = random.Random(5)
    kinds = [pa.string(), pa.large_string(), pa.string_view()]
    for _ in range(30):
        sizes = [rng.randrange(1, 5) for _ in range(rng.randrange(1, 4))]
        bad = rng.randrange(sum(sizes))
        texts = pa.array([b"\xff" if i == bad else b"x" for i in range(sum(sizes))])
        batches, begin = [], 0
        for size in sizes:
            part = texts.slice(begin, size).cast(rng.choice([pa.binary(), pa.large_binary(), pa.binary_view()]))
            text = part.view(next(k for k in kinds if as_binary_type(k) == part.type))
            batches.append(pa.record_batch([pa.array(range(begin, begin + size)), text], names=["k", "x"]))
            begin += size
        schema = pa.schema([("k", pa.int64()), ("x", rng.choice(kinds))])
        operator = wr.operator(["max(x) OVER (ORDER BY k)"], schema, sort=rng.random() < 0.5)
        with pytest.raises(wr.DataError, match=rf"column 'x' is broken at row {bad}:"):
            list(operator(batches))
    for _ in range(30):
        rows = rng.randrange(2, 8)
        bad, begin = rng.randrange(1, rows), rng.randrange(rows)
        codes = pa.array([1 if i == bad else rng.randrange(2) for i in range(rows)], pa.int8())
        text = pa.array([b"\xff" if i == bad else b"x" for i in range(rows)]).view(pa.string())
        if rng.random() < 0.5:
            union = pa.UnionArray.from_sparse(codes, [pa.array(range(rows)), text])
        else:
            union = pa.UnionArray.from_dense(codes, pa.array(range(rows), pa.int32()), [pa.array(range(rows)), text])
        part = union.slice(begin)
        if begin > bad:
            Checker().validated(part, "x")
            continue
        with pytest.raises(wr.DataError, match=f"at row {bad - begin}:"):
            Checker().validated(part, "x")
