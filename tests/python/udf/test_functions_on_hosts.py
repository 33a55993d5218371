"""Functions of the user's on every host: block and partition functions, types, pickling, signals, Spark."""

import importlib.util
import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow._parse.types import arrow_type


class Joined:
    """The frame's values as a text."""

    def initialize(self):
        return []

    def update(self, state, x):
        state.append(x)
        return state

    def merge(self, left, right):
        return left + right

    def evaluate(self, state):
        return {"n": len(state), "text": ",".join("-" if x is None else str(int(x)) for x in state)}


def moving_sum(x, begin, end):
    total = np.concatenate([[0], np.cumsum(np.asarray(x.fill_null(0)))])
    return total[np.asarray(end)] - total[np.asarray(begin)]


def backwards(x):
    return x.to_pylist()[::-1]


DATA = pa.table(
    {
        "k": ["b", "a", "b", "a", "b", "a"],
        "t": [3, 1, 1, 2, 2, 3],
        "x": pa.array([1, 2, None, 4, 5, 6], pa.int64()),
        "good": [True, True, True, False, True, None],
    }
)
W = wr.window("k", "t", rows=(-1, 0))
RETURNS = "struct<n: bigint, text: string>"
CALLS = {
    "j": wr.aggregate(Joined, "x", returns=RETURNS).over(W),
    "run": wr.aggregate(Joined, "x", returns=RETURNS).over(wr.window("k", "t")),
    "s": wr.vectorized(moving_sum, "x", returns="bigint").over(W),
    "b": wr.partition_function(backwards, "x", returns="bigint").over(wr.window("k", "t")),
}
EXPECTED = {
    "j": ["5,1", "2", "-", "2,4", "-,5", "4,6"],
    "run": ["-,5,1", "2", "-", "2,4", "-,5", "2,4,6"],
    "s": [6, 2, 0, 6, 5, 10],
    "b": [None, 6, 1, 4, 5, 2],
}


def check(columns):
    for name in ("j", "run"):
        assert [v["text"] for v in columns[name]] == EXPECTED[name]
        assert [v["n"] for v in columns[name]] == [text.count(",") + 1 for text in EXPECTED[name]]
    for name in ("s", "b"):
        assert list(columns[name]) == EXPECTED[name]


def test_pyarrow():
    out = wr.with_columns(DATA, CALLS)
    check(out.to_pydict())
    assert out.schema.field("j").type == pa.struct([("n", pa.int64()), ("text", pa.string())])
    empty = wr.with_columns(DATA.slice(0, 0), CALLS)
    assert empty.num_rows == 0
    assert empty.schema == out.schema


def test_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(DATA)
    check(wr.with_columns(frame, CALLS).to_dict(as_series=False))
    lazy = wr.with_columns(frame.lazy(), CALLS)
    assert lazy.collect_schema()["j"] == pl.Struct({"n": pl.Int64, "text": pl.String})
    check(lazy.collect().to_dict(as_series=False))
    # an expression of the host as an argument; a categorical is text to the function and stays as it is declared
    plus = wr.vectorized(moving_sum, pl.col("x") + 1, returns=pl.Int32).over(W)
    assert wr.with_columns(frame, p=plus)["p"].to_list() == [8, 3, 0, 8, 6, 12]
    named = frame.with_columns(pl.col("k").cast(pl.Categorical))
    last = wr.aggregate(Last, "k", returns=pl.String).over(W)
    assert wr.with_columns(named, v=last)["v"].to_list() == ["B", "A", "B", "A", "B", "A"]


class Last:
    def initialize(self):
        return None

    def update(self, state, x):
        return x.upper()


def test_pandas():
    pd = pytest.importorskip("pandas")
    out = wr.with_columns(DATA.to_pandas(), CALLS)
    assert isinstance(out, pd.DataFrame)
    assert [v["text"] for v in out["j"]] == EXPECTED["j"]
    assert out["s"].tolist() == EXPECTED["s"]


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("size", [1, 2, 6])
def test_operator(sort, size):
    ordered = DATA.sort_by([("k", "ascending"), ("t", "ascending")])
    op = wr.operator(CALLS, ordered.schema, sort=sort)
    op = pickle.loads(pickle.dumps(op))
    out = pa.Table.from_batches(list(op(ordered.to_batches(max_chunksize=size))), op.schema)
    back = {(r["k"], r["t"]): r for r in out.to_pylist()}
    rows = [back[r["k"], r["t"]] for r in DATA.to_pylist()]
    check({name: [r[name] for r in rows] for name in CALLS})


