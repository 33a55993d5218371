"""The expressions and rows whose answers by Spark are recorded in ``spark_answers.json``."""

import datetime as dt
import math
import random
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

UTC = dt.timezone.utc
COLUMNS = {
    "a": ("bigint", pa.int64()),
    "b": ("bigint", pa.int64()),
    "i": ("int", pa.int32()),
    "j": ("int", pa.int32()),
    "k": ("tinyint", pa.int8()),
    "h": ("smallint", pa.int16()),
    "x": ("double", pa.float64()),
    "y": ("double", pa.float64()),
    "f": ("float", pa.float32()),
    "s": ("string", pa.string()),
    "t": ("string", pa.string()),
    "d": ("date", pa.date32()),
    "e": ("date", pa.date32()),
    "ts": ("timestamp", pa.timestamp("us", "UTC")),
    "n": ("timestamp_ntz", pa.timestamp("us")),
    "m": ("decimal(10,2)", pa.decimal128(10, 2)),
    "q": ("decimal(12,4)", pa.decimal128(12, 4)),
    "p": ("boolean", pa.bool_()),
    "l": ("array<int>", pa.list_(pa.int32())),
}


def _rows(wild):
    rng = random.Random(5 + wild)
    rows = []
    for _ in range(30):
        day = dt.date(2024, 1, 1) + dt.timedelta(days=rng.randrange(-9000, 9000))
        moment = dt.datetime(2024, 1, 1) + dt.timedelta(
            microseconds=rng.randrange(-(10**8), 10**8) * rng.choice([1, 1000, 10**6])
        )
        row = {
            "a": rng.randrange(-1000, 1000),
            "b": rng.choice([-7, -2, -1, 1, 2, 3, 10]),
            "i": rng.randrange(-500, 500),
            "j": rng.choice([-3, 1, 2, 7]),
            "k": rng.randrange(-10, 11),
            "h": rng.randrange(-100, 101),
            "x": rng.choice(
                [
                    rng.uniform(-100, 100),
                    round(rng.uniform(-9, 9), rng.randrange(1, 4)),
                    rng.randrange(-200, 200) / 8 + 0.0625,
                ]
            ),
            "y": rng.choice([0.5, -2.25, 3.0, 10.0, 0.1]),
            "f": rng.choice([0.5, -1.25, 3.0, 100.75]),
            "s": rng.choice(["ab", "Ab c", "", "héllo", " pad ", "xxaxx", "12", "aXbXc", "a%b_c"]),
            "t": rng.choice(["a", "b", "x", "l", "", "zz"]),
            "d": day,
            "e": day + dt.timedelta(days=rng.randrange(-40, 40)),
            "ts": moment.replace(tzinfo=UTC),
            "n": moment,
            "m": Decimal(rng.randrange(-99999, 99999)).scaleb(-2),
            "q": Decimal(rng.choice([12345, -5, 70000, 1])).scaleb(-4),
            "p": rng.random() < 0.5,
            "l": [rng.randrange(5) for _ in range(3)],
        }
        if wild:
            row |= {
                "a": rng.choice([2**63 - 1, -(2**63), 0, 5, 3037000500]),
                "b": rng.choice([2**63 - 1, -(2**63), 0, -1, 3]),
                "i": rng.choice([2**31 - 1, -(2**31), 0, 46341]),
                "j": rng.choice([2**31 - 1, -1, 0, 1]),
                "k": rng.choice([127, -128, 0]),
                "h": rng.choice([32767, -32768, 0]),
                "x": rng.choice(
                    [0.0, -0.0, math.nan, math.inf, -math.inf, 1e300, -5e-324, 0.045, 1.005, 2.5, 1e15 + 0.5, -0.3]
                ),
                "y": rng.choice([0.0, -0.0, math.nan, math.inf, 1e-300, 3.0]),
                "f": rng.choice([0.1, math.nan, 3e38, -0.0]),
                "s": rng.choice(
                    [
                        "12",
                        "-7",
                        " 8 ",
                        "+3",
                        "1.5",
                        "abc",
                        "true",
                        "NO",
                        "2024-02-30",
                        "2024-2-3",
                        "1e3",
                        "a\nb",
                        "éé",
                        "99999999999",
                    ]
                ),
                "m": rng.choice([Decimal("99999999.99"), Decimal("-0.01"), Decimal("0.00"), Decimal("0.05")]),
                "q": rng.choice([Decimal("0.0000"), Decimal("99999999.9999"), Decimal("0.0001")]),
                "l": rng.choice([[], [1], [1, 2, 3]]),
            }
        rows.append({n: None if rng.random() < 0.15 else v for n, v in row.items()})
    return rows


ROWS = {"mild": _rows(False), "wild": _rows(True)}

EXPRESSIONS = (Path(__file__).parent.parent / "scalars" / "expressions.sql").read_text(encoding="utf-8").splitlines()


def shown(value):
    """Write a value so that JSON keeps it whole."""
    if isinstance(value, float):
        return f"float {value!r}"
    if isinstance(value, Decimal):
        return f"decimal {value:f}"
    if isinstance(value, dt.datetime):
        return f"timestamp {value.replace(tzinfo=None).isoformat()}"
    if isinstance(value, dt.date):
        return f"date {value.isoformat()}"
    if isinstance(value, dt.timedelta):
        return f"interval {value / dt.timedelta(microseconds=1):.0f}"
    return value


def table(kind):
    """Give the rows as a pyarrow Table."""
    return pa.table({n: pa.array([r[n] for r in ROWS[kind]], t) for n, (_, t) in COLUMNS.items()})
