"""Scalars outside Spark: each answer is what Spark recorded, with its type; what is not listed is refused by name."""

import datetime as dt
import decimal
import itertools
import json
import math
import random
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import windrow as wr
from support.scalar_cases import EXPRESSIONS, ROWS, shown, table
from windrow._scalars.compiled import compiled
from windrow._scalars.exact import EXACT
from windrow._scalars.growth import extent
from windrow._scalars.types import shown as type_shown

pl = pytest.importorskip("polars")

RECORDED = json.loads((Path(__file__).parent / "spark_answers.json").read_text(encoding="utf-8"))["answers"]
TABLES = {kind: table(kind) for kind in ROWS}
# what Spark calls the errors of rows, and what windrow says of them
ULPS = {row.name: row.ulps for row in EXACT}
# wrong in Spark's own words, or answered by Spark alone: refused here under these settings
WORDS = {"not", "int", "date", "list", "is", "or", "in", "on", "case", "union", "else", "end", "distinct", "all", "any"}
REFUSED = "not among the scalars|not cast exactly|cannot be rounded exactly|not exactly Spark's"


def answered(expression, kind, *, ansi):
    with wr.config(ansi=ansi):
        return wr.sql(f"SELECT {expression} AS v FROM t", t=TABLES[kind])["v"]


def ulps_of(expression):
    return max((u for name, u in ULPS.items() if f"{name}(" in expression.lower()), default=0)


def agrees(ours, theirs, ulps):
    if isinstance(ours, str) and ours.startswith("float ") and isinstance(theirs, str):
        left, right = float(ours[6:]), float(theirs[6:])
        if ulps and math.isfinite(left) and math.isfinite(right):
            return abs(left - right) <= ulps * math.ulp(right)
        return ours == theirs or (math.isnan(left) and math.isnan(right))
    return ours == theirs


def test_answers_are_sparks():
    compared = refused = 0
    different = []
    for kind, ansi, expression in itertools.product(ROWS, (True, False), EXPRESSIONS):
        recorded = RECORDED[f"{kind}, ansi {ansi}".lower()][expression]
        try:
            column = answered(expression, kind, ansi=ansi)
        except wr.WindrowError as error:
            if (
                (isinstance(recorded, str) and recorded in str(error))
                or (isinstance(error, wr.SpecError) and isinstance(recorded, str))
                or (expression == "a div b" and recorded == "ARITHMETIC_OVERFLOW")
            ):
                compared += 1
            elif isinstance(error, wr.UnsupportedError) or any(w in str(error) for w in REFUSED.split("|")):
                refused += 1
            else:
                different.append((expression, kind, ansi, str(error), str(recorded)[:200]))
            continue
        if recorded == "OverflowError":  # dates that Python has not
            continue
        if isinstance(recorded, str):
            different.append((expression, kind, ansi, column.to_pylist(), recorded))
            continue
        ours = [shown(v) for v in column.to_pylist()]
        pairs = zip(ours, recorded["values"], strict=True)
        wrong = [(a, b) for a, b in pairs if not agrees(a, b, ulps_of(expression))]
        compared += len(ours)
        if wrong:
            different.append((expression, kind, ansi, wrong[:3]))
    assert not different, "\n".join(map(str, different))
    assert compared > 25_000
    assert refused < len(EXPRESSIONS) // 2


def test_types_are_sparks():
    compared = 0
    for ansi, expression in itertools.product((True, False), EXPRESSIONS):
        recorded = RECORDED[f"mild, ansi {ansi}".lower()][expression]
        kinds = dict(zip(TABLES["mild"].schema.names, TABLES["mild"].schema.types, strict=True))
        try:
            made = compiled(expression, kinds, ansi=ansi, timezone=None)
        except wr.WindrowError:
            continue
        if not isinstance(recorded, str) and not recorded["type"].startswith("interval"):
            assert type_shown(made.kind) == recorded["type"], (expression, ansi)
            compared += 1
    assert compared > 500


