"""Strategies, threads, sorts and Arrow's types for one value: none of them changes an answer."""

import math
import random

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import windrow as wr
from support.comparison import equal, equal_loosely, listed
from support.random_calls import FUZZ, NUMERIC, SEED, make_ask, make_spec, make_table
from support.tables import big
from windrow.settings import STRATEGIES

# ---- strategies by name

MOVING = "OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING)"
GROWING = "OVER (PARTITION BY k ORDER BY id)"
JUMPING = "OVER (PARTITION BY k ORDER BY id ROWS BETWEEN back PRECEDING AND ahead FOLLOWING)"
HOLES = "OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW)"


class Updates:
    """A fold whose answer is another one where rows come in another order."""

    def initialize(self):
        return 0

    def update(self, state, x):
        return state * 3 % 1009 + (x or 0)

    def evaluate(self, state):
        return state


#: Each strategy with calls for which it is chosen, and calls that cannot be computed by it.
BY_NAME = {
    "grouped": (
        ["sum(x) OVER (PARTITION BY k)", "first_value(x) OVER (PARTITION BY k ORDER BY id)"],
        [f"sum(x) {MOVING}"],
    ),
    "whole": (
        ["sum(y) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"],
        [f"rank() {GROWING}"],
    ),
    "scan": ([f"sum(y) {GROWING}"], [f"mode(x) {MOVING}"]),
    "prefix": ([f"sum(x) {MOVING}"], [f"max(x) {MOVING}", f"sum(y) {MOVING}"]),
    "index": ([f"row_number() {GROWING}", f"lag(x) {GROWING}", f"last_value(x) {MOVING}"], [f"sum(x) {MOVING}"]),
    "deque": ([f"max(text) {MOVING}", f"max_by(x, y) {MOVING}"], [f"sum(x) {MOVING}"]),
    "two_stacks": ([f"stddev_samp(y) {MOVING}", f"min(x) {MOVING}"], [f"last_value(x) {MOVING}"]),
    "segment_tree": ([f"max(x) {JUMPING}", f"sum(y) {JUMPING}"], [f"median(x) {MOVING}"]),
    "refold": ([f"histogram_numeric(x, 4) {w}" for w in (MOVING, GROWING, HOLES)], [f"sum(x) {MOVING}"]),
    "naive": (["sum(y) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES)"], []),
    "wavelet": ([f"median(x) {JUMPING}", f"first_value(x ORDER BY y) {MOVING}"], [f"mode(x) {MOVING}"]),
    "codes": (
        [
            *(f"mode(x) {w}" for w in (MOVING, JUMPING, HOLES)),
            f"count(DISTINCT x) {MOVING}",
            f"collect_list(DISTINCT x) {MOVING}",
            f"collect_list(x ORDER BY y) {MOVING}",
        ],
        [f"sum(x) {MOVING}", f"collect_list(x) {MOVING}"],
    ),
    "sweep": (
        [f"{f}(DISTINCT x) {JUMPING}" for f in ("count", "sum", "stddev_samp")]
        + [f"approx_count_distinct(x) {JUMPING}"],
        [f"count(DISTINCT x) {HOLES}", f"count(x) {JUMPING}", f"mode(x) {JUMPING}"],
    ),
    "blocks": ([], [f"sum(x) {MOVING}"]),
}


def rows(rng, count):
    return pa.table(
        {
            "id": rng.sample(range(count), count),
            "k": [rng.randint(0, 3) for _ in range(count)],
            "x": [rng.choice([None, *range(9)]) for _ in range(count)],
            "y": [rng.choice([None, rng.uniform(-5, 5)]) for _ in range(count)],
            "text": [rng.choice([None, *"abcdef"]) for _ in range(count)],
            "back": [rng.randint(0, 7) for _ in range(count)],
            "ahead": [rng.randint(0, 4) for _ in range(count)],
        },
        schema=pa.schema(
            [(n, pa.int64()) for n in ("id", "k", "x")]
            + [("y", pa.float64()), ("text", pa.string()), ("back", pa.int64()), ("ahead", pa.int64())]
        ),
    )


