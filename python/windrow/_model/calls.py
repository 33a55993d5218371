"""Window calls and scalar expressions over them, as immutable values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Protocol

from ..exceptions import SpecError, short_traceback
from .catalog import Function, function_of
from .checks import is_tuple_of, refuse_field
from .code_text import constructor_code
from .conversions import converted
from .expressions import (
    EXPRESSIONS,
    PLACE,
    Column,
    Columns,
    Expr,
    HostExpression,
    IntoColumns,
    IntoCondition,
    Item,
    Literal,
    Scalar,
    Sql,
    as_columns,
    as_condition,
    as_expr,
    reads_back,
)
from .names import identifier
from .operators import checked_name
from .placing import Placeable
from .replace import replace
from .structure import ALIAS
from .windows import IntoOrder, Order, Window, as_order, as_sequence, register_count

__all__ = ["Call", "Derived", "UserFunction", "expressions_of"]

#: How deep calls may stand in calls, and how many may stand in one, each as often as it is written.
_LEVELS = 32
_CALLS = 1000


class UserFunction(Protocol):
    """A user-defined function, as far as a call needs it."""

    name: str
    returns: Any
    kind: ClassVar[str]
    token: str  # identifies the function, also in a copy or in another process


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Item, Placeable["Call"]):
    """A call of a window function. Made by the functions of this package, such as ``wr.sum("x")``.

    Every method gives a new call and leaves this one as it is, so a call may be kept and used over several windows.

    Parameters
    ----------
    function
        The SQL function's name in lower case.
    args
        Its arguments; none for ``count(*)``.
    window
        What ``.over(...)`` was given; None until then.
    condition
        What ``.filter(...)`` was given.
    is_distinct, nulls_ignored
        Whether ``.distinct()`` and ``.ignore_nulls()`` were called; ``nulls_ignored`` is None where nothing was said.
    argument_order
        What ``.order_by(...)`` was given.
    name
        What ``.alias(...)`` was given.
    user
        The user's own function, where it is none of windrow's.
    result_column
        The name of the column that holds the results, once
        :func:`~windrow._model.result_columns.result_column` has made it.
    nesting
        How many levels of calls there are, and how many calls, this one among them.
    several
        The columns for each of which the call stands, where it was given several.
    has_min_span
        Whether its window, or that of a call in it, has a ``min_span``.
    """

    function: str
    args: tuple[Expr, ...] = ()
    window: Window | None = None
    condition: Expr | None = None
    is_distinct: bool = False
    nulls_ignored: bool | None = None
    argument_order: tuple[Order, ...] = ()
    name: str | None = field(default=None, metadata=ALIAS)
    user: UserFunction | None = None
    result_column: str | None = field(default=None, init=False, compare=False)
    nesting: tuple[int, int] = field(default=(1, 1), init=False, compare=False)
    several: Columns | None = field(default=None, init=False, compare=False)
    has_min_span: bool = field(default=False, init=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what no call has, and calls nested too deep."""
        if not isinstance(self.function, str) or not self.function:
            refuse_field(self, "function", "the name of a function", "wr.sum('x'), or another function of windrow's")
        if not is_tuple_of(self.args, EXPRESSIONS):
            refuse_field(self, "args", "a tuple of expressions", "wr.sum('x'), wr.sum(wr.lit(3)) or wr.lag('x', 1)")
        if not (self.window is None or isinstance(self.window, Window)):
            refuse_field(self, "window", "a window", ".over(wr.window(...))")
        if not (self.condition is None or isinstance(self.condition, EXPRESSIONS)):
            refuse_field(self, "condition", "an expression", ".filter(wr.expr('x > 0'))")
        if not isinstance(self.is_distinct, bool):
            refuse_field(self, "is_distinct", "True or False", ".distinct()")
        if not (self.nulls_ignored is None or isinstance(self.nulls_ignored, bool)):
            refuse_field(self, "nulls_ignored", "True, False or None", ".ignore_nulls() or .respect_nulls()")
        if not is_tuple_of(self.argument_order, Order):
            refuse_field(self, "argument_order", "a tuple of order keys", ".order_by(wr.desc('x'))")
        if not (self.name is None or isinstance(self.name, str)):
            refuse_field(self, "name", "a column's name", ".alias('name')")
        if not (self.user is None or all(hasattr(self.user, a) for a in ("name", "returns", "kind"))):
            refuse_field(
                self, "user", "a function of the user's", "wr.aggregate, wr.vectorized or wr.partition_function"
            )
        expressions = tuple(expressions_of(self))
        levels, calls = _nesting(expressions)
        if levels >= _LEVELS or calls >= _CALLS:
            raise SpecError(
                f"{self.function}: calls may be nested {_LEVELS} levels deep, and {_CALLS:,} may stand in one; compute "
                "the inner ones first, by a with_columns of their own"
            )
        object.__setattr__(self, "nesting", (levels + 1, calls + 1))
        object.__setattr__(self, "several", _several(expressions))
        has_min_span = self.window is not None and self.window.min_span is not None
        object.__setattr__(self, "has_min_span", has_min_span or _has_min_span(expressions))

    @short_traceback
    def filter(self, condition: IntoCondition) -> Call:
        """Let the call see only the rows of each frame for which a condition is true; null counts as false.

        Parameters
        ----------
        condition
            A boolean column's name, ``wr.expr("SQL")`` or an expression of the host. Two filters must both hold only
            if you write so in one condition: a second ``.filter`` is an error.

        Returns
        -------
        Call
            The call with the filter.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import windrow as wr
        >>> table = pa.table({"x": [1, 2, 3], "good": [True, False, None]})
        >>> call = wr.sum("x").filter("good").over(wr.window())
        >>> wr.with_columns(table, s=call)["s"].to_pylist()
        [1, 1, 1]
        """
        if self.condition is not None:
            raise SpecError(f"{self!r} has a filter already; join the two conditions into one with AND")
        return replace(self, condition=as_condition(condition, f"{self.function}(...).filter()"))

    @short_traceback
    def distinct(self) -> Call:
        """Let the call see each different value of a frame once.

        Returns
        -------
        Call
            The call with DISTINCT.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.count("x").distinct().over(wr.window("k"))
        count(DISTINCT x) OVER (PARTITION BY k)
        """
        return replace(self, is_distinct=True)

    @short_traceback
    def ignore_nulls(self) -> Call:
        """Let a value function (first, last, nth, lag, lead) pass over nulls, as SQL's ``IGNORE NULLS``.

        Returns
        -------
        Call
            The call with IGNORE NULLS.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import windrow as wr
        >>> table = pa.table({"id": [1, 2, 3], "x": [10, None, None]})
        >>> call = wr.last_value("x").ignore_nulls().over(wr.window(order_by="id"))
        >>> wr.with_columns(table, known=call)["known"].to_pylist()
        [10, 10, 10]
        """
        return replace(self, nulls_ignored=True)

    @short_traceback
    def respect_nulls(self) -> Call:
        """Let a function see nulls like any value, as SQL's ``RESPECT NULLS``: the default of the value functions.

        Returns
        -------
        Call
            The call with RESPECT NULLS.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.first_value("x").respect_nulls().over(wr.window("k"))
        first_value(x) RESPECT NULLS OVER (PARTITION BY k)
        """
        return replace(self, nulls_ignored=False)

    @short_traceback
    def order_by(self, *keys: IntoOrder | Sequence[IntoOrder]) -> Call:
        """Order a frame's rows by other keys than the window's before the function sees them.

        Parameters
        ----------
        *keys
            Columns' names, ``wr.asc(x)`` or ``wr.desc(x)``.

        Returns
        -------
        Call
            The call with the argument order.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.first_value("x").order_by(wr.desc("y")).over(wr.window("k"))
        first_value(x ORDER BY y DESC) OVER (PARTITION BY k)
        """
        flat = [k for key in keys for k in as_sequence(key)]
        return replace(self, argument_order=tuple(as_order(k) for k in flat))

    @property
    def label(self) -> str:
        """What the names of its results over several windows begin with."""
        if self.name is not None:
            return self.name
        return self.sql if self.several is None else self.sql.replace(str(self.several), PLACE)

    def placed(self, window: Window) -> Call:
        """Give the call over a window."""
        return replace(self, window=window)

    @short_traceback
    def alias(self, name: str) -> Call:
        """Name the column that the call gives; without a name it is called by its SQL text.

        Parameters
        ----------
        name
            The column's name.

        Returns
        -------
        Call
            The call with the name.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.sum("x").over(wr.window("k")).alias("total")
        sum(x) OVER (PARTITION BY k) AS total
        """
        return replace(self, name=checked_name(name))

    @short_traceback
    def to_polars(self, schema: Any) -> Any:
        """Give the call as a Polars expression, usable wherever Polars takes one.

        Polars evaluates it once over all rows of its context: of the frame, of a group in ``group_by(...).agg``. It is
        the same computation as :func:`windrow.with_columns`, which computes several calls together and is faster.

        Parameters
        ----------
        schema
            The columns over which it will be evaluated: a Polars schema, DataFrame or LazyFrame, or an Arrow schema.
            No row is read. At least the columns that the call reads must be there by name.

        Returns
        -------
        polars.Expr
            The expression, named by ``.alias(...)`` or the SQL text. NULLs and types are those of ``with_columns``.

        Raises
        ------
        SpecError, UnsupportedError
            For every mistake that can be found without data, such as an unknown column.

        Examples
        --------
        >>> import polars as pl
        >>> import windrow as wr
        >>> frame = pl.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 3]})
        >>> total = wr.sum("x").over(wr.window("k")).alias("total")
        >>> frame.select(total.to_polars(frame.schema))["total"].to_list()
        [4, 2, 4]
        """
        return converted("polars", self, schema)

    @property
    def sql(self) -> str:
        """The call as SQL text, without its name."""
        order = ", ".join(map(str, self.argument_order))
        known = None if self.user is not None else function_of(self.function)
        # the key of WITHIN GROUP is the first argument as well
        within = (
            known is not None
            and known.within_group == "key"
            and len(self.argument_order) == 1
            and bool(self.args)
            and self.argument_order[0].key.equals(self.args[0])
        )
        args = self.args[1:] if within else self.args
        inside = ", ".join(map(str, args)) or ("*" if known is not None and known.takes_star else "")
        if self.is_distinct:
            inside = "DISTINCT " + inside
        if order and not within:
            inside = f"{inside} ORDER BY {order}".lstrip()
        text = f"{self.function}({inside})"
        if within:
            text += f" WITHIN GROUP (ORDER BY {order})"
        if self.condition is not None:
            text += f" FILTER (WHERE {self.condition})"
        if self.nulls_ignored is not None:
            text += " IGNORE NULLS" if self.nulls_ignored else " RESPECT NULLS"
        return text if self.window is None else f"{text} OVER ({self.window})"

    def reads_back(self, *, exactly: bool = False) -> bool:
        """Whether the call's SQL text reads back as an equal call, ``exactly`` also in the spaces of texts in it."""
        if self.user is not None or (self.window is not None and not self.window.is_sql()):
            return False
        known = function_of(self.function)
        return all(
            _setting_reads_back(expression, exactly=exactly)
            if i < len(self.args) and known is not None and known.is_setting(i)
            else reads_back(expression, exactly=exactly)
            for i, expression in enumerate(expressions_of(self))
        )

    def code(self) -> str:
        """Give the call as Python code."""
        if self.window is None or not self.reads_back(exactly=True):
            return constructor_code(self, "wr.Call")
        named = "" if self.name is None else f".alias({self.name!r})"
        return f"wr.expr({self.sql!r}){named}"

    def __repr__(self) -> str:
        """The call as SQL text; as code where a literal in it has none that reads back as its value."""
        if not self.reads_back() and not _holds_objects((self,)):
            return self.code()
        return self.sql if self.name is None else f"{self.sql} AS {identifier(self.name)}"