def test_every_row_of_the_list_is_among_the_expressions():
    tokens = " ".join(EXPRESSIONS).lower()
    missing = {row.name for row in EXACT if f"{row.name}(" not in tokens and f" {row.name} " not in tokens}
    assert missing <= {"~", "%", "charindex", "character_length", "regexp", "rlike", "negative"} | {"||"}, missing
    assert len(EXACT) > 100


@pytest.mark.parametrize(
    "expression",
    [
        "initcap(s)",
        "bround(x)",
        "sha2(s, 256)",
        "starts_with(s, 'a')",
        "ends_with(s, 'a')",
        "element_at(l, 1)",
        "size(l)",
        "array(1, 2)[0]",
        "cast(x as string)",
        "cast(1e7 * a as string)",
        "round(x, 999)",
        "add_months(d, i)",
        "cast(ts as time)",
        "cast(a as int128)",
        "cast(n as bigint)",
        "s = 1",
        "a + '1'",
        "x % y",
        "m % q",
        "s rlike '(?=a)b'",
        "s rlike 'a*+'",
        "lpad(s, 4, 'ab')",
        "lpad(s, 99999999999, 'x')",
        "rpad(s, 2147483647)",
        "date_format(d, 'y')",
        "unix_timestamp(ts)",
        "struct(a, b)",
        "a << 2",
        "hour(d)",
        "extract(second from ts)",
        "floor(m)",
        "k[0]",
        "d = s",
        "q / q / q",
    ],
)
def test_what_is_not_listed_is_refused_by_name(expression):
    for frame in (TABLES["mild"], pl.DataFrame(TABLES["mild"]).lazy(), TABLES["mild"].to_reader()):
        with pytest.raises(wr.UnsupportedError, match="scalars that are exactly Spark's here; compute"):
            wr.sql(f"SELECT {expression} AS v FROM t", t=frame)


def test_functions_that_spark_has_not_and_random_names_are_refused():
    rng = random.Random(3)
    names = {row.name for row in EXACT}
    tried = 0
    while tried < 60:
        name = "".join(rng.choices("abcdeilnorstu_", k=rng.randrange(3, 9)))
        if name in names or name in (
            "not",
            "int",
            "date",
            "list",
            "is",
            "or",
            "in",
            "on",
            "case",
            "union",
            "else",
            "end",
        ):
            continue
        argument = rng.choice(["a", "x", "s", "d", "a, b", "s, t"])
        with pytest.raises((wr.UnsupportedError, wr.SpecError)) as raised:
            wr.sql(f"SELECT {name}({argument}) AS v FROM t", t=TABLES["mild"])
        assert f"{name}({argument})" in str(raised.value)
        tried += 1


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("d - e > 1", r"datediff\(d, lag\(d\).*INTERVAL '1' DAY"),
        ("d = 20240101", "date and int cannot be compared.*DATE '2024-01-01'"),
        ("cast(a as decimal(39, 2))", r"no DECIMAL\(39, 2\)"),
        ("cast(a as decimal(5, 9))", r"no DECIMAL\(5, 9\)"),
        ("cast(99999999999999999999 as bigint)", "does not fit BIGINT"),
        ("128Y", "128 does not fit TINYINT"),
        ("40000S", "40000 does not fit SMALLINT"),
        ("2147483647 + 1", "32-bit integer"),
        ("-(-2147483648)", "32-bit integer"),
        ("-(-9223372036854775808)", "64-bit integer"),
        ("1e400", "no double"),
        ("a and p", "bigint, and a condition is true or false"),
        ("vv + 1", "column 'vv' is unknown"),
    ],
)
def test_what_spark_refuses_is_wrong_here_too(expression, says):
    with pytest.raises(wr.SpecError, match=says):
        wr.sql(f"SELECT {expression} AS v FROM t", t=TABLES["mild"])


def test_unsigned_integers_are_widened():
    rng = random.Random(1)
    for kind, wide in [(pa.uint8(), pa.int16()), (pa.uint16(), pa.int32()), (pa.uint32(), pa.int64())]:
        top = 2**kind.bit_width
        values = [0, top - 1, *(rng.randrange(top) for _ in range(20))]
        made = wr.sql(
            "SELECT u - lag(u) OVER (ORDER BY i) AS v FROM t",
            t=pa.table({"u": pa.array(values, kind), "i": range(len(values))}),
        )["v"]
        differences = [None, *(b - a for a, b in itertools.pairwise(values))]
        if all(d is None or -(2 ** (wide.bit_width - 1)) <= d for d in differences):
            assert made.type == wide
            assert made.to_pylist() == differences


