"""Results that are null until a row is so far from its partition's first key."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pytest

import windrow as wr
import windrow.polars  # the accessor

SEED = 20261129
KEYS = {
    "int": (pa.int32(), lambda step: step),
    "float": (pa.float64(), lambda step: step / 2),
    "decimal": (pa.decimal128(9, 1), lambda step: Decimal(step) / 2),
    "date": (pa.date32(), lambda step: dt.date(2024, 3, 1) + dt.timedelta(step)),
    "timestamp": (pa.timestamp("us"), lambda step: dt.datetime(2024, 3, 1) + dt.timedelta(hours=step)),
    "nanoseconds": (pa.timestamp("ns", "UTC"), lambda step: dt.datetime(2024, 3, 1) + dt.timedelta(hours=step)),
}


def replaced(w):
    """The window without its frame, which ranks and offsets do not take."""
    return wr.Window(w.partition_by, w.order_by, min_span=w.min_span)


def span_of(kind, n):
    if kind in ("date", "timestamp", "nanoseconds"):
        return f"{n}d" if kind == "date" else dt.timedelta(hours=n)
    return KEYS[kind][1](n)


@pytest.mark.parametrize("kind", KEYS)
def test_rows_near_the_first_key_are_null(kind):
    rng, compared, shown = random.Random(f"{SEED} {kind}"), 0, 0
    dtype, key = KEYS[kind]
    for _ in range(20):
        rows, n, descending = rng.randint(0, 40), rng.randint(0, 12), rng.random() < 0.5
        steps = [rng.choice([None, rng.randint(0, 30), rng.randint(0, 30)]) for _ in range(rows)]
        table = pa.table({
            "k": pa.array([rng.choice([None, 1, 2]) for _ in range(rows)], pa.int64()),
            "t": pa.array([None if s is None else key(s) for s in steps], dtype),
            "v": pa.array(range(rows), pa.uint64()),
            "d": pa.array([f"text {r % 3}" for r in range(rows)]).dictionary_encode(),
        })  # fmt: skip
        span = {"min_span": span_of(kind, n)}
        order = (wr.desc if descending else wr.asc)("t", nulls=rng.choice(["first", "last"]))
        frame = rng.choice([{}, {"rows": (-2, 1)}, {"rows": (None, None)}, {"range": (None, 0)}])
        bare, w = wr.window("k", order, **frame), wr.window("k", order, **frame, **span)

        keys = table["k"].to_pylist()

        def far(row, steps=steps, keys=keys, n=n, down=descending):
            known = [s for s, k in zip(steps, keys, strict=True) if k == keys[row] and s is not None]
            if steps[row] is None:
                return False
            return (max(known) - steps[row] if down else steps[row] - min(known)) >= n

        def calls(w):
            return {
                "sum": wr.sum("v").over(w),
                "last": wr.last_value("d").over(w),
                "list": wr.collect_list("v").over(w),
                "lag": wr.lag("d").over(replaced(w)),
                "rank": wr.rank().over(replaced(w)),
                "next": wr.sum("v").over(w) + 1,
                "inner": wr.max(wr.count().over(w)).over("k"),
                "z": wr.z_score("v").over(w),
            }

        everything, made = wr.with_columns(table, calls(bare)), wr.with_columns(table, calls(w))
        assert made.schema.types == everything.schema.types
        for name in ("sum", "last", "list", "lag", "rank", "next", "z"):
            expected = [v if far(row) else None for row, v in enumerate(everything[name].to_pylist())]
            assert made[name].to_pylist() == (pytest.approx(expected) if name == "z" else expected), name
        counts = wr.with_columns(table, c=wr.count().over(bare))["c"].to_pylist()
        most = {}
        for row, k in enumerate(table["k"].to_pylist()):
            most[k] = max(most.get(k, 0), counts[row] if far(row) else 0)
        assert made["inner"].to_pylist() == [most[k] or None for k in table["k"].to_pylist()]
        kept = pl.from_arrow(table).wr.filter(wr.count().over(w) >= 1)
        assert kept["v"].to_list() == [row for row in range(rows) if far(row) and counts[row]]
        streamed = wr.with_columns(table.to_reader(7), calls(w), sort=True).read_all()
        assert streamed.sort_by("v").select(["sum", "lag", "rank"]) == made.select(["sum", "lag", "rank"])
        assert eval(repr(w), {"wr": wr, "datetime": dt, "Decimal": Decimal}) == w
        compared, shown = compared + rows * 9, shown + sum(map(far, range(rows)))
    assert compared > 2500
    assert shown > 60


@pytest.mark.parametrize("zone", [None, "Europe/Berlin", "America/New_York"])
def test_days_and_months_are_the_calendars(zone):
    """As Polars shifts times, across the changes of the clock."""
    times = [dt.datetime(2024, month, 1) + dt.timedelta(hours=5 * i) for month in (3, 10) for i in range(170)]
    frame = pl.DataFrame({"k": [i % 2 for i in range(len(times))], "t": times}).with_columns(
        pl.col("t").dt.replace_time_zone("UTC").dt.convert_time_zone(zone) if zone else pl.col("t")
    )
    compared = 0
    for span, theirs in (("1d", "-1d"), (wr.interval(days=29), "-29d"), ("1mo", "-1mo"), ("36h", "-36h")):
        made = frame.select(pl.col("k"), pl.col("t")).pipe(
            wr.with_columns, n=wr.count().over("k", order_by="t", min_span=span)
        )
        first = pl.col("t").min().over("k")
        # a row behind one that is far enough is so too, though 31 and 30 March are both a month behind 29 February
        expected = frame.select(far=(pl.col("t").dt.offset_by(theirs) >= first).cum_max().over("k"))["far"]
        assert (made["n"].is_not_null() == expected).all(), span
        assert 0 < expected.sum() < frame.height
        compared += frame.height
    assert compared == 4 * 340


def test_a_window_with_a_least_distance_has_one_order_key():
    assert wr.window("k", "t", min_span=3).rows(2) == wr.window("k", "t", rows=2, min_span=3)
    assert wr.window("k", "t", min_span=3) != wr.window("k", "t", min_span=3.0)
    assert wr.window("k", "t", min_span=3) != wr.window("k", "t")
    refused = {
        "has no order": {"order_by": None, "min_span": 3},
        "has 2 order keys": {"order_by": ["t", "v"], "min_span": "1d"},
        "at least 0, not -1": {"order_by": "t", "min_span": -1},
        "'x' is not a duration": {"order_by": "t", "min_span": "x"},
        "min_span is a number": {"order_by": "t", "min_span": wr.col("v")},
    }
    for message, named in refused.items():
        with pytest.raises(wr.SpecError, match=message):
            wr.window("k", **named)
    table = pa.table({"t": ["a"], "v": [1]})
    with pytest.raises(wr.SpecError, match="RANGE with an offset needs a number"):
        wr.with_columns(table, s=wr.sum("v").over(order_by="t", min_span=1))
