"""SQL strings give what the builder gives."""

import datetime as dt
import math
from decimal import Decimal

import pytest

import windrow as wr
from windrow._model.expressions import Sql
from windrow._parse.sql_text import parse_call

w = wr.window("k", "t")
SAME = [
    ("sum(x) OVER (PARTITION BY k ORDER BY t)", wr.sum("x").over(w)),
    ("SUM(x) over (partition by k order by t) as s", wr.sum("x").over(w).alias("s")),
    ("sum(x) OVER (PARTITION BY k ORDER BY t) s", wr.sum("x").over(w).alias("s")),
    ("(sum(x) OVER (PARTITION BY k ORDER BY t)) AS `a name`", wr.sum("x").over(w).alias("a name")),
    ("count(*) OVER ()", wr.count().over()),
    ("count(a, b) OVER ()", wr.count("a", "b").over()),
    ("count(DISTINCT a, b) OVER ()", wr.count("a", "b").distinct().over()),
    ("sum(x) FILTER (WHERE c > 1) OVER ()", wr.sum("x").filter(wr.expr("c > 1")).over()),
    ("sum(x) FILTER (WHERE good) OVER ()", wr.sum("x").filter("good").over()),
    ("sum(a*b) OVER (PARTITION BY upper(k))", wr.sum(wr.expr("a * b")).over(wr.window(wr.expr("upper(k)")))),
    ("first_value(x) IGNORE NULLS OVER ()", wr.first_value("x").ignore_nulls().over()),
    ("first_value(x IGNORE NULLS) OVER ()", wr.first_value("x").ignore_nulls().over()),
    ("first(x, true) OVER ()", wr.first("x").ignore_nulls().over()),
    ("first(x, false) OVER ()", wr.first("x").over()),
    ("nth_value(x, 2, true) OVER ()", wr.nth_value("x", 2).ignore_nulls().over()),
    ("lag(x) OVER (ORDER BY t)", wr.lag("x").over(wr.window(order_by="t"))),
    ("lag(x, 1, NULL) OVER (ORDER BY t)", wr.lag("x").over(wr.window(order_by="t"))),
    ("lag(x, 2, 0) IGNORE NULLS OVER (ORDER BY t)", wr.lag("x", 2, 0).ignore_nulls().over(wr.window(order_by="t"))),
    ("lag(x, 1, 99, true) OVER (ORDER BY t)", wr.lag("x", 1, 99).ignore_nulls().over(wr.window(order_by="t"))),
    ("lead(x, -1, 'none') OVER (ORDER BY t)", wr.lead("x", -1, wr.lit("none")).over(wr.window(order_by="t"))),
    ("any(x) OVER ()", wr.any("x").over()),
    ("some(x) OVER ()", wr.some("x").over()),
    ("stddev(x) OVER ()", wr.stddev("x").over()),
    ("var_samp(x) OVER ()", wr.var_samp("x").over()),
    ("variance(x) OVER ()", wr.variance("x").over()),
    ("ntile(4) OVER (ORDER BY t)", wr.ntile(4).over(wr.window(order_by="t"))),
    ("rank() OVER (ORDER BY t DESC)", wr.rank().over(wr.window(order_by=wr.desc("t")))),
    ("rank() OVER (ORDER BY t DESC NULLS FIRST)", wr.rank().over(wr.window(order_by=wr.desc("t", nulls="first")))),
    ("rank() OVER (ORDER BY t ASC NULLS LAST)", wr.rank().over(wr.window(order_by=wr.asc("t", nulls="last")))),
    ("sum(x) OVER (DISTRIBUTE BY k SORT BY t)", wr.sum("x").over(w)),
    ("sum(x) OVER (CLUSTER BY k, t)", wr.sum("x").over(wr.window(["k", "t"]))),
    ("sum(x) OVER (CLUSTER BY k ROWS 1 PRECEDING)", wr.sum("x").over(wr.window("k", rows=(-1, 0)))),
    ("lead(x, 2) OVER (ORDER BY t ROWS BETWEEN 2 FOLLOWING AND 2 FOLLOWING)", wr.lead("x", 2).over(order_by="t")),
    ("lag(x) OVER (ORDER BY t ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING)", wr.lag("x").over(order_by="t")),
    ("counter_diff(x, NULL) OVER (ORDER BY t)", wr.counter_diff("x").over(order_by="t")),
    ("sum(`a b`) OVER (PARTITION BY `x.y`)", wr.sum("a b").over(wr.window("x.y"))),
]


