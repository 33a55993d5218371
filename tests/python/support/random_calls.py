"""Random data and random calls, which two engines or two ways are to answer alike (support.comparison).

Calls are SQL text that both sides read. A *key* column has ties, a *unique* column has none (and at most one null), so
that a window ordered by it has one answer for functions that look at the order of rows.
"""

from __future__ import annotations

import datetime as dt
import math
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr

#: Multiplies the number of random rounds.
FUZZ = int(os.environ.get("WINDROW_FUZZ", "1"))
#: Added to the number of a random round: another seed draws other calls.
SEED = int(os.environ.get("WINDROW_SEED", "0")) * 1_000_000


def rounds(count: int, quick: int) -> list[Any]:
    """Give the numbers of random rounds, all but the first ``quick`` of them marked slow."""
    numbers = range(SEED, SEED + count * FUZZ)
    return [*numbers[:quick], *(pytest.param(number, marks=pytest.mark.slow) for number in numbers[quick:])]


DAY = dt.date(2024, 1, 31)
MOMENT = dt.datetime(2024, 3, 9, 12, tzinfo=dt.timezone.utc)
NAN, INF = math.nan, math.inf


@dataclass(frozen=True)
class Kind:
    """One type: how its values are drawn, and which RANGE offsets suit it."""

    name: str
    arrow: pa.DataType
    value: Callable[[random.Random], Any]
    key: Callable[[int], Any]  # the i-th of the values in order
    offsets: tuple[str, ...] = ()
    odd_offsets: tuple[str, ...] = ("1", "'x'", "INTERVAL '1' DAY", "INTERVAL '1' MONTH", "true", "0.5")
    special_keys: tuple[Any, ...] = ()


def _decimal(digits: int, scale: int) -> Callable[[random.Random], Decimal]:
    def draw(rng: random.Random) -> Decimal:
        size = rng.choice([1, 3, digits - 1, digits])
        return Decimal(rng.randint(-(10**size) + 1, 10**size - 1)).scaleb(-scale)

    return draw


WHOLE = ("0", "1", "2", "3", "5", "1.9", "0.5", "'1'", "1+1", "INTERVAL '2' HOUR")
FLOATING = ("0", "1", "0.5", "0.1D", "1.5", "'1'", "2.5E0")
NUMBERS = ("0", "1", "0.5", "0.555", "2", "'1'", "1.005")
SPANS = (
    "INTERVAL '2' HOUR",
    "INTERVAL '1' DAY",
    "INTERVAL '24' HOUR",
    "INTERVAL '90' MINUTE",
    "INTERVAL '1 02:03:04.000005' DAY TO SECOND",
    "INTERVAL '1' MONTH",
    "INTERVAL '2' MONTH",
    "INTERVAL '1' YEAR",
    "INTERVAL 3 DAYS",
)
TEXTS = ["", "a", "A", "b", "é", "\U0001f600", "\uffff", " a", "a ", "10", "9", "aa", "ab", "Zz", "ä", "z"]

