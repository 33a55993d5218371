"""Random window calls, answered by Spark and by windrow: values, types, nullability, and what is refused."""

import random
import re
import warnings
from decimal import Decimal

import pyarrow as pa
import pytest

import windrow as wr
from support.comparison import Answers, listed, scales_by
from support.random_calls import FUZZ, SEED, Ask, make_ask, make_spec, make_table
from support.random_calls_more import make_more_asks

pytest.importorskip("pyspark")

# What windrow answers though Spark refuses it, by Spark's error condition: all of it has a plain meaning.
ANSWERED_THOUGH_REFUSED = {
    "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_DIFF_TYPES": "hours before and days after have a plain meaning",
    "INVALID_WINDOW_SPEC_FOR_AGGREGATION_FUNC": "medians and WITHIN GROUP have a meaning over any frame",
}
# What windrow refuses though Spark answers it: words of our message, and why.
REFUSED_THOUGH_ANSWERED = {
    "one offset of the frame is an interval and the other is": "Spark casts '2 hours' to 2 for a number",
    r"RANGE offset INTERVAL .* does not suit order key .* (Int|Float|Decimal).*: give a number": "the same",
    "the frame's offsets are of two kinds": "the same",
    "RANGE offset .* does not suit order key .* Duration": "Spark cuts 0.5 to 0 of the interval's smallest unit",
    "True cannot bound a frame": "Spark casts true to 1",
    "takes a number or an interval, not Timestamp": "Spark reads the time of day, a type that is off by default",
    "the frame's start comes after its end": "Spark compares after rounding both ends to the key's scale",
}

ROUNDS, SPECS, CALLS = 80, 6, 12
HOSTS_EVERY = 4  # of so many rounds one runs inside Spark too, and one on Polars


class Refused(str):
    """What an engine said instead of an answer."""


def condition_of(error):
    return error.getCondition() or type(error).__name__


def spark_analysis(frame, text):
    """Give Spark's error condition, or None."""
    from pyspark.errors import PySparkException

    try:
        frame.selectExpr(f"{text} AS c").schema  # noqa: B018
    except PySparkException as error:
        return condition_of(error)
    return None


def spark_answers(frame, asks):
    """Answer all calls in one query, or one by one where that fails."""
    from pyspark.errors import PySparkException

    try:
        out = frame.selectExpr("id", *[f"{ask.text} AS c{i}" for i, ask in enumerate(asks)]).toArrow().sort_by("id")
    except PySparkException as error:
        if len(asks) == 1:
            return [Refused(condition_of(error))]
        half = len(asks) // 2
        return spark_answers(frame, asks[:half]) + spark_answers(frame, asks[half:])
    return [(out.schema.field(f"c{i}"), out[f"c{i}"]) for i in range(len(asks))]


def our_answers(table, asks):
    """Answer all calls at once, or one by one where that fails."""
    try:
        out = wr.select(table, "id", {f"c{i}": ask.text for i, ask in enumerate(asks)}).sort_by("id")
    except wr.WindrowError as error:
        if len(asks) == 1:
            return [error]
        half = len(asks) // 2
        return our_answers(table, asks[:half]) + our_answers(table, asks[half:])
    return [(out.schema.field(f"c{i}"), out[f"c{i}"]) for i in range(len(asks))]


def our_answer(table, ask):
    return our_answers(table, [ask])[0]


def unzoned(data_type):
    """Give a type without the name of its zone, which toArrow always calls UTC."""
    if pa.types.is_list(data_type):
        return pa.list_(data_type.value_field.with_type(unzoned(data_type.value_type)))
    zoned = pa.types.is_timestamp(data_type) and data_type.tz is not None
    return pa.timestamp(data_type.unit, "UTC") if zoned else data_type


def spark_frame(spark, table):
    """Give the same table to Spark."""
    from pyspark.sql.types import StructField, StructType

    from windrow.hosts.spark.types import from_arrow

    fields = [StructField(f.name, from_arrow(f.type, f.name), f.nullable) for f in table.schema]
    return spark.createDataFrame(table, StructType(fields))


def scales_of(spark):
    """Have Spark say what frames hold."""
    return scales_by(lambda table, items: spark_frame(spark, table).selectExpr(*items).toArrow())


