"""Spark's scalar SQL in the words of Polars': the same text means the same on every kind of frame.

Polars' SQL lacks some of Spark's functions and means other things by some, null text in ``concat`` or halves in
``round`` for example. These are rewritten here, on sqlglot's tree; what is not listed reads the same in both or is
refused by Polars itself. Nothing here computes.

Where Spark fails on the row (a division by zero, say), Polars gives null.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .._model.result_columns import without_places
from .._parse.grammar import dialect, function_name, parse, text_of
from .._parse.limits import balanced, excerpt
from .._parse.sql_text import refuse_bare_functions
from ..exceptions import SpecError, UnsupportedError

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import Dialect

__all__ = ["polars_text"]

# How large an expression may become when it is written for Polars: so many nodes, and so many times its own.
_NODES = 10_000
_GROWTH = 20

# How many characters Polars is given though sqlglot cannot read them.
_UNREAD = 200


@functools.lru_cache(maxsize=1024)
def polars_text(text: str) -> str:
    """Write a Spark scalar expression as Polars' SQL.

    Parameters
    ----------
    text
        The expression in Spark's SQL.

    Returns
    -------
    str
        The expression in Polars' SQL; a short text that only Polars may be able to read as it is.

    Raises
    ------
    SpecError
        For what cannot be read, and a window function without OVER.
    UnsupportedError
        For what Polars' SQL cannot say as Spark means it.
    """
    from sqlglot.errors import SqlglotError

    try:
        tree = parse(text)
    except SpecError as error:
        # Polars has no limits of its own, and dies of what is long
        if isinstance(error.__context__, SqlglotError) and len(text) <= _UNREAD:
            return text
        raise
    refuse_bare_functions(tree)
    # children stand after their parents in the list, and are rewritten before them
    nodes = list(tree.dfs())
    size, limit = 0, _NODES + _GROWTH * len(nodes)
    for node in reversed(nodes):
        made = _rewritten(node, text)
        if made is not node:
            # some rewrites write an argument twice, which nested ones do again and again
            size += sum(1 for _ in made.walk())
            if size > limit:
                raise UnsupportedError(
                    f"{excerpt(without_places(text))} would be more than {limit:,} operations in Polars' SQL, which "
                    "evaluates expressions here; compute the inner part as a column first"
                )
            if node is tree:
                tree = made
            else:
                node.replace(made)
    return str(_grouped(balanced(tree)).sql(dialect=_polars_dialect(), normalize_functions=False, copy=False))


def _grouped(tree: Any) -> Any:
    """Write the parentheses of balanced chains, without which Polars reads them as deep as they are long."""
    from sqlglot import exp

    for node in list(tree.find_all(exp.And, exp.Or, exp.DPipe)):
        if type(node.expression) is type(node):
            node.set("expression", exp.paren(node.expression, copy=False))
    return tree


@functools.cache
def _polars_dialect() -> type[Dialect]:
    spark: Any = dialect()

    class Polars(spark):  # type: ignore[misc]
        """Spark's words with the string literals of the standard: a backslash is one, a quote is doubled."""

        STRINGS_SUPPORT_ESCAPED_SEQUENCES = False
        UNESCAPED_SEQUENCES: ClassVar[dict[str, str]] = {}

        class Tokenizer(spark.Tokenizer):  # type: ignore[misc]
            """Only for what it says of quotes, which the generator follows."""

            STRING_ESCAPES: ClassVar[list[str]] = ["'"]

        class Generator(spark.Generator):  # type: ignore[misc]
            """Casts as ``x::type``: Polars takes twice as long for each level of ``CAST(CAST(x AS t) AS t)``."""

            def cast_sql(self, expression: Any, safe_prefix: str | None = None) -> str:
                if safe_prefix is not None:
                    return str(super().cast_sql(expression, safe_prefix))
                return f"({self.sql(expression, 'this')})::{self.sql(expression, 'to')}"

    return Polars