def test_every_strategy_has_a_name():
    assert sorted(BY_NAME) == sorted(STRATEGIES)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_by_its_name(strategy):
    """Explain tells the strategy that is chosen, or asked for; it answers as the naive one, or says why it cannot."""
    rng = random.Random(STRATEGIES.index(strategy))
    chosen, refused = BY_NAME[strategy]
    compared = 0
    for table in [rows(rng, size) for size in (0, 1, 70)]:
        for text in chosen:
            assert [row["strategy"] for row in wr.explain(table, c=text).rows] == [strategy], text
            with wr.config(strategy="naive"):
                expected = wr.select(table, c=text)["c"].to_pylist()
            with wr.config(strategy=strategy):
                plan = wr.explain(table, c=text).rows[0]
                found = wr.select(table, c=text)["c"].to_pylist()
            assert (plan["strategy"], plan["reason"]) == (strategy, "asked for by the strategy option")
            assert all(equal(a, b, rel=1e-9) for a, b in zip(found, expected, strict=True)), text
            compared += len(found)
        for text in refused:
            with (
                wr.config(strategy=strategy),
                pytest.raises(wr.SpecError, match=f"strategy option asks for {strategy}, and"),
            ):
                wr.select(table, c=text)
    assert compared == 71 * len(chosen)


def test_each_strategy_of_any_call():
    """Of the calls above each by each strategy: it answers as the naive one, or is refused before any work."""
    rng = random.Random(SEED)
    table = rows(rng, 60)
    answered = dict.fromkeys(STRATEGIES, 0)
    for text in [text for calls in BY_NAME.values() for texts in calls for text in texts]:
        with wr.config(strategy="naive"):
            expected = wr.select(table, c=text)["c"].to_pylist()
        for strategy in STRATEGIES:
            with wr.config(strategy=strategy):
                try:
                    found = wr.select(table, c=text)["c"].to_pylist()
                except wr.SpecError as error:
                    assert f"the strategy option asks for {strategy}, and" in str(error)  # noqa: PT017
                    continue
            answered[strategy] += 1
            assert all(equal(a, b, rel=1e-9) for a, b in zip(found, expected, strict=True)), (text, strategy)
    assert all(answered[strategy] for strategy in STRATEGIES if strategy != "blocks"), answered


KEYS = {
    "few": lambda rng: rng.choice([None, 1, 2, 3]),
    "many": lambda rng: rng.randint(-(2**60), 2**60),
    "word": lambda rng: rng.choice([None, "", *"abc"]),
    "two": lambda rng: rng.choice([0.0, -0.0, float("nan"), None]),
}


@pytest.mark.parametrize("number", range(SEED, SEED + 4 * FUZZ))
def test_groups_are_what_sorted_rows_come_to(number):
    """Totals, and first and last rows, by partitions that can be numbered and others, in any order and sorted."""
    rng = random.Random(number)
    table = rows(rng, rng.choice([3, 60, 90])).drop_columns("k")
    for name, key in KEYS.items():
        table = table.append_column(name, pa.array([key(rng) for _ in range(len(table))]))
    if number % 2:
        table = table.sort_by([("few", "ascending"), ("word", "ascending"), ("id", "ascending")])
    calls = ["sum(x)", "avg(x)", "avg(y)", "count(*)", "count(y)", "max(text)", "min(y)", "bit_xor(x)", "bit_and(x)"]
    calls += ["max_by(text, x)", "regr_slope(x, y)", "stddev_samp(x)", "sum(x) FILTER (WHERE x > 3)", "bool_or(x > 4)"]
    ends = ["first_value(x)", "last_value(text)", "first_value(y) IGNORE NULLS", "any_value(x) FILTER (WHERE x > 3)"]
    entire = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    answered = {True: 0, False: 0}
    for keys in ["PARTITION BY few", "PARTITION BY many", "PARTITION BY word", "PARTITION BY two, few", ""]:
        order = rng.choice(["", "ORDER BY id", "ORDER BY id DESC", "ORDER BY x, id"])
        for call in calls + ends * bool(order):
            text = f"{call} OVER ({keys} {order} {entire})"
            with wr.config(strategy="naive"):
                expected = wr.select(table, c=text)["c"].to_pylist()
            with wr.config(strategy="grouped"):
                try:
                    found = wr.select(table, c=text)["c"].to_pylist()
                except wr.SpecError as error:
                    # rounding, and which of equal values it is, would depend on the order
                    assert order, str(error)  # noqa: PT017
                    continue
            answered[call in ends] += 1
            assert all(equal(a, b, rel=1e-9) for a, b in zip(found, expected, strict=True)), text
    assert answered[False] >= 20


