"""Parses SQL strings: ``fn(args) [FILTER (WHERE c)] [IGNORE NULLS] OVER (...)``, with scalars around and inside.

sqlglot parses the text, in its Spark dialect without functions, so that each call keeps the name and the arguments that
the user wrote. GROUPS, EXCLUDE, DISTINCT, and IGNORE NULLS inside the parentheses are accepted as well; Spark's own
grammar lacks them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Any

from .._model.calls import Call, Derived, drop_default, literal_flag, with_float_settings
from .._model.catalog import function_names, function_of, functions_within_group
from .._model.expressions import Column, Expr, HostExpression, Literal, Scalar, Sql
from .._model.frames import Bound, Frame, default_frame, normalise_exclude, relative
from .._model.intervals import parse_duration
from .._model.names import check_text, no_window_call
from .._model.replace import replace
from .._model.result_columns import result_column
from .._model.windows import Order, Window
from ..exceptions import SpecError, short_traceback, shown
from .grammar import function_name, parse, syntax, text_of
from .literals import NO_VALUE, needs_explicit_type, value_of
from .offset_frame import has_offset_frame

__all__ = [
    "bare_functions",
    "build_call",
    "column_in_parentheses",
    "columns_of",
    "expr",
    "functions_in",
    "parse_call",
    "parse_expression",
    "parse_item",
    "read_order",
    "read_tree",
    "refuse_bare_functions",
]

# nodes between a function and its OVER
_MODIFIERS = ("Filter", "WithinGroup", "IgnoreNulls", "RespectNulls")
_OVER = re.compile(r"\bover\b", re.IGNORECASE)
# an alias ends a text
_AS = re.compile(r"\bas\s+(\w+|`[^`]*`)\s*$", re.IGNORECASE)
_NUMBER = re.compile(
    r"[+-]?(?:(?P<whole>\d+)|(?P<exact>\d+\.\d*|\.\d+)|(?:\d+\.?\d*|\.\d+)e[+-]?\d+|inf|infinity|nan)",
    re.IGNORECASE | re.ASCII,
)


@lru_cache(maxsize=1024)
def parse_item(text: str) -> Call | Derived:
    """Parse one SQL select item with at least one window call. Recent results are cached.

    Parameters
    ----------
    text
        SQL in Spark's dialect.

    Returns
    -------
    Call or Derived
        A Call if the whole item is one call; the alias is its name.

    Raises
    ------
    SpecError
        If the text is invalid or has no OVER.
    """
    exp = syntax()
    tree = parse(text)
    name = None
    if isinstance(tree, exp.Alias):
        name = tree.alias
        tree = tree.this
    if tree.find(exp.Window) is None:
        refuse_bare_functions(tree)
        raise no_window_call(text)
    item = read_tree(tree)
    assert isinstance(item, (Call, Derived))
    return item if name is None else item.alias(name)


def parse_call(text: str) -> Call:
    """Parse one SQL select item that consists of a single window call.

    Parameters
    ----------
    text
        SQL in Spark's dialect.

    Returns
    -------
    Call
        The same call as from the builder.

    Raises
    ------
    SpecError
        If the text is invalid, has no OVER, or is an expression around a call.
    """
    item = parse_item(text)
    if isinstance(item, Derived):
        raise SpecError(f"{text!r} is an expression around window calls, and not a call")
    return item


def parse_expression(text: str) -> Expr:
    """Parse a SQL expression, with or without window calls.

    Parameters
    ----------
    text
        SQL in Spark's dialect.

    Returns
    -------
    Column, Literal, Sql, Call or Derived
        The simplest type that represents the expression; with its name, if the text has an alias.

    Raises
    ------
    SpecError
        If the text is invalid.
    """
    tree = parse(text)
    if isinstance(tree, syntax().Alias):
        named: Expr = read_tree(tree.this).alias(tree.alias)
        return named
    return read_tree(tree)


def read_tree(tree: Any) -> Expr:
    """Convert the syntax tree of an expression; window functions without OVER are errors.

    Parameters
    ----------
    tree
        A tree of sqlglot's, without an alias.

    Returns
    -------
    Column, Literal, Sql, Call or Derived
        The simplest type that represents the expression.
    """
    refuse_bare_functions(tree)
    return _expression(tree)


def refuse_bare_functions(tree: Any) -> None:
    """Refuse window functions and aggregates without OVER.

    Parameters
    ----------
    tree
        A tree of sqlglot's.

    Raises
    ------
    SpecError
        If the tree contains one.
    """
    for _, outer in bare_functions(tree):
        bare = text_of(outer)
        raise SpecError(
            f"{text_of(tree)}: {bare} has no OVER; write {bare} OVER (PARTITION BY ... ORDER BY ...), "
            f"or {bare} OVER () for all rows"
        )


def bare_functions(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Find the window functions and aggregates without OVER.

    Parameters
    ----------
    tree
        A tree of sqlglot's.

    Yields
    ------
    tuple
        The function, and the tree that it makes with FILTER, IGNORE NULLS and WITHIN GROUP.
    """
    exp = syntax()
    for node in tree.find_all(exp.Anonymous, exp.Any):
        outer = node
        while type(outer.parent).__name__ in _MODIFIERS and outer.parent.this is outer:
            outer = outer.parent
        is_called_over = isinstance(outer.parent, exp.Window) and outer.parent.this is outer
        if function_name(node) in function_names() and not is_called_over:
            yield node, outer


