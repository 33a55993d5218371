"""SQL strings: ``fn(args) [FILTER (WHERE c)] [IGNORE NULLS] OVER (...) [AS name]``, read by sqlglot into builder calls.

The dialect is sqlglot's Spark with one change: it knows no functions, so that each keeps the name and the arguments the
user wrote. GROUPS, EXCLUDE, DISTINCT and IGNORE NULLS inside the parentheses, which Spark's own grammar lacks, are
read too.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from .call import Call, literal_flag
from .derived import Derived, place
from .exceptions import SpecError, UnsupportedError
from .expr import Column, Expr, Host, Literal, Scalar, Sql
from .interval import Interval, parse_duration
from .spec import Bound, Frame, Order, Window, default_frame, normalise_exclude, relative

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import Dialect

__all__ = ["call_of_parts", "columns_of", "parse_call", "parse_expression", "parse_item", "parse_order"]

# function -> the position of its optional "ignore nulls" flag, which Spark's functions take as a last argument
_FLAG_POSITION = {
    "first": 1, "first_value": 1, "last": 1, "last_value": 1, "any_value": 1, "nth_value": 2, "lag": 3, "lead": 3,
}  # fmt: skip


# functions whose arguments have a grammar of their own: these sqlglot must read itself
_SPECIAL_SYNTAX = {"CAST", "TRY_CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "TRIM"}


def parse_item(text: str) -> Call | Derived:
    """Read one SQL select item that holds at least one window call.

    Parameters
    ----------
    text
        SQL in Spark's dialect.

    Returns
    -------
    Call or Derived
        A call where the item is one and nothing more; its alias is its name.

    Raises
    ------
    SpecError
        If the text cannot be read, or has no OVER.
    """
    exp = _exp()
    tree = _parse(text)
    name = None
    if isinstance(tree, exp.Alias):
        name = tree.alias
        tree = tree.this
    if tree.find(exp.Window) is None:
        raise SpecError(f"{text!r} has no window: write it as fn(...) OVER (PARTITION BY ... ORDER BY ...)")
    item = _expression(tree)
    assert isinstance(item, (Call, Derived))
    return item if name is None else item.alias(name)


def parse_call(text: str) -> Call:
    """Read one SQL select item that is a window call and nothing more.

    Parameters
    ----------
    text
        SQL in Spark's dialect.

    Returns
    -------
    Call
        What the builder would have given.

    Raises
    ------
    SpecError
        If the text cannot be read, has no OVER, or is an expression around a call.
    """
    item = parse_item(text)
    if isinstance(item, Derived):
        raise SpecError(f"{text!r} is an expression around window calls, and not a call")
    return item


def parse_expression(text: str) -> Expr:
    """Read a SQL expression, with window calls in it or without.

    Parameters
    ----------
    text
        SQL in Spark's dialect.

    Returns
    -------
    Column, Literal, Sql, Call or Derived
        The simplest that it is.

    Raises
    ------
    SpecError
        If the text cannot be read.
    """
    return _expression(_parse(text))


def columns_of(expression: Scalar) -> set[str] | None:
    """List the columns that a scalar expression may read, in lower case.

    Parameters
    ----------
    expression
        The expression.

    Returns
    -------
    set of str or None
        All parts of all names in it, so that ``a.b`` may be a column or a field; None where that cannot be told.
    """
    if isinstance(expression, Column):
        return {expression.name.lower()}
    if isinstance(expression, Literal):
        return set()
    if isinstance(expression, Host):
        return None
    exp = _exp()
    tree = _parse(expression.text)
    if tree.find(exp.Star) is not None:
        return None
    return {i.name.lower() for i in tree.find_all(exp.Identifier)}


def call_of_parts(function: str, args: list[Expr], **modifiers: Any) -> Call:
    """Make a call of a function's name and all its arguments, taking Spark's trailing "ignore nulls" flag off them.

    Parameters
    ----------
    function
        The function's name.
    args
        All arguments as written.
    **modifiers
        Fields of the call.

    Returns
    -------
    Call
        The call.
    """
    name = function.lower()
    position = _FLAG_POSITION.get(name)
    if position is not None and len(args) == position + 1 and (flag := literal_flag(args[position])) is not None:
        args = args[:position]
        if flag:
            modifiers["nulls_ignored"] = True
    if name in ("lag", "lead"):
        if len(args) == 3 and isinstance(args[2], Literal) and args[2].value is None:
            args = args[:2]
        if len(args) == 2 and args[1] == Literal(1) and not isinstance(args[1].value, bool):
            args = args[:1]
    return Call(name, tuple(args), **modifiers)


def parse_order(text: str) -> Order:
    """Read one SQL order key, such as ``x DESC NULLS FIRST``."""
    exp = _exp()
    order = _parse(f"f() OVER (ORDER BY {text})").args["order"]
    assert isinstance(order, exp.Order)
    return _order(order.expressions[0])


def _exp() -> Any:
    try:
        from sqlglot import exp
    except ImportError:
        raise UnsupportedError("SQL strings need sqlglot: pip install 'windrow[sql]', or use the builder") from None
    return exp


@functools.cache
def _dialect() -> type[Dialect]:
    from sqlglot.dialects.spark import Spark

    class WindrowSpark(Spark):
        """Spark's dialect in which every function is anonymous."""

        class Parser(Spark.Parser):  # type: ignore[misc,valid-type]
            """Spark's parser without functions of its own."""

            FUNCTIONS: ClassVar[dict[str, Any]] = {}
            FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
                k: v for k, v in Spark.Parser.FUNCTION_PARSERS.items() if k in _SPECIAL_SYNTAX
            }
            SUBQUERY_PREDICATES: ClassVar[dict[Any, Any]] = {}

    return WindrowSpark