def _rewritten(node: Any, text: str) -> Any:
    from sqlglot import exp

    if isinstance(node, exp.Div):
        return exp.Div(this=node.this.copy(), expression=_nonzero(node.expression))
    if isinstance(node, exp.Mod):
        return exp.Mod(this=node.this.copy(), expression=_nonzero(node.expression))
    if isinstance(node, exp.IntDiv):
        return _cast(_function("DIV", node.this, _nonzero(node.expression)), "BIGINT")
    if isinstance(node, exp.BitwiseXor):
        return _function("BIT_XOR", node.this, node.expression)
    if isinstance(node, exp.BitwiseNot):
        return _function("BIT_NOT", node.this)
    if isinstance(node, exp.Extract):
        return _cast(node.copy(), "INT")
    if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.FLOAT:
        return exp.DataType.build("REAL", dialect="postgres")
    if isinstance(node, exp.StrPosition):
        return _FUNCTIONS["instr"]([node.this.copy(), node.args["substr"].copy()])
    name = function_name(node)
    rewrite = _substring if isinstance(node, exp.Substring) else _FUNCTIONS.get(name or "")
    if rewrite is None:
        return node
    try:
        return rewrite([node.copy()] if rewrite is _substring else [a.copy() for a in node.expressions])
    except (ValueError, IndexError):
        raise UnsupportedError(
            f"{without_places(text)}: {without_places(text_of(node))} cannot be said in Polars' SQL, which evaluates "
            "expressions here; compute the column first with the frame's own methods, or give a Polars expression"
        ) from None


def _function(name: str, *args: Any) -> Any:
    from sqlglot import exp

    return exp.Anonymous(this=name, expressions=[a.copy() for a in args])


def _cast(node: Any, dtype: str) -> Any:
    from sqlglot import exp

    return exp.Cast(this=node, to=exp.DataType.build(dtype, dialect="postgres"))


def _template(pattern: str) -> Callable[[Sequence[Any]], Any]:
    """Make a rewrite of a text in which ``_1``, ``_2`` ... are the arguments; a wrong number of them is refused."""
    wanted = len({p for p in ("_1", "_2", "_3", "_4") if p in pattern})

    def rewrite(args: Sequence[Any]) -> Any:
        from sqlglot import exp

        if len(args) != wanted:
            raise ValueError
        tree = parse(pattern)
        for column in list(tree.find_all(exp.Column)):
            if column.name[0] == "_" and column.name[1:].isdigit():
                column.replace(exp.paren(args[int(column.name[1:]) - 1]))
        return exp.paren(tree)

    return rewrite


def _by_count(*rewrites: Callable[[Sequence[Any]], Any] | None) -> Callable[[Sequence[Any]], Any]:
    """Choose a rewrite by how many arguments there are, of which the first is for one."""

    def rewrite(args: Sequence[Any]) -> Any:
        chosen = rewrites[len(args) - 1] if args else None
        if chosen is None:
            raise ValueError
        return chosen(args)

    return rewrite


def _concat(args: Sequence[Any]) -> Any:
    from sqlglot import exp

    tree = _cast(args[0], "STRING")
    for arg in args[1:]:
        tree = exp.DPipe(this=tree, expression=_cast(arg, "STRING"))
    return exp.paren(tree)


def _round(args: Sequence[Any]) -> Any:
    """Round halves away from zero, as Spark does."""
    digits = int(text_of(args[1])) if len(args) == 2 else 0
    scale = f"1e{abs(digits)}"
    up, down = ("*", "/") if digits >= 0 else ("/", "*")
    return _template(f"sign(_1) * floor(abs(_1) {up} {scale} + 0.5e0) {down} {scale}")([_cast(args[0], "DOUBLE")])


def _nonzero(divisor: Any) -> Any:
    from sqlglot import exp

    if isinstance(divisor, exp.Literal) and not divisor.is_string and float(str(divisor.this)) != 0:
        return divisor.copy()
    return _function("NULLIF", divisor, exp.Literal.number(0))


def _integer(name: str) -> Callable[[Sequence[Any]], Any]:
    """Call Polars' function and make its result, which may be of 8 bits, an int as Spark's is."""
    return lambda args: _cast(_function(name, *args), "INT")


def _days(sign: str) -> Callable[[Sequence[Any]], Any]:
    def rewrite(args: Sequence[Any]) -> Any:
        day, days = args
        return _template(f"_1 {sign} INTERVAL '{int(text_of(days))}' DAY")([day])

    return rewrite


def _months(args: Sequence[Any]) -> Any:
    day, months = args
    return _template(f"_1 + INTERVAL '{int(text_of(months))}' MONTH")([day])


def _substring(args: Sequence[Any]) -> Any:
    """Let 0 be the first letter, as in Spark; what counts from the end is refused."""
    from sqlglot import exp

    (node,) = args
    start = node.args.get("start")
    if isinstance(start, exp.Literal) and str(start.this) == "0":
        node.set("start", exp.Literal.number(1))
    return _refused(args) if isinstance(start, exp.Neg) else node


def _refused(args: Sequence[Any]) -> Any:
    raise ValueError


