"""Scalars over random values of each kind, held against Spark's documented rules written in plain Python.

Where a rule is Java's (``StrictMath.pow``, ``String.toLowerCase``) its documentation is the reference; none of these
answers was recorded from Spark.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import itertools
import math
import random
import re
from decimal import Decimal

import pyarrow as pa
import pytest

import windrow as wr
from support.scalar_cases import COLUMNS, table
from windrow._scalars import to_polars
from windrow._scalars.compiled import _Compiler, compiled, tree_of
from windrow._scalars.exact import EXACT
from windrow._scalars.growth import extent
from windrow._scalars.typed import Scope

pl = pytest.importorskip("polars")

TABLES = {"mild": table("mild")}
KINDS = {n: t for n, (_, t) in COLUMNS.items()}
# columns of each family that the table names
MEMBERS = {
    "integer": ["a", "i", "k"], "number": ["a", "k", "x", "f", "m"], "double": ["a", "k", "x", "f", "m"],
    "floating": ["x"], "decimal": ["m"], "int": ["i", "k", "h"], "string": ["s"], "date": ["d"], "timestamp": ["ts"],
    "timestamp_ntz": ["n"], "text": ["s", "a", "m", "p", "d", "ts", "n", "NULL"], "interval": ["(n - n)"],
    "literal interval": ["INTERVAL '1' DAY"],
    "literal string": ["'x'", "'YEAR'"], "literal int": ["3"], "literal integer": ["3", "7L"],
}  # fmt: skip


def answer(expression, frame):
    return wr.sql(f"SELECT {expression} AS v FROM t", t=frame)["v"].to_pylist()


def made(expression, **kinds):
    return compiled(expression, {**KINDS, **kinds}, ansi=True, timezone=None)


def written(row, arguments):
    if not row.name[0].isalpha():
        return f" {row.name} ".join(arguments) if len(arguments) == 2 or row.variadic else row.name + arguments[0]
    return f"{arguments[0]} div {arguments[1]}" if row.name == "div" else f"{row.name}({', '.join(arguments)})"


# --- the table


def test_the_table_takes_what_it_says():
    taken, refused = 0, []
    for row in EXACT:
        for arguments in itertools.product(*(MEMBERS[p] for p in row.arguments)):
            if row.name == "round" or (row.name == "trunc" and arguments[1] != "'YEAR'"):
                continue
            try:
                made(written(row, arguments))
                taken += 1
            except wr.UnsupportedError as error:
                refused.append(str(error))
    # the limits that depend on values: decimals of which Spark cuts digits, and padding with one letter
    assert [r for r in refused if "cuts digits" not in r and "padding with more" not in r] == []
    assert taken > 350


def test_what_must_be_a_literal_is_asked_for():
    refused = 0
    for row in EXACT:
        for position, pattern in enumerate(row.arguments):
            if not pattern.startswith("literal "):
                continue
            arguments = [MEMBERS[p][-1] for p in row.arguments]
            # a date and NULL are a date and a number of days
            for other in (
                MEMBERS[pattern.removeprefix("literal ")][0],
                *(["NULL"] if "interval" not in pattern else []),
            ):
                arguments[position] = other
                with pytest.raises(wr.UnsupportedError, match=f"whose argument {position + 1} is no literal, or NULL"):
                    made(written(row, arguments))
                refused += 1
    assert refused >= 30


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("s < INTERVAL '1' DAY", "a comparison of string and an interval is not"),
        ("n - n < INTERVAL '1' MONTH", "and an interval of months is not"),
        ("concat(s, x)", r"concat\(string, double\) is not"),
        ("replace(s, t)", r"replace\(string, string\) whose argument 2 is no literal"),
        ("rlike(s, 'a{99999999999}')", r"the regular expression 'a\{99999999999\}' is not"),
        ("rlike(s, '" + "(" * 3000 + ")" * 3000 + "')", r"\(6,000 characters\) is not"),
    ],
)
def test_messages_name_the_reason(expression, says):
    with pytest.raises(wr.UnsupportedError, match=says) as raised:
        answer(expression, TABLES["mild"])
    assert len(str(raised.value)) < 8_000


@pytest.mark.parametrize("expression", ["i % 0", "mod(i, j - j)", "i div 0"])
def test_a_remainder_has_no_quotient_to_be_written_instead(expression):
    with pytest.raises(wr.DataError, match="BY_ZERO; write a divisor of nullif") as raised:
        answer(expression, pa.table({"i": pa.array([1], pa.int32()), "j": pa.array([1], pa.int32())}))
    assert "try_divide" not in str(raised.value)


def test_internal_errors_are_not_reported_as_polars_errors(monkeypatch):
    def broken(*_, **__):
        raise AttributeError("a fault")

    monkeypatch.setattr(to_polars, "compiled", broken)
    for frame in (TABLES["mild"], pl.DataFrame(TABLES["mild"])):
        with pytest.raises(AttributeError):
            wr.sql("SELECT a + 1 AS v FROM t", t=frame)
        with pytest.raises(AttributeError):
            wr.with_columns(frame, y="max(a + 1) OVER ()")


# --- size


DEPTH = 6
FUNCTIONS = {
    "coalesce": 2, "nvl": 2, "ifnull": 2, "nvl2": 3, "if": 3, "iff": 3, "nullif": 2, "isnull": 1, "isnotnull": 1,
    "equal_null": 2, "greatest": 2, "least": 2, "like": 2, "string": 1, "int": 1,
}  # fmt: skip


def test_each_argument_is_compiled_once(monkeypatch):
    counted = 0
    value = _Compiler.value

    def counting(self, node):
        nonlocal counted
        counted += 1
        return value(self, node)

    monkeypatch.setattr(_Compiler, "value", counting)
    shapes = [(f"{n}({', '.join(['{}'] * c)})", c) for n, c in FUNCTIONS.items()]
    for row in EXACT:
        shapes.append((written(row, ["{}"] * len(row.arguments)), len(row.arguments)))
    shapes += [("{} IN ({}, 3)", 2), ("CASE WHEN {} THEN {} ELSE {} END", 3), ("{} BETWEEN {} AND {}", 3)]
    tried = 0
    for (shape, count), column in itertools.product(shapes, ["p", "a", "s", "x", "d"]):
        for position in range(count):
            text = column
            for _ in range(DEPTH):
                text = shape.format(*(f"({text})" if i == position else column for i in range(count)))
            counted = 0
            with contextlib.suppress(wr.WindrowError):
                _Compiler(Scope(KINDS, ansi=True, timezone=None), text).root(tree_of(text))
            assert counted <= 8 * DEPTH, (text, counted)
            tried += 1
    assert tried > 1_000


def test_a_condition_of_iff_may_be_nested_to_the_limit():
    text = "a > 1"
    for _ in range(28):
        text = f"iff({text}, true, false)"
    assert answer(text, pa.table({"a": [1, 2]})) == [False, True]


@pytest.mark.parametrize(
    "items",
    [
        lambda n: "x IN (" + ", ".join(f"{i}.5" for i in range(n)) + ")",
        lambda n: "x IN (" + ", ".join(f"-{i}.5D" for i in range(n)) + ")",
        lambda n: "d IN (" + ", ".join(f"DATE '{dt.date(2000, 1, 1) + dt.timedelta(i)}'" for i in range(n)) + ")",
        lambda n: "a IN (" + ", ".join(f"a + {i}" for i in range(n)) + ")",
        lambda n: "concat(" + ", ".join(["s"] * n) + ")",
        lambda n: "coalesce(" + ", ".join(["a div b"] * (n // 8)) + ")",
        lambda n: "greatest(" + ", ".join(["x"] * n) + ")",
        lambda n: "least(" + ", ".join(["d"] * n) + ")",
    ],
)
def test_long_lists_are_no_deep_expressions(items):
    few, many = (made(items(n)) for n in (64, 256))
    levels = [max(extent(e, 10**6)[1] for e in (m.expr, *(f.rows for f in m.failures))) for m in (few, many)]
    assert levels[0] == levels[1] < 16
    assert len(answer(items(256), TABLES["mild"])) == 30


# --- numbers


def java_pow(x, y):
    """Give what the documentation of ``Math.pow`` says."""
    if y == 0:
        return 1.0
    if math.isnan(x) or math.isnan(y) or (abs(x) == 1 and math.isinf(y)):
        return math.nan
    try:
        return math.pow(x, y)
    except OverflowError:
        return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
    except ValueError:  # a negative number to a fraction, or zero to a negative power
        if x == 0:
            return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
        return math.nan


def close(ours, theirs, ulps):
    if ours is None or theirs is None or not math.isfinite(theirs) or theirs == 0:
        return repr(ours) == repr(theirs)
    return abs(ours - theirs) <= ulps * math.ulp(theirs)


SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e300, 5e-324]


@pytest.mark.parametrize("seed", range(2))
def test_powers_are_javas(seed):
    rng = random.Random(seed)
    values = [*SPECIAL, *(rng.uniform(-9, 9) for _ in range(9)), None]
    pairs = list(itertools.product(values, values))
    frame = pa.table({"x": pa.array([x for x, _ in pairs], pa.float64()), "y": [y for _, y in pairs]})
    wanted = [None if x is None or y is None else java_pow(x, y) for x, y in pairs]
    ours = answer("pow(x, y)", frame)
    assert [p for p, a, b in zip(pairs, ours, wanted, strict=True) if not close(a, b, 1)] == []
    for literal in ("0.5", "-0.5D", "2", "-1", "0", "3.0", f"{rng.uniform(-4, 4)!r}D"):
        ours = answer(f"power(x, {literal})", frame)
        wanted = [None if x is None else java_pow(x, float(literal.rstrip("D"))) for x, _ in pairs]
        wrong = [(x, a, b) for (x, _), a, b in zip(pairs, ours, wanted, strict=True) if not close(a, b, 1)]
        assert wrong == [], literal


INTEGERS = {"b": pa.int64(), "i": pa.int32(), "h": pa.int16(), "t": pa.int8()}


def spark_integer(symbol, left, right, bits):
    """Give the result under ANSI rules, None where Spark fails."""
    if symbol in ("div", "%") and right == 0:
        return None
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1) if right else 0
    result = {"+": left + right, "-": left - right, "*": left * right, "div": quotient, "%": left - quotient * right}[
        symbol
    ]
    bits = 64 if symbol == "div" else bits
    return result if -(2 ** (bits - 1)) <= result < 2 ** (bits - 1) else None


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_beside_literals_overflow_where_sparks_do(name):
    rng = random.Random(name)
    kind = INTEGERS[name]
    low, high = -(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1
    literals = [-1, 0, 1, 2, -2, 2**31 - 1, rng.randrange(3, 99), rng.randrange(-99, -3)]
    failed = answered = 0
    for symbol, literal in itertools.product(["+", "-", "*", "div", "%"], literals):
        values = [low, low + 1, -1, 0, 1, high, *(rng.randrange(low, high) for _ in range(3))]
        wanted = {v: spark_integer(symbol, v, literal, max(kind.bit_width, 32)) for v in values}
        good = [v for v in values if wanted[v] is not None]
        frame = pa.table({name: pa.array(good, kind)})
        assert answer(f"{name} {symbol} {literal}", frame) == [wanted[v] for v in good], (symbol, literal)
        answered += len(good)
        for value in values:
            if wanted[value] is None and (literal or value == 1):
                with pytest.raises((wr.ArithmeticOverflowError, wr.DataError)):
                    answer(f"{name} {symbol} {literal}", pa.table({name: pa.array([value], kind)}))
                failed += 1
    assert failed >= (15 if name in "bi" else 2)
    assert answered > 200


@pytest.mark.parametrize("seed", range(3))
def test_chains_of_quotients_are_the_nearest_doubles(seed):
    rng = random.Random(seed)
    rows = [{"x": rng.uniform(-9, 9), "y": rng.choice([3.0, 0.7, 49.0]), "c": 7.0} for _ in range(20)]
    frame = pl.DataFrame(rows).with_columns(c=pl.lit(7.0))
    for frame_ in (frame, frame[:1]):
        for _ in range(6):
            divisors = [rng.choice(["3", "7", "0.1D", "2", "y", "c", "x"]) for _ in range(rng.randrange(1, 60))]
            ours = wr.sql(f"SELECT {' / '.join(['x', *divisors])} AS v FROM t", t=frame_)["v"].to_list()
            wanted = []
            for row in rows[: frame_.height]:
                values = [row[d] if d in row else float(d.rstrip("D")) for d in divisors]
                wanted.append(functools.reduce(lambda a, b: a / b, values, row["x"]))
            assert ours == wanted, divisors
    # the dividend is written once in a quotient, and once in each check for a divisor of zero
    sizes = [extent(made("x" + " / 3" * n).expr, 10**6)[0] for n in (10, 20, 40)]
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])


def sorted_as_spark(values):
    """Sort doubles as Spark orders them: zeros are equal, NaN is the greatest."""
    return sorted((v for v in values if v is not None), key=lambda v: (math.isnan(v), 0.0 if math.isnan(v) else v))


@pytest.mark.parametrize("seed", range(3))
def test_extremes_of_many(seed):
    rng = random.Random(seed)
    for count in (2, 3, 10, 40):
        values = [[rng.choice([*SPECIAL, None, None, None]) for _ in range(50)] for _ in range(count)]
        frame = pa.table({f"c{i}": pa.array(v, pa.float64()) for i, v in enumerate(values)})
        if seed:  # a literal among them
            constant = rng.choice([v for v in SPECIAL if math.isfinite(v)])
            values.insert(seed - 1, [constant] * 50)
            frame = frame.add_column(seed - 1, f"{constant!r}D", pa.array(values[seed - 1]))
        names = ", ".join(frame.column_names)
        greatest, least = [], []
        for row in zip(*values, strict=True):
            ordered = sorted_as_spark(row)
            # the first of equal ones
            greatest.append(next((v for v in row if v is not None and repr(abs(v)) == repr(abs(ordered[-1]))
                                  and (v == ordered[-1] or math.isnan(v))), None) if ordered else None)  # fmt: skip
            least.append(next((v for v in row if v is not None and (v == ordered[0] or (
                math.isnan(v) and math.isnan(ordered[0])))), None) if ordered else None)  # fmt: skip
        assert [repr(v) for v in answer(f"greatest({names})", frame)] == [repr(v) for v in greatest]
        assert [repr(v) for v in answer(f"least({names})", frame)] == [repr(v) for v in least]


# --- IN


def literal_of(value):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return f"{value!r}D"
    if isinstance(value, dt.datetime):
        return f"TIMESTAMP_NTZ '{value}'"
    if isinstance(value, dt.date):
        return f"DATE '{value}'"
    return repr(value) if isinstance(value, str) else str(value)


@pytest.mark.parametrize("seed", range(4))
def test_in_is_three_valued(seed):
    rng = random.Random(seed)
    pools = {
        "x": (pa.float64(), [0.5, -0.5, 0.0, -0.0, 1e300, 2.0]),
        "d": (pa.date32(), [dt.date(2024, 1, i) for i in range(1, 9)]),
        "m": (pa.decimal128(10, 2), [Decimal(i).scaleb(-2) for i in range(-200, 300, 77)]),
        "s": (pa.string(), ["", "a", "B", "é"]),
        "n": (pa.timestamp("us"), [dt.datetime(2024, 1, 1, 0, 0, i, 5) for i in range(6)]),
        "p": (pa.bool_(), [True, False]),
        "i": (pa.int32(), [-1, 0, 1, 7]),
    }
    compared = 0
    for name, (kind, pool) in pools.items():
        for nulls in (0, 0, 1):
            columns = {c: [rng.choice([*pool, None]) for _ in range(30)] for c in (name, "other")}
            frame = pa.table({c: pa.array(v, kind) for c, v in columns.items()})
            items = [literal_of(rng.choice(pool)) for _ in range(rng.randrange(1, 6))]
            values = [[float(i.rstrip("D")) if name == "x" else next(p for p in pool if literal_of(p) == i)] * 30
                      for i in items]  # fmt: skip
            if rng.random() < 0.5:
                items.append("other")
                values.append(columns["other"])
            items += ["NULL"] * nulls
            values += [[None] * 30] * nulls
            wanted = []
            for value, *listed in zip(columns[name], *values, strict=True):
                known = [v for v in listed if v is not None]
                unknown = value is None or len(known) < len(listed)
                wanted.append(True if value is not None and value in known else None if unknown else False)
            assert answer(f"{name} IN ({', '.join(items)})", frame) == wanted, items
            compared += 30
    assert compared == 630


# --- text


LETTERS = "sSſkK\u212aaAiIİıß%_.$é"


@pytest.mark.parametrize("seed", range(4))
def test_ilike_compares_small_letters(seed):
    rng = random.Random(seed)
    strings = ["".join(rng.choices(LETTERS, k=rng.randrange(5))) for _ in range(200)]
    frame = pa.table({"s": strings})
    found = 0
    for _ in range(25):
        pattern = "".join(rng.choices("sSkKaAiI%_.$", k=rng.randrange(1, 5)))
        if rng.random() < 0.3:
            pattern += rng.choice(["\\\\%", "\\\\_"])
        parts = re.findall(r"\\\\.|.", pattern)
        regex = "".join({"%": ".*", "_": "."}.get(p, re.escape(p[-1].lower())) for p in parts)
        wanted = [re.fullmatch(regex, s.lower(), re.DOTALL) is not None for s in strings]
        assert answer(f"s ILIKE '{pattern}'", frame) == wanted, pattern
        assert answer(f"ilike(s, '{pattern}')", frame) == wanted, pattern
        found += sum(wanted)
    assert found > 20


# --- times


UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
TIMES = ["t + w", "t - w", "t - u", "w + z", "w - z", "coalesce(t, u)", "if(g, t, u)", "coalesce(d, t)",
         "cast(t as timestamp_ntz)", "cast(t as string)", "t + INTERVAL '1' DAY", "t + INTERVAL '0.001500' SECOND",
         "t + INTERVAL '14' MONTH", "t = u", "t < u", "t < d", "t IN (u, d)"]  # fmt: skip


def in_nanoseconds(column):
    """Give the integers of a column of times, in nanoseconds."""
    if pa.types.is_date32(column.type):
        return [None if v is None else v * 86_400 * 10**9 for v in column.cast(pa.int32()).to_pylist()]
    return [None if v is None else v * UNITS[column.type.unit] for v in column.cast(pa.int64()).to_pylist()]


def moved_by_months(nanoseconds, months):
    rest = nanoseconds % (86_400 * 10**9)
    day = dt.date(1970, 1, 1) + dt.timedelta(nanoseconds // (86_400 * 10**9))
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    for last in (day.day, 30, 29, 28):
        try:
            moved = dt.date(year, month + 1, min(day.day, last))
        except ValueError:
            continue
        return (moved - dt.date(1970, 1, 1)).days * 86_400 * 10**9 + rest
    raise AssertionError


def printed(nanoseconds):
    seconds, rest = divmod(nanoseconds, 10**9)
    text = str(dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds))
    fraction = f"{rest // 1000:06}".rstrip("0")
    return f"{text}.{fraction}" if fraction else text


def reference(expression, row):
    t, u, w, z, d, g = (row[n] for n in "tuwzdg")
    return {
        "t + w": lambda: t + w, "t - w": lambda: t - w, "t - u": lambda: t - u, "w + z": lambda: w + z,
        "w - z": lambda: w - z, "coalesce(t, u)": lambda: t, "if(g, t, u)": lambda: t if g else u,
        "coalesce(d, t)": lambda: d, "cast(t as timestamp_ntz)": lambda: t, "cast(t as string)": lambda: printed(t),
        "t + INTERVAL '1' DAY": lambda: t + 86_400 * 10**9,
        "t + INTERVAL '0.001500' SECOND": lambda: t + 1_500_000,
        "t + INTERVAL '14' MONTH": lambda: moved_by_months(t, 14),
        "t = u": lambda: t == u, "t < u": lambda: t < u, "t < d": lambda: t < d, "t IN (u, d)": lambda: t in (u, d),
    }[expression]()  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_times_of_all_units_are_exact_or_refused(seed):
    rng = random.Random(seed)
    exact = refused = 0
    for _ in range(60):
        kinds = {n: rng.choice(list(UNITS)) for n in "tuwz"}
        fine = rng.random() < 0.3  # nanoseconds that microseconds do not hold
        data = {}
        for name, unit in kinds.items():
            scale = UNITS[unit]
            span = rng.choice([10**4, 5 * 10**17])
            numbers = [rng.randrange(-span, span) // scale for _ in range(3)]
            if unit == "ns" and not fine:
                numbers = [n // 1000 * 1000 for n in numbers]
            data[name] = pa.array(numbers, pa.timestamp(unit) if name in "tu" else pa.duration(unit))
        data["d"] = pa.array([rng.randrange(-3000, 3000) for _ in range(3)], pa.int32()).cast(pa.date32())
        data["g"] = pa.array([True, False, True])
        frame = pa.table(data)
        rows = {n: in_nanoseconds(c.combine_chunks()) if n != "g" else c.to_pylist()
                for n, c in zip("tuwzdg", (frame[n] for n in "tuwzdg"), strict=True)}  # fmt: skip
        expression = rng.choice(TIMES)
        wanted = [reference(expression, {n: v[i] for n, v in rows.items()}) for i in range(3)]
        try:
            made_ = wr.sql(f"SELECT {expression} AS v FROM t", t=frame)["v"].combine_chunks()
        except wr.DataError:
            assert "ns" in kinds.values()
            assert fine, (expression, kinds)
            refused += 1
            continue
        temporal = pa.types.is_temporal(made_.type)
        assert (in_nanoseconds(made_) if temporal else made_.to_pylist()) == wanted, (expression, kinds, fine)
        exact += 1
    assert exact > 40
    assert refused


def test_times_beyond_64_bits_are_errors():
    late = {"ns": pa.array([2**63 - 10], pa.timestamp("ns")), "us": pa.array([2**63 - 10], pa.timestamp("us"))}
    by = pa.array([100], pa.duration("us"))
    for column in late.values():
        frame = pa.table({"t": column, "w": by, "x": pa.array([2**63 - 5], pa.duration("us"))})
        for text in ("t + w", "t + INTERVAL '1' DAY", "x + w"):
            with pytest.raises(wr.ArithmeticOverflowError, match="OVERFLOW"):
                answer(text, frame)
    frame = pa.table({"t": late["ns"]})
    with pytest.raises(wr.DataError, match=r"datetime\[ns\]"):
        answer("t + INTERVAL '300' YEAR", frame)
    with pytest.raises(wr.UnsupportedError, match="nanoseconds that are not enough"):
        answer("coalesce(t, TIMESTAMP_NTZ '9999-12-31 00:00:00')", frame)


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_nanoseconds_are_compared_with_times_beyond_them(zone):
    rng = random.Random(8)
    ends = [-(2**63) + 1, -(2**63) + 999, -1, 0, 2**63 - 1, 2**63 - 999]
    values = [*ends, *(rng.randrange(-(2**63) + 1, 2**63) for _ in range(20)), None]
    frame = pa.table({"t": pa.array(values, pa.timestamp("ns", zone))})
    compared = 0
    literals = ["9999-12-31", "0001-01-01", "2262-04-12", "1677-09-21", "2262-04-11", "1677-09-22", "2024-02-29"]
    for literal, symbol in itertools.product(literals, ["<", "<=", ">", ">=", "=", "<>"]):
        other = (dt.date.fromisoformat(literal) - dt.date(1970, 1, 1)).days * 86_400 * 10**9
        compare = {
            "<": int.__lt__,
            "<=": int.__le__,
            ">": int.__gt__,
            ">=": int.__ge__,
            "=": int.__eq__,
            "<>": int.__ne__,
        }
        wanted = [None if v is None else compare[symbol](v, other) for v in values]
        for text in (f"t {symbol} '{literal} 00:00:00'", f"t {symbol} TIMESTAMP{'' if zone else '_NTZ'} '{literal}'"):
            assert answer(text, frame) == wanted, text
            compared += len(wanted)
    assert compared > 2_000
