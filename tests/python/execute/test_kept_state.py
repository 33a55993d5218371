"""Operators with state=: rows that come in several runs have the results of one run over all of them."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import random
import subprocess
import sys
import zlib
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import windrow as wr
from support.comparison import Answers, listed
from support.random_calls import SEED, make_ask, make_spec, make_table, rounds
from support.random_calls_more import make_more_asks

SCHEMA = pa.schema({"k": pa.int64(), "t": pa.int64(), "v": pa.int64()})
OVER = "(PARTITION BY k ORDER BY t)"


def batch(k, t, v):
    return pa.record_batch([pa.array(k, pa.int64()), pa.array(t, pa.int64()), pa.array(v, pa.int64())], schema=SCHEMA)


def keeps(calls, schema, *, sort=None):
    """Whether the calls can be kept, for a reason that is named where they cannot."""
    refusal = ""
    try:
        wr.operator(calls, schema, sort=sort, state="new")
    except wr.UnsupportedError as error:
        refusal = str(error)
    assert not refusal or "depend on rows that come later" in refusal
    return not refusal


def in_runs(calls, days, *, sort):
    """Compute days one after another, each by an operator that has the bytes of the one before."""
    state, out = "new", []
    for day in days:
        op = wr.operator(calls, day.schema, sort=sort, state=state)
        out += op(day.to_batches(max_chunksize=13))
        state = op.state
        assert isinstance(state, bytes)
    return pa.Table.from_batches(out, op.schema)


def days_of(rng, table, spec):
    """Cut rows into days at random places of the window's order, some days empty; and say in which order rows are."""
    order = ", ".join(spec.order_by)
    keys = ", ".join([*spec.partition_by, *spec.order_by])
    ranked = wr.select(table, "id", day=f"rank() OVER (ORDER BY {order})", place=f"row_number() OVER (ORDER BY {keys})")
    day, place = ranked["day"].to_pylist(), ranked["place"].to_pylist()
    cuts = sorted(rng.choices(range(table.num_rows + 2), k=rng.randint(1, 5)))
    days = []
    for first, last in zip([0, *cuts], [*cuts, table.num_rows + 2], strict=True):
        days.append([i for i in range(table.num_rows) if first <= day[i] < last])
    presorted = [sorted(rows, key=place.__getitem__) for rows in days]
    return [table.take(pa.array(rows, pa.int64())) for rows in days], [
        table.take(pa.array(rows, pa.int64())) for rows in presorted
    ]


@pytest.mark.parametrize("number", rounds(60, 5))
def test_random_calls_and_cuts(number):
    """Random calls of one window each, random partitions with nulls and NaN among keys, one to five cuts."""
    rng = random.Random(number)
    table = make_table(rng, rng.choice([20, 60, 90]))
    answers, drawn = Answers("runs"), 0
    while drawn < 6:
        spec = make_spec(rng)
        if not spec.order_by:
            continue
        asks = []
        for _ in range(12):
            ask = rng.choice([make_ask, make_ask, make_more_asks])(rng, spec)
            try:
                wr.select(table, "id", {"c": ask.text})
            except wr.WindrowError:  # now and then one is drawn that must be refused
                continue
            if ask.window == spec.over("") or spec.order_by[0].split()[0] in ask.window:
                asks += [ask] if keeps({"c": ask.text}, table.schema, sort=True) else []
        if not asks:
            continue
        drawn += 1
        asks = asks[: rng.randint(1, 5)]
        calls = {f"c{i}": ask.text for i, ask in enumerate(asks)}
        shuffled, presorted = days_of(rng, table, spec)
        sort = rng.random() < 0.5
        days = shuffled if sort else presorted
        out = in_runs(calls, days, sort=sort).sort_by("id")
        expected = wr.select(table, "id", calls).sort_by("id")
        assert out["id"].equals(expected["id"])
        for i, ask in enumerate(asks):
            asked = replace(ask, text=f"{ask.text} in {[d.num_rows for d in days]}, sort={sort}")
            theirs = expected[f"c{i}"]
            answers.check(asked, listed(out[f"c{i}"].cast(theirs.type)), listed(theirs), table, out["id"].to_pylist())
    assert answers.values >= 6 * 20
    answers.settle(6)


