"""wr.operator: batches in, batches out; pickled, forked, spawned."""

import multiprocessing
import pickle
import random
import re

import pyarrow as pa
import pytest

import windrow as wr

table = pa.table(
    {"id": [0, 1, 3, 4, 2, 5, 6], "device": [0, 0, 0, 0, 5, 5, 5], "level": [0, 1, 3, 1, 2, 3, 0]}
)  # grouped by device, ordered by id
near = wr.window("device", "id", range=(-1, 0))
call = wr.sum("level").over(near).alias("s")
SUMS = [0, 1, 3, 4, 2, 3, 3]


def sums(batches):
    return [x for b in batches for x in b["s"].to_pylist()]


def compute(op):
    return sums(op(table.to_batches(2)))


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("sort", [None, True, False])
def test_any_batch_size(size, sort):
    op = wr.operator(call, table.schema, sort=sort)
    out = list(op(table.to_batches(size)))
    assert sums(out) == SUMS
    assert all(b.schema == op.schema for b in out)
    assert pa.Table.from_batches(out).select(table.column_names).equals(table)


def test_tables_and_single_batches():
    op = wr.operator(call, table.schema)
    assert sums(op(table)) == sums(op(table.combine_chunks().to_batches()[0])) == SUMS
    assert sums(op(table.to_reader())) == SUMS


@pytest.mark.parametrize("seed", range(3))
def test_what_is_no_batch_is_refused(seed):
    """Wherever it comes, in whatever it comes."""
    rng, op = random.Random(seed), wr.operator(call, table.schema)
    batches = table.to_batches(2)
    things = [5, None, "x", {"id": [1]}, [batches[0]], table, table["id"], batches[0]["id"], object(), table.schema]
    for given in (None, 5, "ab", b"ab", object(), table["id"], table.to_pylist()):
        with pytest.raises(wr.SpecError, match="an operator takes an iterable of pyarrow record batches"):
            list(op(given))
    for _ in range(20):
        mixed = [*batches]
        mixed.insert(rng.randrange(len(mixed) + 1), rng.choice(things))
        way = rng.choice([iter, list, tuple, lambda m: (b for b in m)])
        with pytest.raises(wr.SpecError, match="an operator takes an iterable of pyarrow record batches"):
            list(op(way(mixed)))


def test_a_stream_as_schema_is_not_read():
    class Stream:
        """A stream of which each batch that is read is counted."""

        read = 0

        def batches(self):
            for batch in table.to_batches(2):
                self.read += 1
                yield batch

        def __arrow_c_stream__(self, requested_schema=None):
            reader = pa.RecordBatchReader.from_batches(table.schema, self.batches())
            return reader.__arrow_c_stream__(requested_schema)

    stream = Stream()
    op = wr.operator(call, stream)
    assert op.schema.names == [*table.column_names, "s"]
    assert stream.read == 0
    assert wr.with_columns(stream, call)["s"].to_pylist() == SUMS
    assert stream.read == 4


def with_metadata(rng, kind):
    """Give a type whose inner fields have metadata, as Spark's times have within structs."""
    if kind.num_fields == 0:
        return kind
    fields = [
        kind.field(i).with_type(with_metadata(rng, kind.field(i).type)).with_metadata({"p": str(rng.randrange(2))})
        for i in range(kind.num_fields)
    ]
    if pa.types.is_struct(kind):
        return pa.struct(fields)
    return pa.large_list(fields[0]) if pa.types.is_large_list(kind) else pa.list_(fields[0])


