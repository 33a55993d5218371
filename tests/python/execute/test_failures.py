"""Failures outside Spark: after each the right answer or a clear error, no file, no thread, and windrow works."""

import gc
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import pyarrow as pa
import pytest

import windrow as wr
from support.comparison import Answers, compare_with_memory
from support.processes import files_without_names, holds
from support.random_calls import asks_of, rounds
from windrow._execute import sectioned as sections

np = pytest.importorskip("numpy")

W = "PARTITION BY k ORDER BY id"
CALLS = {
    "n": f"row_number() OVER ({W})",
    "near": f"sum(v) OVER ({W} ROWS BETWEEN 20 PRECEDING AND 20 FOLLOWING)",
    "total": "sum(v) OVER (PARTITION BY k)",
    "part": "ntile(5) OVER (ORDER BY id)",
}


def rows(number=300_000):
    ids = np.random.default_rng(1).permutation(number)
    return pa.table({"id": ids, "k": ids % 7, "v": ids * 31 % 1000, "d": ids / 7})


@pytest.fixture
def nothing_left(tmp_path):
    """Hold the files that are open and the threads that run against those before; give a directory to spill to."""
    sound()
    gc.collect()  # what an earlier test left
    before, files = len(os.listdir("/proc/self/task")), files_without_names(os.getpid())
    yield tmp_path
    gc.collect()
    assert holds(lambda: len(os.listdir("/proc/self/task")) <= before, 5)
    assert files_without_names(os.getpid()) == files
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == []
    sound()


def sound():
    """Ask for what is known."""
    table = rows(1000)
    with wr.config(memory_limit=1):
        spilled = pa.Table.from_batches(wr.operator([CALLS], table.schema, sort=True)(table.to_batches(100)))
    assert spilled.sort_by("id").equals(wr.with_columns(table, CALLS).sort_by("id"))


def operator(table, calls, spill_dir, limit=1, sort=True):
    with wr.config(memory_limit=limit, spill_dir=spill_dir):
        return wr.operator([calls], table.schema, sort=sort)


# ---- a batch with corrupt offsets

CORRUPT = """
import json
import numpy as np, pyarrow as pa
import windrow as wr

ROWS, AT = 2000, 777
KINDS = [
    pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.list_(pa.int64()), pa.large_list(pa.int64()),
    pa.dictionary(pa.int32(), pa.string()), pa.string_view(), pa.map_(pa.int64(), pa.int64()),
    pa.struct({"in": pa.string()}),
]
WRONG = {"back": (AT, 5), "beyond": (AT, 50_000_000), "negative": (AT, -7), "last": (ROWS, 90_000), "first": (0, -50)}
CALLS = {
    "value": "min(x) OVER (PARTITION BY k ORDER BY id ROWS 5 PRECEDING)",
    "key": "count(*) OVER (PARTITION BY x)", "order": "row_number() OVER (ORDER BY x, id)",
    "lag": "lag(x) OVER (PARTITION BY k ORDER BY id)", "kept": "sum(id) OVER (PARTITION BY k ORDER BY id)",
    "expression": "max(length(x)) OVER (PARTITION BY k ORDER BY id)",
}

def made(kind):
    if pa.types.is_struct(kind):
        inner, places = made(pa.string())
        return pa.StructArray.from_arrays([inner], names=["in"]), places
    if pa.types.is_dictionary(kind):
        places = np.zeros(ROWS + 1, np.int32)
        indices = pa.Array.from_buffers(pa.int32(), ROWS, [None, pa.py_buffer(places)])
        return pa.DictionaryArray.from_arrays(indices, pa.array(["one", "two"])), places
    if kind == pa.string_view():
        views = np.zeros((ROWS + 1, 4), np.int32)
        views[:, 0] = 20  # that many bytes, from the beginning of the buffer on
        views[:, 1] = np.frombuffer(b"aaaa", np.int32)
        parts = [None, pa.py_buffer(views), pa.py_buffer(b"a" * 50)]
        return pa.Array.from_buffers(kind, ROWS, parts), views[:, 3]
    wide = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind) or pa.types.is_large_list(kind)
    offsets = np.arange(ROWS + 1, dtype=np.int64 if wide else np.int32) * 3
    buffers = [None, pa.py_buffer(offsets)]
    if pa.types.is_map(kind):
        entries = pa.StructArray.from_arrays([pa.array(range(3 * ROWS))] * 2, fields=[
            pa.field("key", pa.int64(), False), pa.field("value", pa.int64())])
        return pa.Array.from_buffers(kind, ROWS, buffers, children=[entries]), offsets
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.Array.from_buffers(kind, ROWS, buffers, children=[pa.array(range(3 * ROWS), pa.int64())]), offsets
    return pa.Array.from_buffers(kind, ROWS, [*buffers, pa.py_buffer(b"abc" * ROWS)]), offsets

def operator(batch, call, sort, limit=None):
    with wr.config(memory_limit=limit):
        op = wr.operator({"a": call}, batch.schema, sort=sort)
    return pa.Table.from_batches(list(op([batch.slice(at, 500) for at in range(0, ROWS, 500)])))

WAYS = {
    "table": lambda b, c: wr.with_columns(pa.Table.from_batches([b]), {"a": c}),
    "batch": lambda b, c: wr.with_columns(b, {"a": c}),
    "sorted": lambda b, c: operator(b, c, True),
    "streamed": lambda b, c: operator(b, c, False),
    "spilled": lambda b, c: operator(b, c, True, 1),
}
for kind in KINDS:
    for name, (at, to) in WRONG.items():
        if name == "back" and kind in (pa.string_view(), KINDS[6]):
            continue  # views and indices may go back
        for what, call in CALLS.items():
            for way, run in WAYS.items():
                x, places = made(kind)
                batch = pa.record_batch({"id": range(ROWS), "k": [i // 100 for i in range(ROWS)], "x": x})
                try:
                    before = run(batch, call)["a"].to_pylist()
                except (wr.SpecError, wr.UnsupportedError, wr.OrderError):
                    continue  # not a question for this type, or not one for rows in this order
                case = [str(kind), name, what, way]
                print(json.dumps([*case, "crash"]), flush=True)
                places[at] = to
                try:
                    same = run(batch, call)["a"].to_pylist() == before
                except ValueError as error:
                    said = str(error)
                except Exception as error:
                    said = f"wrong error: {type(error).__name__} {error}"
                else:
                    said = "same" if same and (what == "kept" or at == ROWS) else "another answer"
                print(json.dumps([*case, said]), flush=True)
"""