def _text(node: Any) -> str:
    return str(node.sql(dialect=_dialect(), normalize_functions=False))


def _parse(text: str) -> Any:
    _exp()
    from sqlglot.errors import SqlglotError

    if not text.strip():
        raise SpecError("a SQL string is empty; write it as fn(...) OVER (...)")
    try:
        trees = _dialect()().parse(text)
    except SqlglotError as error:
        detail = getattr(error, "errors", None) or []
        if detail and detail[0].get("highlight"):
            at = detail[0]
            said = f"{at['description'].rstrip('. ')} at {at['highlight']!r} (line {at['line']}, column {at['col']})"
        else:
            said = str(error).splitlines()[0]
        raise SpecError(f"{text!r} cannot be read as SQL: {said}") from None
    if len(trees) != 1 or trees[0] is None:
        raise SpecError(f"{text!r} is not one SQL expression")
    return trees[0]


def _window_call(tree: Any, text: str) -> Call:
    exp = _exp()
    node = tree.this
    modifiers: dict[str, Any] = {}
    while True:
        if isinstance(node, (exp.IgnoreNulls, exp.RespectNulls)):
            modifiers["nulls_ignored"] = isinstance(node, exp.IgnoreNulls)
        elif isinstance(node, exp.Filter):
            modifiers["condition"] = _expression(node.expression.this)
        else:
            break
        node = node.this
    if isinstance(node, exp.WithinGroup):
        raise UnsupportedError(f"{text!r}: WITHIN GROUP is not supported yet")
    if isinstance(node, exp.Any):  # "any" is a keyword to sqlglot
        node = exp.Anonymous(this="any", expressions=[node.this.unnest()])
    if not isinstance(node, exp.Anonymous):
        raise SpecError(f"{text!r}: {_text(node)} is not a function that OVER could follow")
    function = str(node.this).lower()
    args: list[Expr] = []
    for argument in node.expressions:
        _read_argument(argument, args, modifiers)
    if function == "count" and not node.expressions:
        raise SpecError(f"{text!r}: count() takes what to count; write count(*) for rows")
    modifiers["window"] = _window(tree, text)
    return call_of_parts(function, args, **modifiers)