#: A call of every function that may be kept, over the columns of ``history``.
FUNCTIONS = [
    "count(*)", "count(DISTINCT x)", "sum(x)", "sum(y)", "avg(x)", "min(s)", "max(y)", "var_samp(y)", "stddev_pop(y)",
    "count_if(b)", "try_sum(x)", "try_avg(x)", "product(w)", "geometric_mean(w)", "skewness(y)", "kurtosis(y)",
    "corr(y, w)", "covar_pop(y, w)", "regr_slope(y, w)", "regr_r2(y, w)", "bit_and(x)", "bit_xor(x)", "min_by(s, y)",
    "max_by(s, x)", "max_by(s, x, 2)", "mode(x)", "median(x)", "percentile(y, 0.3)", "percentile_approx(x, 0.5)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY x)", "mad(x)", "entropy(s)", "collect_list(x)", "collect_set(x)",
    "approx_count_distinct(x)", "listagg(s, ',')", "array_agg(x ORDER BY y)", "histogram_numeric(w, 4)",
    "ewm_mean(y, 0.3)", "ewm_var(y, 0.3)", "ewm_corr(y, w, 0.3)", "bounded_sum(x, 0, 9)", "bool_and(b)", "bool_or(b)",
    "sum(d)", "avg(d)", "first_value(s)", "first_value(s) IGNORE NULLS", "last_value(x) IGNORE NULLS",
    "nth_value(x, 2)", "any_value(s)", "sum(x) FILTER (WHERE b)", "rank(ORDER BY x)", "sum(DISTINCT x)",
]  # fmt: skip
UNFRAMED = [
    "row_number()", "rank()", "dense_rank()", "lag(x)", "lag(s, 3, 'none')", "lag(x, 2) IGNORE NULLS", "lead(x, -2)",
    "counter_diff(w)", "group_id(3, NULL, 4)", "session_id(2)",
]  # fmt: skip
FRAMES = [
    "", "ROWS UNBOUNDED PRECEDING", "ROWS 2 PRECEDING", "ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING", "RANGE 4 PRECEDING",
    "RANGE BETWEEN 5 PRECEDING AND 2 PRECEDING",
    "GROUPS 2 PRECEDING", "GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN n PRECEDING AND CURRENT ROW", "RANGE UNBOUNDED PRECEDING EXCLUDE CURRENT ROW",
    "GROUPS 1 PRECEDING EXCLUDE TIES", "ROWS UNBOUNDED PRECEDING EXCLUDE GROUP",
]  # fmt: skip