def columns_of(expression: Scalar) -> set[str] | None:
    """List the columns that a scalar expression may read, in lower case.

    Parameters
    ----------
    expression
        The expression.

    Returns
    -------
    set of str or None
        All parts of all names, because ``a.b`` may be a column or a field; None if the columns are unknown.
    """
    if isinstance(expression, Column):
        return {expression.name.lower()}
    if isinstance(expression, Literal):
        return set()
    if isinstance(expression, HostExpression):
        return None if expression.reads is None else set(expression.reads)
    names = _names_in(expression.text)
    return None if names is None else set(names)


@lru_cache(maxsize=1024)
def _names_in(text: str) -> frozenset[str] | None:
    exp = syntax()
    tree = parse(text)
    if tree.find(exp.Star) is not None:
        return None
    return frozenset(i.name.lower() for i in tree.find_all(exp.Identifier))


@lru_cache(maxsize=1024)
def column_in_parentheses(text: str) -> str | None:
    """Return the name of the column if SQL text is a column in parentheses; otherwise None."""
    if not text.startswith("("):
        return None
    exp, node = syntax(), parse(text)
    while isinstance(node, exp.Paren):
        node = node.this
    return node.name if isinstance(node, exp.Column) and not node.table else None


def functions_in(text: str) -> set[str]:
    """List the names of the functions in SQL text, in lower case."""
    return {name for node in parse(text).find_all(syntax().Func) if (name := function_name(node)) is not None}


def build_call(function: str, args: list[Expr], **modifiers: Any) -> Call:
    """Make a call from a function's name and arguments; Spark's trailing "ignore nulls" argument becomes a modifier.

    Parameters
    ----------
    function
        The function's name.
    args
        All arguments, as written.
    **modifiers
        Fields of the call.

    Returns
    -------
    Call
        The call.
    """
    name = function.lower()
    known = function_of(name)
    position = None if known is None else known.ignore_nulls_index
    if position is not None and len(args) == position + 1 and (flag := literal_flag(args[position])) is not None:
        args = args[:position]
        if flag:
            modifiers["nulls_ignored"] = True
    if known is not None and known.family == "offset":  # Spark writes the default arguments
        for index in (2, 1):
            args = drop_default(known, args, index)
    starts = [] if known is None else known.positions("start")
    if len(args) - 1 in starts and isinstance(args[-1], Literal) and args[-1].value is None:
        args = args[:-1]  # a start that is NULL is none
    return Call(name, tuple(args), **modifiers)