@pytest.mark.parametrize(("text", "call"), SAME, ids=[t for t, _ in SAME])
def test_same_as_the_builder(text, call):
    assert parse_call(text).equals(call)


@pytest.mark.parametrize(("text", "call"), SAME, ids=[t for t, _ in SAME])
def test_what_a_call_prints_reads_back(text, call):
    assert parse_call(repr(call)).equals(call)


FRAMES = [
    ("RANGE BETWEEN 1 PRECEDING AND CURRENT ROW", {"range": (-1, 0)}),
    ("ROWS UNBOUNDED PRECEDING", {"rows": (None, 0)}),
    ("ROWS 3 PRECEDING", {"rows": (-3, 0)}),
    ("ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", {"rows": (None, None)}),
    ("ROWS BETWEEN 1 + 1 PRECEDING AND (2 * 3) FOLLOWING", {"rows": (-2, 6)}),
    ("GROUPS BETWEEN 2 PRECEDING AND 1 FOLLOWING", {"groups": (-2, 1)}),
    ("ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW", {"rows": (-2, 1), "exclude": "current_row"}),
    ("ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE GROUP", {"rows": (-2, 1), "exclude": "group"}),
    ("ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE TIES", {"rows": (-2, 1), "exclude": "ties"}),
    ("ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE NO OTHERS", {"rows": (-2, 1)}),
    ("RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND CURRENT ROW", {"range": ("-7 days", 0)}),
    ("RANGE BETWEEN INTERVAL '7' DAY PRECEDING AND CURRENT ROW", {"range": ("-7 days", 0)}),
    ("RANGE BETWEEN INTERVAL '1-2' YEAR TO MONTH PRECEDING AND CURRENT ROW", {"range": ("-14 months", 0)}),
    (
        "RANGE BETWEEN INTERVAL '1 02:03:04' DAY TO SECOND PRECEDING AND INTERVAL 1 HOUR 30 MINUTES FOLLOWING",
        {"range": ("-1d2h3m4s", "90m")},
    ),
    ("RANGE BETWEEN 0.5 PRECEDING AND CURRENT ROW", {"range": (Decimal("-0.5"), 0)}),
    ("RANGE BETWEEN 5e-1 PRECEDING AND CURRENT ROW", {"range": (-0.5, 0)}),
    ("RANGE BETWEEN '2 days' PRECEDING AND CURRENT ROW", {"range": ("-2 days", 0)}),
    ("RANGE BETWEEN '2' PRECEDING AND '1.5' FOLLOWING", {"range": (-2, Decimal("1.5"))}),
    ("RANGE BETWEEN '2e0' PRECEDING AND ' +3 ' FOLLOWING", {"range": (-2.0, 3)}),
    ("RANGE BETWEEN 'inf' PRECEDING AND 'Infinity' FOLLOWING", {"range": (-math.inf, math.inf)}),
    ("ROWS BETWEEN n PRECEDING AND CURRENT ROW", {"rows": (wr.preceding(wr.col("n")), 0)}),
    ("ROWS BETWEEN n + 1 PRECEDING AND CURRENT ROW", {"rows": (wr.preceding(wr.expr("n + 1")), 0)}),
]


@pytest.mark.parametrize(("text", "frame"), FRAMES, ids=[t for t, _ in FRAMES])
def test_frames(text, frame):
    call = wr.sum("x").over(wr.window("k", "t", **frame))
    assert parse_call(f"sum(x) OVER (PARTITION BY k ORDER BY t {text})").equals(call)
    assert parse_call(call.sql).equals(call) == call.reads_back()  # not 0.5, which is read as a decimal


