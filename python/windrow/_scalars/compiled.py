"""Compiles Spark's scalar SQL, with Spark's types, to Polars expressions that give exactly Spark's results.

Operators and functions are defined by the table in :mod:`windrow._scalars.exact`. This module compiles comparisons,
conditions and casts, which accept all types with a common type. All other expressions are errors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from .._model.intervals import Interval
from .._model.names import unknown_column
from .._model.result_columns import hide_result_columns, is_result_column
from .._parse.grammar import function_name, parse
from .._parse.limits import excerpt
from .._parse.literals import NO_VALUE, integer_width, needs_explicit_type, value_of
from .._parse.sql_text import refuse_bare_functions
from ..exceptions import SpecError, UnsupportedError
from . import texts, times
from .calls import called
from .casts import beyond_nanoseconds, cast, date_of_text, named_type, null_of, plain, timestamp_of_text
from .growth import extent
from .literals import typed_literal
from .typed import Failure, LazySqlText, Scope, Typed, failing, merged, not_months, refused, within
from .types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, INTERVAL, STRING, VOID, common, family, shown

if TYPE_CHECKING:
    import polars as pl

__all__ = ["columns_in", "compiled"]

# Limits for the size of a compiled Polars expression: a number of operations, and a number per operation of the source.
_OPERATIONS = 50_000
_GROWTH = 20

_OPERATORS = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "IntDiv": "div", "Mod": "%", "BitwiseAnd": "&", "BitwiseOr": "|",
    "BitwiseXor": "^", "DPipe": "||",
}  # fmt: skip
_COMPARISONS = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
# cast functions
_CAST_FUNCTIONS = {
    "boolean": BOOLEAN, "tinyint": pa.int8(), "smallint": pa.int16(), "int": INT, "bigint": BIGINT,
    "float": pa.float32(), "double": DOUBLE, "string": STRING, "date": DATE, "to_date": DATE,
    "decimal": pa.decimal128(10, 0),
}  # fmt: skip
_UNSIGNED = {pa.uint8(): pa.int16(), pa.uint16(): INT, pa.uint32(): BIGINT, pa.uint64(): pa.decimal128(20, 0)}
_INTEGERS = {8: pa.int8(), 16: pa.int16(), 32: INT, 64: BIGINT}


@functools.lru_cache(maxsize=1024)
def tree_of(text: str) -> Any:
    """Parse an expression, with a cache; callers must not modify the tree."""
    tree = parse(text)
    refuse_bare_functions(tree)
    return tree


@functools.lru_cache(maxsize=1024)
def columns_in(text: str) -> tuple[str, ...]:
    """Return the names in an expression that may be columns; of ``a.b`` both parts."""
    from sqlglot import exp

    names = [i.name for c in tree_of(text).find_all(exp.Column) for i in c.find_all(exp.Identifier)]
    return tuple(dict.fromkeys(names))


@functools.lru_cache(maxsize=1024)
def _compiled(text: str, kinds: tuple[tuple[str, pa.DataType], ...], ansi: bool, timezone: str | None) -> Typed:
    tree = tree_of(text)
    made = _Compiler(Scope(dict(kinds), ansi, timezone), text).root(tree)
    # nested functions that use an argument twice double the size at each level
    most = _OPERATIONS + _GROWTH * sum(1 for _ in tree.walk())
    if any(extent(e, most)[0] > most for e in (made.expr, *(f.rows for f in made.failures))):
        raise UnsupportedError(
            f"{excerpt(hide_result_columns(text))} would be more than {most:,} operations in Polars, which evaluates "
            "expressions here; compute the inner part as a column first"
        )
    return made


def compiled(text: str, kinds: Mapping[str, pa.DataType], *, ansi: bool, timezone: str | None) -> Typed:
    """Compile an expression to a Polars expression.

    Parameters
    ----------
    text
        The expression, in Spark's SQL.
    kinds
        The types of the columns by name; ordered categories are ordered dictionaries.
    ansi
        Whether rows on which Spark fails are errors; otherwise they give Spark's result without ANSI mode.
    timezone
        The session's time zone; None if it is not set.

    Returns
    -------
    Typed
        The expression, its type, and the rows on which it fails.

    Raises
    ------
    SpecError
        For errors in Spark too: an unknown column, types without a common type.
    UnsupportedError
        For expressions that are not supported.
    """
    read = tuple((name, kinds[name]) for name in columns_in(text) if name in kinds)
    try:
        return _compiled(text, read, ansi, timezone)
    except _UnknownError as error:
        columns = [k for k in kinds if not is_result_column(k)]
        raise unknown_column(error.name, columns, f"expression {hide_result_columns(text)}") from None


class _UnknownError(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _Compiler:
    def __init__(self, scope: Scope, text: str) -> None:
        from sqlglot import exp

        self.exp: Any = exp
        self.scope = scope
        self.text = text
        self.nodes: dict[str, Callable[[Any, object], Typed]] = {
            "Between": self._between, "BitwiseNot": self._bitwisenot, "Bracket": self._bracket, "Case": self._case,
            "Cast": self._cast, "Column": self._column, "Dot": self._column, "Escape": self._escape,
            "Extract": self._extract, "If": self._if, "ILike": self._ilike, "In": self._in, "Is": self._is,
            "Like": self._like, "Neg": self._neg, "Not": self._not, "NullSafeEQ": self._nullsafeeq,
            "NullSafeNEQ": self._nullsafeneq, "RegexpLike": self._regexplike, "StrPosition": self._strposition,
            "Substring": self._substring, "Trim": self._trim, "TryCast": self._cast,
        }  # fmt: skip

    def root(self, node: Any) -> Typed:
        """Compile a whole expression; a single column keeps its type."""
        while isinstance(node, self.exp.Paren):
            node = node.this
        if isinstance(node, self.exp.Column) and not node.table:
            import polars as pl

            if node.name not in self.scope.kinds:
                raise _UnknownError(node.name)
            return Typed(pl.col(node.name), self.scope.kinds[node.name], text=self.text)
        return not_months(self.value(node), self.text)

    def value(self, node: Any) -> Typed:
        exp = self.exp
        while isinstance(node, exp.Paren):
            node = node.this
        text, name = LazySqlText(node), type(node).__name__
        if name in _OPERATORS or name in ("And", "Or"):
            return self._chain(node)
        if name in _COMPARISONS:
            return self.compare(_COMPARISONS[name], self.value(node.this), self.value(node.expression), text)
        if name in self.nodes:
            return self.nodes[name](node, text)
        if (function := function_name(node)) is not None:
            return self._function(function, node.expressions, text)
        if (literal := value_of(node)) is not NO_VALUE:
            return self._typed_by_tree(node, literal, text)
        raise refused(str(text), self.text)

    def _chain(self, node: Any) -> Typed:
        """Compile a left-deep chain of operators iteratively, to limit recursion."""
        spine = []
        while type(node).__name__ in _OPERATORS or type(node).__name__ in ("And", "Or"):
            spine.append(node)
            node = node.this
        value = self.value(node)
        for operator in reversed(spine):
            value = self._apply_operator(operator, value)
        return value

    def _apply_operator(self, node: Any, left: Typed) -> Typed:
        right, text, name = self.value(node.expression), LazySqlText(node), type(node).__name__
        if name in ("And", "Or"):
            return self._logical(name, self._true(left), self._true(right), text)
        literal = value_of(node) if left.is_literal and right.is_literal else NO_VALUE
        if literal is not NO_VALUE and not isinstance(literal, Decimal):  # a sum of decimals has a type of its own
            return self._typed_by_tree(node, literal, text)
        return self.call(_OPERATORS[name], [left, right], text)

    # --- columns and fields

    def _column(self, node: Any, text: object) -> Typed:
        import polars as pl

        if not isinstance(node, self.exp.Column):  # a field of an expression
            raise refused(str(text), self.text)
        names = [p.name for p in node.parts]
        if names[0] not in self.scope.kinds:
            raise _UnknownError(names[0])
        expr, kind = pl.col(names[0]), self.scope.kinds[names[0]]
        for name in names[1:]:
            found = [kind.field(i) for i in range(kind.num_fields)] if pa.types.is_struct(kind) else []
            types = [f.type for f in found if f.name == name]
            if len(types) != 1:
                raise SpecError(f"{hide_result_columns(self.text)}: {shown(kind)} has no field {name!r}")
            expr, kind = expr.struct.field(name), types[0]
        return self._column_value(expr, kind, text)

    def _column_value(self, expr: pl.Expr, kind: pa.DataType, text: object) -> Typed:
        """Cast a column to the type that Spark has for it."""
        import polars as pl

        if kind in _UNSIGNED:
            return Typed(expr.cast(plain(_UNSIGNED[kind])), _UNSIGNED[kind], text=text)
        if pa.types.is_dictionary(kind):
            value = self._column_value(expr.cast(pl.String), kind.value_type, text)
            return Typed(value.expr, value.kind, text=text, ordered=kind.ordered) if value.kind == STRING else value
        if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            return Typed(expr, STRING, text=text)
        if pa.types.is_float16(kind):
            return Typed(expr.cast(pl.Float32), pa.float32(), text=text)
        if kind == pa.date64():
            return Typed(expr.cast(pl.Date), DATE, text=text)
        # Spark has only microseconds: coarser units are converted; nanoseconds stay until an operation truncates them
        if pa.types.is_duration(kind) and kind.unit in ("s", "ms"):
            return Typed(expr.cast(pl.Duration("us")), INTERVAL, text=text)
        if pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
            return Typed(expr.cast(pl.Datetime("us", kind.tz)), pa.timestamp("us", kind.tz), text=text)
        if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
            wide = pa.decimal128(kind.precision, kind.scale)
            return Typed(expr.cast(plain(wide)), wide, text=text)
        return Typed(expr, kind, text=text)

    def _bracket(self, node: Any, text: object) -> Typed:
        if len(node.expressions) != 1 or isinstance(node.expressions[0], self.exp.Slice):
            raise refused(str(text), self.text)
        return self._item(self.value(node.this), self.value(node.expressions[0]), text, failing_outside=self.scope.ansi)

    def _item(self, value: Typed, index: Typed, text: object, *, failing_outside: bool) -> Typed:
        """Return the item of a list at a 0-based position."""
        import polars as pl

        if family(value.kind) != "array" or family(index.kind) != "integer":
            raise refused(str(text), self.text)
        item, length = index.expr.cast(pl.Int64), value.expr.list.len().cast(pl.Int64)
        outside = (item < 0) | (item >= length)
        found = value.expr.list.get(pl.when(~outside).then(item), null_on_oob=True)
        failures = merged(value, index)
        if failing_outside:
            remedy = "write get(list, n), or wr.config(ansi=False) gives NULL"
            failures += (failing(outside & value.expr.is_not_null(), "INVALID_ARRAY_INDEX", text, remedy),)
        loaded = self._column_value(found, value.kind.value_type, text)
        return Typed(loaded.expr, loaded.kind, failures, text=text, ordered=loaded.ordered)

    # --- literals that have a type of their own

    def _cast(self, node: Any, text: object) -> Typed:
        kind = named_type(node.to, self.text, self.scope) if not self._is_time_literal(node) else None
        tried = bool(node.args.get("safe"))
        inner = node.this
        literal = value_of(node) if not tried and isinstance(inner, self.exp.Literal) else NO_VALUE
        if literal is not NO_VALUE and kind is not None:
            made = typed_literal(literal, text)
            return made if made.kind == kind else self._with_literal_value(made, kind, text)
        if kind is None:
            raise refused(str(text), self.text)
        return cast(self.value(inner), kind, text, self.scope, tried=tried)

    def _is_time_literal(self, node: Any) -> bool:
        return getattr(node.to.this, "value", "") in ("TIME", "TIMETZ")

    def _typed_by_tree(self, node: Any, value: Any, text: object) -> Typed:
        """Return a literal; an integer has the type of its syntax."""
        made = typed_literal(value, text)
        if family(made.kind) != "integer":
            return made
        return self._with_literal_value(made, _INTEGERS[integer_width(node)], text)

    def _with_literal_value(self, made: Typed, kind: pa.DataType, text: object) -> Typed:
        """Mark a cast literal as a literal: ``7L`` is a bigint literal."""
        import polars as pl

        if family(made.kind) == family(kind) == "integer":
            return Typed(pl.lit(made.literal, dtype=plain(kind)), kind, literal=made.literal, text=text)
        return cast(made, kind, text, self.scope)

    def _neg(self, node: Any, text: object) -> Typed:
        literal = value_of(node)
        if literal is not NO_VALUE and not (isinstance(literal, Decimal) and needs_explicit_type(node, literal)):
            return self._typed_by_tree(node, literal, text)
        return self.call("negative", [self.value(node.this)], text)

    def _bitwisenot(self, node: Any, text: object) -> Typed:
        return self.call("~", [self.value(node.this)], text)

    # --- conditions

    def _truth(self, node: Any) -> Typed:
        return self._true(self.value(node))

    def _true(self, value: Typed) -> Typed:
        if value.kind == VOID:
            return cast(value, BOOLEAN, value.text, self.scope)
        if value.kind != BOOLEAN:
            expression = hide_result_columns(self.text)
            raise SpecError(f"{expression}: {value.text} is {shown(value.kind)}, and a condition is true or false")
        return value

    def _logical(self, name: str, left: Typed, right: Typed, text: object) -> Typed:
        # the right side is evaluated only for rows that the left side does not decide
        undecided = left.expr.fill_null(True) if name == "And" else ~left.expr.fill_null(False)
        expr = left.expr & right.expr if name == "And" else left.expr | right.expr
        return Typed(expr, BOOLEAN, left.failures + within(right.failures, undecided), text=text)

    def _not(self, node: Any, text: object) -> Typed:
        return self._negated(self._truth(node.this), text)

    def _is(self, node: Any, text: object) -> Typed:
        if isinstance(node.expression, self.exp.Null):
            return self._is_null(self.value(node.this), text)
        if isinstance(node.expression, self.exp.Boolean):
            value = self._truth(node.this)
            expr = value.expr if node.expression.this else ~value.expr
            return Typed(expr.fill_null(False), BOOLEAN, value.failures, text=text)
        raise refused(str(text), self.text)

    def _is_null(self, value: Typed, text: object) -> Typed:
        return Typed(value.expr.is_null(), BOOLEAN, value.failures, text=text)

    def _nullsafeeq(self, node: Any, text: object) -> Typed:
        return self.compare("<=>", self.value(node.this), self.value(node.expression), text)

    def _nullsafeneq(self, node: Any, text: object) -> Typed:
        return self._negated(self._nullsafeeq(node, text), text)

    def _between(self, node: Any, text: object) -> Typed:
        if node.args.get("symmetric"):
            raise refused("BETWEEN SYMMETRIC", self.text)
        value = self.value(node.this)
        low = self.compare(">=", value, self.value(node.args["low"]), text)
        high = self.compare("<=", value, self.value(node.args["high"]), text)
        return Typed(low.expr & high.expr, BOOLEAN, merged(low, high), text=text)

    def _in(self, node: Any, text: object) -> Typed:
        if node.args.get("query") or node.args.get("unnest") or not node.expressions:
            raise refused(str(text), self.text)
        import polars as pl

        given = [self.value(e) for e in (node.this, *node.expressions)]
        _, (value, *items) = self._common_type(given, text)
        constants, found = [], []
        for literal, item in zip(given[1:], items, strict=True):
            if literal.is_literal and literal.literal is not None and not item.failures:
                constants.append(item.expr)
            else:
                found.append(value.expr == item.expr)
        if constants:
            listed: Any = pl.concat_list(constants)
            if self.scope.kinds:  # computed once; without columns it must stay a single value
                listed = pl.select(listed).to_series()
            found.append(value.expr.is_in(listed))
        return Typed(pl.any_horizontal(found), BOOLEAN, merged(value, *items), text=text)

    def _common_type(
        self, values: Sequence[Typed], text: object, *, equality: bool = True, comparing: bool = False
    ) -> tuple[pa.DataType, list[Typed]]:
        """Cast values to their common type in Spark."""
        import polars as pl

        values = [not_months(v, text) for v in values]
        # Spark converts text next to a date or a timestamp
        datetimes = [v.kind for v in values if family(v.kind) in ("date", "timestamp", "timestamp_ntz")]
        if datetimes:
            values = [self._text_as_time(v, datetimes[0], text) if v.kind == STRING else v for v in values]
        kinds = [
            # in operators with a decimal, the precision of an integer literal is its number of digits
            pa.decimal128(len(str(abs(v.literal))), 0) if comparing and self._counts_as_decimal(v, values) else v.kind
            for v in values
        ]
        kind = common(kinds, ansi=self.scope.ansi)
        if kind is None:
            self._no_common_type(values, kinds, text)
        if pa.types.is_timestamp(kind) and kind.unit == "ns":
            literals = [v.expr for v in values if v.literal_or(None) is not None]
            if literals and pl.select(pl.any_horizontal(map(beyond_nanoseconds, literals))).item():
                if not comparing:
                    raise refused("a timestamp beside nanoseconds that are not enough for it", text)
                # all timestamps compare alike with such a distant one, with or without their nanoseconds
                kind = pa.timestamp("us", kind.tz)
        if not equality and any(v.ordered for v in values):
            raise refused("a comparison of ordered categories, which here are text,", text)
        return kind, [self._cast_to(v, kind, text) for v in values]

    def _counts_as_decimal(self, value: Typed, values: Sequence[Typed]) -> bool:
        integer = value.is_literal and isinstance(value.literal, int) and family(value.kind) == "integer"
        return integer and any(family(v.kind) == "decimal" for v in values)

    def _cast_to(self, value: Typed, kind: pa.DataType, text: object) -> Typed:
        import polars as pl

        if value.kind == kind:
            return value
        if pa.types.is_timestamp(kind) and (pa.types.is_timestamp(value.kind) or value.kind == DATE):
            failures = value.failures
            if kind.unit == "ns" and getattr(value.kind, "unit", "us") != "ns" and not value.is_literal:
                rows, remedy = beyond_nanoseconds(value.expr), "cast the nanoseconds to TIMESTAMP_NTZ first"
                failures += (failing(rows, "a timestamp that the nanoseconds beside it cannot hold", text, remedy),)
            # as timestamps first: the text of a timestamp depends on the zone, and a date has none
            expr = value.expr if value.kind != DATE else value.expr.cast(pl.Datetime("us"))
            expr = expr.dt.cast_time_unit(kind.unit)
            expr = expr if kind.tz == getattr(value.kind, "tz", None) else expr.dt.convert_time_zone(kind.tz)
            return Typed(expr, kind, failures, text=value.text)
        if value.kind == VOID:
            return Typed(null_of(kind), kind, value.failures, None, value.text)
        if self._counts_as_decimal(value, [Typed(value.expr, kind)]):
            return Typed(pl.lit(Decimal(value.literal), dtype=plain(kind)), kind, literal=Decimal(value.literal))
        made = cast(value, kind, text, self.scope)
        if value.is_literal and family(value.kind) == family(kind) == "integer":
            return Typed(pl.lit(value.literal, dtype=plain(kind)), kind, literal=value.literal, text=value.text)
        return made

    def _text_as_time(self, value: Typed, kind: pa.DataType, text: object) -> Typed:
        if isinstance(value.literal, str):
            if kind == DATE and date_of_text(value.literal) is not None:
                return cast(value, DATE, text, self.scope)
            if kind != DATE and timestamp_of_text(value.literal) is not None:
                zone = None if kind.tz is None else self.scope.zone()
                if kind.tz is None or zone is not None:
                    return cast(value, pa.timestamp("us", zone), text, self.scope)
        raise refused(f"a comparison of {shown(kind)} and a text that is no full date or timestamp", text)

    def _no_common_type(self, values: Sequence[Typed], kinds: Sequence[pa.DataType], text: object) -> NoReturn:
        families = {family(k) for k in kinds} - {"void"}
        names = " and ".join(dict.fromkeys(map(shown, kinds)))
        numbers = families & {"integer", "float", "double", "decimal"}
        if numbers and families & {"interval"}:
            raise SpecError(
                f"{hide_result_columns(self.text)}: {names} cannot be compared or joined; write "
                "datediff(d, lag(d) OVER ...) for a number of days, or compare with INTERVAL '1' DAY"
            )
        if numbers and families & {"date", "timestamp", "timestamp_ntz", "boolean"}:
            raise SpecError(
                f"{hide_result_columns(self.text)}: {names} cannot be compared or joined, in Spark neither; write "
                "DATE '2024-01-01' for a date, or cast one of them"
            )
        raise refused(f"{names} together", text)

    def compare(self, symbol: str, left: Typed, right: Typed, text: object) -> Typed:
        """Compare two values whose types have a common type."""
        for one, other in ((left, right), (right, left)):
            interval = one.literal if isinstance(one.literal, Interval) else None
            if interval is not None and (interval.months or not isinstance(other.kind, pa.DurationType)):
                if family(other.kind) in ("integer", "float", "double", "decimal"):
                    self._no_common_type([one, other], [one.kind, other.kind], text)
                what = "an interval of months" if interval.months else "an interval"
                raise refused(f"a comparison of {shown(other.kind)} and {what}", text)
        kind, (one, other) = self._common_type(
            [left, right], text, equality=symbol in ("=", "<>", "<=>"), comparing=True
        )
        if family(kind) in ("array", "struct") or pa.types.is_nested(kind):
            raise refused(f"a comparison of {shown(kind)}", text)
        expr = {
            "=": lambda a, b: a == b, "<>": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
            ">": lambda a, b: a > b, ">=": lambda a, b: a >= b, "<=>": lambda a, b: a.eq_missing(b),
        }[symbol](one.expr, other.expr)  # fmt: skip
        return Typed(expr, BOOLEAN, merged(one, other), text=text)

    # --- CASE and similar expressions

    def _case(self, node: Any, text: object) -> Typed:
        operand = None if node.this is None else self.value(node.this)
        branches = []
        for branch in node.args["ifs"]:
            if operand is None:
                condition = self._truth(branch.this)
            else:
                condition = self.compare("=", operand, self.value(branch.this), text)
            branches.append((condition, self.value(branch.args["true"])))
        default = node.args.get("default")
        return self.chosen(branches, typed_literal(None, "NULL") if default is None else self.value(default), text)

    def _if(self, node: Any, text: object) -> Typed:
        otherwise = node.args.get("false")
        last = typed_literal(None, "NULL") if otherwise is None else self.value(otherwise)
        return self.chosen([(self._truth(node.this), self.value(node.args["true"]))], last, text)

    def chosen(self, branches: Sequence[tuple[Typed, Typed]], otherwise: Typed, text: object) -> Typed:
        """Return the value of the first branch whose condition is true; other branches do not fail."""
        import polars as pl

        kind, results = self._common_type([*(r for _, r in branches), otherwise], text)
        failures: tuple[Failure, ...] = ()
        reached: pl.Expr | None = None
        expr: Any = pl
        for (condition, _), result in zip(branches, results, strict=False):
            holds = condition.expr.fill_null(False)
            here = holds if reached is None else reached & holds
            failures += condition.failures if reached is None else within(condition.failures, reached)
            failures += within(result.failures, here)
            reached = ~holds if reached is None else reached & ~holds
            expr = expr.when(condition.expr).then(result.expr)
        assert reached is not None
        failures += within(results[-1].failures, reached)
        ordered = any(r.ordered for r in results)
        return Typed(expr.otherwise(results[-1].expr), kind, failures, text=text, ordered=ordered)

    def _coalesce(self, values: Sequence[Typed], text: object) -> Typed:
        import polars as pl

        kind, parts = self._common_type(values, text)
        failures: tuple[Failure, ...] = parts[0].failures
        for position, part in enumerate(parts):
            if position and part.failures:
                failures += within(part.failures, pl.all_horizontal([p.expr.is_null() for p in parts[:position]]))
        ordered = any(p.ordered for p in parts)
        return Typed(pl.coalesce([p.expr for p in parts]), kind, failures, text=text, ordered=ordered)

    def _extreme(self, name: str, values: Sequence[Typed], text: object) -> Typed:
        import polars as pl

        kind, parts = self._common_type(values, text, equality=False)
        if len(parts) < 2 or family(kind) in ("array", "struct"):
            raise refused(f"{name} of {shown(kind)}", text)
        exprs = [p.expr for p in reversed(parts)]  # among 0.0 and -0.0 Polars returns the last one, and Spark the first
        best = pl.max_horizontal(exprs) if name == "greatest" else pl.min_horizontal(exprs)
        if name == "greatest" and family(kind) in ("float", "double"):  # NaN is the greatest value; Polars ignores it
            nan = pl.lit(float("nan"), dtype=plain(kind))
            best = pl.when(pl.any_horizontal([e.is_nan() for e in exprs])).then(nan).otherwise(best)
        return Typed(best, kind, merged(*parts), text=text)

    # --- functions with special syntax

    def _like(self, node: Any, text: object, *, case_insensitive: bool = False, escape: str = "\\") -> Typed:
        value, pattern = self.value(node.this), self.value(node.expression)
        made = self._matched(value, pattern, text, case_insensitive=case_insensitive, escape=escape)
        return self._negated(made, text) if node.args.get("negate") else made

    def _matched(
        self, value: Typed, pattern: Typed, text: object, *, case_insensitive: bool, escape: str = "\\"
    ) -> Typed:
        if value.kind != STRING:
            raise refused(f"LIKE of {shown(value.kind)}", text)
        found = texts.like(value, pattern, text, escape=escape, case_insensitive=case_insensitive)
        return Typed(found, BOOLEAN, value.failures, text=text)

    def _negated(self, value: Typed, text: object) -> Typed:
        return Typed(~value.expr, BOOLEAN, value.failures, text=text)

    def _ilike(self, node: Any, text: object) -> Typed:
        return self._like(node, text, case_insensitive=True)

    def _escape(self, node: Any, text: object) -> Typed:
        escape = value_of(node.expression)
        if type(node.this).__name__ != "Like" or not isinstance(escape, str) or len(escape) != 1 or escape in "%_":
            raise refused(str(text), self.text)
        return self._like(node.this, text, escape=escape)

    def _regexplike(self, node: Any, text: object) -> Typed:
        made = self.call("rlike", [self.value(node.this), self.value(node.expression)], text)
        return self._negated(made, text) if node.args.get("negate") else made

    def _trim(self, node: Any, text: object) -> Typed:
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position")).upper(), "trim")
        letters = [] if node.expression is None else [self.value(node.expression)]
        return self.call(name, [*letters, self.value(node.this)], text)

    def _substring(self, node: Any, text: object) -> Typed:
        given = [node.this, node.args.get("start"), node.args.get("length")]
        return self.call("substring", [self.value(g) for g in given if g is not None], text)

    def _strposition(self, node: Any, text: object) -> Typed:
        if node.args.get("position") is not None or node.args.get("occurrence") is not None:
            raise refused(str(text), self.text)
        return self.call("instr", [self.value(node.this), self.value(node.args["substr"])], text)

    def _extract(self, node: Any, text: object) -> Typed:
        field = times.EXTRACTED.get(str(node.this.name).upper())
        value = self.value(node.expression)
        if field is None or family(value.kind) not in ("date", "timestamp", "timestamp_ntz"):
            raise refused(f"{text} over {shown(value.kind)}", self.text)
        return times.field(field)([value], self.scope, text)

    # --- functions

    def _function(self, name: str, arguments: Sequence[Any], text: object) -> Typed:
        args = [self.value(a) for a in arguments]
        match (name, args):
            case ("coalesce", [_, *_]) | ("nvl" | "ifnull", [_, _]):
                return self._coalesce(args, text)
            case ("nvl2", [value, there, missing]):
                return self.chosen([(self._negated(self._is_null(value, text), text), there)], missing, text)
            case ("iff", [condition, chosen, otherwise]):
                return self.chosen([(self._true(condition), chosen)], otherwise, text)
            case ("nullif", [value, other]):
                same = self.compare("=", value, other, text)
                return self.chosen([(same, typed_literal(None, "NULL"))], value, text)
            case ("isnull", [value]):
                return self._is_null(value, text)
            case ("isnotnull", [value]):
                return self._negated(self._is_null(value, text), text)
            case ("equal_null", [one, other]):
                return self.compare("<=>", one, other, text)
            case ("get", [items, index]):
                return self._item(items, index, text, failing_outside=False)
            case ("greatest" | "least", _):
                return self._extreme(name, args, text)
            case ("like" | "ilike", [value, pattern]):
                return self._matched(value, pattern, text, case_insensitive=name == "ilike")
            case (_, [value]) if name in _CAST_FUNCTIONS:
                return cast(value, _CAST_FUNCTIONS[name], text, self.scope)
            case _:
                return self.call(name, args, text)

    def call(self, name: str, args: list[Typed], text: object) -> Typed:
        return called(name, args, self.scope, text, self.text)
