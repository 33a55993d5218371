"""``group_id`` and ``session_id`` against a loop over the rows, and sessions against Polars, for every kind of key."""

import datetime as dt
import math
import random
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pytest

import windrow as wr
from support.random_calls import SEED

NOON = dt.datetime(2024, 3, 30, 12)


def groups(rows, gap=None, span=None, most=None, limit=None):
    """Number the groups of sorted (key, amount) pairs, by definition."""
    out, number, count = [], 0, 0
    first = last = total = None

    def far(key, other, length):
        if length is None:
            return False
        if key is None or other is None:
            return key is not other
        if isinstance(key, float) and (math.isnan(key) or math.isnan(other)):
            return math.isnan(key) != math.isnan(other)
        return key - other > length

    for key, amount in rows:
        after = None if limit is None or not count else total + (amount or 0)
        if (
            not count
            or far(key, last, gap)
            or far(key, first, span)
            or (most is not None and count >= most)
            or (after is not None and not after <= limit)
        ):
            number, count, first, after = number + 1, 0, key, amount or 0
        total, last, count = after, key, count + 1
        out.append(number)
    return out


def computed(table, call, **settings):
    with wr.config(**settings):
        return wr.select(table, g=call.over("k", order_by="t"))["g"].to_pylist()


def expected(table, **limits):
    zoned = getattr(table.schema.field("t").type, "tz", None) is not None
    # as instants: Python subtracts times of one zone by the clock on the wall
    rows = (
        table.set_column(1, "t", table["t"].cast(pa.timestamp("us", "UTC"))).to_pylist() if zoned else table.to_pylist()
    )
    out = [None] * len(rows)
    for k in {row["k"] for row in rows}:
        places = [i for i, row in enumerate(rows) if row["k"] == k]
        places.sort(key=lambda i: (rows[i]["t"] is not None, rows[i]["t"]))  # nulls first
        for i, number in zip(places, groups([(rows[i]["t"], rows[i]["x"]) for i in places], **limits), strict=True):
            out[i] = number
    return out


KEYS = {
    "int": (lambda i: i, pa.int32(), 3, 3),
    "uint": (lambda i: i, pa.uint64(), 3, 3),
    "float": (lambda i: i / 2, pa.float64(), 1.5, 1.5),
    "decimal": (lambda i: Decimal(i) / 4, pa.decimal128(12, 2), Decimal("0.75"), Decimal("0.75")),
    "wide": (lambda i: Decimal(i), pa.decimal256(50, 0), 3, 3),
    "date": (lambda i: dt.date(2024, 1, 1) + dt.timedelta(i), pa.date32(), "3d", dt.timedelta(3)),
    "us": (lambda i: NOON + dt.timedelta(minutes=i), pa.timestamp("us"), "3m", dt.timedelta(minutes=3)),
    "ns": (lambda i: NOON + dt.timedelta(minutes=i), pa.timestamp("ns"), dt.timedelta(minutes=3), None),
    "zoned": (
        lambda i: (NOON + dt.timedelta(hours=i)).replace(tzinfo=dt.timezone.utc),
        pa.timestamp("ms", "Europe/Berlin"),
        "3h",
        dt.timedelta(hours=3),
    ),
    "duration": (lambda i: dt.timedelta(seconds=i), pa.duration("ms"), "3s", dt.timedelta(seconds=3)),
}


def table(rng, kind, count=200):
    of, data_type, _, _ = KEYS[kind]
    return pa.table(
        {
            "k": [rng.randint(0, 2) for _ in range(count)],
            "t": pa.array([None if rng.random() < 0.05 else of(rng.randint(0, 150)) for _ in range(count)], data_type),
            "x": [rng.choice([None, *range(-2, 9)]) for _ in range(count)],
        }
    )