def test_rounding_is_that_of_the_decimal_that_is_printed():
    rng = random.Random(9)
    values = [0.7, 3.3, 1.15, 1.005, 2.675, 0.045, -0.3, 0.5, -2.5]
    values += [round(rng.uniform(-1000, 1000), rng.randrange(1, 8)) for _ in range(2000)]
    values += [rng.randrange(-(10**6), 10**6) / 2 ** rng.randrange(12) for _ in range(2000)]
    frame = pa.table({"x": values})
    for digits in range(-3, 7):
        ours = wr.sql(f"SELECT round(x, {digits}) AS v FROM t", t=frame)["v"].to_pylist()
        exponent = Decimal(1).scaleb(-digits)
        theirs = [float(Decimal(repr(v)).quantize(exponent, "ROUND_HALF_UP")) for v in values]
        theirs = [0.0 if v == 0 else v for v in theirs]
        assert [repr(v) for v in ours] == [repr(v) for v in theirs], digits


def _rounded(value, digits):
    made = float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), "ROUND_HALF_UP"))
    return 0.0 if made == 0 else made


def test_nested_rounding_grows_with_its_levels():
    rng = random.Random(2)
    values = [0.7, -2.675, 1.00495, *(rng.uniform(-1000, 1000) for _ in range(300))]
    frame, text, expected = pa.table({"x": values}), "x", values
    operations = []
    for digits in range(7, -1, -1):
        text, expected = f"round({text}, {digits})", [_rounded(v, digits) for v in expected]
        made = compiled(text, {"x": pa.float64()}, ansi=True, timezone=None)
        operations.append(extent(made.expr, 50_000)[0])
        for kind in (frame, pl.DataFrame(frame).lazy().collect()):
            assert list(wr.sql(f"SELECT {text} AS v FROM t", t=kind)["v"].to_numpy()) == expected, text
    assert operations[-1] < 9 * operations[0]
    assert len({b - a for a, b in itertools.pairwise(operations)}) == 1
    once = wr.sql("SELECT round(round(round(2.71828D, 3), 2), 1) AS v FROM t LIMIT 1", t=frame)
    assert once["v"].to_pylist() == [2.7]


def _sum_type(one, other):
    scale = max(one[1], other[1])
    return max(one[0] - one[1], other[0] - other[1]) + scale + 1, scale


def _product_type(one, other):
    return one[0] + other[0] + 1, one[1] + other[1]