def filter_lost(ask):
    """Whether Spark's optimizer drops the call's FILTER.

    It rewrites first() over a ROWS frame from UNBOUNDED PRECEDING to nth_value(), which has no FILTER.
    """
    firsts = ("first", "first_value", "any_value")
    return ask.filtered and ask.function in firsts and "ROWS BETWEEN UNBOUNDED PRECEDING" in ask.window


def compare(answers, ask, ours, theirs, table, ids):
    """Compare two answers, each a field and a column, or an error."""
    if isinstance(theirs, Refused):
        if not isinstance(ours, wr.WindrowError) and str(theirs) not in ANSWERED_THOUGH_REFUSED:
            answers.fault(ask, f"Spark refuses ({theirs}); ours: {listed(ours[1])[:4]}")
        answers.compared += 1
        return
    if isinstance(ours, wr.WindrowError):
        if not any(re.search(words, str(ours)) for words in REFUSED_THOUGH_ANSWERED):
            answers.fault(ask, f"we refuse: {type(ours).__name__} {ours}; Spark: {listed(theirs[1])[:4]}")
        answers.compared += 1
        return
    (our_field, our_column), (their_field, their_column) = ours, theirs
    if unzoned(our_field.type) != unzoned(their_field.type):
        answers.fault(ask, f"type {our_field.type}, Spark's {their_field.type}")
    elif our_field.nullable != their_field.nullable:
        answers.fault(ask, f"nullable {our_field.nullable}, Spark's {their_field.nullable}")
    elif not filter_lost(ask):
        answers.check(ask, listed(our_column), listed(their_column), table, ids)


def draw(number):
    """Give the table and the calls of a round, and the session's time zone."""
    rng = random.Random(number)
    zone = ["UTC", "America/New_York", "Asia/Kathmandu"][number % 3]
    table = make_table(rng, rng.choice([1, 12, 40, 60]), zone=zone, nulls=rng.choice([0.1, 0.3, 0.6]))
    specs = [make_spec(rng) for _ in range(SPECS)]
    draws = (make_ask, make_more_asks)
    return table, [rng.choice(draws)(rng, spec) for spec in specs for _ in range(CALLS)], zone