@pytest.mark.parametrize("kind", KEYS)
def test_every_kind_of_key(kind):
    rng = random.Random(SEED)
    _, _, length, plain = KEYS[kind]
    plain = dt.timedelta(minutes=3) if plain is None else plain
    seen = 0
    for _ in range(4):
        data = table(rng, kind)
        cases = [
            (wr.session_id(length), {"gap": plain}),
            (wr.group_id(max_gap=length, max_span=length), {"gap": plain, "span": plain}),
            (wr.group_id(max_span=length, max_rows=3), {"span": plain, "most": 3}),
            (wr.group_id(max_gap=length, max_sum=("x", 7)), {"gap": plain, "limit": 7}),
        ]
        for call, limits in cases:
            want = expected(data, **limits)
            for strategy in (None, "naive", "refold"):
                assert computed(data, call, strategy=strategy) == want, (call, strategy)
            assert computed(data.slice(7, 90), call) == expected(data.slice(7, 90), **limits)
            chunked = pa.concat_tables([data.slice(0, 33), data.slice(33, 0), data.slice(33)])
            assert computed(chunked, call) == want
            seen += max(want)
    assert seen > 200


@pytest.mark.parametrize("limit", [7, 7.0, Decimal("7.5")])
@pytest.mark.parametrize("data_type", [pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(9, 1), pa.decimal256(60, 2)])
def test_sums(limit, data_type):
    rng = random.Random(SEED)
    values = [rng.choice([None, 0, 1, 2, 3, 9]) for _ in range(100)]
    data = pa.table({"k": [1] * 100, "t": range(100), "x": pa.array(values, pa.int8()).cast(data_type)})
    call = wr.group_id(max_sum=("x", limit))
    if data_type in (pa.int8(), pa.uint64()) and limit != 7:
        with pytest.raises(wr.SpecError, match=r"max_sum of group_id is a number of the column's type.*7\.5"):
            computed(data, call)
        return
    assert computed(data, call) == groups(list(zip(range(100), values, strict=True)), limit=float(limit))


def test_float_keys_with_nan_and_infinity():
    keys = [None, None, -math.inf, -math.inf, 1.0, 2.0, 9.0, math.inf, math.inf, math.nan, math.nan]
    data = pa.table({"k": [1] * len(keys), "t": keys, "x": [1] * len(keys)})
    assert computed(data, wr.session_id(2)) == [1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 6]
    values = [1.0, math.nan, 1.0, 2.0]
    data = pa.table({"k": [1] * 4, "t": range(4), "x": values})
    assert computed(data, wr.group_id(max_sum=("x", 9))) == [1, 2, 3, 3]


def test_a_day_is_the_calendars_and_24_hours_are_not():
    before, after = dt.datetime(2024, 3, 30, 12), dt.datetime(2024, 3, 31, 12)
    keys = pa.array([before, after]).cast(pa.timestamp("us"))
    keys = pa.compute.assume_timezone(keys, "Europe/Berlin")
    data = pa.table({"k": [1, 1], "t": keys, "x": [1, 1]})  # 23 hours
    assert computed(data, wr.session_id("1d")) == [1, 1]
    assert computed(data, wr.session_id("23h")) == [1, 1]
    assert computed(data, wr.session_id("22h")) == [1, 2]
    keys = pa.compute.assume_timezone(
        pa.array([dt.datetime(2024, 10, 26, 12), dt.datetime(2024, 10, 27, 12)]), "Europe/Berlin"
    )
    data = pa.table({"k": [1, 1], "t": keys, "x": [1, 1]})  # 25 hours
    assert computed(data, wr.session_id("1d")) == [1, 1]
    assert computed(data, wr.session_id(dt.timedelta(days=1))) == [1, 2]
    assert computed(data, wr.session_id(wr.interval(months=1))) == [1, 1]


def test_descending_and_empty():
    data = pa.table({"k": [1] * 5, "t": [1, 2, 7, 8, 20], "x": [1] * 5})
    call = wr.session_id(3).over("k", order_by=wr.desc("t"))
    assert wr.select(data, g=call)["g"].to_pylist() == [3, 3, 2, 2, 1]
    assert computed(data.slice(0, 0), wr.session_id(3)) == []