@pytest.mark.parametrize("sort", [None, True, False])
@pytest.mark.parametrize("seed", range(4))
def test_metadata_of_fields_within_others(seed, sort):
    """Which the schema that the operator was made for has not, or has otherwise."""
    rng, compared = random.Random(seed), 0
    for _ in range(6):
        kind = rng.choice([pa.time64("ns"), pa.int32(), pa.string()])
        for _ in range(rng.randrange(1, 4)):
            kind = rng.choice([lambda k: pa.struct([("tm", k), ("n", pa.int8())]), pa.list_, pa.large_list])(kind)
        declared = pa.schema([("id", pa.int64()), ("v", kind if rng.random() < 0.5 else with_metadata(rng, kind))])
        value = pa.nulls(1, kind)
        values = pa.concat_arrays([value, pa.array([None], kind), value])
        calls = {"a": "array_agg(v) OVER ()", "l": "last_value(v) OVER (ORDER BY id ROWS 1 PRECEDING)"}
        batches = []
        came = pa.schema([("id", pa.int64()), ("v", with_metadata(rng, kind))])
        for first in (0, 3):
            column = values.cast(came.field("v").type)
            batches.append(pa.RecordBatch.from_arrays([pa.array(range(first, first + 3)), column], schema=came))
        for memory_limit in (None, "1k"):
            with wr.config(memory_limit=memory_limit):
                made = wr.operator(calls, declared, sort=sort)
            rows = sorted((row for batch in made(batches) for row in batch.to_pylist()), key=lambda row: row["id"])
            assert [(r["id"], r["l"]) for r in rows] == [(i, r["v"]) for i, r in enumerate(rows)]
        compared += len(rows)
    assert compared == 36


def test_zero_rows_and_slices():
    batch = table.to_batches()[0]
    parts = [batch.slice(0, 0), batch.slice(0, 3), batch.slice(3, 0), batch.slice(3, 4), batch.slice(7, 0)]
    for sort in (True, False):
        assert sums(wr.operator(call, table.schema, sort=sort)(parts)) == SUMS
    assert list(wr.operator(call, table.schema)([])) == []


def test_sorting_keeps_the_batches():
    shuffled = table.take([6, 0, 4, 2, 1, 5, 3])
    op = wr.operator(call, shuffled, sort=True)
    out = list(op(shuffled.to_batches(3)))
    assert [b.num_rows for b in out] == [3, 3, 1]
    assert sums(out) == [SUMS[i] for i in (6, 0, 4, 2, 1, 5, 3)]


def test_passthrough_is_not_copied():
    (batch,) = table.to_batches()
    for sort in (True, False):
        for out in wr.operator(call, table.schema, sort=sort)([batch]):
            for name in table.column_names:
                ours, theirs = out[name].buffers()[1], batch[name].buffers()[1]
                assert theirs.address <= ours.address < theirs.address + theirs.size


def test_rows_out_of_order_are_named():
    out = wr.operator(call, table.schema)(table.take([6, 0, 4, 2, 1, 5, 3]).to_batches(2))
    with pytest.raises(wr.OrderError, match=r"row .*sort=True"):
        list(out)


def test_a_column_is_replaced_in_its_place():
    op = wr.operator(call.alias("level"), table.schema)
    assert op.schema.names == table.schema.names
    assert pa.Table.from_batches(op(table.to_batches(3)))["level"].to_pylist() == SUMS


def test_sql_dicts_and_expressions():
    op = wr.operator({"s": "sum(level * 1) OVER (PARTITION BY device ORDER BY id RANGE 1 PRECEDING)"}, table.schema)
    pytest.importorskip("polars")
    assert compute(op) == SUMS
    assert op.schema.names == [*table.schema.names, "s"]


def test_mistakes_are_raised_at_once():
    with pytest.raises(wr.SpecError, match="'levle' is unknown"):
        wr.operator(wr.sum("levle").over(near), table.schema)
    with pytest.raises(wr.SpecError, match="at least one"):
        wr.operator([], table.schema)


def test_batches_of_other_columns():
    op = wr.operator(call, table.schema)
    with pytest.raises(wr.DataError, match="came with the columns"):
        list(op(table.rename_columns(["a", "b", "c"]).to_batches()))


def test_settings_are_kept():
    with wr.config(threads=1, strategy="naive"):
        op = wr.operator(call, table.schema)
    assert pickle.loads(pickle.dumps(op))._options.strategy == "naive"
    assert compute(op) == SUMS


@pytest.mark.parametrize("dump", ["pickle", "cloudpickle"])
def test_pickles(dump):
    op = wr.operator([call], table.schema)
    dumps = pytest.importorskip(dump).dumps
    copy = pickle.loads(dumps(op))
    assert compute(copy) == SUMS
    assert copy.schema == op.schema
    compute(op)
    assert compute(pickle.loads(dumps(op))) == SUMS  # used ones too


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_other_processes(method):
    op = wr.operator([call], table.schema)
    assert compute(op) == SUMS  # threads of this process must not be missed in the next
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(compute, [op, op]) == [SUMS, SUMS]