def _read_argument(node: Any, args: list[Expr], modifiers: dict[str, Any]) -> None:
    exp = _exp()
    if isinstance(node, exp.Distinct):
        modifiers["is_distinct"] = True
        for part in node.expressions:
            _read_argument(part, args, modifiers)
    elif isinstance(node, (exp.IgnoreNulls, exp.RespectNulls)):
        modifiers["nulls_ignored"] = isinstance(node, exp.IgnoreNulls)
        _read_argument(node.this, args, modifiers)
    elif isinstance(node, exp.Order):
        modifiers["argument_order"] = tuple(_order(o) for o in node.expressions)
        if node.this is not None:
            _read_argument(node.this, args, modifiers)
    elif not isinstance(node, exp.Star):
        args.append(_expression(node))


def _window(tree: Any, text: str) -> Window:
    if tree.args.get("alias") is not None:
        raise UnsupportedError(f"{text!r}: named windows are not supported yet; write the window out in OVER (...)")
    order = tree.args.get("order")
    orders = tuple(_order(o) for o in order.expressions) if order is not None else ()
    spec = tree.args.get("spec")
    return Window(
        tuple(_expression(k) for k in tree.args.get("partition_by") or ()),
        orders,
        None if spec is None else _frame(spec, bool(orders)),
    )


def _order(node: Any) -> Order:
    exp = _exp()
    if not isinstance(node, exp.Ordered):
        return Order(_expression(node))
    descending = bool(node.args.get("desc"))
    nulls_first = node.args.get("nulls_first")
    return Order(_expression(node.this), descending, (not descending) if nulls_first is None else bool(nulls_first))


def _frame(spec: Any, ordered: bool) -> Frame:
    excluded = normalise_exclude(str(spec.args["exclude"].this) if spec.args.get("exclude") is not None else None)
    kind = spec.args.get("kind")
    if not kind:
        return default_frame(ordered, excluded)
    start = _bound(spec.args.get("start"), spec.args.get("start_side"), "PRECEDING")
    # ROWS n PRECEDING, with one bound, ends at the current row
    end = (
        Bound("current_row")
        if spec.args.get("end") is None
        else _bound(spec.args["end"], spec.args.get("end_side"), "FOLLOWING")
    )
    return Frame(kind.lower(), start, end, excluded)


def _bound(value: Any, side: str | None, default: str) -> Bound:
    if isinstance(value, str) and value.upper() == "CURRENT ROW":
        return Bound("current_row")
    forwards = (side or default).upper() == "FOLLOWING"
    if isinstance(value, str):
        return Bound("unbounded_following" if forwards else "unbounded_preceding")
    if side is None:
        raise SpecError(f"the frame's bound {_text(value)} says neither PRECEDING nor FOLLOWING")
    offset = _expression(value)
    if isinstance(offset, Literal):
        if isinstance(offset.value, str):
            offset = Literal(_text_offset(offset.value))
        relative(offset, start=not forwards)  # refuses what cannot bound a frame
    return Bound("following" if forwards else "preceding", offset)