def run_round(spark, number):
    table, asks, zone = draw(number)
    spark.conf.set("spark.sql.session.timeZone", zone)
    frame = spark_frame(spark, table)
    refusals = {ask: spark_analysis(frame, ask.text) for ask in asks}
    good = [ask for ask in asks if refusals[ask] is None]
    theirs = dict(zip(good, spark_answers(frame, good), strict=True))
    ids = sorted(table["id"].to_pylist())
    answers = Answers("Spark", scales_of(spark))
    with wr.config(timezone=zone):
        ours = dict(zip(asks, our_answers(table, asks), strict=True))
        for ask in asks:
            compare(answers, ask, ours[ask], theirs.get(ask) or Refused(refusals[ask]), table, ids)
    both = [a for a in good if not isinstance(theirs[a], Refused) and not isinstance(ours[a], wr.WindrowError)]
    if number % HOSTS_EVERY == 0:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="No Partition Defined", category=UserWarning)
            on_spark(answers, frame, both, theirs, table, ids)
    if number % HOSTS_EVERY == 1:
        with wr.config(timezone=zone):
            on_polars(answers, both, theirs, table, ids)
    answers.settle(len(asks) // 2)
    return answers


def on_spark(answers, frame, asks, theirs, table, ids):
    """Hold windrow inside Spark against Spark: all calls in one frame, and also as windrow writes them for Spark."""
    named = {f"c{i}": ask.text for i, ask in enumerate(asks)}
    expected = frame.selectExpr(*[f"{text} AS {name}" for name, text in named.items()]).schema
    result = wr.select(frame, "id", named)
    out = result.toArrow().sort_by("id")
    for name, ask in zip(named, asks, strict=True):
        if result.schema[name] != expected[name]:
            answers.fault(ask, f"inside Spark: {result.schema[name]}, Spark's {expected[name]}")
        compare(answers, ask, (out.schema.field(name), out[name]), theirs[ask], table, ids)
    by_spark = wr.select(frame, "id", named, engine="spark").toArrow().sort_by("id")
    for name, ask in zip(named, asks, strict=True):
        compare(answers, ask, (by_spark.schema.field(name), by_spark[name]), theirs[ask], table, ids)


def on_polars(answers, asks, theirs, table, ids):
    """Hold windrow over a Polars frame against Spark: values only, Polars has types of its own."""
    pl = pytest.importorskip("polars")
    named = {f"c{i}": ask.text for i, ask in enumerate(asks)}
    out = wr.select(pl.from_arrow(table), "id", named).sort("id").to_arrow()
    for name, ask in zip(named, asks, strict=True):
        field, column = theirs[ask]
        if not filter_lost(ask):
            answers.check(ask, listed(out[name].cast(field.type)), listed(column), table, ids)


@pytest.mark.parametrize("number", range(SEED, SEED + ROUNDS * FUZZ))
def test_random_calls(oracle_spark, number):
    run_round(oracle_spark, number)


def test_spark_loses_a_filter(oracle_spark):
    """A fault of Spark 4.3, shown so that we hear when it goes: then `filter_lost` above can go too."""
    table = pa.table({"id": [1, 2, 3], "x": [10, 20, 30], "f": [False, True, True]})
    frame = "(ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
    text = f"first(x) FILTER (WHERE f) OVER {frame}"
    spark = oracle_spark.createDataFrame(table).selectExpr(f"{text} AS c").toArrow()
    assert spark["c"].to_pylist() == [10, 10, 10]
    assert wr.select(table, {"c": text})["c"].to_pylist() == [20, 20, 20]


MOST = 2**63 - 1
NINES = Decimal("9" * 38)
BRINK = pa.table(
    {
        "id": [1, 2, 3, 4],
        "p": [1, 1, 1, 2],
        "big": pa.array([MOST, 1, -5, MOST], pa.int64()),
        "low": pa.array([-MOST - 1, -1, 5, None], pa.int64()),
        "int": pa.array([2**31 - 1] * 4, pa.int32()),
        "nines": pa.array([NINES, Decimal(1), Decimal(-1), Decimal(7)], pa.decimal128(38, 0)),
        "fine": pa.array([Decimal("1.5"), Decimal("2.5"), None, Decimal("0.1")], pa.decimal128(38, 37)),
        "nine10": pa.array([Decimal("9" * 28), Decimal("9" * 28), Decimal(1), Decimal(2)], pa.decimal128(38, 10)),
        "span": pa.array([MOST, 1, -5, MOST], pa.duration("us")),
        "text": ["1", " 2.5 ", "x", None],
        "words": ["true", "f", None, "yes"],
    }
)
BRINK_FRAMES = [
    "(PARTITION BY p)",
    "(PARTITION BY p ORDER BY id)",
    "(PARTITION BY p ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "(PARTITION BY p ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
]
BRINK_COLUMNS = ["big", "low", "int", "nines", "fine", "nine10", "span", "text"]
BRINK_CALLS = [
    *[(function, column) for function in ("sum", "avg") for column in BRINK_COLUMNS],
    ("var_pop", "big"),
    ("stddev_samp", "nines"),
    ("stddev_pop", "text"),
    ("bool_and", "words"),
    ("bool_or", "words"),
    ("bool_and", "text"),
]
# Spark adds up bigints and intervals one after another and fails where the running total does not fit; we fail where
# the frame's own sum does not fit. The reading order shows: big = MAX, 1, -5.
RUNNING_TOTAL_FAILS = {("sum", "big"), ("sum", "low"), ("sum", "span"), ("avg", "span")}


@pytest.mark.parametrize("ansi", [True, False])
def test_overflow(oracle_spark, ansi):
    oracle_spark.conf.set("spark.sql.session.timeZone", "UTC")
    oracle_spark.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    frame = spark_frame(oracle_spark, BRINK)
    answers = Answers("Spark", scales_of(oracle_spark))
    for window in BRINK_FRAMES:
        asks = [Ask(f"{f}({c}) OVER {window}", f, c, f"OVER {window}") for f, c in BRINK_CALLS]
        refusals = {ask: spark_analysis(frame, ask.text) for ask in asks}
        good = [ask for ask in asks if refusals[ask] is None]
        theirs = dict(zip(good, spark_answers(frame, good), strict=True))
        with wr.config(ansi=ansi):
            for ask in asks:
                ours, answer = our_answer(BRINK, ask), theirs.get(ask) or Refused(refusals[ask])
                if (ask.function, ask.argument) in RUNNING_TOTAL_FAILS and isinstance(answer, Refused):
                    continue
                compare(answers, ask, ours, answer, BRINK, [1, 2, 3, 4])
    oracle_spark.conf.set("spark.sql.ansi.enabled", "true")
    answers.settle(len(BRINK_FRAMES) * len(BRINK_CALLS) // 3)


NESTED_CALLS = [
    "count(*) OVER (PARTITION BY {k})",
    "rank() OVER (ORDER BY {k})",
    "dense_rank() OVER (ORDER BY {k} DESC)",
    "row_number() OVER (ORDER BY {k} NULLS LAST, id)",
    "row_number() OVER (PARTITION BY {k} ORDER BY id DESC)",
    "sum(id) OVER (ORDER BY {k} DESC NULLS FIRST)",
    "sum(id) OVER (ORDER BY {k} RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "min({k}) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
    "max({k}) OVER (ORDER BY id)",
    "count({k}) OVER (ORDER BY id)",
    "first_value({k}) IGNORE NULLS OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "lag({k}, 2) OVER (ORDER BY id)",
    "nth_value({k}, 2) OVER (ORDER BY id)",
]


@pytest.mark.parametrize("seed", range(SEED, SEED + 2 * FUZZ))
def test_nested_keys_and_values(oracle_spark, seed):
    """Arrays and structs as keys, extremes and values: -0.0 and NaN inside them, nulls at every depth."""
    rng = random.Random(seed)
    rows = 60
    number = lambda: rng.choice([None, 0.0, -0.0, float("nan"), 1.5, -2.0])  # noqa: E731
    text = lambda: rng.choice([None, "", "a", "ab", "é"])  # noqa: E731
    whole = lambda: rng.choice([None, 1, 2, 3])  # noqa: E731
    columns = {
        "ints": (pa.list_(pa.int32()), lambda: [whole() for _ in range(rng.randrange(3))]),
        "texts": (pa.list_(pa.string()), lambda: [text() for _ in range(rng.randrange(3))]),
        "deep": (
            pa.list_(pa.list_(pa.int64())),
            lambda: [[whole()] * rng.randrange(2) for _ in range(rng.randrange(3))],
        ),
        "pair": (pa.struct([("a", pa.int64()), ("b", pa.string())]), lambda: {"a": whole(), "b": text()}),
        "mixed": (
            pa.struct([("x", pa.struct([("d", pa.date32())])), ("y", pa.list_(pa.bool_()))]),
            lambda: {"x": rng.choice([None, {"d": 1}, {"d": 2}]), "y": rng.choice([None, [], [True], [False, None]])},
        ),
        "doubles": (pa.list_(pa.float64()), lambda: [number() for _ in range(rng.randrange(3))]),
        "wrapped": (pa.struct([("d", pa.float64())]), lambda: {"d": number()}),
    }
    table = pa.table({"id": pa.array(rng.sample(range(rows), rows), pa.int64())})
    for name, (data_type, draw) in columns.items():
        values = [None if rng.random() < 0.15 else draw() for _ in range(rows)]
        table = table.append_column(name, pa.array(values, data_type))
    frame = spark_frame(oracle_spark, table)
    asks = [Ask(call.format(k=k), call.split("(")[0], k) for k in columns for call in NESTED_CALLS]
    answers = Answers("Spark", scales_of(oracle_spark))
    for ask, theirs in zip(asks, spark_answers(frame, asks), strict=True):
        ours = our_answer(table, ask)
        if isinstance(theirs, Refused) or isinstance(ours, wr.WindrowError):
            compare(answers, ask, ours, theirs, table, [])
            continue
        answers.answered += 1
        if repr(ours[1].to_pylist()) != repr(theirs[1].to_pylist()):
            answers.fault(ask, f"ours {ours[1].to_pylist()[:5]}, theirs {theirs[1].to_pylist()[:5]}")
    answers.settle(len(asks))