def _window_call(tree: Any) -> Call:
    exp = syntax()
    node = tree.this
    modifiers: dict[str, Any] = {}
    within: tuple[Order, ...] = ()
    while True:
        if isinstance(node, (exp.IgnoreNulls, exp.RespectNulls)):
            modifiers["nulls_ignored"] = isinstance(node, exp.IgnoreNulls)
        elif isinstance(node, exp.Filter):
            modifiers["condition"] = _expression(node.expression.this)
        elif isinstance(node, exp.WithinGroup):
            within = tuple(read_order(o) for o in node.expression.expressions)
        else:
            break
        node = node.this
    function = function_name(node)
    if function is None:
        raise SpecError(f"{text_of(tree)}: {text_of(node)} is not a function that OVER could follow")
    arguments = [node.this.unnest()] if isinstance(node, exp.Any) else node.expressions
    args: list[Expr] = []
    for argument in arguments:
        _read_argument(argument, args, modifiers)
    known = function_of(function)
    if known is not None and known.takes_star and not arguments:
        raise SpecError(f"{text_of(tree)}: {function}() takes what to count; write {function}(*) for rows")
    group = None if known is None else known.within_group
    if known is not None and group == "key" and (within or len(args) < known.min_arguments):
        if len(within) != 1 or "argument_order" in modifiers:
            raise SpecError(f"{text_of(tree)}: {function} takes one key, written WITHIN GROUP (ORDER BY x)")
        args.insert(0, within[0].key)
    elif within and group is None:
        raise SpecError(
            f"{text_of(tree)}: WITHIN GROUP belongs to {', '.join(functions_within_group())}; "
            f"to give {function} its rows in another order, write {function}(... ORDER BY x)"
        )
    if known is not None:
        args = with_float_settings(known, args)
    if within:
        modifiers["argument_order"] = within
    modifiers["window"] = _window(tree)
    made = build_call(function, args, **modifiers)
    return replace(made, window=replace(made.window, frame=None)) if has_offset_frame(made) else made


def _read_argument(node: Any, args: list[Expr], modifiers: dict[str, Any]) -> None:
    exp = syntax()
    if isinstance(node, exp.Distinct):
        modifiers["is_distinct"] = True
        for part in node.expressions:
            _read_argument(part, args, modifiers)
    elif isinstance(node, (exp.IgnoreNulls, exp.RespectNulls)):
        modifiers["nulls_ignored"] = isinstance(node, exp.IgnoreNulls)
        _read_argument(node.this, args, modifiers)
    elif isinstance(node, exp.Order):
        modifiers["argument_order"] = tuple(read_order(o) for o in node.expressions)
        if node.this is not None:
            _read_argument(node.this, args, modifiers)
    elif not isinstance(node, exp.Star):
        args.append(_expression(node))


def _window(tree: Any) -> Window:
    name = tree.args.get("alias")
    if name is not None:
        raise SpecError(
            f"{text_of(tree)}: there is no window {name.name!r}; define it in wr.sql with WINDOW {name.name} AS (...), "
            "or write it out in OVER (...)"
        )
    order = tree.args.get("order")
    orders = tuple(read_order(o) for o in order.expressions) if order is not None else ()
    spec = tree.args.get("spec")
    return Window(
        tuple(_expression(k) for k in tree.args.get("partition_by") or ()),
        orders,
        None if spec is None else _frame(spec, bool(orders)),
    )


def read_order(node: Any) -> Order:
    """Convert the tree of an order key."""
    exp = syntax()
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
    start = _bound(spec.args.get("start"), spec.args.get("start_side"))
    # with a single bound (ROWS n PRECEDING) the frame ends at the current row
    end = Bound("current_row") if spec.args.get("end") is None else _bound(spec.args["end"], spec.args.get("end_side"))
    return Frame(kind.lower(), start, end, excluded)