def test_a_stream_is_not_grouped():
    table = rows(random.Random(3), 50)
    text = "sum(x) OVER (PARTITION BY k)"
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert wr.explain(table, s=text).rows[0]["strategy"] == "grouped"
    assert wr.explain(reader, s=text).rows[0]["strategy"] == "whole"


def test_what_is_sorted_for_one_call_is_so_for_its_order():
    """A total goes along with a running total in the same order; without one, no row is sorted for it."""
    table = rows(random.Random(4), 80)
    total = "sum(x) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
    told = [wr.explain(table, *calls).rows[0]["strategy"] for calls in ([total], [total, f"sum(x) {GROWING}"])]
    assert told == ["grouped", "whole"]
    alone, beside = wr.select(table, s=total)["s"], wr.select(table, s=total, r=f"sum(x) {GROWING}")["s"]
    assert alone.equals(beside)
    assert alone.null_count < 80


@pytest.mark.parametrize("where", [GROWING, MOVING, HOLES, "OVER (PARTITION BY k)"])
def test_a_users_fold_is_refolded(where):
    table = rows(random.Random(5), 60)
    window = wr.expr(f"count(*) {where}").window
    call = wr.aggregate(Updates, "x", returns=pa.int64()).over(window)
    assert wr.explain(table, f=call).rows[0]["strategy"] == "refold"
    with wr.config(strategy="naive"):
        expected = wr.select(table, f=call)["f"]
    assert wr.select(table, f=call)["f"].equals(expected)
    assert len(set(expected.to_pylist())) > 3


# ---- strategies and threads


@pytest.mark.parametrize("number", range(SEED, SEED + 12 * FUZZ))
def test_strategies_and_threads_agree(number):
    """The same random calls by each strategy that can, by one thread and by two."""
    rng = random.Random(number)
    table = make_table(rng, rng.choice([1, 30, 100]))
    asks = [make_ask(rng, spec) for spec in [make_spec(rng) for _ in range(5)] for _ in range(6)]
    answered = tried = 0
    for ask in asks:
        try:
            expected = listed(wr.select(table, {"c": ask.text})["c"])
        except wr.WindrowError:
            continue
        answered += 1
        rel = 1e-9 if ask.argument.removeprefix("v_") in [*NUMERIC, "numeral"] else 0.0
        for strategy in STRATEGIES:
            for threads in (1, 2):
                try:
                    with wr.config(strategy=strategy, threads=threads):
                        got = listed(wr.select(table, {"c": ask.text})["c"])
                except wr.SpecError as error:
                    assert "the strategy option asks for" in str(error)  # noqa: PT017
                    continue
                tried += 1
                assert all(equal(a, b, rel=rel) for a, b in zip(got, expected, strict=True)), (ask.text, strategy)
    assert answered >= len(asks) // 3
    assert tried > 2 * answered  # one strategy is what was expected, by one thread and by two


@pytest.mark.parametrize("strategy", [None, *[s for s in STRATEGIES if s != "scan"]])
def test_threads_change_nothing(strategy):
    """Large enough to be cut between threads, one huge partition and many small ones; the very same bits."""
    table = big(300_000).append_column("p", pa.array([i % 1000 for i in range(300_000)]))
    calls = [
        wr.sum("x").over(wr.window(order_by="id", rows=(-7, 7))),
        wr.avg("x").over(wr.window("p", "id", rows=(-7, 7))),
        wr.max("x").over(wr.window("p", "id", rows=(-3, 3))),
        wr.last_value("x").over(wr.window("p", "k", rows=(-3, 3))),
        wr.sum("y").over(wr.window(order_by="id", rows=(-9, 9))),
    ]
    if strategy in (None, "grouped", "whole"):
        calls += [wr.sum("x").over(wr.window("p")), wr.avg("y").over(wr.window("p"))]
    table = table.append_column("y", pa.compute.divide(table["x"].cast(pa.float64()), 3.0))
    for call in calls:
        answers = []
        for threads in (1, 2, 3):
            try:
                with wr.config(threads=threads, strategy=strategy):
                    answers.append(wr.select(table, c=call)["c"])
            except wr.SpecError:
                break
        assert all(a.equals(answers[0]) for a in answers)


# ---- sorts