class TestVectorized:
    def test_filter(self):
        call = wr.vectorized(moving_sum, "x", returns=int).filter("good").over(W)
        assert wr.with_columns(DATA, s=call)["s"].to_pylist() == [6, 2, 0, 2, 5, 0]

        def values(x, begin, end):
            assert len(x) == 4
            return [str(x[b:e].to_pylist()) for b, e in zip(begin.to_pylist(), end.to_pylist(), strict=True)]

        call = wr.vectorized(values, "x", returns=str).filter("good").over(W)
        assert wr.with_columns(DATA, s=call)["s"].to_pylist() == ["[5, 1]", "[2]", "[None]", "[2]", "[None, 5]", "[]"]

    def test_blocks_are_whole(self):
        seen = []

        def lengths(x, begin, end):
            seen.append((len(x), len(begin), begin.type, end.type))
            return np.asarray(end) - np.asarray(begin)

        rows = 100_000
        data = pa.table({"k": np.arange(rows) // 3, "t": np.arange(rows), "x": np.zeros(rows)})
        out = wr.with_columns(data, n=wr.vectorized(lengths, "x", returns=int).over(wr.window("k", "t")))
        assert out["n"].to_pylist()[:7] == [1, 2, 3, 1, 2, 3, 1]
        assert seen == [(rows, rows, pa.int64(), pa.int64())]

    @pytest.mark.parametrize("kind", ["array", "chunked", "list", "numpy", "polars", "int32"])
    def test_what_it_may_return(self, kind):
        def answers(x, begin, end):
            values = [int(v) for v in range(len(begin))]
            if kind == "polars":
                return pytest.importorskip("polars").Series(values)
            made = {"array": pa.array, "chunked": lambda v: pa.chunked_array([v[:2], v[2:]]), "list": list}
            made |= {"numpy": np.array, "int32": lambda v: pa.array(v, pa.int32())}
            return made[kind](values)

        call = wr.vectorized(answers, "x", returns="bigint").over(wr.window(order_by=["k", "t"]))
        assert sorted(wr.with_columns(DATA, n=call)["n"].to_pylist()) == list(range(6))

    @pytest.mark.parametrize(
        ("made", "message"),
        [
            (lambda n: list(range(n - 1)), "returned 5 values for 6 rows"),
            (lambda n: None, r"returned None \(NoneType\) and not one value per row"),
            (lambda n: 7, r"returned 7 \(int\)"),
            (lambda n: "abcdef", r"returned 'abcdef' \(str\)"),
            (lambda n: ["a"] * n, r"gave 'a' \(str\), which is no int64"),
            (lambda n: pa.array(["a"] * n), "returned string, which does not become int64"),
            (lambda n: 1 / 0, r"wrong\(\) raised ZeroDivisionError: division by zero"),
        ],
    )
    def test_what_it_may_not(self, made, message):
        call = wr.vectorized(lambda x, begin, end: made(len(begin)), "x", returns=int, name="wrong").over(W)
        with pytest.raises(wr.UserError, match=message) as caught:
            wr.with_columns(DATA, n=call)
        assert str(caught.value).startswith("wrong(x) OVER (PARTITION BY k ORDER BY t")

    def test_refusals(self):
        call = wr.vectorized(moving_sum, "x", returns=int)
        with pytest.raises(wr.SpecError, match="EXCLUDE may split "):
            wr.with_columns(DATA, n=call.over(wr.window("k", "t", exclude="ties")))
        with pytest.raises(wr.SpecError, match="does not take an ORDER BY inside"):
            wr.with_columns(DATA, n=call.order_by("t").over(W))
        with pytest.raises(wr.SpecError, match="is called with begin and end and 2 values"):
            wr.vectorized(moving_sum, "x", "t", returns=int)


class TestPartitions:
    def test_order_and_slices(self):
        seen = []

        def noted(t, x):
            seen.append((t.to_pylist(), x.to_pylist()))
            return [len(t)] * len(t)

        call = wr.partition_function(noted, "t", "x", returns="int").over(wr.window("k", wr.desc("t")))
        assert wr.with_columns(DATA, n=call)["n"].to_pylist() == [3] * 6
        assert sorted(seen) == [([3, 2, 1], [1, 5, None]), ([3, 2, 1], [6, 4, 2])]

    def test_refusals(self):
        call = wr.partition_function(backwards, "x", returns=int)
        with pytest.raises(wr.SpecError, match="leave the frame out"):
            wr.with_columns(DATA, n=call.over(W))
        with pytest.raises(wr.SpecError, match="does not take FILTER"):
            wr.with_columns(DATA, n=call.filter("good").over(wr.window("k")))
        with pytest.raises(wr.SpecError, match="at least 1 argument"):
            wr.with_columns(DATA, n=wr.partition_function(list, returns=int).over(wr.window("k")))
        short = wr.partition_function(lambda x: x[1:], "x", returns=int, name="short").over(wr.window("k"))
        with pytest.raises(wr.UserError, match="short returned 2 values for 3 rows; return one per row"):
            wr.with_columns(DATA, n=short)

    def test_many_partitions(self):
        rows = 30_000
        data = pa.table({"k": range(rows), "x": range(rows)})
        call = wr.partition_function(backwards, "x", returns=int).over(wr.window("k"))
        assert wr.with_columns(data, n=call)["n"].to_pylist() == list(range(rows))


TYPES = {
    "bigint": pa.int64(), "BIGINT": pa.int64(), "int": pa.int32(), "float": pa.float32(), "int64": pa.int64(),
    "decimal(18, 2)": pa.decimal128(18, 2), "decimal": pa.decimal128(10, 0), "varchar(7)": pa.string(),
    "array<string>": pa.list_(pa.field("element", pa.string())), "timestamp": pa.timestamp("us", "UTC"),
    "map<string, array<int>>": pa.map_(pa.string(), pa.list_(pa.field("element", pa.int32()))),
    "struct<a: int, `b c`: struct<d: date>>": pa.struct([("a", pa.int32()), ("b c", pa.struct([("d", pa.date32())]))]),
    "a int, b string not null": pa.struct([pa.field("a", pa.int32()), pa.field("b", pa.string(), nullable=False)]),
    "interval day to second": pa.duration("us"), "struct<>": pa.struct([]), float: pa.float64(), str: pa.string(),
    pa.int8(): pa.int8(),
}  # fmt: skip


@pytest.mark.parametrize("returns", TYPES, ids=str)
def test_types(returns):
    assert arrow_type(returns, "f") == TYPES[returns]


@pytest.mark.parametrize("returns", ["number", "array<", "decimal(99, 2)", "array<int", "struct<a>", "", None, 7, dict])
def test_no_types(returns):
    with pytest.raises(wr.SpecError, match=r"f: returns=.* is no type"):
        arrow_type(returns, "f")


def test_types_of_polars_and_spark():
    pl = pytest.importorskip("polars")
    assert arrow_type(pl.List(pl.Int16), "f").value_type == pa.int16()
    assert arrow_type(pl.Float32, "f") == pa.float32()
    T = pytest.importorskip("pyspark.sql.types")  # noqa: N806 - its usual name
    assert arrow_type(T.LongType(), "f") == pa.int64()
    assert arrow_type(T.LongType, "f") == pa.int64()
    assert arrow_type(T.ArrayType(T.StringType()), "f").value_type == pa.string()


def run(script, **more):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        **more,
    )


def test_a_class_of_main_goes_to_another_process_by_value(tmp_path):
    pytest.importorskip("cloudpickle")
    made = run(
        f"""
        import pickle
        import pyarrow as pa, windrow as wr
        factor = 3
        class Total:
            def initialize(self): return 0
            def update(self, state, x): return state + factor * x
        calls = [
            wr.aggregate(Total, "x", returns=int).over().alias("a"),
            wr.vectorized(lambda x, begin, end: [factor] * len(begin), "x", returns=int).over().alias("b"),
        ]
        op = wr.operator(calls, pa.schema([("x", pa.int64())]))
        open({str(tmp_path / "op")!r}, "wb").write(pickle.dumps(op))
        """
    )
    assert made.communicate(timeout=60)[1] == ""
    op = pickle.loads((tmp_path / "op").read_bytes())
    (out,) = op([pa.record_batch({"x": [1, 2]})])
    assert out.to_pydict() == {"x": [1, 2], "a": [9, 9], "b": [3, 3]}


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals as on Unix")
@pytest.mark.parametrize("method", ["while True: pass", "return max(state, x)"])
def test_ctrl_c(method):
    child = run(
        f"""
        import pyarrow as pa, windrow as wr
        class Slow:
            def initialize(self): return 0
            def update(self, state, x):
                {method}
        data = pa.table({{"x": range(400_000)}})
        call = wr.aggregate(Slow, "x", returns=int).over(wr.window(order_by="x", rows=(-100_000, 0)))
        print("ready", flush=True)
        try:
            wr.with_columns(data, s=call)
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(1.5)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=10)
    assert out == "interrupted\n", err


needs_spark = pytest.mark.skipif(
    importlib.util.find_spec("pyspark") is None or not (shutil.which("java") or os.environ.get("JAVA_HOME")),
    reason="needs PySpark and Java",
)


@needs_spark
def test_spark(oracle_spark):
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as a notebook's: workers cannot import this file
    rows = [tuple(row.values()) for row in DATA.to_pylist()]
    frame = oracle_spark.createDataFrame(rows, "k string, t int, x bigint, good boolean")
    out = wr.with_columns(frame, CALLS)
    assert out.schema["j"].dataType.simpleString() == "struct<n:bigint,text:string>"
    back = {(r["k"], r["t"]): r.asDict(recursive=True) for r in out.collect()}
    rows = [back[r["k"], r["t"]] for r in DATA.to_pylist()]
    check({name: [r[name] for r in rows] for name in CALLS})

    class Fails(Joined):
        def update(self, state, x):
            raise LookupError("this very line")

    with pytest.raises(Exception, match="this very line") as caught:
        wr.with_columns(frame, s=wr.aggregate(Fails, "x", returns=RETURNS).over(W)).collect()
    said = str(caught.value)
    assert "Fails.update() raised LookupError: this very line" in said
    assert "Traceback (most recent call last)" in said[said.index("Fails.update() raised") :]
    assert "in update" in said