def call(function: str, *args: IntoColumns) -> Call:
    """Make a call of what a user wrote as its arguments, of which the first may be several columns."""
    role = f"{function}()"
    return Call(function, tuple([as_expr(a, role) if i else as_columns(a, role) for i, a in enumerate(args)]))


def drop_default(known: Function, args: list[Expr], index: int) -> list[Expr]:
    """Drop the last argument if it has this index and equals the function's default."""
    last = args[-1] if len(args) == index + 1 else None
    if isinstance(last, Literal) and (last.text is None or last.value is None):
        return args[:-1] if known.arguments[index].is_default(last.value) else args
    return args


def with_float_settings(known: Function, args: Iterable[Expr]) -> list[Expr]:
    """Give settings that SQL wrote as decimals, such as a share of 0.5, as the floats that builders are given.

    Those stay decimals that would be written in another way, so that the call keeps its text.
    """
    return [
        Literal(_as_floats(a.value)) if known.is_setting(i) and isinstance(a, Literal) and a.text is None else a
        for i, a in enumerate(args)
    ]


def _as_floats(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_as_floats, value))
    return float(value) if isinstance(value, Decimal) and repr(float(value)) == format(value, "f") else value


def _setting_reads_back(expression: Expr, *, exactly: bool) -> bool:
    """Whether a setting reads back: where it is a decimal, a float may be read."""
    if not isinstance(expression, Literal) or expression.text is not None:
        return reads_back(expression, exactly=exactly)
    values = expression.value if isinstance(expression.value, tuple) else (expression.value,)
    return all(
        math.isfinite(v)
        if isinstance(v, float)
        else type(_as_floats(v)) is type(v) and reads_back(Literal(v), exactly=True)
        for v in values
    )


