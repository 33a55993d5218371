"""Exponentially weighted moments against pandas and Polars, over frames against themselves, and by time."""

import datetime as dt
import random

import polars as pl
import pyarrow as pa
import pytest

import windrow as wr
from support.comparison import equal
from support.random_calls import SEED

NOON = dt.datetime(2024, 3, 30, 12)
DECAYS = [{"alpha": 0.3}, {"span": 5}, {"com": 2.5}, {"half_life": 3}]


def table(rng, count=120):
    seconds = sorted(rng.sample(range(9 * count), count))
    return pa.table(
        {
            "t": pa.array([NOON + dt.timedelta(seconds=s) for s in seconds], pa.timestamp("ns")),
            "x": [None if rng.random() < 0.2 else float(rng.randint(-9, 9)) for _ in range(count)],
            "y": [None if rng.random() < 0.1 else rng.random() for _ in range(count)],
        }
    )


def near(found, want, rel=1e-9):
    assert len(found) == len(want)
    want = [None if v is None or v != v else v for v in want]
    wrong = [
        (i, a, b) for i, (a, b) in enumerate(zip(found, want, strict=True)) if not equal(a, b, rel=rel, absolute=1e-12)
    ]
    assert not wrong, wrong[:3]
    return sum(v is not None for v in want)


@pytest.mark.parametrize("decay", DECAYS, ids=lambda d: next(iter(d)))
@pytest.mark.parametrize("adjust", [True, False])
@pytest.mark.parametrize("ignore_nulls", [True, False])
def test_as_pandas(decay, adjust, ignore_nulls):
    data = table(random.Random(SEED))
    frame = data.to_pandas()
    named = {"halflife" if n == "half_life" else n: v for n, v in decay.items()}
    weighted = frame["x"].ewm(**named, adjust=adjust, ignore_na=ignore_nulls)
    pairs = frame[["x", "y"]].where(frame.notna().all(axis=1))
    both = pairs["x"].ewm(**named, adjust=adjust, ignore_na=ignore_nulls)
    settings = {**decay, "adjust": adjust, "ignore_nulls": ignore_nulls}
    compared = 0
    cases = [(wr.ewm_mean("x", **settings), weighted.mean())]
    for bias in (False, True):
        cases += [
            (wr.ewm_var("x", **settings, bias=bias), weighted.var(bias=bias)),
            (wr.ewm_std("x", **settings, bias=bias), weighted.std(bias=bias)),
            (wr.ewm_cov("y", "x", **settings, bias=bias), both.cov(pairs["y"], bias=bias)),
        ]
    cases.append((wr.ewm_corr("y", "x", **settings), both.corr(pairs["y"])))
    for call, want in cases:
        item = call.over(order_by="t")
        for strategy in (None, "naive", "segment_tree"):
            with wr.config(strategy=strategy):
                compared += near(wr.select(data, c=item)["c"].to_pylist(), want.to_list(), rel=1e-8)
        chunked = pa.concat_tables([data.slice(0, 50), data.slice(50, 0), data.slice(50)])
        near(wr.select(chunked, c=item)["c"].to_pylist(), want.to_list(), rel=1e-8)
    assert compared > 2000


@pytest.mark.parametrize("adjust", [True, False])
@pytest.mark.parametrize("ignore_nulls", [True, False])
def test_as_polars(adjust, ignore_nulls):
    frame = pl.from_arrow(table(random.Random(SEED)))
    compared = 0
    for bias in (False, True):
        for name in ("ewm_var", "ewm_std"):
            settings = {"adjust": adjust, "bias": bias, "ignore_nulls": ignore_nulls}
            want = frame.select(getattr(pl.col("x"), name)(alpha=0.3, **settings))["x"].to_list()
            found = wr.select(frame, c=getattr(wr, name)("x", 0.3, **settings).over(order_by="t"))["c"].to_list()
            # in a row that is null Polars gives null; of one value it says that it does not vary
            pairs = [(a, b) for a, b, x in zip(found, want, frame["x"], strict=True) if x is not None][1:]
            compared += near([a for a, _ in pairs], [b for _, b in pairs])
    assert compared > 300


def moments(rows, half_life, *, adjust):
    """Give the weighted mean and biased variance of (time, value) pairs, by definition."""
    weights = []
    for i, (time, _) in enumerate(rows):
        if adjust:
            weights.append(0.5 ** ((rows[-1][0] - time) / half_life))
        else:
            share = 1.0 if i == 0 else 1 - 0.5 ** ((time - rows[i - 1][0]) / half_life)
            weights = [w * (1 - share) for w in weights] + [share]
    total = sum(weights)
    mean = sum(w * x for w, (_, x) in zip(weights, rows, strict=True)) / total
    return mean, sum(w * (x - mean) ** 2 for w, (_, x) in zip(weights, rows, strict=True)) / total