def _text_offset(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        return parse_duration(text)


def _expression(node: Any) -> Expr:
    exp = _exp()
    if node.find(exp.Window) is not None:
        while isinstance(node, exp.Paren):
            node = node.this
        return _window_call(node, _text(node)) if isinstance(node, exp.Window) else _derived(node)
    if isinstance(node, exp.Column) and not node.table:
        return Column(node.name)
    if (value := _value(node)) is not _NO_VALUE:
        return Literal(value)
    return Sql(_text(node))


def _derived(node: Any) -> Derived:
    """Take the window calls out of a scalar expression; columns named by their places stand for them."""
    exp = _exp()
    calls: dict[str, Call] = {}
    rest = node.copy()
    # the outermost calls; what stands inside them is theirs
    for window in [w for w in rest.find_all(exp.Window) if w.find_ancestor(exp.Window) is None]:
        call = _window_call(window, _text(window))
        at = place(call)
        calls[at] = call
        window.replace(exp.column(at))
    return Derived(Sql(_text(rest)), calls, _text(node))


_NO_VALUE: Any = object()
_CASTS: dict[str, Callable[[Any], Any]] = {
    "TINYINT": int, "SMALLINT": int, "INT": int, "BIGINT": int, "FLOAT": float, "DOUBLE": float,
    # a TIMESTAMP's text is read in the session's zone: that is left to the host
    "DATE": dt.date.fromisoformat, "TIMESTAMPNTZ": dt.datetime.fromisoformat,
}  # fmt: skip


def _value(node: Any) -> Any:
    """Give the Python value of a literal, or of arithmetic between literals; else ``_NO_VALUE``."""
    exp = _exp()
    if isinstance(node, exp.Paren):
        return _value(node.this)
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal):
        if node.is_string:
            return str(node.this)
        text = str(node.this)
        if re.fullmatch(r"\d+", text):
            return int(text)
        return float(text) if "e" in text.lower() else Decimal(text)
    if isinstance(node, exp.Interval):
        return _interval(node)
    if isinstance(node, exp.Neg):
        value = _value(node.this)
        return -value if isinstance(value, (int, float, Decimal, Interval)) else _NO_VALUE
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul)):
        return _fold(node, _value(node.this), _value(node.expression))
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal):
        convert = _CASTS.get(node.to.this.value if hasattr(node.to.this, "value") else str(node.to.this))
        try:
            return convert(str(node.this.this)) if convert else _NO_VALUE
        except ValueError:
            return _NO_VALUE
    if isinstance(node, exp.Array) or (isinstance(node, exp.Anonymous) and str(node.this).lower() == "array"):
        values = tuple(_value(item) for item in node.expressions)
        return _NO_VALUE if _NO_VALUE in values else values
    return _NO_VALUE


def _fold(node: Any, left: Any, right: Any) -> Any:
    exp = _exp()
    if isinstance(left, Interval) and isinstance(right, Interval) and not isinstance(node, exp.Mul):
        right = -right if isinstance(node, exp.Sub) else right
        return Interval(left.months + right.months, left.days + right.days, left.microseconds + right.microseconds)
    if type(left) is not type(right) or not isinstance(left, (int, Decimal)) or isinstance(left, bool):
        return _NO_VALUE
    if isinstance(node, exp.Add):
        return left + right
    return left - right if isinstance(node, exp.Sub) else left * right


def _interval(node: Any) -> Any:
    exp = _exp()
    unit = node.args.get("unit")
    value = _NO_VALUE if node.this is None else _value(node.this)
    if isinstance(value, (int, Decimal)):
        value = str(value)
    if not isinstance(value, str):
        return _NO_VALUE
    if unit is None:
        return parse_duration(value)
    if isinstance(unit, exp.IntervalSpan):
        return _span(value, str(unit.this.this).upper(), str(unit.expression.this).upper())
    return parse_duration(f"{value} {unit.this}")


def _span(text: str, largest: str, smallest: str) -> Interval:
    """Read ``INTERVAL '1 02:03:04.5' DAY TO SECOND`` and ``INTERVAL '1-2' YEAR TO MONTH``."""
    fields = ["DAY", "HOUR", "MINUTE", "SECOND"]
    match = re.fullmatch(r"\s*([+-]?)\s*([\d .:-]+?)\s*", text)
    if match:
        sign = -1 if match[1] == "-" else 1
        parts = re.split(r"[ :-]+", match[2])
        names = ["YEAR", "MONTH"] if largest == "YEAR" else fields[fields.index(largest) : fields.index(smallest) + 1]
        if len(parts) == len(names):
            span = parse_duration(" ".join(f"{part} {name}" for part, name in zip(parts, names, strict=True)))
            return span if sign == 1 else -span
    raise SpecError(f"INTERVAL {text!r} {largest} TO {smallest} cannot be read")