def _holds_objects(expressions: Iterable[Expr]) -> bool:
    """Whether there are expressions of a host or functions of the user's in expressions, which no text gives back."""
    for expression in expressions:
        if isinstance(expression, Call):
            found = expression.user is not None or _holds_objects(expressions_of(expression))
        elif isinstance(expression, Derived):
            found = _holds_objects([expression.expression, *expression.calls.values(), *expression.inputs.values()])
        else:
            found = isinstance(expression, (HostExpression, Columns))
        if found:
            return True
    return False


def literal_flag(value: Expr) -> bool | None:
    """Return the value of a bool literal, None for any other expression."""
    return value.value if isinstance(value, Literal) and isinstance(value.value, bool) else None


def expressions_of(call: Call) -> Iterator[Expr]:
    """Give all that a call reads: arguments, keys, argument order, filter and the frame's offsets.

    Parameters
    ----------
    call
        The call.

    Yields
    ------
    Expr
        Each expression, calls inside the call among them.
    """
    yield from call.args
    yield from (o.key for o in call.argument_order)
    if call.condition is not None:
        yield call.condition
    window = call.window
    if window is not None:
        yield from window.partition_by
        yield from (o.key for o in window.order_by)
        if window.frame is not None:
            yield from (b.offset for b in (window.frame.start, window.frame.end) if b.offset is not None)


