"""``lag`` and ``lead`` by a distance against a loop and Polars' as-of join: the value that held then."""

import datetime as dt
import random

import polars as pl
import pyarrow as pa
import pytest

import windrow as wr
from support.random_calls import SEED

NOON = dt.datetime(2024, 3, 30, 12)


def held(rows, distance, *, forward, ignore_nulls):
    """Give for each (key, value) the value of the last row up to a distance from its key, by definition."""
    out = []
    for key, _ in rows:
        found = None
        if key is not None:
            until = key + distance if forward else key - distance
            for other, value in rows:
                if other is not None and other <= until and not (ignore_nulls and value is None):
                    found = value
        out.append(found)
    return out


def table(rng, data_type, count=120):
    keys = sorted(rng.randint(0, 200) for _ in range(count))
    keys = [NOON + dt.timedelta(minutes=k) for k in keys]
    keys = [None] * 4 + keys[4:]
    return pa.table(
        {
            "k": [rng.randint(0, 2) for _ in range(count)],
            "t": pa.array(keys, data_type),
            "i": [rng.choice([None, 1, 2, 3]) for _ in range(count)],
            "s": [rng.choice([None, "a", "b"]) for _ in range(count)],
        }
    )


@pytest.mark.parametrize("data_type", [pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("s")])
@pytest.mark.parametrize("nulls", ["first", "last"])
def test_against_a_loop(data_type, nulls):
    rng = random.Random(SEED)
    data = table(rng, data_type)
    compared = 0
    for column in "is":
        for ignore_nulls in (False, True):
            for forward, function in ((False, wr.lag), (True, wr.lead)):
                call = function(column, "20m")
                call = call.ignore_nulls() if ignore_nulls else call
                item = call.over("k", order_by=wr.asc("t", nulls=nulls))
                rows = data.set_column(1, "t", data["t"].cast(pa.timestamp("us"))).to_pylist()
                want = [None] * len(rows)
                for k in range(3):
                    places = [i for i, row in enumerate(rows) if row["k"] == k]
                    values = [(rows[i]["t"], rows[i][column]) for i in places]
                    answers = held(values, dt.timedelta(minutes=20), forward=forward, ignore_nulls=ignore_nulls)
                    for i, value in zip(places, answers, strict=True):
                        want[i] = value
                for strategy in (None, "naive", "index"):
                    with wr.config(strategy=strategy):
                        assert wr.select(data, c=item)["c"].to_pylist() == want, (item, strategy)
                with wr.config(memory_limit="64 KiB"):
                    assert wr.select(data, c=item)["c"].to_pylist() == want
                compared += sum(v is not None for v in want)
    assert compared > 200


def test_as_polars_joins_as_of():
    rng = random.Random(SEED)
    frame = pl.DataFrame({"k": [rng.randint(0, 2) for _ in range(300)], "t": rng.sample(range(2000), 300)})
    frame = frame.with_columns(
        t=pl.lit(NOON) + pl.duration(seconds=pl.col("t")), x=pl.arange(300, dtype=pl.Int64)
    ).sort("t")
    ago = frame.select("k", t=pl.col("t") - pl.duration(minutes=3))
    want = ago.join_asof(frame, on="t", by="k", strategy="backward")["x"].to_list()
    found = wr.with_columns(frame, c=wr.lag("x", dt.timedelta(minutes=3)).over("k", order_by="t"))
    assert found["c"].to_list() == want
    assert 50 < sum(v is not None for v in want) < 300


def test_calendar_and_elapsed_days():
    keys = pa.array([dt.datetime(2024, 10, 26, 12), dt.datetime(2024, 10, 27, 12)])
    data = pa.table({"t": pa.compute.assume_timezone(keys, "Europe/Berlin"), "x": [1, 2]})  # 25 hours
    w = wr.window(order_by="t")
    found = wr.select(data, a=wr.lag("x", "1d").over(w), b=wr.lag("x", dt.timedelta(hours=25, microseconds=1)).over(w))
    assert found.to_pydict() == {"a": [None, 1], "b": [None, None]}
    found = wr.select(data, a=wr.lag("x", "25h").over(w), b=wr.lag("x", "24h").over(w))
    assert found.to_pydict() == {"a": [None, 1], "b": [None, 1]}


def test_sql_and_names():
    data = pa.table({"t": [dt.date(2024, 1, d) for d in (1, 2, 5)], "x": [1, 2, 3], "offset": [1, 1, 1]})
    w = wr.window(order_by="t")
    call = wr.lag("x", "2d").over(w)
    assert repr(call) == "lag(x, INTERVAL '2' DAY) OVER (ORDER BY t)"
    assert wr.expr(repr(call)).equals(call)
    found = wr.sql("SELECT lag(x, INTERVAL 2 DAYS) OVER (ORDER BY t) AS a FROM d", d=data)
    assert found["a"].to_pylist() == wr.select(data, a=call)["a"].to_pylist() == [None, None, 2]
    assert wr.select(data, a=wr.lag("x", "offset").over(w))["a"].to_pylist() == [None, 1, 2]
    assert wr.select(data.slice(0, 0), a=call)["a"].to_pylist() == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wr.lag("x", "1h", 0), r"takes no default; write lag\(\.\.\.\)\.over\(\.\.\.\)\.fill_null"),
        (lambda: wr.lag("x", "-1h"), "a distance of at least 0, not "),
        (lambda: wr.lag("x", "1h"), 'does not suit order key "t" of type Int64: give a number'),
    ],
)
def test_messages(call, message):
    with pytest.raises(wr.SpecError, match=message):
        wr.select(pa.table({"t": [1], "x": [1]}), c=call().over(order_by="t"))