_FUNCTIONS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "nvl": _template("coalesce(_1, _2)"),
    "ifnull": _template("coalesce(_1, _2)"),
    "nvl2": _template("CASE WHEN _1 IS NOT NULL THEN _2 ELSE _3 END"),
    "isnull": _template("_1 IS NULL"),
    "isnotnull": _template("_1 IS NOT NULL"),
    "equal_null": _template("_1 <=> _2"),
    "concat": _concat,
    "round": _by_count(_round, _round),
    "signum": _template("sign(_1)"),
    "negative": _template("-_1"),
    "positive": _template("_1"),
    "pmod": _template("((_1 % nullif(_2, 0)) + _2) % nullif(_2, 0)"),
    "mod": _template("_1 % nullif(_2, 0)"),
    "try_divide": _template("_1 / nullif(_2, 0)"),
    # logarithms of what has none are null in Spark, and NaN in Polars; the base comes first in Spark
    "ln": _template("CASE WHEN _1 > 0 THEN ln(_1) END"),
    "log": _by_count(
        _template("CASE WHEN _1 > 0 THEN ln(_1) END"), _template("CASE WHEN _1 > 0 AND _2 > 0 THEN ln(_2) / ln(_1) END")
    ),
    "log2": _template("CASE WHEN _1 > 0 THEN log2(_1) END"),
    "log10": _template("CASE WHEN _1 > 0 THEN log10(_1) END"),
    "log1p": _template("CASE WHEN _1 > -1 THEN log1p(_1) END"),
    "pow": _template("pow(CAST(_1 AS DOUBLE), CAST(_2 AS DOUBLE))"),
    "power": _template("pow(CAST(_1 AS DOUBLE), CAST(_2 AS DOUBLE))"),
    "floor": _template("CAST(floor(_1) AS BIGINT)"),
    "ceil": _template("CAST(ceil(_1) AS BIGINT)"),
    "ceiling": _template("CAST(ceil(_1) AS BIGINT)"),
    "length": _integer("length"),
    "len": _integer("length"),
    "char_length": _integer("length"),
    "character_length": _integer("length"),
    "octet_length": _integer("octet_length"),
    "bit_length": _integer("bit_length"),
    "year": _integer("year"),
    "quarter": _integer("quarter"),
    "month": _integer("month"),
    "day": _integer("day"),
    "dayofmonth": _integer("day"),
    "dayofyear": _integer("dayofyear"),
    "dayofweek": _template("CAST(dayofweek(_1) AS INT) + 1"),
    "weekofyear": _template("CAST(EXTRACT(week FROM _1) AS INT)"),
    "hour": _integer("hour"),
    "minute": _integer("minute"),
    "second": _integer("second"),
    # strpos of a null is 0 in Polars
    "instr": _template("CASE WHEN _1 IS NOT NULL AND _2 IS NOT NULL THEN CAST(strpos(_1, _2) AS INT) END"),
    "locate": _template("CASE WHEN _1 IS NOT NULL AND _2 IS NOT NULL THEN CAST(strpos(_2, _1) AS INT) END"),
    "position": _template("CASE WHEN _1 IS NOT NULL AND _2 IS NOT NULL THEN CAST(strpos(_2, _1) AS INT) END"),
    "charindex": _template("CASE WHEN _1 IS NOT NULL AND _2 IS NOT NULL THEN CAST(strpos(_2, _1) AS INT) END"),
    "contains": _template("CASE WHEN _1 IS NOT NULL AND _2 IS NOT NULL THEN strpos(_1, _2) > 0 END"),
    "isnan": _template("coalesce(CAST(_1 AS DOUBLE) = CAST('NaN' AS DOUBLE), false)"),
    "startswith": _template("starts_with(_1, _2)"),
    "endswith": _template("ends_with(_1, _2)"),
    "ilike": _template("_1 ILIKE _2"),
    "like": _template("_1 LIKE _2"),
    "ucase": _template("upper(_1)"),
    "lcase": _template("lower(_1)"),
    "date_add": _days("+"),
    "dateadd": _days("+"),
    "date_sub": _days("-"),
    "add_months": _months,
    "to_date": _template("CAST(_1 AS DATE)"),
    "date": _template("CAST(_1 AS DATE)"),
    "string": _template("CAST(_1 AS STRING)"),
    "int": _template("CAST(_1 AS INT)"),
    "bigint": _template("CAST(_1 AS BIGINT)"),
    "double": _template("CAST(_1 AS DOUBLE)"),
    "float": _template("CAST(_1 AS REAL)"),
    "boolean": _template("CAST(_1 AS BOOLEAN)"),
    # Polars parts words elsewhere, and rounds halves to even only in some versions
    "initcap": _refused,
    "bround": _refused,
}  # fmt: skip