@pytest.mark.parametrize("adjust", [True, False])
@pytest.mark.parametrize("frame", [(None, 0), (-9, 0)])
def test_by_time(adjust, frame):
    data = table(random.Random(SEED))
    rows = data.set_column(0, "t", data["t"].cast(pa.timestamp("us"))).to_pylist()
    want = []
    for i in range(len(rows)):
        near_rows = rows[0 if frame[0] is None else max(0, i - 9) : i + 1]
        pairs = [(row["t"], row["x"]) for row in near_rows if row["x"] is not None]
        want.append(moments(pairs, dt.timedelta(minutes=1), adjust=adjust) if pairs else (None, None))
    w = wr.window(order_by="t", rows=frame)
    for half_life in ("1m", dt.timedelta(minutes=1), wr.interval(minutes=1)):
        settings = {"half_life": half_life, "adjust": adjust}
        found = wr.select(
            data, m=wr.ewm_mean("x", **settings).over(w), v=wr.ewm_var("x", **settings, bias=True).over(w)
        )
        assert near(found["m"].to_pylist(), [m for m, _ in want]) > 90
        assert near(found["v"].to_pylist(), [v for _, v in want], rel=1e-7) > 90


def test_means_by_time_are_those_of_pandas_and_polars():
    data = table(random.Random(SEED))
    kept = data.filter(pa.compute.is_valid(data["x"]))
    found = wr.select(kept, m=wr.ewm_mean("x", half_life="1m").over(order_by="t"))["m"].to_pylist()
    frame = kept.to_pandas()
    near(found, frame["x"].ewm(halflife="1m", times=frame["t"]).mean().to_list())
    found = wr.select(kept, m=wr.ewm_mean("x", half_life="1m", adjust=False).over(order_by="t"))["m"].to_pylist()
    want = pl.from_arrow(kept).select(pl.col("x").ewm_mean_by("t", half_life="1m"))["x"].to_list()
    assert near(found, want) > 80


def test_streams_nulls_and_sql():
    rng = random.Random(SEED)
    count = 40_000
    data = pa.table({"t": rng.sample(range(count), count), "x": [rng.random() for _ in range(count)]})
    item = wr.ewm_std("x", 0.1).over(order_by="t")
    want = wr.select(data, s=item)["s"].to_pylist()
    for settings in ({"threads": 2}, {"memory_limit": "1 MiB"}):
        with wr.config(**settings):
            near(wr.select(data, s=item)["s"].to_pylist(), want)
    found = wr.sql("SELECT ewm_std(x, 0.1) OVER (ORDER BY t) AS s FROM d", d=data)["s"].to_pylist()
    assert found == want
    call = wr.ewm_var("x", half_life="1h", adjust=False, bias=True).over(order_by="t")
    assert repr(call) == "ewm_var(x, INTERVAL '1' HOUR, false, true) OVER (ORDER BY t)"
    assert wr.expr(repr(call)).equals(call)
    times = pa.array([None, NOON, NOON + dt.timedelta(hours=1)], pa.timestamp("us"))
    late = pa.table({"t": times, "x": [9.0, 1.0, 4.0]})
    found = wr.select(late, m=wr.ewm_mean("x", half_life="1h").over(order_by="t"))["m"].to_pylist()
    assert found == [None, 1.0, 3.0]
    assert wr.select(late.slice(0, 0), m=wr.ewm_corr("x", "x", 0.5).over(order_by="t"))["m"].to_pylist() == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wr.ewm_var("x"), "ewm_var takes alpha, span, com or half_life, and one of them"),
        (lambda: wr.ewm_std("x", 0.5, span=3), "ewm_std takes alpha, span, com or half_life, and one of them"),
        (lambda: wr.ewm_mean("x", span=0.5), "the span of ewm_mean is a number from 1, not 0.5"),
        (lambda: wr.ewm_mean("x", com=-1), "the com of ewm_mean is a number from 0, not -1"),
        (lambda: wr.ewm_mean("x", half_life=0), "the half_life of ewm_mean is a number of rows above 0, not 0"),
        (lambda: wr.ewm_mean("x", alpha=2), "the alpha of ewm_mean is a constant above 0 and up to 1"),
        (lambda: wr.ewm_mean("x", half_life="0s"), "the alpha of ewm_mean is a constant above 0 and up to 1"),
        (
            lambda: wr.ewm_mean("x", half_life="1h"),
            'needs one order key of dates or times, and the window has "t" of Int64',
        ),
    ],
)
def test_messages(call, message):
    with pytest.raises(wr.SpecError, match=message):
        wr.select(pa.table({"t": [1], "x": [1.0]}), c=call().over(order_by="t"))
