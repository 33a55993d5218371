"""A result of a user's function that its type would cut is refused, and one that fits comes out as it went in."""

import datetime as dt
import random
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest

import windrow as wr
from windrow._execute.user_functions import UserFunction

# Python 3.10's fractions have no __int__, by which pyarrow makes integers of numbers: all of them are refused there.
FRACTIONS_CONVERT = hasattr(Fraction, "__int__")


class Last:
    """Gives the value of a list that the row's number says."""

    def __init__(self, values):
        self.values = values

    def initialize(self):
        return None

    def update(self, state, x):
        return x

    def evaluate(self, state):
        return self.values[state]


def computed(values, returns):
    table = pa.table({"i": range(len(values))})
    call = wr.aggregate(Last(values), "i", returns=returns).over(wr.window(order_by="i", rows=(0, 0)))
    return wr.with_columns(table, y=call)["y"].to_pylist()


AB = pa.struct([("a", pa.int64()), ("b", pa.string())])
CUT = [
    (1.5, int),
    (Decimal("1.5"), int),
    (Fraction(3, 2), "int"),
    (-0.25, "tinyint"),
    (1e300, "float"),
    (dt.datetime(2024, 1, 2, 3), "date"),
    (dt.datetime(2024, 1, 2, 3, 4, 5, 6), pa.timestamp("s")),
    (dt.datetime(2024, 1, 2, 3, 4, 5, 6), pa.timestamp("ms")),
    (dt.timedelta(microseconds=1500), pa.duration("ms")),
    (dt.time(1, 2, 3, 4), pa.time32("s")),
    ({"a": 1, "c": "x"}, AB),
    ({"a": 1.5, "b": "x"}, AB),
    ([("a", 1.5), ("b", "x")], AB),
    ([1, 2.5], "array<int>"),
    ({"k": 0.5}, "map<string, int>"),
    ([{"a": [1.5]}], "array<struct<a: array<bigint>>>"),
]
WHOLE = [
    (1.0, int, 1),
    (Decimal("7"), int, 7),
    (float("nan"), "float", None),
    (float("inf"), "float", float("inf")),
    (0.1, "double", 0.1),
    (dt.datetime(2024, 1, 2), "date", dt.date(2024, 1, 2)),
    (dt.datetime(2024, 1, 2, 3, 4, 5), pa.timestamp("s"), dt.datetime(2024, 1, 2, 3, 4, 5)),
    ({"a": 1}, AB, {"a": 1, "b": None}),
    ({"a": 1.0, "b": "x"}, AB, {"a": 1, "b": "x"}),
    ((1, "x"), AB, {"a": 1, "b": "x"}),
    ([1, 2.0], "array<int>", [1, 2]),
    (None, AB, None),
]


@pytest.mark.parametrize(("value", "returns"), CUT, ids=str)
def test_what_would_be_cut_is_refused(value, returns):
    converts = FRACTIONS_CONVERT or not isinstance(value, Fraction)
    with pytest.raises(wr.UserError, match="would lose a part" if converts else "Could not convert Fraction"):
        computed([value], returns)


@pytest.mark.parametrize(("value", "returns", "expected"), WHOLE, ids=str)
def test_what_fits_stays(value, returns, expected):
    (found,) = computed([value], returns)
    assert found == expected or (value != value and found != found)


def test_random_numbers():
    rng = random.Random(11)
    refused = kept = 0
    classes = [float, Decimal, *([Fraction] if FRACTIONS_CONVERT else [])]
    for _ in range(60):
        scale = rng.choice([1, 1, 2])
        values = [rng.choice(classes)(rng.randrange(-50, 50)) / scale for _ in range(4)]
        if all(v == int(v) for v in values):
            assert computed(values, int) == [int(v) for v in values]
            kept += 1
        else:
            with pytest.raises(wr.UserError, match="would lose a part"):
                computed(values, int)
            refused += 1
    assert refused > 10
    assert kept > 10


def test_arrays_of_other_fields_are_refused():
    def misspelt(x, begin, end):
        return pa.array([{"aa": 1}] * len(begin))

    call = wr.vectorized(misspelt, "x", returns="struct<a: bigint>").over(wr.window())
    with pytest.raises(wr.UserError, match="fields of other names"):
        wr.with_columns(pa.table({"x": [1]}), y=call)


def test_months_are_no_value_of_python():
    for text in ("interval year to month", "interval month", "array<interval year>"):
        with pytest.raises(wr.SpecError, match=r"has months.*returns='int'"):
            wr.aggregate(Last([1]), "i", returns=text)


PARTS = [1.5, -0.25, 0.0, 2.0, -3.0, 7, 1e300, float("inf"), 2.0**60]
KINDS = [
    pa.int8(), pa.int64(), pa.uint32(), pa.float32(), pa.float16(), pa.date32(), pa.timestamp("us"), pa.timestamp("s"),
    pa.duration("ms"), pa.time64("us"), pa.time32("s"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:overflow")
def test_numbers_of_all_classes_fit_whole_or_are_refused():
    """What a type takes of a number is the number, or null for none; floats are rounded to their type alone."""
    numpy = pytest.importorskip("numpy")
    rng, stayed, refused = random.Random(3), 0, 0
    classes = [float, numpy.float64, numpy.float32, numpy.float16, Decimal, Fraction, numpy.int64, int]
    for _ in range(600):
        part, kind, make = rng.choice(PARTS), rng.choice(KINDS), rng.choice(classes)
        try:
            value = make(part)
        except (OverflowError, ValueError):
            continue
        try:
            column = UserFunction(None, kind, "f").convert([value])
        except wr.UserError:
            refused += 1
            continue
        if pa.types.is_temporal(kind):
            column = column.view(pa.int64() if kind.bit_width == 64 else pa.int32())
        (found,) = column.to_pylist()
        if pa.types.is_floating(kind):
            assert found == numpy.dtype(kind.to_pandas_dtype()).type(float(value)), (value, kind)
        else:
            assert found == value, (repr(value), kind, found)
        stayed += 1
    assert min(stayed, refused) > 100, (stayed, refused)


@pytest.mark.parametrize("kind", ["int", "double", "date", "timestamp", "string", "array<int>", "struct<a: int>"])
def test_what_pandas_has_for_missing_values_is_null(kind):
    pandas = pytest.importorskip("pandas")
    assert computed([pandas.NaT, None, pandas.NA], kind) == [None, None, None]