def _bound(value: Any, side: str | None) -> Bound:
    if isinstance(value, str) and value.upper() == "CURRENT ROW":
        return Bound("current_row")
    forwards = (side or "").upper() == "FOLLOWING"
    if value is None:
        raise SpecError("a frame names no bound; write ROWS BETWEEN start AND end, or ROWS start")
    if side is None:
        said = value if isinstance(value, str) else text_of(value)
        raise SpecError(f"the frame's bound {said} says neither PRECEDING nor FOLLOWING")
    if isinstance(value, str):
        return Bound("unbounded_following" if forwards else "unbounded_preceding")
    offset = _expression(value)
    if isinstance(offset, Literal):
        if isinstance(offset.value, str):
            offset = Literal(_text_offset(offset.value))
        relative(offset, start=not forwards)  # refuses invalid bounds
    return Bound("following" if forwards else "preceding", offset)


def _text_offset(text: str) -> Any:
    """Give the value of a bound that is text: a number, which Spark casts to the key's type, or a duration."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None or len(text) > 100:
        return parse_duration(text)
    if found["whole"]:
        return int(text)
    return Decimal(text) if found["exact"] else float(text)


def _expression(node: Any) -> Expr:
    exp = syntax()
    if node.find(exp.Window) is not None:
        while isinstance(node, exp.Paren):
            node = node.this
        return _window_call(node) if isinstance(node, exp.Window) else _derived(node)
    if isinstance(node, exp.Column) and not node.table:
        return Column(node.name)
    if (value := value_of(node)) is not NO_VALUE:
        return Literal(value, text_of(node) if needs_explicit_type(node, value) else None)
    return Sql(text_of(node))


def _derived(node: Any) -> Derived:
    """Replace the window calls of a scalar expression by columns that are named by their position."""
    exp = syntax()
    calls: dict[str, Call] = {}
    rest = node.copy()
    # only the outermost calls; nested calls belong to them
    for window in [w for w in rest.find_all(exp.Window) if w.find_ancestor(exp.Window) is None]:
        call = _window_call(window)
        at = result_column(call)
        calls[at] = call
        window.replace(exp.column(at))
    return Derived(Sql(text_of(rest)), calls, text_of(node))


@short_traceback
def expr(text: str) -> Call | Derived | Any:  # Any: scalar expressions, which have no alias()
    """Make a scalar expression from SQL text. Spark evaluates it on Spark frames, Polars on all others.

    Parameters
    ----------
    text
        SQL such as ``"price * quantity"`` or ``"`a column` > 1"``. It may contain window calls, as in ``"price -
        lag(price) OVER (ORDER BY day)"``, which are computed first. The dialect is Spark's on every frame. Expressions
        for which Polars would not give exactly Spark's result are errors (docs/scalars.md). Rows on which Spark fails,
        for example by a division by zero, are errors; with ``wr.config(ansi=False)`` they give Spark's result without
        ANSI mode. An alias at the end (``"price * quantity AS total"``) names the column.

    Returns
    -------
    Sql, Derived or Call
        The expression, for use as an argument, a key or a filter; with window calls also as an item of
        ``with_columns`` and ``select``.

    Raises
    ------
    SpecError
        If the text is empty, or contains OVER and is invalid.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"price": [2, 3, 4], "quantity": [1, 0, 2]})
    >>> total = wr.sum(wr.expr("price * quantity")).filter(wr.expr("quantity > 0")).over(wr.window())
    >>> wr.with_columns(table, total=total)["total"].to_pylist()
    [10, 10, 10]
    >>> step = wr.expr("price - lag(price) OVER (ORDER BY price)")
    >>> wr.with_columns(table, largest=wr.max(step).over(wr.window()))["largest"].to_pylist()
    [1, 1, 1]
    """
    if not isinstance(text, str) or not text.strip():
        raise SpecError(f"expr() takes SQL text, not {shown(text)}")
    check_text(text, "expr()")
    if _OVER.search(text) or _AS.search(text):
        return parse_expression(text)
    return Sql(text.strip())
