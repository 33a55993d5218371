"""Frames given as lengths, held against Polars' and pandas' rolling functions, and against frames of bounds."""

import datetime as dt
import random
from collections import Counter
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import windrow as wr
from support.random_calls import SEED

CLOSED = ["right", "left", "both", "none"]
START = dt.datetime(2024, 3, 1)
#: Of a key: its type, the value of a step, and the length of so many steps as windrow and as Polars write it.
KEYS = {
    "int": (pl.Int64, lambda i: i, lambda n: (n, f"{n}i")),
    "us": (pl.Datetime("us"), lambda i: START + dt.timedelta(hours=i), lambda n: (f"{n}h", f"{n}h")),
    "ns": (pl.Datetime("ns"), lambda i: START + dt.timedelta(hours=i), lambda n: (dt.timedelta(hours=n), f"{n}h")),
    "ms": (pl.Datetime("ms"), lambda i: START + dt.timedelta(hours=i), lambda n: (wr.interval(hours=n), f"{n}h")),
    "zoned": (pl.Datetime("us", "UTC"), lambda i: START + dt.timedelta(hours=i), lambda n: (f"{n}h", f"{n}h")),
    "date": (pl.Date, lambda i: START.date() + dt.timedelta(days=i), lambda n: (f"{n}d", f"{n}d")),
}


def rows_of(rng, kind, rows=60):
    dtype, make, _ = KEYS[kind]
    steps = sorted(rng.randrange(rows // 2) for _ in range(rows))
    keys = (
        pl.Series([make(s) for s in steps]).cast(dtype)
        if kind != "zoned"
        else pl.Series([make(s) for s in steps], dtype=pl.Datetime("us")).dt.replace_time_zone("UTC")
    )
    return pl.DataFrame({"t": keys, "v": [rng.randint(-9, 9) for _ in steps]}), steps


@pytest.mark.parametrize("kind", KEYS)
def test_a_length_is_polars_period(kind):
    rng, compared = random.Random(f"{SEED} {kind}"), 0
    for _ in range(6):
        frame, _ = rows_of(rng, kind)
        for closed in CLOSED:
            ours, theirs = KEYS[kind][2](rng.randint(1, 6))
            call = wr.sum("v").over(order_by="t", range=ours, closed=closed)
            found = wr.select(frame, r=call)["r"].to_list()
            asked = pl.col("v").rolling_sum_by("t", window_size=theirs, closed=closed)
            expected = frame.select(r=asked)["r"].to_list()
            counted = wr.select(frame, r=wr.count().over(order_by="t", range=ours, closed=closed))["r"].to_list()
            assert [s or 0 for s in found] == [e or 0 for e in expected], (closed, ours)
            assert [s is None for s in found] == [n == 0 for n in counted]
            compared += len(found)
    assert compared == 6 * 4 * 60


@pytest.mark.parametrize("kind", ["int", "float", "decimal", "us", "date"])
def test_a_length_is_its_definition(kind):
    """Row by row, with nulls, in each direction, around the row, as a stream and in memory."""
    rng, seen = random.Random(f"definition {SEED} {kind}"), Counter()
    make = {
        "int": lambda i: i, "float": lambda i: i / 4, "decimal": lambda i: Decimal(i).scaleb(-1),
        "us": lambda i: START + dt.timedelta(hours=i), "date": lambda i: START.date() + dt.timedelta(days=i),
    }[kind]  # fmt: skip
    length = {
        "int": lambda n: n, "float": lambda n: n / 4, "decimal": lambda n: Decimal(n).scaleb(-1),
        "us": lambda n: dt.timedelta(hours=n), "date": lambda n: dt.timedelta(days=n),
    }[kind]  # fmt: skip
    for _ in range(12):
        steps = [None if rng.random() < 0.1 else rng.randrange(25) for _ in range(40)]
        table = pa.table({
            "k": pa.array([rng.randrange(2) for _ in steps]),
            "t": pa.array(
                [None if s is None else make(s) for s in steps], pa.decimal128(9, 1) if kind == "decimal" else None
            ),
            "v": pa.array(range(40)),
        })  # fmt: skip
        descending, centered = rng.random() < 0.5, rng.random() < 0.5
        n, closed = 2 * rng.randint(1, 4), rng.choice(CLOSED)
        order = wr.desc("t") if descending else wr.asc("t")
        w = wr.window("k", order, range=length(n), closed=closed, centered=centered)
        low, high = (-n / 2, n / 2) if centered else (-n, 0)

        def holds(
            row, other, steps=steps, table=table, low=low, high=high, closed=closed, down=descending, centered=centered
        ):
            if table["k"][row] != table["k"][other]:
                return False
            if steps[row] is None or steps[other] is None:  # the nulls are ties
                return steps[row] is steps[other] and (centered or closed in ("right", "both"))
            distance = (steps[row] - steps[other]) if down else (steps[other] - steps[row])
            after = distance >= low if closed in ("left", "both") else distance > low
            return after and (distance <= high if closed in ("right", "both") else distance < high)

        expected = [[v for v in range(40) if holds(row, v)] for row in range(40)]
        calls = {
            "n": wr.count().over(w),
            "s": wr.sum("v").over(w),
            "m": wr.max("v").over(w),
            "q": wr.median("v").over(w),
        }
        made = wr.with_columns(table, calls)
        assert made["n"].to_pylist() == [len(e) for e in expected]
        assert made["s"].to_pylist() == [sum(e) if e else None for e in expected]
        assert made["m"].to_pylist() == [max(e, default=None) for e in expected]
        ordered = table.sort_by([("k", "ascending")])
        streamed = wr.with_columns(ordered.to_reader(7), calls, sort=True).read_all()
        assert streamed == wr.with_columns(ordered, calls)
        with wr.config(strategy="naive"):
            assert wr.with_columns(table, n=calls["n"])["n"] == made["n"]
        assert eval(repr(w), {"wr": wr, "datetime": dt, "Decimal": Decimal}) == w
        seen[closed, centered] += 40
    assert sum(seen.values()) == 12 * 40


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "UTC"])
def test_hours_are_elapsed_and_days_the_calendars(zone):
    """Across the changes of the clock, as Polars has it; SQL's 24 hours are a day, as Spark has it."""
    hours = [dt.datetime(2024, month, 1) + dt.timedelta(hours=6 * i) for month in (3, 10, 11) for i in range(130)]
    frame = pl.DataFrame({"t": sorted(set(hours)), "v": range(len(set(hours)))})
    frame = frame.with_columns(pl.col("t").dt.replace_time_zone("UTC").dt.convert_time_zone(zone))
    different = compared = 0
    for n in (1, 2, 3):
        for closed in CLOSED:
            answers = {}
            for name, length, theirs in (
                ("timedelta", dt.timedelta(days=n), f"{24 * n}h"),
                ("text", f"{24 * n}h", f"{24 * n}h"),
                ("interval", wr.interval(hours=24 * n), f"{24 * n}h"),
                ("day", f"{n}d", f"{n}d"),
                ("days", wr.interval(days=n), f"{n}d"),
            ):
                w = wr.window(order_by="t", range=length, closed=closed)
                found = wr.select(frame, r=wr.sum("v").over(w))["r"].to_list()
                asked = pl.col("v").rolling_sum_by("t", window_size=theirs, closed=closed)
                assert [f or 0 for f in found] == [e or 0 for e in frame.select(r=asked)["r"].to_list()], (name, n)
                assert eval(repr(w), {"wr": wr, "datetime": dt}) == w
                answers[name] = found
                compared += len(found)
            different += answers["text"] != answers["day"]
            sql = f"sum(v) OVER (ORDER BY t RANGE INTERVAL '{24 * n}' HOUR PRECEDING)"
            both = wr.sum("v").over(order_by="t", range=f"{n}d", closed="both")
            assert wr.select(frame, r=sql)["r"].equals(wr.select(frame, r=both)["r"])
    assert compared == 3 * 4 * 5 * frame.height
    assert (different > 0) == (zone != "UTC")
    with pytest.raises(wr.SpecError, match="elapsed time"):
        wr.window(order_by="t", range=("-1 day", dt.timedelta(days=2)))