def test_literals_have_the_types_that_they_are_written_in():
    """By the rules of Spark's documentation for decimal arithmetic (org.apache.spark.sql.catalyst DecimalPrecision)."""
    frame = pa.table({"x": [1, 2]})
    cases = {
        "7": (pa.int32(), 7), "7L": (pa.int64(), 7), "7S": (pa.int16(), 7), "7Y": (pa.int8(), 7),
        "-7L": (pa.int64(), -7), "(7L)": (pa.int64(), 7), "7L + 1": (pa.int64(), 8), "7Y + 1S": (pa.int16(), 8),
        "3000000000": (pa.int64(), 3 * 10**9),
        "2147483647L + 1L": (pa.int64(), 2**31), "cast(7 as bigint)": (pa.int64(), 7), "bigint(7)": (pa.int64(), 7),
        "1.5D": (pa.float64(), 1.5), "1.5F": (pa.float32(), 1.5), "1BD": (pa.decimal128(1, 0), 1),
        "1.5BD + 1": (pa.decimal128(3, 1), Decimal("2.5")), "-(0.1 + 0.2)": (pa.decimal128(2, 1), Decimal("-0.3")),
        "1.5 / 0.25": (pa.decimal128(9, 6), 6),
    }  # fmt: skip
    rng = random.Random(8)
    for _ in range(60):
        digits = [(p, rng.randrange(p + 1)) for p in (rng.randrange(1, 15), rng.randrange(1, 15))]
        # of so many digits: a literal's type is that of its digits
        one, other = (Decimal(rng.randrange(10 ** (p - 1), 10**p)).scaleb(-s) for p, s in digits)
        a, b = (f"{v:f}" if "." in f"{v:f}" else f"{v:f}BD" for v in (one, other))
        cases[f"{a} + {b}"] = pa.decimal128(*_sum_type(*digits)), one + other
        cases[f"{a} - {b}"] = pa.decimal128(*_sum_type(*digits)), one - other
        cases[f"{a} * {b}"] = pa.decimal128(*_product_type(*digits)), one * other
    for text, (kind, value) in cases.items():
        alone = wr.sql(f"SELECT {text} AS v FROM t", t=frame)["v"]
        assert (alone.type, alone.to_pylist()) == (kind, [value, value]), text
        largest = wr.select(frame, v=f"max({text}) OVER ()")["v"]
        assert (largest.type, largest.to_pylist()) == (kind, [value, value]), text
        if pa.types.is_decimal(kind):
            total = wr.select(frame, v=f"sum({text}) OVER ()")["v"]
            assert total.type == pa.decimal128(min(kind.precision + 10, 38), kind.scale), text
    assert len(cases) > 150
    for text, error in {"127Y + 1Y": "8-bit", "32767S + 1S": "16-bit", "9223372036854775807L + 1": "64-bit"}.items():
        with pytest.raises(wr.SpecError, match=error):
            wr.sql(f"SELECT {text} AS v FROM t", t=frame)


def test_decimal_literals_keep_all_their_digits():
    frame, rng = pa.table({"x": [1]}), random.Random(6)
    for precision in range(1, 39):
        scale = rng.randrange(precision + 1)
        digits = str(rng.randrange(10 ** (precision - 1), 10**precision))
        text = f"{digits[: precision - scale] or '0'}.{digits[precision - scale :]}" if scale else digits
        for sign in ("", "-"):
            value = Decimal(sign + text)
            assert wr.sql(f"SELECT {sign}{text}BD AS v FROM t", t=frame)["v"].to_pylist() == [value]
            made = wr.select(frame, v=wr.max(wr.lit(value)).over())["v"]
            assert (made.type, made.to_pylist()) == (pa.decimal128(precision, scale), [value])
    assert wr.select(frame, v="sum(x) OVER (ORDER BY x)", w="max(99999999999999999999999999999999999999) OVER ()")[
        "w"
    ].to_pylist() == [Decimal("9" * 38)]


@pytest.mark.parametrize("rows", [1, 2, 50])
def test_division_gives_the_nearest_double(rows):
    rng = random.Random(rows)
    for _ in range(30):
        values = [rng.choice([7.0, 0.7, 0.1, rng.uniform(-9, 9)]) for _ in range(rows)]
        divisor = rng.choice([3, 10, 7, 49])
        for frame in (pa.table({"x": values}), pl.DataFrame({"x": values}).with_columns(c=pl.lit(divisor))):
            text = f"x / {divisor}" if isinstance(frame, pa.Table) else "x / c"
            assert list(wr.sql(f"SELECT {text} AS v FROM t", t=frame)["v"]) == [v / divisor for v in values] or [
                v.as_py() for v in wr.sql(f"SELECT {text} AS v FROM t", t=frame)["v"]
            ] == [v / divisor for v in values]


def test_decimals_are_exact():
    with decimal.localcontext(prec=100):
        _compare_decimals()


