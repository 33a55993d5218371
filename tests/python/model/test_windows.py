"""wr.window, its keys and bounds; intervals and durations."""

import datetime as dt
import pickle
import random
import re
from decimal import Decimal

import pytest

import windrow as wr
from windrow._model.expressions import Column, Literal
from windrow._model.frames import Bound, Frame
from windrow._model.intervals import Interval
from windrow._model.windows import Order


def frame(**given):
    return wr.window(order_by="t", **given).frame


class TestKeys:
    def test_names_expressions_and_sequences(self):
        w = wr.window(partition_by=["a", wr.expr("b + 1")], order_by=("c", wr.desc("d")))
        assert str(w) == "PARTITION BY a, b + 1 ORDER BY c, d DESC"

    def test_defaults_are_sparks(self):
        assert wr.asc("x") == Order(Column("x"), descending=False, nulls_first=True)
        assert wr.desc("x") == Order(Column("x"), descending=True, nulls_first=False)
        assert str(wr.asc("x", nulls="last")) == "x NULLS LAST"
        assert str(wr.desc("x", nulls="first")) == "x DESC NULLS FIRST"

    def test_no_frame_is_left_to_the_plan(self):
        assert wr.window("a", "b").frame is None

    def test_names_that_need_quotes(self):
        assert str(wr.window("a b", wr.asc("x.y"))) == "PARTITION BY `a b` ORDER BY `x.y`"
        assert str(wr.window("tick`s")) == "PARTITION BY `tick``s`"

    def test_keys_have_an_order(self):
        with pytest.raises(wr.SpecError, match="a set has no order"):
            wr.window({"a", "b"})

    def test_unknown_null_placement(self):
        with pytest.raises(wr.SpecError, match="'first' or 'last'"):
            wr.asc("x", nulls="top")

    def test_windows_are_values(self):
        w = wr.window("a", wr.desc("b"), rows=(-1, None), exclude="ties", min_rows=2)
        assert pickle.loads(pickle.dumps(w)) == w
        assert hash(w) == hash(wr.window("a", wr.desc("b"), rows=(-1, None), exclude="ties", min_rows=2))


