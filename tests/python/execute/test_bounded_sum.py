"""``bounded_sum`` against a loop over each frame's rows: every strategy, exact types, floats, streams and splits."""

import math
import random
from decimal import Decimal

import pyarrow as pa
import pytest

import windrow as wr
from support.comparison import equal
from support.random_calls import SEED

FRAMES = {
    "growing": ({"rows": (None, 0)}, lambda i, n: range(i + 1)),
    "moving": ({"rows": (-7, 2)}, lambda i, n: range(max(0, i - 7), min(n, i + 3))),
    "shrinking": ({"rows": (0, None)}, lambda i, n: range(i, n)),
    "entire": ({"rows": (None, None)}, lambda i, n: range(n)),
    "jumping": (
        {"rows": (wr.preceding(wr.col("reach")), 0)},
        lambda i, n: range(max(0, i - i * 7 % 11), i + 1),
    ),
    "excluding": (
        {"rows": (-7, 2), "exclude": "current_row"},
        lambda i, n: [j for j in range(max(0, i - 7), min(n, i + 3)) if j != i],
    ),
}
BOUNDS = [(0, None, 0), (0, 10, 3), (None, 5, 0), (-4, 6, -2), (None, None, 1), (2, 2, 2)]


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def bounded(values, low, high, start):
    total = None
    for value in values:
        if value is None:
            continue
        total = (start if total is None else total) + value
        if low is not None and not is_nan(total):
            total = max(low, total)
        if high is not None and not is_nan(total):
            total = min(high, total)
    return total


TYPES = {
    "int16": (pa.int16(), int),
    "int64": (pa.int64(), int),
    "decimal": (pa.decimal128(9, 2), lambda v: Decimal(v) / 4),
    "wide": (pa.decimal256(60, 1), Decimal),
    "float32": (pa.float32(), lambda v: v / 4),
    "double": (pa.float64(), lambda v: v / 4),
}


@pytest.mark.parametrize("name", TYPES)
def test_every_frame_and_strategy(name):
    rng = random.Random(SEED)
    data_type, of = TYPES[name]
    count, compared = 60, 0
    values = [None if rng.random() < 0.2 else of(rng.randint(-9, 9)) for _ in range(count)]
    table = pa.table({"t": range(count), "x": pa.array(values, data_type), "reach": [i * 7 % 11 for i in range(count)]})
    for low, high, start in BOUNDS:
        call = wr.bounded_sum("x", low, high, start)
        for shape, (frame, rows) in FRAMES.items():
            want = [bounded([values[j] for j in rows(i, count)], low, high, start) for i in range(count)]
            item = call.over(wr.window(order_by="t", **frame))
            applicable = ["naive", "segment_tree", "two_stacks", "scan"] + ["whole"] * (shape == "entire")
            for strategy in (None, *applicable):
                with wr.config(strategy=strategy):
                    found = wr.select(table, s=item)["s"].to_pylist()
                assert all(equal(a, b, types=False, rel=1e-12) for a, b in zip(found, want, strict=True)), (
                    shape,
                    strategy,
                )
                compared += count
            cut = wr.select(table.slice(11, 30), s=item)["s"].to_pylist()
            if shape == "growing":
                assert cut == [bounded(values[11 : i + 1], low, high, start) for i in range(11, 41)]
            chunked = pa.concat_tables([table.slice(0, 7), table.slice(7, 0), table.slice(7)])
            assert wr.select(chunked, s=item)["s"].equals(wr.select(table, s=item)["s"])
    assert compared > 8000


def test_types_are_those_of_sum():
    for data_type in (pa.int8(), pa.uint64(), pa.decimal128(9, 2), pa.decimal256(60, 1), pa.float32(), pa.string()):
        table = pa.table({"t": [1], "x": pa.array([1], pa.int8()).cast(data_type)})
        w = wr.window(order_by="t")
        found = wr.select(table, b=wr.bounded_sum("x").over(w), s=wr.sum("x").over(w))
        assert found["b"].type == found["s"].type
        assert found["b"].to_pylist() == found["s"].to_pylist()


