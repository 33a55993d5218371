"""Functions that Spark lacks, along the order key: the answers on Spark are those over a Table, also of split rows."""

import datetime as dt
import random

import pytest

import windrow as wr
from support.comparison import equal
from support.random_calls import SEED

pytest.importorskip("pyspark")

NOON = dt.datetime(2024, 3, 30, 12)
SETTINGS = {"spark.sql.shuffle.partitions": "3", "spark.sql.session.timeZone": "Europe/Berlin"}

CALLS = {
    "session": wr.session_id("4m"),
    "group": wr.group_id(max_gap="9m", max_span="1h", max_rows=7, max_sum=("i", 12)),
    "bounded": wr.bounded_sum("i", 0, 9, 3),
    "average": wr.rank("average", nulls="keep"),
    "share": wr.rank("max", pct=True),
    "ago": wr.lag("i", "10m"),
    "ahead": wr.lead("i", "10m").ignore_nulls(),
    "line": wr.fill("i", max_gap="20m"),
    "forward": wr.fill_forward("i", max_gap="20m"),
    "deviation": wr.ewm_std("i", span=4),
    "by_time": wr.ewm_mean("i", half_life="10m"),
}
#: Those of which states merge, or which read as far as a distance: they need no task that holds all rows.
SPLIT = ("bounded", "ago", "ahead", "deviation", "by_time")


@pytest.fixture(scope="module")
def data(spark):
    rng = random.Random(SEED)
    rows = [
        (i, i % 3, NOON + dt.timedelta(minutes=minute), rng.choice([None, *range(-3, 8)]))
        for i, minute in enumerate(sorted(rng.sample(range(3000), 400)))
    ]
    return spark.createDataFrame(rows, "id long, k long, t timestamp, i int")


@pytest.mark.parametrize("partitioned", [True, False])
def test_answers_are_those_over_a_table(data, partitioned):
    window = wr.window("k" if partitioned else None, order_by="t")
    names = list(CALLS) if partitioned else SPLIT
    items = {name: CALLS[name].over(window) for name in names}
    want = wr.with_columns(data.toArrow(), items).sort_by("id").to_pylist()
    found = wr.with_columns(data, items).orderBy("id").toArrow().to_pylist()
    assert len(found) == len(want) == 400
    compared = 0
    for a, b in zip(found, want, strict=True):
        for name in names:
            assert equal(a[name], b[name], rel=1e-9, absolute=1e-12), (name, a, b)
            compared += b[name] is not None
    assert compared > 300 * len(names)


@pytest.mark.parametrize("call", [CALLS["session"], CALLS["bounded"], CALLS["average"], CALLS["ago"], CALLS["line"]])
def test_sparks_own_windows_refuse_them(data, call):
    with pytest.raises(wr.UnsupportedError, match="Spark refuses it"):
        wr.with_columns(data, c=call.over("k", order_by="t"), engine="spark")