def test_one_sort_serves_all_calls_of_an_order():
    w = wr.window("p", "id")
    shown = repr(
        wr.explain(
            pa.table({"p": [1], "id": [1], "x": [1]}),
            wr.sum("x").over(w),
            wr.rank().over(w),
            wr.min("x").over(wr.window("p", "id", rows=(-1, 1))),
            wr.lag("x").over(wr.window(["p"], [wr.asc("id")])),
            wr.rank().over(wr.window("p", wr.desc("id"))),
            wr.count().over(wr.window("p", wr.asc("id", nulls="last"))),
        )
    )
    assert "sort 0: " in shown
    assert "sort 2: " in shown
    assert "sort 3: " not in shown


FROM_START, TO_END = "UNBOUNDED PRECEDING AND", "AND UNBOUNDED FOLLOWING"
ENDS = [
    "first_value(x)",
    f"first_value(x) OVER (? ROWS BETWEEN {FROM_START} CURRENT ROW)",
    "first_value(x) IGNORE NULLS",
    f"first_value(x) IGNORE NULLS OVER (? ROWS BETWEEN {FROM_START} UNBOUNDED FOLLOWING)",
    f"first_value(x) OVER (? ROWS BETWEEN {FROM_START} 1 PRECEDING)",
    f"first_value(x) OVER (? GROUPS BETWEEN {FROM_START} CURRENT ROW EXCLUDE GROUP)",
    f"last_value(x) OVER (? RANGE BETWEEN CURRENT ROW {TO_END})",
    f"last_value(text) OVER (? ROWS BETWEEN {FROM_START} UNBOUNDED FOLLOWING)",
    f"last_value(x) FILTER (WHERE x > 0) OVER (? ROWS BETWEEN CURRENT ROW {TO_END})",
    f"last_value(x) FILTER (WHERE x > 0) OVER (? ROWS BETWEEN {FROM_START} UNBOUNDED FOLLOWING)",
    f"min(x) OVER (? ROWS BETWEEN {FROM_START} UNBOUNDED FOLLOWING)",
    f"max(y) OVER (? ROWS BETWEEN {FROM_START} UNBOUNDED FOLLOWING)",
    f"sum(x) OVER (? ROWS BETWEEN {FROM_START} UNBOUNDED FOLLOWING)",
]


def bits(column):
    """Give a column with floats as what they are stored as: NaN is NaN then, and -0.0 not 0.0."""
    whole = column.combine_chunks()
    return whole.view(pa.int64()) if pa.types.is_float64(whole.type) else whole


ORDERS = ["t", "t DESC", "y NULLS LAST", "y DESC, t", "wide", "text", "x DESC NULLS LAST, text DESC"]