def test_exact_where_a_plain_sum_overflows():
    big = 2**63 - 1
    table = pa.table({"t": range(5), "x": [big, big, -3, big, -big]})
    w = wr.window(order_by="t")
    assert wr.select(table, s=wr.bounded_sum("x", high=big).over(w))["s"].to_pylist() == [big, big, big - 3, big, 0]
    item = wr.bounded_sum("x").over(w)
    with pytest.raises(wr.ArithmeticOverflowError, match="bounded sum of a frame does not fit Int64; give it a bound"):
        wr.select(table, s=item)
    with wr.config(ansi=False):
        wrapped = wr.select(table, s=item, p=wr.sum("x").over(w)).slice(0, 2)
    assert wrapped["s"].to_pylist() == wrapped["p"].to_pylist()
    nines = Decimal("9" * 38)
    table = pa.table({"t": range(3), "x": pa.array([nines, nines, Decimal("-" + "9" * 38)], pa.decimal128(38, 0))})
    assert wr.select(table, s=wr.bounded_sum("x", high=nines).over(w))["s"].to_pylist() == [nines, nines, 0]
    with pytest.raises(wr.ArithmeticOverflowError):
        wr.select(table, s=item)
    with wr.config(ansi=False):
        assert wr.select(table, s=item)["s"].to_pylist() == [nines, None, nines]


def test_nan_and_infinity():
    inf, nan = math.inf, math.nan
    table = pa.table({"t": range(6), "x": [1.0, inf, -2.0, -inf, nan, 1.0]})
    w = wr.window(order_by="t")

    def sums(**bounds):
        return wr.select(table, s=wr.bounded_sum("x", **bounds).over(w))["s"].to_pylist()

    def same(found, want):
        return all(equal(a, b) for a, b in zip(found, want, strict=True))

    assert same(sums(low=0, high=5), [1.0, 5.0, 3.0, 0.0, nan, nan])
    assert same(sums(low=0), [1.0, inf, inf, 0.0, nan, nan])
    assert same(sums(low=None, high=4), [1.0, 4.0, 2.0, -inf, nan, nan])


def test_streams_threads_and_a_memory_limit():
    rng = random.Random(SEED)
    count = 60_000
    values = [rng.randint(-9, 9) for _ in range(count)]
    table = pa.table({"t": rng.sample(range(count), count), "x": values})
    by_time = [value for _, value in sorted(zip(table["t"].to_pylist(), values, strict=True))]
    running, total = [], 0
    for value in by_time:
        total = min(50, max(0, total + value))
        running.append(total)
    want = [running[t] for t in table["t"].to_pylist()]
    item = wr.bounded_sum("x", high=50).over(wr.window(order_by="t"))
    for settings in ({}, {"threads": 2}, {"memory_limit": "1 MiB"}):
        with wr.config(**settings):
            assert wr.select(table, s=item)["s"].to_pylist() == want, settings


def test_sql_says_the_same():
    table = pa.table({"t": [1, 2, 3, 4], "x": [5, -8, 3, 9]})
    over = "OVER (ORDER BY t)"
    found = wr.sql(
        f"SELECT bounded_sum(x) {over} AS a, bounded_sum(x, NULL, 4) {over} AS b, "
        f"bounded_sum(x, 0, 10, 7) {over} AS c FROM d",
        d=table,
    )
    w = wr.window(order_by="t")
    built = wr.select(
        table,
        a=wr.bounded_sum("x").over(w),
        b=wr.bounded_sum("x", None, 4).over(w),
        c=wr.bounded_sum("x", high=10, start=7).over(w),
    )
    assert found.equals(built)
    assert found.to_pydict() == {"a": [5, 0, 3, 12], "b": [4, -4, -1, 4], "c": [10, 2, 5, 10]}
    for call in (wr.bounded_sum("x"), wr.bounded_sum("x", None, 4), wr.bounded_sum("x", 0, 10, 7)):
        assert wr.expr(repr(call.over(w))).equals(call.over(w))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"low": 5, "high": 3}, r"bounded_sum\(\): low=5 is above high=3"),
        ({"low": "y"}, r"bounded_sum\(\): low is a number, not 'y'"),
        ({"high": math.nan}, "high is NaN"),
        ({"start": None}, "start is a number; leave it out for 0"),
        ({"low": 0.5}, r"the low of bounded_sum is a number of the column's type Int64, not 0\.5"),
        ({"start": Decimal("1.25")}, r"the start of bounded_sum .* not 1\.25"),
    ],
)
def test_messages(arguments, message):
    table = pa.table({"t": [1], "x": [1]})
    with pytest.raises(wr.SpecError, match=message):
        wr.select(table, s=wr.bounded_sum("x", **arguments).over(order_by="t"))


def test_other_types_are_refused():
    table = pa.table({"t": [1], "x": pa.array([1], pa.duration("s"))})
    with pytest.raises(wr.SpecError, match="bounded_sum takes a number"):
        wr.select(table, s=wr.bounded_sum("x").over(order_by="t"))
    table = pa.table({"t": [1], "x": [1]})
    with pytest.raises(wr.SpecError, match="low of bounded_sum is above its high"):
        wr.sql("SELECT bounded_sum(x, 3, 1) OVER (ORDER BY t) AS s FROM d", d=table)