def test_numbers_of_rows_are_polars_and_pandas():
    rng, compared = random.Random(SEED), 0
    values = [rng.randint(-9, 9) for _ in range(50)]
    frame = pl.DataFrame({"t": range(50), "v": values})
    for number in range(1, 9):
        for centered in (False, True):
            for least in (None, 1, number):
                w = wr.window(order_by="t", rows=number, centered=centered, min_rows=least)
                found = wr.select(frame, r=wr.sum("v").over(w))["r"].to_list()
                theirs = pl.col("v").rolling_sum(number, min_samples=least or 1, center=centered)
                assert found == frame.select(r=theirs)["r"].to_list(), (number, centered, least)
                rolled = pd.Series(values).rolling(number, min_periods=least or 1, center=centered).sum()
                assert [None if x != x else int(x) for x in rolled] == found
                compared += 50
    assert compared == 8 * 2 * 3 * 50


def test_lengths_are_these_frames():
    w = wr.window(order_by="t", rows=7)
    assert w == wr.window(order_by="t", rows=(-6, 0))
    assert wr.window(order_by="t", rows=1) == wr.window(order_by="t", rows=(0, 0))
    assert wr.window(order_by="t", rows=4, centered=True) == wr.window(order_by="t", rows=(-2, 1))
    assert wr.window(order_by="t", range="7d", closed="both") == wr.window(order_by="t", range=("-7d", 0))
    left = wr.window(order_by="t", range="7d", closed="left")
    assert left == wr.window(order_by="t", range=("-7d", 0), exclude="group")
    assert wr.window(order_by="t", range="7d") == wr.window(order_by="t", range="7d", closed="right")
    assert wr.window(order_by="t", range="7d") != wr.window(order_by="t", range="7d", closed="both")
    refused = {
        "a number of rows": {"rows": 0},
        "rows=\\(-2, 0\\)": {"rows": -2},
        "rows=7.5": {"rows": 7.5},
        "greater than 0": {"range": "-7d"},
        "greater than 0, .*": {"range": 0},
        "closed='rigth' is unknown": {"range": 7, "closed": "rigth"},
        "closed='left' belongs to a length": {"range": (-7, 0), "closed": "left"},
        "centered=True belongs to a length": {"rows": (-7, 0), "centered": True},
        "closed='both' belongs": {"rows": 7, "closed": "both"},
        "stands without a frame": {"closed": "both"},
        "half of it is no offset": {"range": 7, "centered": True},
        "leave out exclude='ties'": {"range": 7, "closed": "none", "exclude": "ties"},
    }
    for message, named in refused.items():
        with pytest.raises(wr.SpecError, match=message):
            wr.window(order_by="t", **named)
