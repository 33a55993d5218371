"""Literals keep their value and their type, or are refused: none is narrowed."""

import datetime as dt
import random
import re
from decimal import Decimal

import pyarrow as pa
import pytest

import windrow as wr

TYPES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_defaults_of_integers_fit_or_are_refused(kind):
    rng = random.Random(str(kind))
    low = -(2 ** (kind.bit_width - 1)) if pa.types.is_signed_integer(kind) else 0
    high = low + 2**kind.bit_width - 1
    table = pa.table({"id": [1, 2], "x": pa.array([3, 4], kind)})
    kept = refused = 0
    for _ in range(40):
        bits = rng.choice([3, 4, 6, 7, 8, 15, 16, 31, 32, 62, 63, 64, 65, 66, 80])
        value = rng.choice([1, -1]) * (2**bits + rng.randrange(-3, 4))
        given = rng.choice([value, value, Decimal(value), value + Decimal("0.5")])
        for call in (wr.lag("x", 1, given).over(wr.window(order_by="id")), f"lag(x, 1, {given}) OVER (ORDER BY id)"):
            if low <= int(given) <= high:
                assert wr.with_columns(table, y=call)["y"].to_pylist() == [int(given), 3]
                kept += 1
            else:
                with pytest.raises(wr.SpecError, match="does not fit"):
                    wr.with_columns(table, y=call)
                refused += 1
    assert kept > 2
    assert refused > 2


@pytest.mark.parametrize(
    ("kind", "values", "default"),
    [
        (pa.float32(), [1.0], 1e300),
        (pa.timestamp("s"), [dt.datetime(2024, 1, 1)], dt.datetime(2024, 1, 1, 0, 0, 0, 500000)),
        (pa.duration("s"), [dt.timedelta(1)], dt.timedelta(microseconds=4)),
        (pa.time32("s"), [dt.time(1)], dt.time(1, 2, 3, 4)),
        (pa.date32(), [dt.date(2024, 1, 1)], dt.datetime(2024, 1, 1, 1)),
    ],
    ids=str,
)
def test_defaults_of_other_types(kind, values, default):
    table = pa.table({"id": [1], "x": pa.array(values, kind)})
    for frame in (table, table.to_reader()):
        with pytest.raises(wr.SpecError, match="does not fit " + re.escape(str(kind))):
            wr.with_columns(frame, y=wr.lag("x", 1, default).over(wr.window(order_by="id")))
    assert wr.with_columns(table, y=wr.lag("x", 1, values[0]).over(wr.window(order_by="id")))["y"].to_pylist() == values


@pytest.mark.parametrize("seed", range(5))
def test_decimals_have_the_smallest_type(seed):
    rng = random.Random(seed)
    table = pa.table({"id": [1, 2, 3]})
    for _ in range(10):
        precision = rng.randrange(1, 19)
        scale = rng.randrange(0, precision + 1)
        value = Decimal(rng.randrange(10 ** (precision - 1), 10**precision)).scaleb(-scale)
        for call in (wr.sum(value).over(), f"sum({value:f}BD) OVER ()"):
            column = wr.with_columns(table, y=call)["y"]
            assert column.type == pa.decimal128(precision + 10, scale)
            assert column.to_pylist() == [3 * value] * 3
        for function in ("max", "min", "first_value", "mode"):
            column = wr.with_columns(table, y=f"{function}({value:f}BD) OVER ()")["y"]
            assert column.type == pa.decimal128(precision, scale)
            assert column.to_pylist() == [value] * 3
    assert wr.with_columns(table, y="sum(1.5) OVER ()").schema.field("y").type == pa.decimal128(12, 1)


@pytest.mark.parametrize(
    "text",
    [
        "128Y", "-129Y", "40000S", "3000000000 :: int", "cast(99999999999999999999 as bigint)", "1e400", "1e40BD",
        "1e1000000000BD", "9" * 39, "2147483647 + 1", "9223372036854775807 + 1", "3037000500 * 3037000500",
    ],
)  # fmt: skip
def test_numbers_that_no_type_holds(text):
    with pytest.raises(wr.SpecError):
        wr.with_columns(pa.table({"x": [1]}), y=f"max({text}) OVER ()")


def test_decimals_of_more_digits_in_the_builder():
    for value in (10**38, -(10**40), Decimal(10**38), Decimal("NaN"), Decimal("1e-39"), Decimal("1e1000000")):
        with pytest.raises(wr.SpecError, match="38 digits"):
            wr.with_columns(pa.table({"x": [1]}), y=wr.sum(value).over())


def test_decimal_default_of_a_float_column():
    """A literal such as 1.5 is a decimal in SQL, which pyarrow makes no float of."""
    table = pa.table({"t": [1, 2], "v": pa.array([0.5, 2.0], pa.float32())})
    for default in ("1.5", "1.5D", "1"):
        made = wr.with_columns(table, c=f"lag(v, 1, {default}) OVER (ORDER BY t)")
        assert made["c"].to_pylist() == [float(default.rstrip("D")), 0.5]