def history(rng, rows):
    """Make rows of some partitions, one of them of nulls, in the order of t with ties; sorted by p and t."""
    p = [rng.choice([None, "a", "a", "b", "c", "d"]) for _ in range(rows)]
    t = [rng.choice([None, *range(rows // 3)]) for _ in range(rows)]
    table = pa.table(
        {
            "id": list(range(rows)),
            "p": pa.array(p, pa.string()),
            "t": pa.array(t, pa.int64()),
            "x": pa.array([rng.choice([None, rng.randint(-5, 9)]) for _ in p], pa.int64()),
            "y": pa.array([rng.choice([None, rng.uniform(-5, 5)]) for _ in p], pa.float64()),
            "w": pa.array([rng.uniform(0.5, 2) for _ in p], pa.float64()),
            "d": pa.array([rng.choice([None, rng.randint(-99, 99)]) for _ in p], pa.decimal128(9, 2)),
            "s": pa.array([rng.choice([None, "", "a", "bb", "ccc" * 9]) for _ in p], pa.string()),
            "b": pa.array([rng.choice([None, True, False]) for _ in p], pa.bool_()),
            "n": pa.array([rng.randint(0, 3) for _ in p], pa.int64()),
        }
    )
    places = sorted(range(rows), key=lambda i: (p[i] is not None, p[i] or "", t[i] is not None, t[i] or 0))
    return table.take(pa.array(places, pa.int64()))


def agrees(ours, theirs):
    """Whether two values agree; floats that are added up in other shares to ten digits."""
    if isinstance(ours, float) and isinstance(theirs, float):
        return ours == pytest.approx(theirs, rel=1e-10, abs=1e-10, nan_ok=True)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(agrees, ours, theirs))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(agrees(ours[k], theirs[k]) for k in ours)
    return ours == theirs


@pytest.mark.parametrize("number", range(SEED, SEED + 8))
@pytest.mark.parametrize("sort", [False, True])
def test_every_function(number, sort):
    """Several calls at once, over frames of each kind; cut where t goes on, so that ties come together."""
    rng = random.Random(number)
    table = history(rng, 80)
    texts = [f"{function} OVER (PARTITION BY p ORDER BY t)" for function in UNFRAMED]
    for function in FUNCTIONS:
        frames = rng.sample(FRAMES, 3)
        texts += [f"{function} OVER (PARTITION BY p ORDER BY t {frame})" for frame in frames]
    rng.shuffle(texts)
    kept = [t for t in texts if _valid(t, table) and keeps({"c": t}, table.schema, sort=sort)]
    assert len(kept) > 120
    compared = 0
    for first in range(0, len(kept), 6):
        calls = {f"c{i}": text for i, text in enumerate(kept[first : first + 6])}
        cuts = sorted(rng.choices(range(-1, 28), k=rng.randint(1, 5)))
        times = pc.fill_null(table["t"], -1)
        days = []
        for low, high in zip([-1, *cuts], [*cuts, 99], strict=True):
            days.append(table.filter(pc.and_(pc.greater_equal(times, low), pc.less(times, high))))
        out = in_runs(calls, days, sort=sort).sort_by("id")
        expected = wr.with_columns(table, calls).sort_by("id")
        assert out.schema.equals(expected.schema)
        for name, text in calls.items():
            pairs = list(zip(out[name].to_pylist(), expected[name].to_pylist(), strict=True))
            different = [(i, *pair) for i, pair in enumerate(pairs) if not agrees(*pair)]
            assert not different, f"{text} in {[d.num_rows for d in days]}: {different[:3]}"
            compared += len(pairs)
    assert compared == 80 * len(kept)


def _valid(text, table):
    try:
        wr.operator({"c": text}, table.schema)
    except wr.WindrowError:
        return False
    return True


def test_what_depends_on_later_rows_is_refused_by_name():
    refused = [
        f"lead(v) OVER {OVER}", f"ntile(2) OVER {OVER}", f"percent_rank() OVER {OVER}", f"cume_dist() OVER {OVER}",
        f"fill(v) OVER {OVER}", f"fill_forward(v) OVER {OVER}",
        "sum(v) OVER (PARTITION BY k)", "sum(v) OVER ()", f"lag(v, t) OVER {OVER}",
        "sum(v) OVER (PARTITION BY k ORDER BY t ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
        "max(v) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    ]  # fmt: skip
    for text in refused:
        with pytest.raises(wr.UnsupportedError, match="depend on rows that come later") as caught:
            wr.operator(text, SCHEMA, state="new")
        assert str(caught.value).startswith(text.split(" OVER")[0])
    with pytest.raises(wr.UnsupportedError, match=r"ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"):
        wr.operator("sum(v) OVER (PARTITION BY k)", SCHEMA, state="new")

    class Total:
        def initialize(self):
            return 0

        def update(self, state, v):
            return state + (v or 0)

    with pytest.raises(wr.UnsupportedError, match="the state of a user-defined function is not kept"):
        wr.operator(wr.aggregate(Total, "v", returns=int).over(wr.window("k", "t")), SCHEMA, state="new")


def test_calls_by_time():
    """Over an order key of times: values that held then, half-lives, calendar days, months."""
    rng = random.Random(2)
    hours = sorted(rng.sample(range(3000), 90))
    start = dt.datetime(2024, 1, 30)
    table = pa.table(
        {
            "t": pa.array([start + dt.timedelta(hours=h) for h in hours], pa.timestamp("us")),
            "x": pa.array([rng.choice([None, rng.uniform(0, 9)]) for _ in hours]),
        }
    )
    texts = [
        "lag(x, INTERVAL '2' DAY) OVER (ORDER BY t)", "ewm_mean(x, INTERVAL '9' HOUR) OVER (ORDER BY t)",
        "group_id(INTERVAL '30' HOUR) OVER (ORDER BY t)", "sum(x) OVER (ORDER BY t RANGE INTERVAL '5' DAY PRECEDING)",
        "max(x) OVER (ORDER BY t RANGE BETWEEN INTERVAL '2' MONTH PRECEDING AND INTERVAL '1' MONTH PRECEDING)",
    ]  # fmt: skip
    compared = 0
    for zone in ("UTC", "America/New_York"):
        with wr.config(timezone=zone):
            calls = {f"c{i}": text for i, text in enumerate(texts)}
            expected = wr.with_columns(table, calls)
            for sort in (False, True):
                cuts = sorted(rng.choices(range(91), k=5))
                days = [table.slice(a, b - a) for a, b in zip([0, *cuts], [*cuts, 90], strict=True)]
                out = in_runs(calls, days, sort=sort)
                for name, text in calls.items():
                    pairs = zip(out[name].to_pylist(), expected[name].to_pylist(), strict=True)
                    assert all(agrees(*pair) for pair in pairs), text
                    compared += out.num_rows
    assert compared == 2 * 2 * 5 * 90


def test_partitions_come_and_go():
    """A new one begins, one that misses a day goes on after it; a null is a partition of its own."""
    calls = {"s": f"sum(v) OVER {OVER}", "l": f"lag(v) OVER {OVER}"}
    days = [
        batch([1, 1, 2], [1, 2, 1], [1, 2, 10]),
        batch([None, 2], [1, 2], [100, 20]),
        batch([], [], []),
        batch([None, 1, 3], [2, 3, 1], [200, 3, 1000]),
    ]
    out = in_runs(calls, [pa.Table.from_batches([d]) for d in days], sort=False)
    assert out["s"].to_pylist() == [1, 3, 10, 100, 30, 300, 6, 1000]
    assert out["l"].to_pylist() == [None, 1, None, None, 10, 100, 2, None]


def test_rows_must_come_after_those_of_earlier_runs():
    calls = {"s": f"sum(v) OVER {OVER}"}
    op = wr.operator(calls, SCHEMA, state="new")
    list(op([batch([1, 2], [5, 5], [1, 1])]))
    before = op.state
    for t, text in (
        (5, r"t = \(5\) comes again in the partition \(2\)"),
        (4, r"t = \(4\) comes in the partition \(2\)"),
    ):
        with pytest.raises(wr.OrderError, match=text):
            list(op([batch([1, 2], [6, t], [1, 1])]))
        assert op.state == before  # so the run can be made again
    with pytest.raises(wr.OrderError, match=r"t = \(NULL\) comes in the partition \(1\) after"):
        list(op([batch([1], [None], [1])]))
    assert [b["s"].to_pylist() for b in op([batch([1, 2], [6, 6], [1, 1])])] == [[2, 2]]


def test_ties_may_be_cut_where_only_rows_count():
    calls = {"n": f"row_number() OVER {OVER}", "s": "sum(v) OVER (PARTITION BY k ORDER BY t ROWS 1 PRECEDING)"}
    op = wr.operator(calls, SCHEMA, state="new")
    list(op([batch([1], [5], [1])]))
    (out,) = op([batch([1, 1], [5, 5], [10, 100])])
    assert (out["n"].to_pylist(), out["s"].to_pylist()) == ([2, 3], [11, 110])
    for peers in (f"rank() OVER {OVER}", "max(v) OVER (PARTITION BY k ORDER BY t GROUPS 1 PRECEDING)"):
        op = wr.operator(peers, SCHEMA, state="new")
        list(op([batch([1], [5], [1])]))
        with pytest.raises(wr.OrderError, match="rows of equal keys share a result"):
            list(op([batch([1], [5], [1])]))


def test_runs_that_fail_or_are_left_change_nothing():
    op = wr.operator({"s": f"sum(v) OVER {OVER}"}, SCHEMA, state="new")
    left = op([batch([1], [1], [1]), batch([2], [1], [1])])
    del left
    assert op.state == wr.operator({"s": f"sum(v) OVER {OVER}"}, SCHEMA, state="new").state
    one, other = op([batch([1], [1], [1])]), op([batch([1], [1], [1])])
    list(one)
    with pytest.raises(wr.SpecError, match="two runs of one operator"):
        list(other)


@pytest.mark.parametrize("sort", [False, True])
def test_levels_orders_scalars_and_memory(sort):
    """Calls of calls, expressions over them, several orders where rows are sorted, and rows that go to disk."""
    rng = random.Random(1)
    table = history(rng, 300)
    calls = {
        "d": "x - lag(x) OVER (PARTITION BY p ORDER BY t, id)",
        "s": "sum(x - lag(x) OVER (PARTITION BY p ORDER BY t, id)) OVER (PARTITION BY p ORDER BY t, id)",
        "u": "upper(first_value(s) OVER (PARTITION BY p ORDER BY t, id))",
    }
    if sort:
        calls["all"] = "row_number() OVER (ORDER BY t, id)"
        calls["by b"] = "sum(w) OVER (PARTITION BY b ORDER BY t, id)"
    pytest.importorskip("polars")
    times = pc.fill_null(table["t"], -1)
    cuts = ((-1, 30), (30, 31), (31, 999))
    days = [table.filter(pc.and_(pc.greater_equal(times, low), pc.less(times, high))) for low, high in cuts]
    expected = wr.with_columns(table, calls).sort_by("id")
    for memory_limit in (None, 1) if sort else (None,):
        with wr.config(memory_limit=memory_limit):
            out = in_runs(calls, days, sort=sort).sort_by("id")
        for name in calls:
            assert all(map(agrees, out[name].to_pylist(), expected[name].to_pylist())), name
        assert out.num_rows == 300


def test_large_runs_are_computed_in_parts():
    """More rows than are evaluated at once, in large partitions and in many small ones."""
    for per in (40_000, 7):
        groups = 100_000 // per
        k = [g for g in range(groups) for _ in range(per)]
        t = [i // 2 for _ in range(groups) for i in range(per)]
        table = pa.table({"k": k, "t": t, "v": [i * 7919 % 1000 for i in range(len(k))]}, schema=SCHEMA)
        calls = {"s": f"sum(v) OVER {OVER}", "m": "min(v) OVER (PARTITION BY k ORDER BY t ROWS 5 PRECEDING)"}
        middle = per // 4
        days = [table.filter(pc.less(table["t"], middle)), table.filter(pc.greater_equal(table["t"], middle))]
        out = in_runs(calls, days, sort=False)
        ours = pa.concat_tables(days).append_column("row", pa.array(range(len(k))))
        assert out.select(["k", "t", "v"]).equals(ours.select(["k", "t", "v"]))
        expected = wr.with_columns(pa.concat_tables(days), calls)
        assert out["s"].equals(expected["s"])
        assert out["m"].equals(expected["m"])
        op = wr.operator(calls, SCHEMA, state="new")
        assert len(list(op(table.to_batches(max_chunksize=5000)))) > 2


@pytest.mark.parametrize("ordered", [False, True])
def test_dictionaries_are_kept(ordered):
    """A value of an earlier run that is none of today's categories."""
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=ordered)
    schema = pa.schema({"t": pa.int64(), "c": kind})

    def day(t, codes, categories):
        column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(categories), ordered=ordered)
        return pa.record_batch([pa.array(t, pa.int64()), column], schema=schema)

    call = {"l": "lag(c, 2) OVER (ORDER BY t)"}
    op = wr.operator(call, schema, state="new")
    list(op([day([1, 2], [0, 1], ["x", "y"])]))
    op = wr.operator(call, schema, state=op.state)
    later = ["x", "y", "z"] if ordered else ["z"]
    (out,) = op([day([3, 4], [0, 0], later)])
    assert out["l"].to_pylist() == ["x", "y"]
    assert out["l"].type == kind


def test_states_are_tied_to_their_plan():
    calls = {"s": f"sum(v) OVER {OVER}", "m": "max(v) OVER (PARTITION BY k ORDER BY t ROWS 2 PRECEDING)"}
    op = wr.operator(calls, SCHEMA, state="new")
    list(op([batch([1], [1], [1])]))
    state = op.state
    wr.operator({"other name": calls["s"], "m": calls["m"]}, SCHEMA.append(pa.field("w", pa.int8())), state=state)
    other = [
        ({**calls, "s": f"avg(v) OVER {OVER}"}, SCHEMA, {}, r"its calls were sum\(v\)"),
        ({"s": calls["s"]}, SCHEMA, {}, "its calls were"),
        ({**calls, "m": calls["m"].replace("2 P", "3 P")}, SCHEMA, {}, r"its calls were max\(v\).*2 PRECEDING"),
        (calls, SCHEMA.set(0, pa.field("k", pa.int32())), {}, "its columns were k: int64, and here are k: int32"),
        (calls, SCHEMA.set(2, pa.field("v", pa.float64())), {}, "its calls were"),
        (calls, SCHEMA, {"ansi": False}, "its settings were ansi=True.*here are ansi=False"),
        (calls, SCHEMA, {"timezone": "Europe/Paris"}, "Europe/Paris"),
        (calls, SCHEMA, {"strategy": "naive"}, "naive"),
    ]
    for asked, schema, settings, text in other:
        with wr.config(**settings), pytest.raises(wr.SpecError, match=text):
            wr.operator(asked, schema, state=state)


def _with_header(state, change):
    """Give a state whose header says something else, with a checksum that is right."""
    at = len(b"windrow state\n")
    length = int.from_bytes(state[at + 8 : at + 16], "little")
    header = json.loads(state[at + 16 : at + 16 + length])
    version = change(header)
    text = json.dumps(header).encode()
    rest = (version or 1).to_bytes(4, "little") + len(text).to_bytes(8, "little") + text + state[at + 16 + length :]
    return state[:at] + zlib.crc32(rest).to_bytes(4, "little") + rest


def test_other_versions_and_things_are_refused():
    call = f"sum(v) OVER {OVER}"
    state = wr.operator(call, SCHEMA, state="new").state
    older = _with_header(state, lambda header: header.update(windrow="0.0.9"))
    with pytest.raises(wr.SpecError, match=r"made by windrow 0\.0\.9, and this is"):
        wr.operator(call, SCHEMA, state=older)
    with pytest.raises(wr.SpecError, match="has format 7"):
        wr.operator(call, SCHEMA, state=_with_header(state, lambda _: 7))
    for thing in ("state.bin", 5, ["new"], {"a": 1}, pa.table({})):
        with pytest.raises(wr.SpecError, match=r"is no operator's state: give the bytes of op\.state"):
            wr.operator(call, SCHEMA, state=thing)
    for thing in (b"", b"x", b"PAR1" * 20):
        with pytest.raises(wr.DataError, match=r"not an operator's state, or is damaged"):
            wr.operator(call, SCHEMA, state=thing)
    with pytest.raises(wr.SpecError, match=r"keeps no state; make it with .*state='new'"):
        _ = wr.operator(call, SCHEMA).state
    for same in (bytearray(state), memoryview(state)):
        assert wr.operator(call, SCHEMA, state=same).state == state


@pytest.mark.parametrize("seed", range(SEED, SEED + 3))
def test_damaged_states_are_refused(seed):
    """Each bit counts."""
    rng = random.Random(seed)
    calls = {"s": f"sum(v) OVER {OVER}", "m": f"median(v) OVER {OVER}"}
    op = wr.operator(calls, SCHEMA, state="new")
    list(op([batch([1, 1, 2], [1, 2, 1], [1, 2, 3])]))
    state = op.state
    refused = 0
    for _ in range(200):
        damaged = bytearray(state)
        at = rng.randrange(len(state))
        kind = rng.choice(["bit", "cut", "more", "zeros"])
        if kind == "bit":
            damaged[at] ^= 1 << rng.randrange(8)
        elif kind == "cut":
            del damaged[at:]
        elif kind == "more":
            damaged += b"\0"
        else:
            damaged[at : at + 9] = bytes(1 - bool(b) for b in damaged[at : at + 9])
        with pytest.raises((wr.DataError, wr.SpecError)):
            wr.operator(calls, SCHEMA, state=bytes(damaged))
        refused += 1
    assert refused == 200


CHILD = """
import sys, pyarrow as pa, windrow as wr
schema = pa.schema({"k": pa.int64(), "t": pa.int64(), "v": pa.int64()})
calls = {"s": "sum(v + 1 - lag(v) OVER (PARTITION BY k ORDER BY t)) OVER (PARTITION BY k ORDER BY t)"}
op = wr.operator(calls, schema, state=open(sys.argv[1], "rb").read())
(out,) = op([pa.record_batch([[1], [3], [9]], schema=schema)])
print(out["s"].to_pylist())
"""


def test_other_processes_go_on(tmp_path):
    """The names of hidden columns do not depend on the process; pickled operators keep their state."""
    pytest.importorskip("polars")
    calls = {"s": f"sum(v + 1 - lag(v) OVER {OVER}) OVER {OVER}"}
    op = wr.operator(calls, SCHEMA, state="new")
    list(op([batch([1, 1], [1, 2], [5, 7])]))
    path = tmp_path / "state"
    path.write_bytes(op.state)
    done = subprocess.run([sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, check=False)
    assert done.stdout == "[6]\n", done.stderr
    copy = pickle.loads(pickle.dumps(op))
    assert copy.state == op.state
    (out,) = copy([batch([1], [3], [9])])
    assert out["s"].to_pylist() == [6]