@pytest.mark.slow
def test_corrupt_offsets():
    """Offsets, views and indices that lie outside are refused, wherever the column is read, and nothing crashes."""
    done = subprocess.run([sys.executable, "-c", CORRUPT], capture_output=True, text=True, check=False, timeout=400)
    said = {tuple(case[:-1]): case[-1] for case in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0, (list(said)[-1:], done.stderr)
    assert len(said) > 500
    wrong = {case: what for case, what in said.items() if "wrong" in what[:5] or what in ("another answer", "crash")}
    assert not wrong
    told = [what for what in said.values() if what != "same"]
    assert len(told) > 400
    assert all("column" in what.lower() or "batch" in what for what in told)


# ---- a schema that changes between batches


def changing(table, column, at=3, name=None):
    """Give batches of which those from one on have another column in place of ``v``."""
    for number, batch in enumerate(table.to_batches(1000)):
        if number >= at:
            index = batch.schema.get_field_index("v")
            batch = batch.set_column(index, name or "v", column(batch["v"]))
        yield batch


READ = {"s": f"sum(v) OVER ({W})"}
PASSED = {"s": f"sum(id) OVER ({W})"}
HOW = {"memory": (None, True), "disk": (1, True), "stream": (None, False)}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("calls", [READ, PASSED], ids=["read", "passed on"])
class TestAnotherSchema:
    def run(self, how, calls, column, spill_dir, name=None):
        limit, sort = HOW[how]
        table = rows(8000)
        table = table.sort_by([("k", "ascending"), ("id", "ascending")])
        op = operator(table, calls, str(spill_dir), limit, sort)
        return op, table, list(op(changing(table, column, name=name)))

    @pytest.mark.parametrize("kind", [pa.int32(), pa.float64(), pa.decimal128(21, 2), pa.string()], ids=str)
    def test_a_type_that_can_be_told_as_the_declared_one(self, how, calls, kind, nothing_left):
        op, table, out = self.run(how, calls, lambda v: v.cast(kind), nothing_left)
        found = pa.Table.from_batches(out, op.schema).sort_by("id")
        assert found.equals(wr.with_columns(table, calls).sort_by("id"))

    @pytest.mark.parametrize(
        ("column", "kind"),
        [
            (lambda v: pa.array(["many"] * len(v)), "string"),
            (lambda v: pa.array([{"in": 1}] * len(v)), "struct<in: int64>"),
            (lambda v: pa.array([[1]] * len(v)), "list<item: int64>"),
            (lambda v: pa.array([0.5] * len(v)), "double"),
        ],
        ids=["text", "struct", "list", "fraction"],
    )
    def test_a_type_that_cannot(self, how, calls, column, kind, nothing_left):
        with pytest.raises(wr.DataError, match=r"column 'v' came as .* and was declared as int64") as caught:
            self.run(how, calls, column, nothing_left)
        assert kind in str(caught.value)

    def test_other_columns(self, how, calls, nothing_left):
        with pytest.raises(wr.DataError, match=r"came with the columns .*'w'"):
            self.run(how, calls, lambda v: v, nothing_left, name="w")

    def test_nulls_where_none_were(self, how, calls, nothing_left):
        """What was declared without nulls comes with some."""
        limit, sort = HOW[how]
        table = rows(8000).sort_by([("k", "ascending"), ("id", "ascending")])
        fields = [f.with_nullable(f.name != "v") for f in table.schema]
        table = table.cast(pa.schema(fields))
        op = operator(table, calls, str(nothing_left), limit, sort)
        holes = lambda v: pa.array([None if i % 3 == 0 else x for i, x in enumerate(v.to_pylist())])  # noqa: E731
        with pytest.raises(wr.DataError, match=r"column 'v' .*null"):
            list(op(changing(table, holes)))


# ---- memory and disk


@pytest.fixture
def small_disk(tmp_path_factory):
    """Give a function that makes a directory of so many MB."""
    made = []

    def mount(size):
        place = tmp_path_factory.mktemp("disk")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", place], check=False).returncode:
            pytest.skip("a small disk takes the rights to mount one")
        made.append(place)
        return place

    yield mount
    for place in made:
        subprocess.run(["umount", place], check=True)


FULL = {
    "rows that are sorted": ({"n": CALLS["n"]}, 2),
    "sections": ({"total": CALLS["total"]}, 14),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_a_full_disk(name, small_disk, nothing_left):
    calls, size = FULL[name]
    disk = small_disk(size)
    table = rows()
    with pytest.raises(wr.SpillError, match=r"No space left on device.*spill_dir") as caught:
        list(operator(table, calls, str(disk))(table.to_batches(5000)))
    assert str(disk) in str(caught.value)
    assert list(disk.iterdir()) == []
    del caught
    gc.collect()
    assert os.statvfs(disk).f_bfree == os.statvfs(disk).f_blocks
    elsewhere = pa.Table.from_batches(operator(table, calls, str(nothing_left))(table.to_batches(5000)))
    assert elsewhere.sort_by("id").equals(wr.with_columns(table, calls).sort_by("id"))


def test_a_directory_that_goes_away(nothing_left):
    place = nothing_left / "gone"
    place.mkdir()
    table = rows()
    op = operator(table, CALLS, str(place))
    place.rmdir()
    with pytest.raises(wr.SpillError, match=r"No such file or directory.*spill_dir"):
        list(op(table.to_batches(5000)))


@pytest.mark.slow
@pytest.mark.parametrize("call", ["median(v) OVER (ORDER BY id)", "count(DISTINCT v) OVER ()"])
def test_too_little_memory(call, nothing_left):
    table = rows()
    with pytest.raises(wr.MemoryLimitError, match="memory_limit"):
        list(operator(table, {"x": call}, str(nothing_left))(table.to_batches(5000)))


@pytest.mark.slow
@pytest.mark.parametrize("calls", [{"n": CALLS["n"]}, {"total": CALLS["total"]}], ids=["stream", "sections"])
def test_abandoned_iterator(calls, nothing_left):
    """As under a LIMIT: whoever asked has enough, and goes."""
    table = rows()
    answers = operator(table, calls, str(nothing_left))(table.to_batches(5000))
    before = len(files_without_names(os.getpid()))
    next(answers)
    assert len(files_without_names(os.getpid())) > before
    answers.close()


# ---- exceptions


class Fails:
    """Counts, and fails at a row, or as it answers."""

    def __init__(self, method, at):
        self.method, self.at = method, at

    def _passes(self, method, value):
        if method == self.method and value == self.at:
            raise LookupError("the mistake")

    def initialize(self):
        return 0

    def update(self, state, value):
        self._passes("update", value)
        return state + 1

    def merge(self, left, right):
        self._passes("merge", left + right)
        return left + right

    def evaluate(self, state):
        self._passes("evaluate", state)
        return state


@pytest.mark.slow
@pytest.mark.parametrize(("method", "at"), [("update", 20_000), ("evaluate", 20_000)])
@pytest.mark.parametrize("limit", [None, 1])
@pytest.mark.parametrize("over", ["growing", "of all"])
def test_an_exception_in_a_users_aggregate(method, at, limit, over, nothing_left):
    table = rows(100_000)
    w = wr.window(order_by="id") if over == "growing" else wr.window()
    if over == "of all" and method == "evaluate":
        at = table.num_rows
    calls = {**CALLS, "own": wr.aggregate(Fails(method, at), "id", returns=int).over(w)}
    with pytest.raises(wr.UserError, match=rf"Fails.{method}\(\) raised LookupError: the mistake") as caught:
        list(operator(table, calls, str(nothing_left), limit)(table.to_batches(5000)))
    assert isinstance(caught.value.__cause__, LookupError)


def test_an_exception_where_rows_come_from(nothing_left):
    table = rows()

    def failing():
        for number, batch in enumerate(table.to_batches(5000)):
            if number == 40:
                raise LookupError("the source")
            yield batch

    with pytest.raises(LookupError, match="the source"):
        list(operator(table, CALLS, str(nothing_left))(failing()))


# ---- Ctrl-C

INTERRUPTED = """
import gc, os, sys, time
import numpy as np, pyarrow as pa
import windrow as wr

directory = sys.argv[1]
ids = np.random.default_rng(1).permutation({rows})
table = pa.table({{"id": ids, "v": ids * 31 % 1000}})
small = pa.table({{"id": [3, 1, 2], "v": [1, 2, 4]}})

class Slow:
    def initialize(self): return 0
    def update(self, state, v): return max(state, v)

w = wr.window(order_by="id", rows=(-100_000, 100_000))
def compute(table, batch=5000):
    {compute}

compute(small)
threads = len(os.listdir("/proc/self/task"))
print("ready", flush=True)
try:
    while True:
        compute(table)
except KeyboardInterrupt:
    print("interrupted", flush=True)
gc.collect()
links = [os.readlink(f"/proc/self/fd/{{n}}") for n in os.listdir("/proc/self/fd") if n != "3"]
end = time.monotonic() + 3
while len(os.listdir("/proc/self/task")) > threads and time.monotonic() < end:
    time.sleep(0.01)
print(len(os.listdir("/proc/self/task")) <= threads, [l for l in links if "deleted" in l], os.listdir(directory))
print(wr.with_columns(small, s="sum(v) OVER (ORDER BY id)")["s"].to_pylist())
"""
SPILLED = """
    with wr.config(memory_limit=1, spill_dir=directory, threads={threads}):
        op = wr.operator({calls}, table.schema, sort=True)
    for batch in op(table.to_batches(batch)): pass
"""
NAIVE = 'wr.sum("v").over(w).alias("s")'
COMPUTING = {
    "a table": f"""
    with wr.config(strategy="naive", threads=2): wr.with_columns(table, {NAIVE})""",
    "an operator": f"""
    with wr.config(strategy="naive"): op = wr.operator({NAIVE}, table.schema, sort=True)
    for batch in op(table.to_batches(batch)): pass""",
    "a stream": f"""
    with wr.config(strategy="naive"): op = wr.operator({NAIVE}, table.schema, sort=False)
    for batch in op(table.sort_by("id").to_batches(batch)): pass""",
    "a user's aggregate": """
    wr.with_columns(table, wr.aggregate(Slow, "v", returns=int).over(w).alias("s"))""",
    "rows on the disk": SPILLED.format(calls='"row_number() OVER (ORDER BY id) AS n"', threads=1),
    "rows on the disk, two threads": SPILLED.format(calls='"row_number() OVER (ORDER BY id) AS n"', threads=2),
    "sections": SPILLED.format(calls='["sum(v) OVER () AS a", "ntile(5) OVER (ORDER BY id) AS b"]', threads=1),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", COMPUTING)
def test_ctrl_c(what, tmp_path):
    number = 2_000_000 if "disk" in what or what == "sections" else 300_000
    code = INTERRUPTED.format(rows=number, compute=textwrap.dedent(COMPUTING[what]).strip().replace("\n", "\n    "))
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        ready = process.stdout.readline()
        if ready != "ready\n":
            pytest.fail(process.stderr.read())
        # somewhere in the middle, another place for each
        time.sleep(0.4 + random.Random(what).random() * 0.6)
        before = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n", process.stderr.read()
        assert time.monotonic() - before < 2
        out, err = process.communicate(timeout=30)
    assert out == "True [] []\n[7, 2, 6]\n", err
    assert process.returncode == 0


# ---- one answer, however rows come


@pytest.mark.parametrize("number", rounds(12, quick=2))
def test_results_do_not_depend_on_the_batches(number, monkeypatch, tmp_path):
    """Batches, sections, threads, memory: none of them shows in an answer."""
    rng = random.Random(number)
    table, asks = asks_of(number)
    answers = Answers("windrow otherwise")
    for _ in range(4):
        asks_now = rng.sample(asks, min(4, len(asks)))
        batch, section, threads = rng.choice([1, 7, 10_000]), rng.choice([1, 5, 40]), rng.choice([1, 2])
        limit = rng.choice([None, 1, 1])
        monkeypatch.setattr(sections, "_MAX_ROWS", section)
        with wr.config(threads=threads, memory_limit=limit, spill_dir=str(tmp_path)):
            op = wr.operator({f"c{i}": ask.text for i, ask in enumerate(asks_now)}, table.schema, sort=True)
            out = pa.Table.from_batches(list(op(table.to_batches(batch))), op.schema)
        told = f"batches of {batch}, sections of {section}, {threads} threads, memory_limit={limit}"
        compare_with_memory(answers, table, asks_now, out, told)
    answers.settle(16)