def test_sessions_are_those_of_polars():
    rng = random.Random(SEED)
    frame = pl.DataFrame(
        {"k": [rng.randint(0, 3) for _ in range(500)], "t": [rng.randint(0, 2000) for _ in range(500)]}
    )
    frame = frame.with_columns(t=pl.lit(NOON).cast(pl.Datetime("ns")) + pl.duration(seconds=pl.col("t"))).sort("k", "t")
    want = frame.with_columns(
        g=(pl.col("t").diff() > pl.duration(seconds=10)).fill_null(value=True).cast(pl.Int64).cum_sum().over("k")
    )
    found = wr.with_columns(frame, g=wr.session_id("10s").over("k", order_by="t"))
    assert found["g"].to_list() == want["g"].to_list()
    assert found["g"].max() > 20


def test_streams_and_a_memory_limit():
    rng = random.Random(SEED)
    count = 60_000
    data = pa.table(
        {"k": [i // 20_000 for i in range(count)], "t": [rng.randint(0, 10**6) for _ in range(count)], "x": [1] * count}
    )
    call = wr.group_id(max_gap=40, max_span=500, max_rows=9, max_sum=("x", 8))
    want = computed(data, call)
    assert max(want) > 2000
    assert computed(data, call, memory_limit="1 MiB") == want
    assert computed(data, call, threads=2) == want


def test_sql_and_python_say_the_same():
    data = pa.table({"t": [0, 5, 10, 40, 45, 80], "x": [40, 50, 20, 90, 10, 5]})
    sql = "SELECT group_id(20, 8, NULL, x, 100) OVER (ORDER BY t) AS g, session_id(20) OVER (ORDER BY t) AS s FROM d"
    found = wr.sql(sql, d=data)
    w = wr.window(order_by="t")
    built = wr.select(
        data,
        g=wr.group_id(max_gap=20, max_span=8, max_sum=("x", 100)).over(w),
        s=wr.session_id(20).over(w),
    )
    assert found.equals(built)
    assert found["g"].to_pylist() == [1, 1, 2, 3, 3, 4]
    assert found["s"].to_pylist() == [1, 1, 1, 2, 2, 3]
    call = wr.session_id("30m").over(w)
    assert repr(call) == "session_id(INTERVAL '30' MINUTE) OVER (ORDER BY t)"
    assert wr.expr(repr(call)).equals(call)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wr.group_id(), r'group_id\(\) needs a limit: max_gap="30m"'),
        (lambda: wr.group_id(max_gap=-1), "max_gap is a distance of at least 0, not -1"),
        (lambda: wr.group_id(max_gap="soon"), "'soon' is not a duration"),
        (lambda: wr.group_id(max_gap=True), "max_gap is a number, a duration such as '30m'"),
        (lambda: wr.group_id(max_rows=0), "max_rows is a whole number from 1, not 0"),
        (lambda: wr.group_id(max_sum=100), r'max_sum is a column and its limit, such as \("x", 100\), not 100'),
        (lambda: wr.session_id(None), "needs a gap"),
        (lambda: wr.session_id("30m"), 'the gap.*|max_gap .* does not suit order key "t".*give a number'),
        (lambda: wr.group_id(max_sum=("s", "many")), "group_id"),
        (lambda: wr.group_id(max_sum=("d", 3)), "group_id takes a number"),
    ],
)
def test_messages(call, message):
    data = pa.table({"t": [1], "s": ["a"], "d": [dt.date(2024, 1, 1)]})
    with pytest.raises(wr.SpecError, match=message):
        wr.select(data, c=call().over(order_by="t"))


def test_distances_have_one_key():
    data = pa.table({"t": [1], "u": [1], "s": ["a"]})
    with pytest.raises(
        wr.SpecError, match="a max_gap that is a distance needs exactly one ORDER BY key, and there are 2"
    ):
        wr.select(data, c=wr.session_id(1).over(order_by=["t", "u"]))
    with pytest.raises(wr.SpecError, match='needs a number, date, time or duration to order by; "s" is '):
        wr.select(data, c=wr.session_id(1).over(order_by="s"))
    with pytest.raises(wr.SpecError, match="add an ORDER BY"):
        wr.select(data, c=wr.group_id(max_rows=2).over())
    assert wr.select(data, c=wr.group_id(max_rows=2).over(order_by=["t", "s"]))["c"].to_pylist() == [1]
