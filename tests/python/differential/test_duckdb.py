"""Random window calls, answered by DuckDB and by windrow: what Spark cannot say.

GROUPS, EXCLUDE, bounds by column, frames wholly before or after their row, unsigned and large types.
"""

import datetime as dt
import math
import random
from decimal import Decimal

import pyarrow as pa
import pytest

import windrow as wr
from support.comparison import Answers, equal, listed, scales_by
from support.random_calls import INF, NAN, Ask, rounds
from support.random_calls_more import over_duckdb

duckdb = pytest.importorskip("duckdb")

# As Spark does: what we refuse and DuckDB answers, by words of our message.
REFUSED_THOUGH_ANSWERED = ["the frame's start comes after its end", "the frame's offsets are of two kinds"]

# Now and then DuckDB 2.0 answers the same question otherwise: it loses the row that EXCLUDE TIES keeps, or the peers at
# a distance of nought (3 of 100 times, for a key and offsets that are decimals). What differs is asked again.
AGAIN = 8

ROUNDS, WINDOWS, CALLS = 200, 6, 14

# Order keys by type: the i-th value in order, literal offsets, and a column of offsets.
KEYS = {
    "k_int": (lambda i: 2 * i - 5, ["0", "1", "2", "3", "7"], "r_int"),
    "k_small": (lambda i: 3 * i, ["0", "1", "3", "4", "300"], "r_int"),
    "k_unsigned": (lambda i: 2 * i, ["0", "1", "2", "5"], "r_int"),
    "k_double": (lambda i: i / 2 - 1, ["0", "1", "0.5", "1.25"], "r_double"),
    "k_decimal": (lambda i: Decimal(i * 25).scaleb(-2), ["0", "1", "0.5", "0.75"], "r_int"),
    "k_date": (
        lambda i: dt.date(2024, 1, 29) + dt.timedelta(i if i < 5 else 6 * i),
        ["INTERVAL '1' DAY", "INTERVAL '3' DAY", "INTERVAL '1' MONTH", "INTERVAL '1' YEAR"],
        None,
    ),
    "k_moment": (
        lambda i: dt.datetime(2024, 1, 30, 23) + dt.timedelta(hours=5 * i + [0, 1, 7, 30][i % 4]),
        # no months: where a month's end makes bounds go back, DuckDB follows, and Spark and we do not
        ["INTERVAL '2' HOUR", "INTERVAL '1' DAY", "INTERVAL '9' DAY", "INTERVAL '90' MINUTE", "INTERVAL '0' DAY"],
        "r_span",
    ),
    "k_text": (lambda i: "abcdefgh"[i % 8] * (i // 8 + 1), [], None),
}
TYPES = {
    "k_int": pa.int64(),
    "k_small": pa.int16(),
    "k_unsigned": pa.int32(),
    "k_double": pa.float64(),
    "k_decimal": pa.decimal128(12, 2),
    "k_date": pa.date32(),
    "k_moment": pa.timestamp("us"),
    "k_text": pa.string(),
}


def make_table(rng, rows):
    ids = list(range(rows))
    rng.shuffle(ids)
    share = rng.choice([0.0, 0.2, 0.5])

    def column(draw, data_type, share=share):
        return pa.array([None if rng.random() < share else draw() for _ in ids], data_type)

    columns = {
        "id": pa.array(ids, pa.int64()),
        "u_double": pa.array([(i * 7919 % 10007) / 4 for i in ids], pa.float64()),
        "p": column(lambda: rng.choice([1, 1, 1, 2, 3]), pa.int32(), 0.1),
        "q": column(lambda: rng.choice(["x", "y"]), pa.large_string(), 0.1),
        "f": column(lambda: rng.random() < 0.6, pa.bool_()),
        "v_int": column(lambda: rng.randint(-99, 99), pa.int32()),
        "v_big": column(lambda: rng.choice([rng.randint(-(2**60), 2**60), 5]), pa.int64()),
        "v_u8": column(lambda: rng.randint(0, 255), pa.uint8()),
        "v_u32": column(lambda: rng.randint(0, 2**32 - 1), pa.uint32()),
        "v_u64": column(lambda: rng.choice([rng.randint(0, 2**55), 2**56 + 5]), pa.uint64()),
        "v_double": column(lambda: rng.choice([rng.uniform(-5, 5), 1e9, -1e9, 0.1, 3.0]), pa.float64()),
        "v_wild": column(lambda: rng.choice([NAN, INF, -INF, 1.0, -2.0, 0.0]), pa.float64()),
        "v_float": column(lambda: rng.choice([1.5, -0.25, 3.0, 1e6]), pa.float32()),
        "v_decimal": column(lambda: Decimal(rng.randint(-(10**9), 10**9)).scaleb(-3), pa.decimal128(12, 3)),
        "v_text": column(lambda: rng.choice(["", "a", "b", "ab", "é", "zz"]), pa.string()),
        "v_view": column(lambda: rng.choice(["", "a", "a text that is not short", "é"]), pa.string_view()),
        "v_bytes": column(lambda: rng.choice([b"", b"\x00", b"\xff", b"ab"]), pa.binary()),
        "v_date": column(lambda: dt.date(2024, 1, 1) + dt.timedelta(rng.randint(-999, 999)), pa.date32()),
        "v_moment": column(
            lambda: dt.datetime(2024, 1, 1) + dt.timedelta(hours=rng.randint(0, 999)), pa.timestamp("us")
        ),
        "v_bool": column(lambda: rng.random() < 0.5, pa.bool_()),
        "n_rows": pa.array([rng.choice([0, 1, 2, 3, 5]) for _ in ids], pa.int64()),
        "m_rows": pa.array([rng.choice([0, 1, 2, 9]) for _ in ids], pa.int32()),
        "r_int": pa.array([rng.choice([0, 1, 2, 4]) for _ in ids], pa.int32()),
        "r_double": pa.array([rng.choice([0.0, 0.5, 1.0]) for _ in ids], pa.float64()),
        "r_span": pa.array([dt.timedelta(hours=rng.choice([0, 2, 5, 30])) for _ in ids], pa.duration("us")),
    }
    for name, (key, _, _) in KEYS.items():
        span = rng.choice([3, 6, 12])
        values = [None if rng.random() < 0.12 else key(rng.randrange(span)) for _ in ids]
        if name == "k_double":
            values = [rng.choice([NAN, INF, -INF]) if rng.random() < 0.1 else v for v in values]
        columns[name] = pa.array(values, TYPES[name])
    return pa.table(columns)


def make_window(rng):
    """Draw partition keys, the first order key and whether the id follows it to break ties."""
    partition = rng.choice(["", "PARTITION BY p ", "PARTITION BY p ", "PARTITION BY q ", "PARTITION BY p, q "])
    return (
        partition,
        rng.choice(list(KEYS)),
        rng.random() < 0.5,
        rng.choice(["ASC", "DESC"]),
        rng.choice(["FIRST", "LAST"]),
    )


def make_bound(rng, offsets, side):
    roll = rng.random()
    if roll < 0.2:
        return f"UNBOUNDED {side}", 9
    if roll < 0.35 or not offsets:
        return "CURRENT ROW", 0
    sign = 1 if side == "FOLLOWING" else -1
    if rng.random() < 0.3:
        side, sign = ("PRECEDING" if side == "FOLLOWING" else "FOLLOWING"), -sign
    return f"{rng.choice(offsets)} {side}", sign


def make_frame(rng, key, tied):
    """Draw a frame; DuckDB refuses some that are empty by their wording, which Spark and we answer."""
    units = rng.choice(["ROWS"] * (not tied) + ["RANGE", "GROUPS", "GROUPS"])
    literal, by_column = KEYS[key][1], KEYS[key][2]
    offsets = {"ROWS": ["0", "1", "2", "3", "8"], "GROUPS": ["0", "1", "2", "4"], "RANGE": literal if tied else []}[
        units
    ]
    columns = {
        "ROWS": ["n_rows", "m_rows"],
        "GROUPS": ["n_rows", "m_rows"],
        "RANGE": [by_column] if by_column and tied else [],
    }
    if columns[units] and rng.random() < 0.3:
        offsets = columns[units]
    while True:
        start, first = make_bound(rng, offsets, "PRECEDING")
        end, last = make_bound(rng, offsets, "FOLLOWING")
        if (first == 0 and last < 0) or (first == 1 and last == 0) or (first == 1 and last == -1):
            continue  # refused by DuckDB as such
        break
    exclude = rng.choice(["", "", " EXCLUDE NO OTHERS", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"])
    return f" {units} BETWEEN {start} AND {end}{exclude}"


NUMBERS = ["v_int", "v_big", "v_u8", "v_u32", "v_u64", "v_double", "v_float", "v_decimal"]
FLOATS = ["v_double", "v_float", "v_int", "v_u8"]
ALL = [*NUMBERS, "v_wild", "v_text", "v_view", "v_bytes", "v_date", "v_moment", "v_bool"]


def make_ask(rng, window):
    partition, key, broken, direction, nulls = window
    order = f"ORDER BY {key} {direction} NULLS {nulls}" + (
        f", id {rng.choice(['ASC', 'DESC'])} NULLS LAST" if broken else ""
    )
    frame = "" if rng.random() < 0.1 else make_frame(rng, key, not broken)
    where = rng.choice(["", "", "", " FILTER (WHERE f)"])
    inside = rng.choice(["", "", " IGNORE NULLS"])
    roll = rng.random()
    over = f"OVER ({partition}{order}{frame})"
    if rng.random() < 0.4:
        return over_duckdb(rng, over, ["id", "u_double"], ties_broken=broken)
    if roll < 0.12:
        argument = rng.choice(["*", *ALL])
        return Ask(f"count({argument}){where} {over}", "count", argument, over)
    if roll < 0.4:
        function, argument = rng.choice(["sum", "avg"]), rng.choice(NUMBERS)
        return Ask(f"{function}({argument}){where} {over}", function, argument, over, "f" if where else "")
    if roll < 0.5:
        function, argument = rng.choice(["var_pop", "var_samp", "stddev_pop", "stddev_samp"]), rng.choice(FLOATS)
        return Ask(f"{function}({argument}){where} {over}", function, argument, over, "f" if where else "")
    if roll < 0.68:
        function, argument = rng.choice(["min", "max"]), rng.choice(ALL)
        return Ask(f"{function}({argument}){where} {over}", function, argument, over, total=False)
    if roll < 0.75:
        function = rng.choice(["bool_and", "bool_or"])
        return Ask(f"{function}(v_bool){where} {over}", function, "v_bool", over)
    if roll < 0.82 or not broken:
        function = rng.choice(["rank", "dense_rank", "percent_rank", "cume_dist"] + ["row_number"] * broken)
        return Ask(f"{function}() OVER ({partition}{order})", function)
    argument = rng.choice(ALL)
    if roll < 0.9:
        function = rng.choice(["lag", "lead"])
        extra = rng.choice(["", ", 2", ", 3", ", 0", ", -1", f", 2, {argument}"])
        return Ask(f"{function}({argument}{extra}{inside}) OVER ({partition}{order})", function, argument)
    function = rng.choice(["first_value", "last_value", "nth_value"])
    extra = f", {rng.choice([1, 2, 4])}" if function == "nth_value" else ""
    return Ask(f"{function}({argument}{extra}{inside}) {over}", function, argument, over)


def duckdb_answers(connection, asks):
    try:
        out = connection.sql(
            f"SELECT id, {', '.join(f'{a.other or a.text} AS c{i}' for i, a in enumerate(asks))} FROM t ORDER BY id"
        )
        table = out.to_arrow_table()
    except duckdb.Error as error:
        if len(asks) == 1:
            return [error]
        half = len(asks) // 2
        return duckdb_answers(connection, asks[:half]) + duckdb_answers(connection, asks[half:])
    return [table[f"c{i}"] for i in range(len(asks))]


def our_answers(t, asks):
    """Answer all calls at once, or one by one where that fails; each answer in the order of the ids."""
    try:
        out = wr.select(t, "id", {f"c{i}": ask.text for i, ask in enumerate(asks)})
    except wr.WindrowError as error:
        if len(asks) == 1:
            return [error]
        half = len(asks) // 2
        return our_answers(t, asks[:half]) + our_answers(t, asks[half:])
    # by hand: pyarrow does not sort views
    ids = out["id"].to_pylist()
    places = sorted(range(len(ids)), key=ids.__getitem__)
    columns = [listed(out[f"c{i}"]) for i in range(len(asks))]
    return [[column[place] for place in places] for column in columns]


def plain(values):
    """Give numbers in one form: DuckDB's sums are huge integers, ours bigints or decimals."""
    return [Decimal(v) if isinstance(v, (int, Decimal)) and not isinstance(v, bool) else v for v in values]


def rounded(ours, theirs):
    """Whether our decimal mean is DuckDB's double, rounded to our scale."""
    if not (isinstance(ours, Decimal) and isinstance(theirs, float)):
        return False
    return math.isclose(float(ours), theirs, rel_tol=1e-12, abs_tol=10.0 ** ours.as_tuple().exponent)


def connected(t):
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.register("t", t)
    return connection


def compare(answers, ask, ours, theirs, t, ids):
    theirs = listed(theirs)
    if ask.function == "avg" and ask.argument == "v_decimal":
        ours = [b if equal(a, b) or rounded(a, b) else a for a, b in zip(ours, theirs, strict=True)]
    answers.check(ask, plain(ours), plain(theirs), t, ids)


def scales_of(connection):
    """Have DuckDB say what frames hold."""

    def run(table, items):
        connection.register("scaled", table)
        return connection.sql(f"SELECT {', '.join(items)} FROM scaled").to_arrow_table()

    return scales_by(run)


def agrees(scales, ask, ours, theirs, t, ids):
    answers = Answers("DuckDB", scales)
    compare(answers, ask, ours, theirs, t, ids)
    return not answers.conclude()


def run_round(number):
    rng = random.Random(number)
    t = make_table(rng, rng.choice([1, 2, 9, 40, 80]))
    connection = connected(t)
    windows = [make_window(rng) for _ in range(WINDOWS)]
    asks = [make_ask(rng, window) for window in windows for _ in range(CALLS)]
    ids = sorted(t["id"].to_pylist())
    scales = scales_of(connection)
    answers = Answers("DuckDB", scales)
    for ask, theirs, ours in zip(asks, duckdb_answers(connection, asks), our_answers(t, asks), strict=True):
        if isinstance(ours, wr.WindrowError):
            error = ours
            if isinstance(theirs, duckdb.Error) or any(words in str(error) for words in REFUSED_THOUGH_ANSWERED):
                continue
            answers.compared += 1
            answers.fault(ask, f"we refuse: {type(error).__name__} {error}")
            continue
        if isinstance(theirs, duckdb.Error):
            answers.compared += 1
            answers.fault(ask, f"DuckDB refuses: {theirs}")
            continue
        for _ in range(AGAIN):
            if agrees(scales, ask, ours, theirs, t, ids):
                break
            (theirs,) = duckdb_answers(connected(t), [ask])
        compare(answers, ask, ours, theirs, t, ids)
    answers.settle(len(asks) // 2)
    connection.close()
    return answers


@pytest.mark.parametrize("number", rounds(ROUNDS, quick=50))
def test_random_calls(number):
    run_round(number)


# ---- large tables: blocks, sections on several threads, radix sorts

LARGE_KEYS = ["k_int", "k_wide", "k_double", "k_moment", "k_text", "k_decimal", "k_flag"]
LARGE_OFFSETS = {
    "k_int": ["0", "1", "40", "3000"],
    "k_wide": ["0", "1000000000", "400000000000000"],
    "k_double": ["0", "0.25", "12.5"],
    "k_moment": ["INTERVAL '0' DAY", "INTERVAL '3' HOUR", "INTERVAL '2' DAY", "INTERVAL '30' DAY"],
    "k_decimal": ["0", "0.5", "20"],
}
LARGE_CALLS = [
    "count(*)", "count(v_int)", "sum(v_int)", "sum(v_big)", "avg(v_int)", "min(v_int)", "max(v_text)",
    "min(v_double)", "sum(v_double)", "avg(v_double)", "stddev_samp(v_double)", "var_pop(v_int)", "sum(v_decimal)",
    "max(v_decimal)", "bool_and(v_flag)",
    "bool_or(v_flag)", "sum(v_int) FILTER (WHERE v_flag)", "min(v_text) FILTER (WHERE v_flag)",
]  # fmt: skip
LARGE_PICKS = [
    "first_value(v_int)", "last_value(v_text)", "first_value(v_text IGNORE NULLS)", "last_value(v_int IGNORE NULLS)",
    "nth_value(v_int, 3)", "nth_value(v_big, 2 IGNORE NULLS)",
]  # fmt: skip
LARGE_RANKS = ["rank()", "dense_rank()", "percent_rank()", "cume_dist()"]
LARGE_PLACES = [
    "row_number()", "ntile(7)", "lag(v_int)", "lead(v_text, 3)", "lag(v_int, 5, v_int)", "lag(v_int IGNORE NULLS)",
    "lead(v_big, 2 IGNORE NULLS)",
]  # fmt: skip


def large_table(seed, rows):
    np = pytest.importorskip("numpy")
    rng = np.random.default_rng(seed)

    def column(values, data_type=None, nulls=0.1):
        return pa.array(values, data_type, mask=rng.random(rows) < nulls)

    words = np.array([f"word {i}" * (i % 4 + 1) for i in range(500)] + ["", "a", "é"], dtype=object)
    micros = 1_706_000_000_000_000 + rng.integers(0, 90 * 24, rows) * 3_600_000_000
    return pa.table(
        {
            "id": pa.array(rng.permutation(rows)),
            # one partition holds half of the rows, and many hold a few
            "p": column(np.where(rng.random(rows) < 0.5, 7, rng.integers(0, 3000, rows)), pa.int32(), 0.02),
            "q": column(words[rng.integers(0, 4, rows)], pa.string(), 0.02),
            "k_int": column(rng.integers(-50_000, 50_000, rows), pa.int32(), 0.02),
            "k_wide": column(rng.integers(-(2**52), 2**52, rows), pa.int64(), 0.02),
            "k_double": column(np.round(rng.normal(0, 100, rows), 2), pa.float64(), 0.02),
            "k_moment": column(micros, pa.timestamp("us"), 0.02),
            "k_text": column(words[rng.integers(0, len(words), rows)], pa.string(), 0.02),
            "k_decimal": column(rng.integers(-99_999, 99_999, rows), pa.int64(), 0.02).cast(pa.decimal128(21, 2)),
            "k_flag": column(rng.random(rows) < 0.5, pa.bool_(), 0.02),
            "v_int": column(rng.integers(-1000, 1000, rows), pa.int32(), 0.2),
            "v_big": column(rng.integers(-(2**44), 2**44, rows), pa.int64(), 0.9),
            "v_double": column(rng.normal(0, 5, rows), pa.float64()),
            "v_text": column(words[rng.integers(0, len(words), rows)], pa.string()),
            "v_flag": column(rng.random(rows) < 0.9, pa.bool_()),
            "v_decimal": column(rng.integers(-99_999, 99_999, rows), pa.int64()).cast(pa.decimal128(21, 2)),
        }
    )


def large_bound(rng, offsets, side):
    roll = rng.random()
    if roll < 0.15:
        return f"UNBOUNDED {side}", 9
    if roll < 0.3 or not offsets:
        return "CURRENT ROW", 0
    if roll < 0.45:
        side = "PRECEDING" if side == "FOLLOWING" else "FOLLOWING"
    return f"{rng.choice(offsets)} {side}", -1 if side == "PRECEDING" else 1


def large_ask(rng):
    partition = rng.choice(["", "PARTITION BY p ", "PARTITION BY p ", "PARTITION BY q ", "PARTITION BY p, q "])
    key = rng.choice(LARGE_KEYS)
    broken = rng.random() < 0.5
    order = f"ORDER BY {key} {rng.choice(['ASC', 'DESC'])} NULLS {rng.choice(['FIRST', 'LAST'])}" + ", id ASC" * broken
    order = order.replace(", id ASC", ", id ASC NULLS LAST")
    if rng.random() < 0.2:
        return f"{rng.choice(LARGE_RANKS + LARGE_PLACES * broken)} OVER ({partition}{order})"
    units = rng.choice(["ROWS"] * 3 if broken else ["RANGE", "RANGE", "GROUPS"])
    offsets = {
        "ROWS": ["0", "1", "3", "100", "5000"],
        "GROUPS": ["0", "1", "5", "200"],
        "RANGE": LARGE_OFFSETS.get(key, []),
    }
    while True:
        start, first = large_bound(rng, offsets[units], "PRECEDING")
        end, last = large_bound(rng, offsets[units], "FOLLOWING")
        if not (first >= 0 and last < first):
            break
    exclude = rng.choice(["", "", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"])
    frame = "" if rng.random() < 0.1 else f" {units} BETWEEN {start} AND {end}{exclude}"
    return f"{rng.choice(LARGE_CALLS + LARGE_PICKS * broken)} OVER ({partition}{order}{frame})"


def different(ours, theirs):
    """Count the rows in which two columns differ, floats by more than their sums' rounding."""
    import pyarrow.compute as pc

    ours, theirs = ours.combine_chunks(), theirs.combine_chunks()
    if pa.types.is_floating(ours.type):
        scale = pc.add(pc.max_element_wise(pc.abs(ours), pc.abs(theirs)), 1.0)
        equal = pc.less_equal(pc.abs(pc.subtract(ours, theirs)), pc.multiply(scale, 1e-7))
    else:
        # sums come as HUGEINT from DuckDB, and as decimals of other digits
        narrower = ours.type if not pa.types.is_decimal(theirs.type) else theirs.type
        equal = pc.equal(ours.cast(narrower), theirs.cast(narrower))
    nulls = pc.and_(ours.is_null(), theirs.is_null())
    return len(ours) - pc.sum(pc.or_(pc.fill_null(equal, False), nulls)).as_py()


@pytest.mark.slow
@pytest.mark.parametrize("number", rounds(3, quick=1))
def test_large_tables(number):
    rng = random.Random(number)
    rows = rng.choice([70_000, 120_000])
    t = large_table(number, rows)
    connection = duckdb.connect()
    connection.register("t", t)
    asks = []
    while len(asks) < 25:
        text = large_ask(rng)
        try:
            wr.explain(t.slice(0, 0), text)
        except wr.SpecError:  # bounds the wrong way round
            continue
        asks.append(text)
    columns = ", ".join(f"{text} AS c{i}" for i, text in enumerate(asks))
    theirs = connection.sql(f"SELECT id, {columns} FROM t ORDER BY id").to_arrow_table()
    connection.close()
    with wr.config(threads=rng.choice([0, 1, 2, 4])):
        ours = wr.select(t, "id", {f"c{i}": text for i, text in enumerate(asks)})
    ours = ours.take(pa.compute.sort_indices(ours["id"]))
    wrong = {text: n for i, text in enumerate(asks) if (n := different(ours[f"c{i}"], theirs[f"c{i}"]))}
    assert not wrong, wrong