@pytest.mark.parametrize("rows", [5, 400, pytest.param(300_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("keys", ["p", "p, text", None])
def test_answers_that_need_no_sort_are_those_of_sorted_rows(rows, keys):
    """A call alone may do without a sort; beside row_number() all rows are sorted."""
    rng = random.Random(rows)
    odd = [math.nan, -0.0, 0.0, math.inf, -1.5, None]
    table = pa.table(
        {
            "p": pa.array([rng.randrange(20) for _ in range(rows)], pa.int32()),
            "t": pa.array([rng.randrange(rows) for _ in range(rows)], pa.timestamp("us")),
            "x": pa.array([rng.choice([None, *range(-5, 40)]) for _ in range(rows)], pa.int64()),
            "y": pa.array([rng.choice(odd) for _ in range(rows)], pa.float64()),
            "wide": pa.array([rng.getrandbits(63) for _ in range(rows)], pa.int64()),
            "text": pa.array([f"a text too long for any word {rng.randrange(9)}" for _ in range(rows)]),
        }
    ).slice(1)
    for order in ORDERS:
        window = f"PARTITION BY {keys} ORDER BY {order}" if keys else f"ORDER BY {order}"
        for end in ENDS:
            call = end.replace("?", window) if "?" in end else f"{end} OVER ({window})"
            alone = wr.select(table, c=call)["c"]
            beside = wr.select(table, c=call, n=f"row_number() OVER ({window})")["c"]
            assert bits(alone).equals(bits(beside)), call


WITHIN = [
    "ROWS BETWEEN 6 PRECEDING AND 6 FOLLOWING",
    "ROWS BETWEEN 6 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 8 PRECEDING AND 2 PRECEDING",
    "ROWS BETWEEN 2 FOLLOWING AND 7 FOLLOWING",
    "ROWS BETWEEN 6 PRECEDING AND 9 FOLLOWING EXCLUDE TIES",
    "GROUPS BETWEEN 3 PRECEDING AND 6 FOLLOWING",
]
HELD = {
    "sum(x)": "naive",
    "avg(m)": "naive",
    "stddev_samp(x)": "naive",
    "min(x)": "naive",
    "max(y)": "naive",
    "max(text)": "naive",
    "first_value(y)": "naive",
    "last_value(x) IGNORE NULLS": "naive",
    "first_value(x) FILTER (WHERE x > 20) IGNORE NULLS": "naive",
    "nth_value(x, 3)": "naive",
    "collect_list(x)": "naive",
    "median(x)": "wavelet",
    "count(DISTINCT x)": "codes",
    "mode(x)": "codes",
}


@pytest.mark.slow
@pytest.mark.parametrize("longest", [1, 4, 7, 8, 60])
@pytest.mark.parametrize("ordered", [False, True])
def test_frames_that_hold_their_partition(longest, ordered):
    """Partitions shorter than their frames, as long, and longer: each alone and beside others, sorted and not."""
    rng = random.Random(longest)
    sizes = [rng.randint(1, longest) for _ in range(2000)]
    keys = [key for key, size in enumerate(sizes) for _ in range(size)]
    rows = [(k, t, rng.choice([None, *range(40)]), rng.choice([-0.0, 0.0, None, -1.5])) for t, k in enumerate(keys)]
    if not ordered:
        rng.shuffle(rows)
    k, t, x, y = zip(*rows, strict=True)
    table = pa.table({"k": k, "t": [t // 2 for t in t], "u": t, "x": x, "y": y})
    table = table.append_column("text", pc.cast(table["x"], pa.string()))
    table = table.append_column("m", pc.cast(table["x"], pa.decimal128(21, 2)))
    for frame in WITHIN:
        order = "t" if "GROUPS" in frame or "TIES" in frame else "u"
        calls = {call: f"{call} OVER (PARTITION BY k ORDER BY {order} {frame})" for call in HELD}
        together = wr.select(table, **{f"c{i}": text for i, text in enumerate(calls.values())})
        for i, (call, text) in enumerate(calls.items()):
            with wr.config(strategy=HELD[call]):
                expected = wr.select(table, c=text)["c"]
            for got in (wr.select(table, c=text)["c"], together[f"c{i}"]):
                assert got.type == expected.type
                # one by one takes far longer
                assert got.equals(expected) or all(map(equal_loosely, got.to_pylist(), expected.to_pylist())), text


def test_ties_keep_input_order():
    table = pa.table({"k": [2, 1, 2, None, 1, None, 2], "i": range(7)})
    out = wr.select(table, "i", n=wr.row_number().over(wr.window(order_by="k"))).sort_by("n")
    assert out["i"].to_pylist() == [3, 5, 1, 4, 0, 2, 6]
    out = wr.select(table, "i", n=wr.row_number().over(wr.window(order_by=wr.desc("k")))).sort_by("n")
    assert out["i"].to_pylist() == [0, 2, 6, 1, 4, 3, 5]


# ---- one value, many Arrow types

TWINS = {
    "text": (pa.string(), [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.binary()]),
    "whole": (pa.int16(), [pa.int8(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]),
    "half": (pa.float64(), [pa.float32(), pa.float16()]),
    "money": (pa.decimal128(12, 2), [pa.decimal256(12, 2), pa.decimal128(30, 2), pa.decimal256(60, 2)]),
    "day": (pa.date32(), [pa.date64(), pa.timestamp("s"), pa.timestamp("ns")]),
    "moment": (pa.timestamp("us"), [pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("ns")]),
    "clock": (pa.time64("us"), [pa.time32("s"), pa.time32("ms"), pa.time64("ns")]),
    "span": (pa.duration("us"), [pa.duration("s"), pa.duration("ms"), pa.duration("ns")]),
}
TWIN_CALLS = [
    "count(*) OVER (PARTITION BY {c})",
    "dense_rank() OVER (ORDER BY {c})",
    "row_number() OVER (ORDER BY {c} DESC NULLS FIRST, id)",
    "count({c}) OVER (ORDER BY id ROWS 3 PRECEDING)",
    "min({c}) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING)",
    "max({c}) OVER (PARTITION BY p ORDER BY id)",
    "first_value({c}) IGNORE NULLS OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "lag({c}, 2) OVER (PARTITION BY p ORDER BY id)",
    "nth_value({c}, 2) OVER (PARTITION BY p ORDER BY id)",
    "count(*) OVER (PARTITION BY p ORDER BY {c} GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
]
TWIN_RANGES = {
    "whole": ["1", "2"],
    "half": ["0.5", "1"],
    "money": ["1", "0.25"],
    "day": ["INTERVAL '1' DAY", "INTERVAL '1' MONTH"],
    "moment": ["INTERVAL '1' DAY", "INTERVAL '1' MONTH", "INTERVAL '3' HOUR"],
    "clock": ["INTERVAL '1' HOUR"],
    "span": ["INTERVAL '1' HOUR"],
}
TWIN_SUMS = {
    "whole": ["sum", "avg", "stddev_pop"],
    "half": ["sum", "avg", "var_samp"],
    "money": ["sum"],
    "span": ["sum"],
}


def twins(rng, rows):
    draw = {
        "text": lambda: rng.choice(["", "a", "ab", "b", "a text that is not short"]),
        "whole": lambda: rng.randint(0, 9),
        "half": lambda: rng.randint(-8, 8) / 2,
        "money": lambda: rng.randint(-400, 400),
        "day": lambda: rng.randint(19_750, 19_790),
        "moment": lambda: (1_706_500_000 + rng.randint(0, 900) * 3600) * 1_000_000,
        "clock": lambda: rng.randint(0, 23) * 3_600_000_000,
        "span": lambda: rng.randint(-9, 9) * 3_600_000_000,
    }
    columns = {"id": pa.array(rng.sample(range(rows), rows)), "p": pa.array([rng.randint(0, 2) for _ in range(rows)])}
    for name, (data_type, _) in TWINS.items():
        columns[name] = pa.array([None if rng.random() < 0.15 else draw[name]() for _ in range(rows)], data_type)
    return pa.table(columns)


def comparable(column, data_type):
    """Give a result as Python values of the first type, so that twins can be told apart only by their values."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_binary(column.type) and pa.types.is_string(data_type):
        column = column.cast(pa.string())
    if pa.types.is_float16(column.type):
        return [None if v is None else float(v) for v in column.to_pylist()]
    if pa.types.is_temporal(column.type):
        return listed(column.cast(data_type))
    return [v if isinstance(v, (float, str, bool)) or v is None else int(v * 100) for v in column.to_pylist()]


@pytest.mark.parametrize("name", TWINS)
def test_the_same_values_in_other_types_give_the_same_answers(name):
    data_type, others = TWINS[name]
    table = twins(random.Random(len(name)), 80)
    calls = [c.format(c=name) for c in TWIN_CALLS]
    calls += [
        f"count(*) OVER (ORDER BY {name}{way} RANGE BETWEEN {by} PRECEDING AND {by} FOLLOWING)"
        for by in TWIN_RANGES.get(name, [])
        for way in ("", " DESC")
    ]
    calls += [f"{f}({name}) OVER (ORDER BY id ROWS 4 PRECEDING)" for f in TWIN_SUMS.get(name, [])]
    for call in calls:
        expected = comparable(wr.select(table, {"c": call})["c"], data_type)
        for other in others:
            twin = table.set_column(table.column_names.index(name), name, table[name].cast(other))
            got = wr.select(twin, {"c": call})
            kept = call.startswith(("min", "max", "first", "lag", "nth"))
            assert not kept or got.schema.field("c").type == other, (call, other)
            assert all(map(equal, comparable(got["c"], data_type), expected)), (call, other)


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_infinite_timestamps_disturb_no_others(zone):
    """DuckDB and PostgreSQL write ±infinity as the least and greatest timestamps: beyond most calendars."""
    ends = 2**63 - 1
    keys = [-ends, -ends, -86_400_000_000, 0, 3_600_000_000, ends, None]
    table = pa.table({"k": pa.array(keys, pa.int64()).cast(pa.timestamp("us", zone))})
    for offset, expected in {
        "INTERVAL '1' DAY": [2, 2, 2, 3, 2, 1, 1],
        "INTERVAL '1' MONTH": [2, 2, 3, 3, 3, 1, 1],
        "INTERVAL '2' HOUR": [2, 2, 1, 2, 2, 1, 1],
    }.items():
        for way in ("NULLS LAST", "DESC NULLS FIRST"):
            frame = f"RANGE BETWEEN {offset} PRECEDING AND {offset} FOLLOWING"
            got = wr.select(table, {"c": f"count(*) OVER (ORDER BY k {way} {frame})"})["c"].to_pylist()
            assert got == expected, (offset, way)