KINDS = {
    kind.name: kind
    for kind in [
        Kind("tinyint", pa.int8(), lambda r: r.randint(-128, 127), lambda i: i - 30, WHOLE),
        Kind("smallint", pa.int16(), lambda r: r.randint(-32768, 32767), lambda i: 3 * i - 30, WHOLE),
        Kind(
            "int",
            pa.int32(),
            lambda r: r.choice([r.randint(-9, 9), r.randint(-(2**31), 2**31 - 1)]),
            lambda i: 2 * i - 9,
            WHOLE,
        ),
        Kind(
            "bigint",
            pa.int64(),
            lambda r: r.choice([r.randint(-9, 9), 2**53 + 1, -(2**57), r.randint(-(10**15), 10**15)]),
            lambda i: i * (i + 1) // 2,
            WHOLE,
        ),
        Kind(
            "float",
            pa.float32(),
            lambda r: r.choice(
                [0.0, -0.0, NAN, INF, -INF, 1.5, -2.25, 3.0, 0.10000000149011612, 16777216.0, 1e10 // 1024 * 1024]
            ),
            lambda i: i / 2 - 3,
            FLOATING,
            special_keys=(NAN, INF, -INF, -0.0),
        ),
        Kind(
            "double",
            pa.float64(),
            lambda r: r.choice(
                [0.0, -0.0, NAN, INF, -INF, r.uniform(-5, 5), r.gauss(1e6, 1), 0.1, 1e16, -1e16, 1e100, r.random()]
            ),
            lambda i: i / 2 - 3,
            FLOATING,
            special_keys=(NAN, INF, -INF, -0.0),
        ),
        Kind(
            "tame",
            pa.float64(),
            lambda r: r.choice([r.uniform(-5, 5), 100 + r.random(), 0.1, 3.0]),
            lambda i: i / 10,
            FLOATING,
        ),
        Kind("dec10_2", pa.decimal128(10, 2), _decimal(10, 2), lambda i: Decimal(i * 5).scaleb(-1), NUMBERS),
        Kind("dec38_10", pa.decimal128(38, 10), _decimal(34, 10), lambda i: Decimal(i * 25).scaleb(-2), NUMBERS),
        Kind("dec20_0", pa.decimal128(20, 0), _decimal(20, 0), lambda i: Decimal(2 * i - 5), NUMBERS),
        Kind(
            "date",
            pa.date32(),
            lambda r: dt.date(1, 1, 1) + dt.timedelta(r.randint(0, 3_600_000)),
            lambda i: DAY + dt.timedelta(i - 3 if i < 9 else 7 * i),
            (
                "0",
                "1",
                "2",
                "30",
                "INTERVAL '3' DAY",
                "INTERVAL '1' MONTH",
                "INTERVAL '2' MONTH",
                "INTERVAL '1' YEAR",
                "INTERVAL 2 DAYS",
            ),
        ),
        Kind(
            "timestamp",
            pa.timestamp("us", "UTC"),
            lambda r: MOMENT + dt.timedelta(microseconds=r.randint(-6 * 10**16, 6 * 10**16)),
            lambda i: MOMENT + dt.timedelta(hours=5 * i + [0, 1, 7, 30][i % 4]),
            SPANS,
        ),
        Kind(
            "ntz",
            pa.timestamp("us"),
            lambda r: MOMENT.replace(tzinfo=None) + dt.timedelta(microseconds=r.randint(-6 * 10**16, 6 * 10**16)),
            lambda i: dt.datetime(2024, 1, 30, 23) + dt.timedelta(hours=5 * i + [0, 1, 7, 30][i % 4]),
            SPANS,
        ),
        Kind(
            "string",
            pa.string(),
            lambda r: r.choice(TEXTS),
            lambda i: sorted(TEXTS)[i % len(TEXTS)] + "x" * (i // len(TEXTS)),
        ),
        Kind("numeral", pa.string(), lambda r: r.choice(["1", "2.5", " 3 ", "-1e2", "0", "7"]), str),
        Kind("boolean", pa.bool_(), lambda r: r.random() < 0.6, lambda i: i % 2 == 1),
        Kind(
            "binary",
            pa.binary(),
            lambda r: r.choice([b"", b"\x00", b"\x80", b"\xff", b"ab", b"\x00\x00"]),
            lambda i: bytes([i % 251] * (i % 3 + 1)),
        ),
        Kind(
            "span",
            pa.duration("us"),
            lambda r: dt.timedelta(microseconds=r.randint(-(10**12), 10**12)),
            lambda i: dt.timedelta(hours=5 * i),
            ("INTERVAL '5' HOUR", "INTERVAL '1' DAY", "INTERVAL '36' HOUR", "INTERVAL '2' DAY"),
        ),
    ]
}
#: Kinds whose values make good keys with an order of their own.
KEYS = [name for name in KINDS if name not in ("numeral", "tame")]


def make_table(rng: random.Random, rows: int, *, zone: str = "UTC", nulls: float = 0.2) -> pa.Table:
    """Make a table: id (unique, shuffled, not null), p1..p4 (partitions), f (a filter); v_, k_ and u_ per kind."""
    ids = list(range(rows))
    rng.shuffle(ids)

    def some(values: list[Any], share: float = nulls) -> list[Any]:
        return [None if rng.random() < share else v for v in values]

    fields = [
        (pa.field("id", pa.int64(), False), ids),
        (pa.field("p1", pa.int32()), some([rng.choice([1, 2, 2, 2, 3]) for _ in ids], 0.1)),
        (pa.field("p2", pa.string()), some([rng.choice(["x", "y", "x ", ""]) for _ in ids], 0.1)),
        (pa.field("p3", pa.float64()), some([rng.choice([0.0, -0.0, NAN, 1.5]) for _ in ids], 0.1)),
        (pa.field("p4", pa.bool_(), False), [rng.random() < 0.7 for _ in ids]),
        (pa.field("f", pa.bool_()), some([rng.random() < 0.5 for _ in ids])),
        (pa.field("n_int", pa.int32(), False), [rng.randint(-5, 5) for _ in ids]),
        (pa.field("n_double", pa.float64(), False), [rng.choice([0.5, -0.0, 2.0]) for _ in ids]),
        (pa.field("empty", pa.int64()), [None for _ in ids]),
    ]
    for kind in KINDS.values():
        arrow = pa.timestamp("us", zone) if kind.name == "timestamp" else kind.arrow
        span = rng.choice([4, 8, 16])
        tied = [kind.key(rng.randrange(span)) for _ in ids]
        if kind.special_keys:
            tied = [rng.choice(kind.special_keys) if rng.random() < 0.2 else v for v in tied]
        unique = [kind.key(i) for i in rng.sample(range(rows + rows // 2 + 1), rows)]
        if kind.name != "boolean":
            places = rng.sample(range(rows), min(rows, 1 + len(kind.special_keys)))
            for place, value in zip(places, (None, *(s for s in kind.special_keys if s != 0)), strict=False):
                unique[place] = value
        fields += [
            (pa.field(f"v_{kind.name}", arrow), some([kind.value(rng) for _ in ids])),
            (pa.field(f"k_{kind.name}", arrow), some(tied, 0.15)),
            (pa.field(f"u_{kind.name}", arrow), unique),
        ]
    return pa.table([pa.array(v, f.type) for f, v in fields], schema=pa.schema([f for f, _ in fields]))


@dataclass(frozen=True)
class Spec:
    """A window without its frame. ``total``: no two rows of a partition tie."""

    partition_by: tuple[str, ...]
    order_by: tuple[str, ...]  # with direction and null placement
    total: bool
    kind: Kind | None = None  # of the only order key
    key: str = ""

    def over(self, frame: str) -> str:
        parts = []
        if self.partition_by:
            parts.append("PARTITION BY " + ", ".join(self.partition_by))
        if self.order_by:
            parts.append("ORDER BY " + ", ".join(self.order_by))
        return "OVER (" + " ".join([*parts, frame]).strip() + ")"


@dataclass(frozen=True)
class Ask:
    """One call: its SQL text, and what comparing its answers takes."""

    text: str
    function: str
    argument: str = ""
    window: str = ""
    filtered: str = ""
    total: bool = True
    rule: str = ""  # how answers are compared where not exactly: see comparison.RULES
    other: str = ""  # the text for the other engine, where it is not ours


def direction(rng: random.Random) -> str:
    return rng.choice(["", "", " DESC", " ASC NULLS LAST", " DESC NULLS FIRST", " ASC NULLS FIRST", " DESC NULLS LAST"])


_TYPED_KEYS = ["dec10_2", "date", "binary", "float", "span", "ntz", "timestamp"]
PARTITIONS = [
    (),
    ("p1", "p2"),
    ("p3", "p4"),
    ("p1",),
    ("p2",),
    ("p3",),
    ("p4",),
    *[(f"k_{key}",) for key in _TYPED_KEYS],
]


def make_spec(rng: random.Random) -> Spec:
    """Draw a window: total order of two keys, one unique key, one key with ties, or no order."""
    partition = rng.choice(PARTITIONS)
    shape = rng.random()
    if shape < 0.3:
        kind = rng.choice(KEYS)
        return Spec(partition, (f"k_{kind}{direction(rng)}", f"id{direction(rng)}"), True)
    if shape < 0.65:
        kind = rng.choice([k for k in KEYS if k != "boolean"])
        return Spec(partition, (f"u_{kind}{direction(rng)}",), True, KINDS[kind], f"u_{kind}")
    if shape < 0.9:
        kind = rng.choice(KEYS)
        return Spec(partition, (f"k_{kind}{direction(rng)}",), False, KINDS[kind], f"k_{kind}")
    return Spec(partition, (), False)


def bound(rng: random.Random, offset: Callable[[], str], side: str) -> str:
    roll = rng.random()
    if roll < 0.2:
        return f"UNBOUNDED {side}"
    if roll < 0.35:
        return "CURRENT ROW"
    if roll < 0.36:
        return f"UNBOUNDED {rng.choice(['PRECEDING', 'FOLLOWING'])}"
    other = "PRECEDING" if side == "FOLLOWING" else "FOLLOWING"
    return f"{offset()} {side if rng.random() < 0.7 else other}"


def rows_frame(rng: random.Random, units: str = "ROWS") -> str:
    far = lambda: str(rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 1000, 2147483647, -1, "1+1"]))  # noqa: E731
    return f"{units} BETWEEN {bound(rng, far, 'PRECEDING')} AND {bound(rng, far, 'FOLLOWING')}"


def range_frame(rng: random.Random, kind: Kind | None, odd: float = 0.05) -> str:
    def offset() -> str:
        if kind is None or not kind.offsets or rng.random() < odd:
            return rng.choice(KINDS["int"].odd_offsets)
        return rng.choice(family)

    # both ends in one unit mostly, as Spark asks for it
    family = kind.offsets if kind is not None else ()
    if kind is not None and kind.name in ("timestamp", "ntz", "date") and rng.random() < 0.95:
        months = rng.random() < 0.4
        family = tuple(o for o in family if ("MONTH" in o or "YEAR" in o) == months)
        family = tuple(o for o in family if ("INTERVAL" in o)) if rng.random() < 0.7 or months else family
        if kind.name == "date" and not months and "INTERVAL" not in family[0]:
            family = tuple(o for o in family if "INTERVAL" not in o)
    return f"RANGE BETWEEN {bound(rng, offset, 'PRECEDING')} AND {bound(rng, offset, 'FOLLOWING')}"


def edges_frame(rng: random.Random) -> str:
    start = rng.choice(["UNBOUNDED PRECEDING", "CURRENT ROW"])
    return f"RANGE BETWEEN {start} AND {rng.choice(['CURRENT ROW', 'UNBOUNDED FOLLOWING'])}"


SUMS = ["sum", "avg", "mean"]
VARIANCES = ["var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev", "std"]
EXTREMES = ["min", "max"]
TRUTHS = ["bool_and", "bool_or", "every", "some", "any"]
VALUES = ["first", "last", "first_value", "last_value", "any_value"]
RANKS = ["row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"]
TIED_RANKS = ["rank", "dense_rank", "percent_rank", "cume_dist"]
NUMERIC = ["tinyint", "smallint", "int", "bigint", "float", "double", "tame", "dec10_2", "dec38_10", "dec20_0"]


def make_frame(rng: random.Random, spec: Spec) -> str:
    roll = rng.random()
    if roll < 0.12:
        return ""
    if not spec.order_by:
        return rng.choice(["ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", "", "RANGE 1 PRECEDING"])
    if spec.kind is None:
        return edges_frame(rng) if roll < 0.3 else rows_frame(rng)
    if not spec.total:
        return edges_frame(rng) if roll < 0.3 else range_frame(rng, spec.kind)
    return rows_frame(rng) if roll < 0.3 else range_frame(rng, spec.kind)


def make_ask(rng: random.Random, spec: Spec) -> Ask:
    """Draw a call over a window; now and then one that must be refused."""
    roll = rng.random()
    frame = make_frame(rng, spec)
    filtered = ""
    if rng.random() < 0.2:
        filtered = rng.choice(["f", "f", "n_int > 0", "v_int IS NOT NULL", "v_boolean"])
    suffix = f" FILTER (WHERE {filtered})" if filtered else ""
    column = lambda names, prefix="v": f"{prefix}_{rng.choice(names)}"  # noqa: E731
    sane = rng.random() < 0.95
    if roll < 0.09:
        argument = rng.choice(["*", column(list(KINDS)), f"{column(list(KINDS))}, {column(list(KINDS))}", "id", "1"])
        text, function = f"count({argument})", "count"
    elif roll < 0.3:
        function = rng.choice(SUMS)
        argument = column([*NUMERIC, "numeral", "span", "timestamp"] if sane else list(KINDS))
        argument = rng.choice([argument] * 8 + ["n_int", "empty", "n_double"])
        text = f"{function}({argument})"
    elif roll < 0.4:
        function = rng.choice(VARIANCES)
        argument = column([*NUMERIC, "numeral"] if sane else list(KINDS))
        text = f"{function}({argument})"
    elif roll < 0.58:
        function = rng.choice(EXTREMES)
        argument = rng.choice([column(list(KINDS))] * 8 + ["n_int", "empty", "n_double"])
        text = f"{function}({argument})"
    elif roll < 0.64:
        function = rng.choice(TRUTHS)
        argument = rng.choice(["v_boolean", "p4", "f"]) if sane else column(list(KINDS))
        text = f"{function}({argument})"
    elif roll < 0.75 or (not spec.total and roll < 0.88):
        function = rng.choice(RANKS if spec.total else TIED_RANKS)
        argument, window = "", spec.over(frame if rng.random() < 0.05 else "")
        text = function + (f"({rng.choice([1, 2, 3, 4, 7, 100, 0, -1])})" if function == "ntile" else "()")
        if rng.random() < 0.03:
            text += suffix
        return Ask(f"{text} {window}", function, "", window, "", spec.total)
    elif roll < 0.88 or not spec.total:
        if not spec.total:
            function, argument = "count", column(list(KINDS))
            text = f"count({argument})"
        else:
            function = rng.choice(["lag", "lead"])
            name = rng.choice(list(KINDS))
            argument = rng.choice([f"v_{name}"] * 8 + ["n_int", "empty", "id", "n_double"])
            offset = rng.choice([1, 1, 2, 3, 0, -1, -2, 100, "1+1"])
            defaults = [f"u_{name}", f"v_{name}", "n_int", "7", "'7'", "1.5", "true", "NULL"]
            default = rng.choice(defaults if rng.random() < 0.3 else defaults[:2]) if argument.startswith("v_") else "0"
            inside = rng.choice([argument, f"{argument}, {offset}", f"{argument}, {offset}, {default}"])
            nulls = rng.choice(["", "", " IGNORE NULLS", " RESPECT NULLS"])
            window = spec.over(frame if rng.random() < 0.04 else "")
            return Ask(f"{function}({inside}){nulls} {window}", function, argument, window, "", spec.total)
    else:
        function = rng.choice([*VALUES, "nth_value"])
        argument = rng.choice([column(list(KINDS))] * 8 + ["n_int", "empty"])
        nth = f", {rng.choice([1, 2, 3, 5, 0, -1])}" if function == "nth_value" else ""
        nulls = rng.choice(["", "", " IGNORE NULLS", " IGNORE NULLS", " RESPECT NULLS"])
        if function == "nth_value":
            suffix = suffix if rng.random() < 0.05 else ""
        text = f"{function}({argument}{nth}){suffix}{nulls}"
        suffix = ""
    window = spec.over(frame)
    return Ask(f"{text}{suffix} {window}", function, argument, window, filtered, spec.total)


def asks_of(number, specs=4, each=2):
    """Draw a table and calls that windrow answers, the same in every run."""
    rng = random.Random(number)
    table = make_table(rng, rng.choice([30, 60, 90]))
    asks = []
    for spec in [make_spec(rng) for _ in range(specs)]:
        drawn = 0
        while drawn < each:
            ask = make_ask(rng, spec)
            try:
                wr.select(table, "id", {"c": ask.text})
            except wr.WindrowError:  # now and then one is drawn that must be refused
                continue
            asks.append(ask)
            drawn += 1
    return table, asks