class TestBounds:
    @pytest.mark.parametrize(
        ("given", "start", "end"),
        [
            ((-1, 0), Bound("preceding", Literal(1)), Bound("current_row")),
            ((2, 5), Bound("following", Literal(2)), Bound("following", Literal(5))),
            ((-5, -2), Bound("preceding", Literal(5)), Bound("preceding", Literal(2))),
            ((None, None), Bound("unbounded_preceding"), Bound("unbounded_following")),
            ((None, 0), Bound("unbounded_preceding"), Bound("current_row")),
            # what PySpark's Window.unboundedPreceding and unboundedFollowing are
            ((-(2**63), 2**63 - 1), Bound("unbounded_preceding"), Bound("unbounded_following")),
            ((-(2**63) + 1, 0), Bound("unbounded_preceding"), Bound("current_row")),
            ((-(2**63) + 2, 0), Bound("preceding", Literal(2**63 - 2)), Bound("current_row")),
        ],
    )
    def test_integers_are_relative_to_the_row(self, given, start, end):
        for units in ("rows", "range", "groups"):
            assert frame(**{units: given}) == Frame(units, start, end)

    @pytest.mark.parametrize(
        ("given", "bound"),
        [
            (dt.timedelta(days=-7), Bound("preceding", Literal(dt.timedelta(days=7)))),
            (dt.timedelta(0), Bound("current_row")),
            ("-7 days", Bound("preceding", Literal(Interval(days=7)))),
            ("-1mo", Bound("preceding", Literal(Interval(months=1)))),
            (wr.interval(months=-3), Bound("preceding", Literal(Interval(months=3)))),
            (Decimal("-0.5"), Bound("preceding", Literal(Decimal("0.5")))),
            (-0.5, Bound("preceding", Literal(0.5))),
            (0.0, Bound("current_row")),
            (wr.preceding(wr.col("n")), Bound("preceding", Column("n"))),
            (wr.col("n"), Bound("following", Column("n"))),
            (wr.preceding(), Bound("unbounded_preceding")),
        ],
    )
    def test_range_starts(self, given, bound):
        assert frame(range=(given, None)).start == bound

    def test_numpy_scalars(self):
        numpy = pytest.importorskip("numpy")
        assert frame(rows=(numpy.int64(-2), numpy.int32(0))) == frame(rows=(-2, 0))
        assert frame(range=(numpy.timedelta64(-2, "h"), 0)) == frame(range=(dt.timedelta(hours=-2), 0))
        assert frame(range=(numpy.timedelta64(-2000, "ns"), 0)) == frame(range=(dt.timedelta(microseconds=-2), 0))
        assert frame(range=(numpy.timedelta64(-2, "M"), 0)) == frame(range=("-2 months", 0))
        assert wr.lit(numpy.datetime64("2024-01-02T03:04:05.000006000", "ns")).value == dt.datetime(
            2024, 1, 2, 3, 4, 5, 6
        )
        assert wr.lit(numpy.datetime64("2024-01-02")).value == dt.date(2024, 1, 2)
        assert wr.lit(numpy.datetime64("NaT", "D")).value is None

    def test_no_nanosecond_is_lost(self):
        numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
        rng = random.Random(3)
        for _ in range(200):
            nanos = rng.choice([rng.randrange(1, 10**6), rng.randrange(-(10**17), 10**17)])
            for value in (
                numpy.timedelta64(nanos, "ns"),
                numpy.datetime64(nanos, "ns"),
                pandas.Timedelta(nanos, "ns"),
                pandas.Timestamp(nanos, unit="ns", tz=rng.choice([None, "UTC"])),
            ):
                if nanos % 1000:
                    with pytest.raises(wr.SpecError, match="cannot be written in microseconds"):
                        wr.lit(value)
                else:
                    found = wr.lit(value).value
                    assert type(found) in (dt.timedelta, dt.datetime)
                    epoch = dt.datetime(1970, 1, 1, tzinfo=getattr(found, "tzinfo", None))
                    span = found - epoch if isinstance(found, dt.datetime) else found
                    assert span == dt.timedelta(microseconds=nanos // 1000)
        assert wr.lit(pandas.NaT).value is None
        with pytest.raises(wr.SpecError, match="cannot be written in microseconds"):
            frame(range=(pandas.Timedelta(-500, "ns"), 0))
        assert frame(range=(pandas.Timedelta(hours=-1), 0)) == frame(range=(dt.timedelta(hours=-1), 0))

    def test_one_kind_of_frame(self):
        with pytest.raises(wr.SpecError, match="rows and range together"):
            wr.window("a", rows=(0, 0), range=(0, 0))

    @pytest.mark.parametrize("given", [(1, -1), (2, 1), (-1, -2)])
    def test_start_after_end(self, given):
        for units in ("rows", "range", "groups"):
            with pytest.raises(wr.SpecError, match="start comes after its end"):
                frame(**{units: given})

    def test_start_after_end_is_seen_in_durations(self):
        with pytest.raises(wr.SpecError, match="start comes after its end"):
            frame(range=("-1 day", "-36 hours"))

    def test_empty_frames_that_spark_allows(self):
        for text in ("ROWS BETWEEN 1 FOLLOWING AND CURRENT ROW", "ROWS BETWEEN CURRENT ROW AND 1 PRECEDING"):
            call = wr.expr(f"count(*) OVER (ORDER BY b {text})")
            assert str(call.window.frame) == text

    @pytest.mark.parametrize(
        ("units", "given", "meant"),
        [
            ("rows", (3, 0), "rows=(-3, 0)"),
            ("rows", (0, -3), "rows=(-3, 0)"),
            ("groups", (1, 0), "groups=(-1, 0)"),
            ("range", ("7 days", 0), "range=('-7 days', 0)"),
            ("range", (dt.timedelta(days=7), 0), "range=(datetime.timedelta(days=-7), 0)"),
            ("range", (wr.interval(months=1), 0), "range=(wr.Interval(months=-1), 0)"),
            ("range", (0, "-1mo"), "range=('-1mo', 0)"),
            ("range", (0.5, 0), "range=(-0.5, 0)"),
            ("range", ("1 month", "-1 day"), "range=('-1 day', '1 month')"),
            ("rows", (wr.following(2), 0), "rows=(wr.preceding(2), 0)"),
        ],
    )
    def test_a_frame_that_can_never_hold_a_row(self, units, given, meant):
        with pytest.raises(wr.SpecError, match="can never hold a row.*did you mean " + re.escape(meant)):
            frame(**{units: given})

    def test_what_may_hold_rows_is_taken(self):
        rng = random.Random(7)
        compared = 0
        for _ in range(300):
            first, last = rng.choices([None, *range(-3, 4)], k=2)
            empty = first is not None and last is not None and first > last
            for units in ("rows", "range", "groups"):
                compared += 1
                if empty:
                    with pytest.raises(wr.SpecError, match="start comes after its end"):
                        frame(**{units: (first, last)})
                else:
                    frame(**{units: (first, last)})
        assert compared == 900

    def test_sides_that_cannot_be(self):
        with pytest.raises(wr.SpecError, match="UNBOUNDED FOLLOWING"):
            frame(rows=(2**63 - 1, None))

    @pytest.mark.parametrize("given", [(-1.5, 0), ("-1 day", 0), (Decimal(1), 2), (True, 2)])
    def test_rows_and_groups_count_whole_rows(self, given):
        for units in ("rows", "groups"):
            with pytest.raises(wr.SpecError):
                frame(**{units: given})

    @pytest.mark.parametrize("given", [-5, "ab", (1,), (1, 2, 3), None.__class__])
    def test_a_frame_is_a_pair(self, given):
        with pytest.raises(wr.SpecError, match="a pair"):
            frame(rows=given)

    def test_nan_is_no_bound(self):
        with pytest.raises(wr.SpecError, match="NaN"):
            frame(range=(float("nan"), None))


class TestExclude:
    def test_names(self):
        assert frame(rows=(-1, 1), exclude="CURRENT ROW").exclude == "current_row"
        with pytest.raises(wr.SpecError, match="'ties'"):
            frame(rows=(-1, 1), exclude="tie")

    def test_without_a_frame_the_default_is_spelled_out(self):
        assert str(wr.window("a", "b", exclude="ties").frame) == (
            "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES"
        )
        assert str(wr.window("a", exclude="group").frame) == (
            "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP"
        )


class TestDurations:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("7 days", Interval(days=7)),
            ("7d", Interval(days=7)),
            ("3 months", Interval(months=3)),
            ("1mo", Interval(months=1)),
            ("1m", Interval(microseconds=60_000_000)),
            ("1h30m", Interval(microseconds=5_400_000_000)),
            ("-1h30m", Interval(microseconds=-5_400_000_000)),
            ("1 year 2 months", Interval(months=14)),
            ("2 weeks", Interval(days=14)),
            ("1.5 seconds", Interval(microseconds=1_500_000)),
            ("250ms", Interval(microseconds=250_000)),
            ("10us", Interval(microseconds=10)),
            ("3000ns", Interval(microseconds=3)),
            ("1q", Interval(months=3)),
        ],
    )
    def test_read(self, text, expected):
        assert wr.interval(text) == expected

    @pytest.mark.parametrize("text", ["", "7", "days", "7 dayz", "1.5 days", "1ns", "7 days x", "99999999999 years"])
    def test_refused(self, text):
        with pytest.raises(wr.SpecError):
            wr.interval(text)

    def test_printed_as_sql(self):
        assert str(wr.interval("7 days")) == "INTERVAL '7' DAY"
        assert str(wr.interval("14 months")) == "INTERVAL '14' MONTH"
        assert str(wr.interval("1 day 90 minutes")) == "INTERVAL '1 day 1 hour 30 minute'"

    def test_of_parts(self):
        assert wr.interval(years=1, weeks=1, hours=-1) == Interval(12, 7, -3_600_000_000)
        with pytest.raises(wr.SpecError, match="not both"):
            wr.interval("1 day", days=1)