def _nesting(expressions: Iterable[Any]) -> tuple[int, int]:
    """Give how many levels of calls expressions have, and how many calls."""
    levels = calls = 0
    for expression in expressions:
        if isinstance(expression, (Call, Derived)):
            levels = max(levels, expression.nesting[0])
            calls += expression.nesting[1]
    return levels, calls


def _has_min_span(expressions: Iterable[Any]) -> bool:
    return any(isinstance(e, (Call, Derived)) and e.has_min_span for e in expressions)


def _several(expressions: Iterable[Any]) -> Columns | None:
    """Give the columns for each of which expressions stand, refusing more than one list of them."""
    found: Columns | None = None
    for expression in expressions:
        if isinstance(expression, Columns):
            one: Columns | None = expression
        else:
            one = expression.several if isinstance(expression, (Call, Derived)) else None
        if one is not None and found is not None and not one.equals(found):
            raise SpecError(f"one expression has one list of columns, and not both {found!r} and {one!r}")
        found = found if one is None else one
    return found


def _count_true(condition: Expr, window: Window) -> Call:
    return Call("count_if", (condition,), window)


register_count(_count_true)

_SCALARS = (Column, Literal, Sql, HostExpression)


def _maps_names_to(value: Any, classes: type | tuple[type, ...]) -> bool:
    return isinstance(value, Mapping) and all(isinstance(n, str) and isinstance(v, classes) for n, v in value.items())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Derived(Item):
    """A scalar expression over the results of window calls. Made of SQL text, or of a PySpark Column.

    Every method gives a new value and leaves this one as it is.

    Parameters
    ----------
    expression
        What the host evaluates once the calls are columns; it refers to them by their result columns.
    calls
        The calls by the names of their result columns.
    text
        The expression as it was written, including the calls.
    name
        What ``.alias(...)`` was given.
    inputs
        Expressions over input columns alone, by the names that ``expression`` has for them. The host evaluates them on
        the frame as it came, which is where a Column bound to a DataFrame (``df.v``) has its meaning.
    nesting
        How many levels of calls there are, and how many calls.
    several
        The columns for each of which the expression stands, where it has several.
    has_min_span
        Whether the window of a call in it has a ``min_span``.
    """

    expression: Scalar
    calls: Mapping[str, Call]
    text: str
    name: str | None = field(default=None, metadata=ALIAS)
    inputs: Mapping[str, Scalar] = field(default_factory=dict)
    nesting: tuple[int, int] = field(default=(0, 0), init=False, compare=False)
    several: Columns | None = field(default=None, init=False, compare=False)
    has_min_span: bool = field(default=False, init=False, compare=False)
    # how tightly it binds, where an operator made it
    binding: int | None = field(default=None, init=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what no expression over calls has."""
        instead = "wr.expr('x - lag(x) OVER (ORDER BY t)')"
        if not isinstance(self.expression, _SCALARS):
            refuse_field(self, "expression", "a scalar expression", instead)
        if not _maps_names_to(self.calls, Call):
            refuse_field(self, "calls", "a dict of names to calls", instead)
        if not isinstance(self.text, str) or not self.text:
            refuse_field(self, "text", "SQL text", instead)
        if not (self.name is None or isinstance(self.name, str)):
            refuse_field(self, "name", "a column's name", ".alias('name')")
        if not _maps_names_to(self.inputs, (*_SCALARS, Columns)):
            refuse_field(self, "inputs", "a dict of names to scalar expressions", instead)
        object.__setattr__(self, "nesting", _nesting(self.calls.values()))
        object.__setattr__(self, "several", _several((*self.calls.values(), *self.inputs.values())))
        object.__setattr__(self, "has_min_span", _has_min_span(self.calls.values()))

    @short_traceback
    def alias(self, name: str) -> Derived:
        """Name the column that the expression gives; without a name it is called by its SQL text.

        Parameters
        ----------
        name
            The column's name.

        Returns
        -------
        Derived
            The expression with the name.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.expr("x - lag(x) OVER (ORDER BY t)").alias("step")
        x - lag(x) OVER (ORDER BY t) AS step
        """
        return replace(self, name=checked_name(name))

    @short_traceback
    def to_polars(self, schema: Any) -> Any:
        """Give the expression as a Polars expression, usable wherever Polars takes one.

        Polars evaluates it once over all rows of its context: of the frame, of a group in ``group_by(...).agg``. It is
        the same computation as :func:`windrow.with_columns`, which computes several calls together and is faster.

        Parameters
        ----------
        schema
            The columns over which it will be evaluated: a Polars schema, DataFrame or LazyFrame, or an Arrow schema.
            No row is read. At least the columns that the expression reads must be there by name.

        Returns
        -------
        polars.Expr
            The expression, named by ``.alias(...)`` or the SQL text. NULLs and types are those of ``with_columns``.

        Raises
        ------
        SpecError, UnsupportedError
            For every mistake that can be found without data, such as an unknown column.

        Examples
        --------
        >>> import polars as pl
        >>> import windrow as wr
        >>> frame = pl.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 3]})
        >>> share = wr.expr("x / sum(x) OVER ()").alias("share")
        >>> frame.select(share.to_polars(frame.schema))["share"].to_list()
        [0.16666666666666666, 0.3333333333333333, 0.5]
        """
        return converted("polars", self, schema)

    @property
    def sql(self) -> str:
        """The expression as SQL text, without its name."""
        return self.text

    def reads_back(self, *, exactly: bool = False) -> bool:
        """Whether the expression's SQL text reads back as an equal expression."""
        scalars = (self.expression, *self.inputs.values())
        return all(call.reads_back() for call in self.calls.values()) and not any(
            isinstance(s, (HostExpression, Columns)) for s in scalars
        )

    def code(self) -> str:
        """Give the expression as Python code."""
        named = "" if self.name is None else f".alias({self.name!r})"
        return f"wr.expr({self.text!r}){named}"

    def __str__(self) -> str:
        """The expression as SQL text, without its name."""
        return self.text

    def __repr__(self) -> str:
        """The expression as SQL text."""
        return self.text if self.name is None else f"{self.text} AS {identifier(self.name)}"