def test_state_does_not_leak_between_groups():
    rows = [(g, i, g * 100 + i) for g in range(50) for i in range(g % 7 + 1)]
    groups = pa.table({"g": [r[0] for r in rows], "i": [r[1] for r in rows], "x": [r[2] for r in rows]})
    calls = {
        "run": wr.sum("x").over(wr.window("g", "i")),
        "low": wr.min("x").over(wr.window("g", "i", rows=(-2, 0))),
        "prev": wr.lag("x").over(wr.window("g", "i")),
    }
    together = pa.Table.from_batches(wr.operator(calls, groups.schema)(groups.to_batches(max_chunksize=11)))
    for g in range(50):
        alone = groups.filter(pa.compute.equal(groups["g"], g))
        mine = together.filter(pa.compute.equal(together["g"], g))
        assert wr.with_columns(alone, calls).to_pydict() == mine.to_pydict()


FUNCTIONS = (
    "count(x), sum(x), avg(x), min(x), max(x), first_value(x), last_value(x) IGNORE NULLS, nth_value(x, 2), lag(x)",
    "lead(x, 2, 0), lag(x) IGNORE NULLS, row_number(), rank(), percent_rank(), var_pop(x)",
)
FRAMES = (
    "",
    "ROWS 2 PRECEDING",
    "GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
    "ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES",
)
UNFRAMED = ("lag", "lead", "row_number", "rank", "percent_rank")


@pytest.mark.parametrize("function", re.findall(r"\w+\([^)]*\)(?: IGNORE NULLS)?", ", ".join(FUNCTIONS)))
def test_streams_answer_as_tables_do(function):
    rows = [(k, o // 2, None if (k + o) % 4 == 0 else (k * 7 + o * 3) % 11) for k in range(9) for o in range(k * 2)]
    data = pa.table({"k": [r[0] for r in rows], "o": [r[1] for r in rows], "x": [r[2] for r in rows]})
    frames = FRAMES[:1] if function.startswith(UNFRAMED) else FRAMES
    calls = {f"c{i}": f"{function} OVER (PARTITION BY k ORDER BY o {frame})" for i, frame in enumerate(frames)}
    expected = wr.with_columns(data, calls)
    for size in (1, 5, 100):
        for sort in (True, False):
            op = wr.operator(calls, data.schema, sort=sort)
            streamed = pa.Table.from_batches(op(data.to_batches(size)), op.schema)
            assert streamed.schema == expected.schema
            for name in expected.column_names:
                pairs = zip(streamed[name].to_pylist(), expected[name].to_pylist(), strict=True)
                # moments are merged in another order, so their last bits may differ
                assert all(a == b or a == pytest.approx(b, rel=1e-13) for a, b in pairs)


SLOW = """
import time, pyarrow as pa, windrow as wr
table = pa.table({"i": pa.array(range(300_000)), "x": pa.array(range(300_000))})
print("ready", flush=True)
with wr.config(strategy="naive", threads=1):
    wr.with_columns(table, s=wr.sum("x").over(wr.window(order_by="i", rows=(-100_000, 100_000))))
print("finished", flush=True)
"""


def test_interrupts_are_answered():
    import signal
    import subprocess
    import sys
    import time

    with subprocess.Popen(
        [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        before = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert time.monotonic() - before < 10
        assert "finished" not in out
        assert "KeyboardInterrupt" in err


def test_other_threads_run_meanwhile():
    import threading

    numbers = list(range(200_000))
    large = pa.table({"i": numbers, "x": numbers})
    turns = 0
    done = threading.Event()

    def turn():
        nonlocal turns
        while not done.wait(0.001):
            turns += 1

    thread = threading.Thread(target=turn)
    with wr.config(strategy="naive", threads=1):
        thread.start()
        try:
            wr.with_columns(large, s=wr.sum("x").over(wr.window(order_by="i", rows=(-1000, 1000))))
        finally:
            done.set()
            thread.join()
    assert turns > 3