def test_negative_offsets_keep_their_side():
    with pytest.raises(wr.SpecError, match="start comes after its end"):
        parse_call("sum(x) OVER (ORDER BY t ROWS BETWEEN -1 PRECEDING AND -2 FOLLOWING)")
    call = parse_call("sum(x) OVER (ORDER BY t ROWS BETWEEN -1 PRECEDING AND CURRENT ROW)")
    assert str(call.window.frame) == "ROWS BETWEEN -1 PRECEDING AND CURRENT ROW"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NULL", None),
        ("true", True),
        ("-3", -3),
        ("1.5", Decimal("1.5")),
        ("1e2", 100.0),
        ("2D", 2.0),
        ("7L", 7),
        ("'a'", "a"),
        ("DATE '2013-01-02'", dt.date(2013, 1, 2)),
        ("TIMESTAMP_NTZ '2013-01-02 03:04:05'", dt.datetime(2013, 1, 2, 3, 4, 5)),
    ],
)
def test_literals(text, value):
    call = parse_call(f"nth_value({text}, 2) OVER ()")
    assert call.args[0].value == value
    assert type(call.args[0].value) is type(value)


def test_a_timestamp_in_the_sessions_zone_is_left_to_the_host():
    call = parse_call("lag(x, 1, TIMESTAMP '2013-01-02 03:04:05') OVER (ORDER BY t)")
    assert isinstance(call.args[2], Sql)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("sum(x)", wr.SpecError, r"sum\(x\) has no OVER; write sum\(x\) OVER"),
        ("x + 1 AS y", wr.SpecError, "'x \\+ 1 AS y' has no window call"),
        ("sum(x) OVER (ORDER BY", wr.SpecError, "cannot be read as SQL"),
        ("sum(x) OVER () 5", wr.SpecError, "cannot be read as SQL"),
        ("", wr.SpecError, "empty"),
        ("x - lag(x) OVER (ORDER BY t)", wr.SpecError, "expression around window calls"),
        ("sum(x) OVER w", wr.SpecError, "no window 'w'"),
        ("sum(x) - avg(x) OVER ()", wr.SpecError, r"sum\(x\) has no OVER"),
        ("sum(sum(x)) OVER ()", wr.SpecError, r"sum\(x\) has no OVER"),
        ("rank() WITHIN GROUP (ORDER BY x) OVER ()", wr.SpecError, "WITHIN GROUP belongs to"),
        ("percentile_cont(0.5) OVER ()", wr.SpecError, "takes one key, written WITHIN GROUP"),
        ("count() OVER ()", wr.SpecError, r"count\(\*\)"),
        ("sum(x) OVER (ORDER BY t ROWS BETWEEN 2 FOLLOWING AND 1 FOLLOWING)", wr.SpecError, "start comes after"),
        ("sum(x) OVER (ORDER BY t ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW)", wr.SpecError, "cannot start"),
        ("sum(x) OVER (ORDER BY t ROWS BETWEEN 1.5 PRECEDING AND CURRENT ROW)", wr.SpecError, "whole rows"),
        ("sum(x) OVER (ORDER BY t RANGE '1.5.2' PRECEDING)", wr.SpecError, "is not a duration"),
        ("sum(x) OVER (ORDER BY t RANGE 'NaN' PRECEDING)", wr.SpecError, "NaN cannot bound a frame"),
        ("sum(x) OVER (ORDER BY t ROWS '1.5' PRECEDING)", wr.SpecError, "whole rows"),
        ("sum(x) OVER (CLUSTER BY k ORDER BY t)", wr.SpecError, "cannot be read as SQL"),
        ("1 OVER ()", wr.SpecError, "cannot be read"),
        ("max(x) OVER () + :p", wr.SpecError, ":p has no value here"),
    ],
)
def test_refused(text, error, says):
    with pytest.raises(error, match=says):
        parse_call(text)