def _compare_decimals():
    rng = random.Random(4)
    compared = 0
    for _ in range(60):
        p, r = rng.randrange(1, 19), rng.randrange(1, 18)
        s, u = rng.randrange(0, min(p, 6) + 1), rng.randrange(0, min(r, 6) + 1)
        left = [Decimal(rng.randrange(-(10**p) + 1, 10**p)).scaleb(-s) for _ in range(4)]
        right = [Decimal(rng.randrange(1, 10**r)).scaleb(-u) for _ in range(4)]
        frame = pa.table({"l": pa.array(left, pa.decimal128(p, s)), "r": pa.array(right, pa.decimal128(r, u))})
        for symbol, exact in [
            ("+", [a + b for a, b in zip(left, right, strict=True)]),
            ("-", [a - b for a, b in zip(left, right, strict=True)]),
            ("*", [a * b for a, b in zip(left, right, strict=True)]),
            ("<", [a < b for a, b in zip(left, right, strict=True)]),
            ("/", None),
        ]:
            try:
                made = wr.sql(f"SELECT l {symbol} r AS v FROM t", t=frame)["v"]
            except wr.UnsupportedError:
                continue
            wanted = exact
            if wanted is None:
                unit = Decimal(1).scaleb(-made.type.scale)
                wanted = [(a / b).quantize(unit, "ROUND_HALF_UP") for a, b in zip(left, right, strict=True)]
            assert made.to_pylist() == wanted, (symbol, left, right)
            compared += 1
    assert compared > 150


def test_a_branch_that_is_not_taken_cannot_fail():
    frame = pa.table({"a": [4, 5, None], "b": [0, 2, 0]})
    for text, wanted in [
        ("CASE WHEN b <> 0 THEN a / b ELSE -1 END", [-1.0, 2.5, -1.0]),
        ("if(b = 0, 0, a div b)", [0, 2, 0]),
        ("b <> 0 AND a / b > 1", [False, True, False]),
        ("b = 0 OR a / b > 1", [True, True, True]),
        ("coalesce(nullif(b, 0), 1)", [1, 2, 1]),
        ("try_divide(a, b)", [None, 2.5, None]),
    ]:
        assert wr.sql(f"SELECT {text} AS v FROM t", t=frame)["v"].to_pylist() == wanted
    for frame_ in (frame, pl.DataFrame(frame), frame.to_pandas()):
        with pytest.raises(wr.DataError, match=r"DIVIDE_BY_ZERO; write try_divide"):
            wr.sql("SELECT a FROM t WHERE a / b > 1", t=frame_)
    with pytest.raises(wr.DataError, match="DIVIDE_BY_ZERO"):
        wr.sql("SELECT a FROM t WHERE a / b > 1", t=pl.DataFrame(frame).lazy()).collect()
    with wr.config(ansi=False):
        assert wr.sql("SELECT a FROM t WHERE a / b > 1", t=frame)["a"].to_pylist() == [5]


def test_zones():
    table_ = pa.table({"ts": pa.array([dt.datetime(2024, 7, 1, 23, 30)], pa.timestamp("us", "America/New_York"))})
    one = {"day": "day(ts)", "text": "cast(ts as string)", "day2": "cast(ts as date)"}
    query = f"SELECT {', '.join(f'{e} AS {n}' for n, e in one.items())} FROM t"
    local = wr.sql(query, t=table_).to_pylist()
    assert local == [{"day": 1, "text": "2024-07-01 19:30:00", "day2": dt.date(2024, 7, 1)}]
    with wr.config(timezone="Asia/Tokyo"):
        assert wr.sql(query, t=table_).to_pylist() == [
            {"day": 2, "text": "2024-07-02 08:30:00", "day2": dt.date(2024, 7, 2)}
        ]


def test_strings_of_any_letters():
    table_ = pa.table({"s": ["it's", "back\\slash", 'quo"te', "new\nline", "é́"]})
    for value in table_["s"].to_pylist():
        assert wr.sql(f"SELECT s FROM t WHERE s = {wr.lit(value)}", t=table_)["s"].to_pylist() == [value]


def test_an_aggregate_without_over_is_refused_in_arguments_too():
    with pytest.raises(wr.SpecError, match=r"avg\(x\) has no OVER"):
        wr.with_columns(TABLES["mild"], wr.sum(wr.expr("x - avg(x)")).over())


def test_the_page_lists_every_row():
    page = (Path(__file__).parents[3] / "docs" / "scalars.md").read_text(encoding="utf-8").replace("\\|", "|")
    for row in EXACT:
        line = next(line for line in page.splitlines() if line.startswith(f"| `{row.name}` |"))
        assert f"({', '.join(row.arguments)}{', ...' if row.variadic else ''}) {row.result}" in line
