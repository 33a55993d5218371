"""Whatever a public function is given: it makes a value that can be shown, or says in windrow's words what is wrong."""

import datetime as dt
import decimal
import inspect
import random
from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from support.random_calls import SEED
from windrow._model.calls import Call, Derived
from windrow._model.expressions import Column, Literal, Sql
from windrow._model.frames import Bound, Frame
from windrow._model.windows import Order, Window


class Hostile:
    """An object that cannot be shown, compared or negated, and is neither true nor false."""

    def _fail(self, *args, **kwargs):
        raise RuntimeError("asked")

    __repr__ = __str__ = __eq__ = __bool__ = __len__ = __lt__ = __neg__ = _fail

    def __hash__(self):
        return 7


def _generator():
    yield "x"


def wrong_values():
    """Give values of all kinds, most of which are wrong wherever they are given."""
    values = [
        None, True, False, 0, 1, -1, 3, 2**31, -(2**31) - 1, 2**63, -(2**63), 10**40, 10**5000, 0.0, -1.5, 1e308,
        float("nan"), float("inf"), -float("inf"), 1j, Decimal("0.1"), Decimal("NaN"), Decimal("sNaN"),
        Decimal("Infinity"), Decimal("1e-70"), "", " ", "x", "id", "sum(x)", "sum(x) OVER ()", "rank() OVER (", "1 day",
        "-7 days", "a" * 500, "\ud800", "\0", "ties", "first", "rows", b"", b"x", bytearray(b"x"), [], [1], ["x"], [[]],
        [None], (), (1,), (-1, 0), (0, -1), ("x", "y"), (1, 2, 3), (None, None), {}, {"x": 1}, {1: 2}, set(), {"x"},
        frozenset([1]), object(), object, int, type(None), len, lambda: None, print, pytest, NotImplemented, ...,
        range(3), slice(1), memoryview(b"x"), dt.date(2020, 1, 1), dt.datetime(2020, 1, 1), dt.time(1),
        dt.timedelta(1), dt.timedelta.max, dt.timezone.utc, np.int64(3), np.float32("nan"), np.bool_(True),
        np.array([(1, 2)], "i4,i4")[0], np.void(b"x"),
        np.datetime64("NaT", "D"), np.datetime64("2020-01-01T00:00:00.000000001"), np.timedelta64(1, "M"), np.str_("x"),
        np.array(1),
        np.array([1, 2]), np.array([[1]]), np.array([object()]), pa.scalar(1), pa.array([1]), pa.chunked_array([[1]]),
        pa.int64(), pa.field("x", pa.int8()), pa.schema([("x", pa.int64())]), pa.table({"x": [1], "id": [1]}),
        wr.col("x"), wr.lit(3), wr.lit("x"), wr.lit([1, 2]), wr.expr("x + 1"), wr.expr("x - sum(x) OVER ()"),
        wr.sum("x"), wr.sum("x").over(), wr.window("x"), wr.window("x", "id", rows=(-1, 0)), wr.asc("x"), wr.desc("id"),
        wr.preceding(1), wr.following(), wr.interval(months=1), wr.Interval(days=-1), wr.SpecError, wr.Call, wr.Window,
        Hostile(), Hostile, _generator(),
    ]  # fmt: skip
    try:
        import polars as pl

        values += [pl.col("x"), pl.lit(1), pl.Series([1]), pl.DataFrame({"x": [1]}), pl.Int64, pl.Int64(), pl.len()]
    except ImportError:
        pass
    try:
        import pandas as pd

        values += [pd.Timestamp("2020-01-01"), pd.NaT, pd.NA, pd.Series([1]), pd.DataFrame({"x": [1]}), pd.Timedelta(1)]
    except ImportError:
        pass
    return values


TABLE = pa.table({"x": [2, None, 1], "id": [1, 2, 3]})

#: What is public and no constructor of anything: errors, what sets something, and what another function gives.
LEFT_OUT = {"config", "spark", "Operator", "FramePlot", *(n for n in wr.__all__ if n.endswith("Error"))}


def constructors():
    """Give each public function, class and method by its name."""
    made = {n: getattr(wr, n) for n in wr.__all__ if n not in LEFT_OUT}
    made |= {c.__name__: c for c in (Column, Literal, Sql, Derived, Order, Bound, Frame)}
    call, derived = wr.sum("x"), wr.expr("x - sum(x) OVER ()")
    for name in ("filter", "distinct", "ignore_nulls", "respect_nulls", "order_by", "over", "alias"):
        made[f"Call.{name}"] = getattr(call, name)
    made["Derived.alias"] = derived.alias
    assert isinstance(call, Call)
    assert isinstance(derived, Derived)
    return made


def random_arguments(rng, function, values):
    """Give arguments that Python itself takes: of the right number, by names there are."""
    args, named = [], {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += rng.choices(values, k=rng.choice((0, 1, 1, 2)))
        elif parameter.kind is parameter.VAR_KEYWORD:
            named |= {n: rng.choice(values) for n in rng.sample(("a", "b", "x"), rng.choice((0, 0, 1)))}
        elif parameter.default is not parameter.empty and rng.random() < 0.5:
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                break
        elif parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = rng.choice(values)
        else:
            args.append(rng.choice(values))
    inspect.signature(function).bind(*args, **named)
    return args, named


@pytest.mark.parametrize("name", constructors())
def test_wrong_arguments(name):
    function = constructors()[name]
    rng = random.Random(f"{SEED} {name}")
    outcomes = Counter()
    values = wrong_values()
    for _ in range(60):
        args, named = random_arguments(rng, function, values)
        try:
            with decimal.localcontext(), np.errstate(all="ignore"):
                made = function(*args, **named)
                str(made), repr(made)
                if isinstance(made, (Call, Literal)):
                    assert made.equals(made.alias("a")) == (isinstance(made, Call) and made.name == "a")
                elif isinstance(made, Window):
                    hash(made)
                if isinstance(made, (Call, Window)):  # what cannot be known before there are columns
                    call = made if isinstance(made, Call) else wr.count().over(made)
                    wr.with_columns(TABLE, a=call if call.window is not None else call.over())
        except wr.WindrowError:
            outcomes["refused"] += 1
        else:
            outcomes["made"] += 1
    takes_something = bool(inspect.signature(function).parameters)
    assert outcomes["refused"] >= (10 if takes_something else 0), outcomes


@pytest.mark.parametrize("value", [True, False, np.bool_(True), np.array([1])[0] == 1, np.array(False)])
def test_what_python_compared_is_no_condition(value):
    with pytest.raises(wr.SpecError, match="Python compared the two sides itself"):
        wr.sum("x").filter(value)


def test_literals_that_nothing_holds():
    for value in (Decimal("sNaN"), [Decimal("sNaN")], np.array([(1, 2)], "i4,i4")[0], np.void(b"x")):
        with pytest.raises(wr.SpecError):
            wr.lit(value)
    for text, given in (("1", "int32"), ("x + 1", "int64"), ("CAST(x AS STRING)", "large_string")):
        with pytest.raises(wr.SpecError, match=f"the condition of FILTER is {given}, and a condition must be boolean"):
            wr.with_columns(TABLE, y=f"sum(x) FILTER (WHERE {text}) OVER ()")
