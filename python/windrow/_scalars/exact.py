"""The table of scalar functions and operators that give exactly Spark's results outside Spark.

A row has a name, argument types, a result type and a function that makes the Polars expression. Functions outside the
table are errors. Each row needs a test that compares it with Spark. ``ulps`` is the largest difference of a double from
Spark's result, in units in the last place: the libraries of Java and of the machine round the last bit differently.

Types are families (:func:`~windrow._scalars.types.family`): ``integer`` is tinyint to bigint, ``number`` any number,
``floating`` float and double, ``int`` an integer of up to 32 bits, ``text`` any type with a cast to string. ``double``
accepts all numbers, because Spark casts them. ``literal`` before a type means that the argument must be a literal. The
result type ``wider`` is the wider of the argument types by Spark's rules, ``first`` that of the first argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import numbers, texts, times
from .decimals import quotient
from .typed import Scope, Typed
from .types import INT, STRING

__all__ = ["EXACT", "Exact", "candidates"]


@dataclass(frozen=True, slots=True)
class Exact:
    """A scalar function or operator for one combination of type families.

    Parameters
    ----------
    name
        The function or operator.
    arguments
        The types; if ``variadic``, the last one applies to further arguments.
    result
        The result type.
    make
        A function that makes the expression from the arguments.
    variadic
        Whether further arguments are accepted.
    ulps
        The largest difference of a double from Spark's result, in units in the last place.
    """

    name: str
    arguments: tuple[str, ...]
    result: str
    make: Callable[[list[Typed], Scope, object], Typed]
    variadic: bool = False
    ulps: int = 0


_D = numbers.function_of_doubles
_MOVED = (("date", "literal interval"), ("timestamp", "interval"), ("timestamp_ntz", "interval"))


def _when(condition: Any, value: Any) -> Any:
    import polars as pl

    return pl.when(condition).then(value)


def _log(base: Any, x: Any) -> Any:
    return _when((base > 0) & (x > 0), quotient(x.log(), base.log()))


EXACT: tuple[Exact, ...] = (
    # arithmetic
    *(Exact(s, ("number", "number"), "wider", numbers.arithmetic(s)) for s in "+-*"),
    Exact("+", ("date", "int"), "date", times.add_days(1)),
    Exact("+", ("int", "date"), "date", times.days_after),
    Exact("-", ("date", "int"), "date", times.add_days(-1)),
    Exact("-", ("date", "date"), "interval", times.subtract_times),
    Exact("-", ("timestamp", "timestamp"), "interval", times.subtract_times),
    Exact("-", ("timestamp_ntz", "timestamp_ntz"), "interval", times.subtract_times),
    *(
        Exact(symbol, (kind, by), "first", times.add_interval(1 if symbol == "+" else -1))
        for symbol in "+-"
        for kind, by in _MOVED
    ),
    *(Exact("+", (by, kind), "second", times.moved_reversed) for kind, by in _MOVED),
    Exact("+", ("interval", "interval"), "interval", times.interval_sum(1)),
    Exact("-", ("interval", "interval"), "interval", times.interval_sum(-1)),
    Exact("/", ("number", "number"), "double or decimal", numbers.divided),
    Exact("try_divide", ("number", "number"), "double or decimal", numbers.try_divide),
    Exact("div", ("integer", "integer"), "bigint", numbers.whole_quotient),
    Exact("%", ("integer", "integer"), "wider", numbers.remainder),
    Exact("mod", ("integer", "integer"), "wider", numbers.remainder),
    Exact("pmod", ("integer", "literal integer"), "wider", numbers.positive_remainder),
    Exact("negative", ("number",), "first", numbers.negated("-")),
    Exact("positive", ("number",), "first", lambda args, scope, text: args[0]),
    Exact("abs", ("number",), "first", numbers.negated("abs")),
    *(Exact(s, ("integer", "integer"), "wider", numbers.bitwise(s)) for s in "&|^"),
    Exact("~", ("integer",), "first", lambda args, scope, text: Typed(~args[0].expr, args[0].kind, args[0].failures)),
    # functions of numbers
    *(Exact(n, ("double",), "double", _D(lambda x: _when(x.is_not_null(), x.sign()))) for n in ("sign", "signum")),
    Exact("sqrt", ("double",), "double", _D(lambda x: x.sqrt())),
    Exact("exp", ("double",), "double", _D(lambda x: x.exp()), ulps=1),
    *(Exact(n, ("double",), "double", _D(lambda x: _when(x > 0, x.log())), ulps=1) for n in ("ln", "log")),
    Exact("log", ("double", "double"), "double", _D(_log), ulps=2),
    Exact("log2", ("double",), "double", _D(lambda x: _when(x > 0, quotient(x.log(), _ln2()))), ulps=2),
    Exact("log1p", ("double",), "double", _D(lambda x: _when(x > -1, x.log1p())), ulps=1),
    *(Exact(n, ("double", "double"), "double", numbers.power, ulps=1) for n in ("pow", "power")),
    *(Exact("floor", (k,), "bigint", numbers.floor_or_ceil("floor")) for k in ("integer", "floating")),
    *(
        Exact(n, (k,), "bigint", numbers.floor_or_ceil("ceil"))
        for n in ("ceil", "ceiling")
        for k in ("integer", "floating")
    ),
    *(
        Exact("round", (kind, *digits), "first", numbers.rounded)
        for kind in ("integer", "floating", "decimal")
        for digits in ((), ("integer",))
    ),
    Exact("isnan", ("number",), "boolean", numbers.is_nan),
    # text
    *(
        Exact(n, ("string",), "string", lambda args, scope, text: _text(args, args[0].expr.str.to_uppercase()))
        for n in ("upper", "ucase")
    ),
    *(
        Exact(n, ("string",), "string", lambda args, scope, text: _text(args, args[0].expr.str.to_lowercase()))
        for n in ("lower", "lcase")
    ),
    *(
        Exact(n, ("string",), "int", lambda args, scope, text: _count(args, args[0].expr.str.len_chars()))
        for n in ("length", "len", "char_length", "character_length")
    ),
    Exact("octet_length", ("string",), "int", lambda args, scope, text: _count(args, args[0].expr.str.len_bytes())),
    Exact("bit_length", ("string",), "int", lambda args, scope, text: _count(args, args[0].expr.str.len_bytes() * 8)),
    *(
        Exact(n, (*letters, "string"), "string", texts.trimmed(side))
        for n, side in (("trim", "both"), ("ltrim", "start"), ("rtrim", "end"))
        for letters in ((), ("literal string",))
    ),
    *(
        Exact(n, ("string", "integer", *rest), "string", texts.substring)
        for n in ("substr", "substring")
        for rest in ((), ("integer",))
    ),
    Exact(
        "left",
        ("string", "integer"),
        "string",
        lambda args, scope, text: texts.substring([args[0], _one(), args[1]], scope, text),
    ),
    Exact("right", ("string", "integer"), "string", texts.end_of),
    *(Exact(n, ("text",), "string", texts.concatenated, variadic=True) for n in ("concat", "||")),
    Exact("concat_ws", ("literal string", "text"), "string", texts.concatenated_with, variadic=True),
    *(Exact("replace", ("string", *("literal string",) * count), "string", texts.replaced) for count in (1, 2)),
    *(
        Exact(n, ("string", "literal integer", *fill), "string", texts.padded(side))
        for n, side in (("lpad", "start"), ("rpad", "end"))
        for fill in ((), ("literal string",))
    ),
    Exact("instr", ("string", "string"), "int", texts.instr),
    *(Exact(n, ("string", "string"), "int", texts.located_in) for n in ("locate", "position", "charindex")),
    Exact("contains", ("string", "string"), "boolean", texts.contains_like("contains")),
    Exact("startswith", ("string", "string"), "boolean", texts.contains_like("starts_with")),
    Exact("endswith", ("string", "string"), "boolean", texts.contains_like("ends_with")),
    Exact("reverse", ("string",), "string", texts.backwards),
    *(Exact(n, ("string", "literal string"), "boolean", texts.rlike) for n in ("rlike", "regexp", "regexp_like")),
    # dates and timestamps
    *(
        Exact(name, (kind,), "int", times.field(of))
        for name, of in (*((f, f) for f in times.FIELDS if f != "dayofweek_iso"), ("dayofmonth", "day"))
        for kind in (
            ("timestamp", "timestamp_ntz")
            if of in ("hour", "minute", "second")
            else ("date", "timestamp", "timestamp_ntz")
        )
    ),
    *(Exact(n, ("date", "int"), "date", times.add_days(1)) for n in ("date_add", "dateadd")),
    Exact("date_sub", ("date", "int"), "date", times.add_days(-1)),
    Exact("add_months", ("date", "literal int"), "date", times.add_months),
    *(Exact(n, ("date", "date"), "int", times.days_between) for n in ("datediff", "date_diff")),
    Exact("trunc", ("date", "literal string"), "date", times.truncated),
)


def _text(args: list[Typed], expr: Any) -> Typed:
    return Typed(expr, STRING, args[0].failures)


def _count(args: list[Typed], expr: Any) -> Typed:
    import polars as pl

    return Typed(expr.cast(pl.Int32), INT, args[0].failures)


def _one() -> Typed:
    import polars as pl

    return Typed(pl.lit(1, dtype=pl.Int32), INT, literal=1)


def _ln2() -> Any:
    import polars as pl

    return pl.lit(math.log(2.0))


_BY_NAME: dict[str, list[Exact]] = {}
for _row in EXACT:
    _BY_NAME.setdefault(_row.name, []).append(_row)


def candidates(name: str) -> list[Exact]:
    """Return the rows with a name; none if the name is not in the table."""
    return _BY_NAME.get(name, [])
