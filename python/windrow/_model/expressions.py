"""What a call reads: a column, a literal, SQL text or an expression of the host.

windrow evaluates no scalar expressions itself. Text and host expressions are handed to the host (Polars or Spark),
which turns them into temporary columns before the window call runs.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ..exceptions import SpecError, short_traceback, shown
from .checks import refuse_field
from .code_text import code_of, constructor_code
from .intervals import Interval
from .names import check_text, identifier, sql_text
from .operators import Operators
from .protocols import LiteralValue, NumpyArray, PlainValue, PolarsExpr, SparkColumn
from .replace import replace
from .structure import SCALARS
from .tokens import unique_token

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "EXPRESSIONS",
    "PLACE",
    "Column",
    "Columns",
    "Expr",
    "ForeignReader",
    "HostExpression",
    "IntoColumns",
    "IntoCondition",
    "IntoExpr",
    "Item",
    "Literal",
    "Scalar",
    "Sql",
    "as_columns",
    "col",
    "lit",
    "reader_of",
    "register",
    "register_selectors",
    "selected",
]

_OVER = re.compile(r"\bover\b", re.IGNORECASE)
# no type holds more than 76 digits, and Python prints no int of more than 4,300
_MAX_INTEGER = 10**76

#: The largest precision of a decimal, as in Spark.
MAX_DIGITS = 38
_MORE_THAN_DIGITS: int = 10**MAX_DIGITS
#: Exact decimal arithmetic; Python's default context rounds to 28 digits.
EXACT_CONTEXT = Context(prec=200)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Column(Operators):
    """A column by its exact name."""

    name: str

    def __post_init__(self) -> None:
        """Refuse what is no name."""
        if not isinstance(self.name, str):
            refuse_field(self, "name", "a column's name", "wr.col('x')")
        check_text(self.name, "Column()")

    def __str__(self) -> str:
        """The column as SQL writes it."""
        return identifier(self.name)

    def __repr__(self) -> str:
        """The column as code."""
        return f"wr.col({self.name!r})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal(Operators):
    """One value for all rows.

    Parameters
    ----------
    value
        The value.
    text
        The SQL it was written as, if that gives it another type than its Python value has: ``7L``, ``0.1 + 0.2``.
    """

    value: Any
    text: str | None = None

    def __post_init__(self) -> None:
        """Refuse a value that no literal has."""
        if not _is_literal_value(self.value):
            refuse_field(self, "value", "a scalar Python value, nor a list of them", "wr.lit(value)")
        if not (self.text is None or isinstance(self.text, str)):
            refuse_field(self, "text", "SQL text", "wr.lit(value)")

    def __str__(self) -> str:
        """The value as SQL writes it."""
        return literal_sql(self.value) if self.text is None else self.text

    def __repr__(self) -> str:
        """The value as code."""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        if self.text is not None or any(isinstance(v, (tuple, list)) for v in values):
            return constructor_code(self, "wr.typing.Literal")
        return f"wr.lit({code_of(list(values) if isinstance(self.value, tuple) else self.value)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sql(Operators):
    """A scalar expression as SQL text, evaluated by the host."""

    text: str
    # how tightly it binds, where an operator made it
    binding: int | None = field(default=None, init=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what is no text."""
        if not isinstance(self.text, str) or not self.text.strip():
            refuse_field(self, "text", "SQL text", "wr.expr('a * b')")
        check_text(self.text, "Sql()")

    def __str__(self) -> str:
        """The text itself."""
        return self.text

    def __repr__(self) -> str:
        """The expression as code."""
        if self.text != self.text.strip() or _OVER.search(self.text):  # of which wr.expr() makes something else
            return constructor_code(self, "wr.typing.Sql")
        return f"wr.expr({self.text!r})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HostExpression(Operators):
    """An expression object of the host itself: a ``polars.Expr`` or a PySpark ``Column``.

    Parameters
    ----------
    value
        The expression.
    host
        The name of the reader that read it.
    label
        How it is shown; None: as its library prints it.
    reads
        The names of the columns it reads, in lower case, where they are known.
    other_rows
        The functions in it that read other rows than the current one.
    token
        Identifies the expression, also in a copy or in another process.
    """

    value: Any
    host: str
    label: str | None = None
    reads: frozenset[str] | None = None
    other_rows: tuple[str, ...] = ()
    token: str = field(default_factory=unique_token, compare=False)

    def __str__(self) -> str:
        """The expression as its library prints it, or as it was labelled."""
        if self.label is not None:
            return self.label
        text = str(self.value)
        found = re.match(r"Column<'(.*)'>\Z", text, re.DOTALL)
        return found[1] if found else text

    def __repr__(self) -> str:
        """The expression as its library prints it, or as it was labelled."""
        return str(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Columns(Operators):
    """Several columns of the frame: what reads them is written once, and stands for an item for each.

    Parameters
    ----------
    names
        Their names.
    selector
        In place of the names, a selector of the host, which finds them when the frame is known.
    """

    names: tuple[str, ...]
    selector: HostExpression | None = None

    @property
    def text(self) -> str:
        """The columns as DuckDB's SQL writes them."""
        return f"COLUMNS({', '.join(map(identifier, self.names)) if self.selector is None else self.selector})"

    def __str__(self) -> str:
        """The same text."""
        return self.text

    def __repr__(self) -> str:
        """The columns as a call writes them."""
        return repr(list(self.names)) if self.selector is None else str(self.selector)


class Item(Operators):
    """A window call, or an expression over window calls: what ``with_columns`` computes as a column."""

    __slots__ = ()

    name: str | None

    @property
    def sql(self) -> str:
        """The item as SQL text, without its name."""
        raise NotImplementedError

    @property
    def output_name(self) -> str:
        """The name of the column that the item gives."""
        return self.sql if self.name is None else self.name

    def reads_back(self, *, exactly: bool = False) -> bool:
        """Whether the item's SQL text reads back as an equal item, ``exactly`` also in the spaces of texts in it."""
        raise NotImplementedError

    def code(self) -> str:
        """Give the item as Python code, where ``repr`` gives SQL."""
        raise NotImplementedError


#: What the name of an item of several columns has in the place of each column's name.
PLACE = "{name}"

#: What a host evaluates; in the place of several columns it gets each of them.
Scalar: TypeAlias = Column | Literal | Sql | HostExpression | Columns
#: What a call may read: a scalar, the result of another call, or a scalar over such results.
Expr: TypeAlias = Scalar | Item
#: The same for ``isinstance``.
EXPRESSIONS = (Column, Literal, Sql, HostExpression, Columns, Item)


class ForeignReader(Protocol):
    """Reads the expressions and types of another library. Each host registers its own."""

    host: str

    def owns(self, value: Any) -> bool:
        """Whether a value is an expression of the library; does not import the library."""

    def expression(self, value: Any) -> Expr:
        """Read an argument, a key or a condition."""

    def order(self, value: Any) -> tuple[Expr, bool, bool]:
        """Read an order key: what to order by, whether descending, and whether nulls come first."""

    def item(self, value: Any, *, plain: bool, frame_column: Callable[[Any], str | None] | None) -> Item:
        """Read an item of ``with_columns`` or ``select``.

        Parameters
        ----------
        value
            The expression.
        plain
            Whether an expression without a window call is accepted.
        frame_column
            Gives the name of the frame's column that an expression is, if it is one and no other has that name.
        """

    def arrow_type(self, value: Any) -> pa.DataType | None:
        """Give the Arrow type of one of the library's types; None for all other values."""


_READERS: dict[str, ForeignReader] = {}

#: What may be given as a condition: a string is a column's name. Plain bools are refused, as ``col == 1`` gives one.
IntoCondition: TypeAlias = str | Expr | PolarsExpr | SparkColumn
#: What may be given as an expression: a string is a column's name, other plain values are literals.
IntoExpr: TypeAlias = IntoCondition | PlainValue
#: The same, or several columns: their names, or a selector of Polars.
IntoColumns: TypeAlias = IntoExpr | Sequence[str]


def register(reader: ForeignReader) -> None:
    """Register a library's reader."""
    _READERS[reader.host] = reader


def reader_of(value: Any) -> ForeignReader | None:
    """Give the reader of the library whose expression a value is, None where it is none."""
    return next((r for r in _READERS.values() if r.owns(value)), None)


class Selectors(Protocol):
    """Finds the columns that another library's selectors choose. Each host with selectors registers its own."""

    def is_selector(self, value: Any) -> bool:
        """Whether an expression of the library chooses columns, and computes nothing."""

    def selected(self, value: Any, schema: Any) -> list[str]:
        """Name the columns of a schema, Arrow's or the library's own, that a selector chooses."""


_SELECTORS: dict[str, Selectors] = {}


def register_selectors(host: str, selectors: Selectors) -> None:
    """Register what finds the columns of a library's selectors."""
    _SELECTORS[host] = selectors


def selected(selector: HostExpression, schema: Any) -> list[str]:
    """Name the columns of a schema that a selector chooses."""
    return _SELECTORS[selector.host].selected(selector.value, schema)


def as_columns(value: Any, role: str) -> Expr:
    """Turn what a user may write as the first argument of a call into an expression, or into several columns.

    Parameters
    ----------
    value
        What :func:`as_expr` takes, a list of columns' names, or a selector of a host.
    role
        What it is for, for the message.

    Returns
    -------
    Columns, or what :func:`as_expr` gives
        The expression.
    """
    if isinstance(value, (list, tuple)):
        names = tuple([v.name if isinstance(v, Column) else v for v in value])
        if not names or not all(isinstance(name, str) for name in names):
            raise SpecError(
                f"{role}: {shown(value)} is no list of columns' names, such as ['a', 'b'], which stands for a call of "
                "each of them; write a call for each expression"
            )
        return Columns(tuple([check_text(name, role) for name in names]))
    reader = None if isinstance(value, (str, Operators)) else reader_of(value)
    if reader is not None and (known := _SELECTORS.get(reader.host)) is not None and known.is_selector(value):
        return Columns((), HostExpression(value, reader.host, token=str(value)))  # its text says all of it
    return as_expr(value, role)


def foreign_type(value: Any) -> pa.DataType | None:
    """Give the Arrow type of another library's type, None where no reader knows it."""
    return next((t for r in _READERS.values() if (t := r.arrow_type(value)) is not None), None)


@short_traceback
def col(name: str) -> Column:
    """Name a column.

    Parameters
    ----------
    name
        The column's exact name; dots and spaces are part of it.

    Returns
    -------
    Column
        The column, for the places where a plain string does not do, such as a frame's bound.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3, 4], "reach": [0, -1, 0, -3]})
    >>> w = wr.window(order_by="id", rows=(wr.col("reach"), 0))
    >>> wr.with_columns(table, n=wr.count().over(w))["n"].to_pylist()
    [1, 2, 1, 4]
    """
    if not isinstance(name, str):
        raise SpecError(f"col() takes a column's name, not {shown(name)}")
    return Column(check_text(name, "col()"))


def smallest_decimal(value: Decimal) -> tuple[int, int]:
    """Give the precision and scale of the smallest decimal type that holds a finite value, as Spark does."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    used = len("".join(map(str, digits)).lstrip("0"))
    return max(used + max(exponent, 0) if used else 0, scale, 1), scale


def negated(value: Any) -> Any:
    """Negate a value, a decimal with all its digits."""
    return EXACT_CONTEXT.minus(value) if isinstance(value, Decimal) else -value


@short_traceback
def lit(value: LiteralValue | Literal | Sequence[LiteralValue] | NumpyArray) -> Literal:
    """Make a literal of a Python value, where a plain string would be read as a column's name.

    Parameters
    ----------
    value
        None, a bool, int, float, Decimal, str, bytes, date, datetime, time, timedelta or Interval; or a list of these,
        where a function takes several values, such as the shares of a percentile.

    Returns
    -------
    Literal
        The literal.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2], "name": ["a", "b"]})
    >>> w = wr.window(order_by="id")
    >>> wr.with_columns(table, before=wr.lag("name", 1, wr.lit("none")).over(w))["before"].to_pylist()
    ['none', 'a']
    """
    if isinstance(value, Literal):
        return value
    plain = _plain(value)
    for item in plain if isinstance(plain, tuple) else (plain,):
        if isinstance(item, Decimal) and item.is_snan():
            raise SpecError(
                f"lit(): {item} is a signalling NaN, which no type of windrow's holds; write Decimal('NaN')"
            )
        if item is not None and not isinstance(item, SCALARS):
            raise SpecError(
                f"lit(): {type(item).__name__} is a type that windrow has no values of; give a number, a text, bytes, "
                "a date or time, an interval, or a list of these"
            )
        if isinstance(item, str):
            check_text(item, "lit()")
        if isinstance(item, int) and abs(item) > _MAX_INTEGER:
            raise SpecError(f"lit(): {shown(item)} is no number that windrow can hold")
    return Literal(plain)


def as_expr(value: Any, role: str) -> Expr:
    """Turn what a user may write into an expression.

    Parameters
    ----------
    value
        A string (a column's name), an expression, a scalar or an expression object of the host.
    role
        What it is for, for the message.

    Returns
    -------
    Column, Literal, Sql or HostExpression
        The expression.
    """
    if isinstance(value, (Column, Literal, Sql, HostExpression, Columns)):
        return value
    if isinstance(value, str):
        return Column(check_text(value, role))
    if isinstance(value, int) and abs(value) > _MAX_INTEGER:
        raise SpecError(f"{role}: {shown(value)} is no number that windrow can hold")
    if type(value) in SCALARS:  # what most bounds and defaults are; numpy's numbers are of types of their own
        return Literal(value)
    if isinstance(value, Item):
        return value if value.name is None else replace(value, name=None)
    reader = reader_of(value)
    if reader is not None:
        return reader.expression(value)
    plain = _plain(value)
    if plain is None or isinstance(plain, SCALARS):
        return Literal(plain)
    if isinstance(value, complex):
        raise SpecError(f"{role}: {shown(value)} is a complex number, and windrow has no type for these")
    kind = type(value)
    if kind.__name__ in ("When", "Then") and kind.__module__.startswith("windrow."):
        raise SpecError(f"{role}: {value!r} has no end; write .otherwise(value) behind it, .otherwise(None) for null")
    if kind.__name__ == "Calls" and kind.__module__.startswith("windrow."):
        raise SpecError(f"{role}: {value!r} is a call over several windows, and one expression is one column")
    if kind.__name__ == "Formula" and kind.__module__.startswith("windrow."):
        raise SpecError(f"{role}: {value!r} has no window; write {value!r}.over(wr.window(...))")
    exports = ("__arrow_c_array__", "__arrow_c_stream__", "to_frame")
    if kind.__name__ == "ndarray" or any(hasattr(kind, name) for name in exports):
        raise SpecError(
            f"{role}: {kind.__name__} holds values of its own, and a call reads columns of the frame; make it a "
            "column of the frame, and write that column's name"
        )
    raise SpecError(
        f"{role}: {shown(value)} is neither a column's name nor an expression; "
        "write a string, wr.col(...), wr.lit(...) or wr.expr('SQL')"
    )


def _is_literal_value(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_is_literal_value, value))
    if isinstance(value, int):
        return abs(value) <= _MAX_INTEGER
    if isinstance(value, Decimal) and value.is_snan():  # which has no hash
        return False
    return value is None or isinstance(value, SCALARS)


def as_condition(value: Any, role: str) -> Expr:
    """Turn a filter's condition into an expression, refusing a plain bool.

    Parameters
    ----------
    value
        What the user gave.
    role
        What it is for, for the message.

    Returns
    -------
    Column, Literal, Sql or HostExpression
        The expression.
    """
    if isinstance(_plain(value), bool):
        raise SpecError(
            f"{role} got {value}: Python compared the two sides itself. "
            "Write the condition as SQL, wr.expr(\"kind = 'a'\"), or as an expression of the host"
        )
    return as_expr(value, role)


def reads_back(expression: Expr, *, exactly: bool) -> bool:
    """Whether an expression's SQL text reads back as an equal one, ``exactly`` also in the spaces of texts in it."""
    if isinstance(expression, Item):
        return expression.reads_back(exactly=exactly)
    if isinstance(expression, Sql):
        return not exactly
    if isinstance(expression, Literal):
        return expression.text is not None or _value_reads_back(expression.value)
    return not isinstance(expression, (HostExpression, Columns))


def _value_reads_back(value: Any) -> bool:
    """Whether the SQL of a value is read as a value of its type, and not as one of another type or as an expression."""
    if isinstance(value, tuple):
        return all(map(_value_reads_back, value))
    if isinstance(value, Decimal):
        digits, scale = smallest_decimal(value) if value.is_finite() else (0, 0)
        return scale > 0 and digits <= MAX_DIGITS
    if isinstance(value, int):
        return abs(value) < _MORE_THAN_DIGITS
    if isinstance(value, float):
        return "e" in repr(value)  # all others are read as decimals
    if isinstance(value, dt.datetime):
        return False
    return value is None or isinstance(value, (str, dt.date, Interval))


def root_module(value: Any) -> str:
    """Name the top package that a value's type comes from."""
    return type(value).__module__.partition(".")[0]


def is_instance_by_name(value: Any, package: str, name: str) -> bool:
    """Whether a class of this name, from this package, is among the bases of a value's class; imports nothing."""
    return any(c.__name__ == name and f"{c.__module__}.".startswith(f"{package}.") for c in type(value).__mro__)


def literal_sql(value: Any) -> str:
    """Write a Python value as a SQL literal."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return sql_text(value)
    if isinstance(value, bytes):
        return f"X'{value.hex().upper()}'"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"double('{value}')"
    if isinstance(value, dt.datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, dt.time):
        return f"TIME '{value.isoformat()}'"
    if isinstance(value, dt.timedelta):
        return str(Interval(days=value.days, microseconds=value.seconds * 1_000_000 + value.microseconds))
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, tuple):
        return f"array({', '.join(map(literal_sql, value))})"
    return shown(value) if isinstance(value, int) else str(value)


def _plain(value: Any) -> Any:
    """Give the plain Python value of a scalar of numpy or pandas, a tuple for a list or array, else the value.

    Their times count nanoseconds, which Python's datetime and timedelta would silently lose.
    """
    module = root_module(value)
    if module == "numpy" and getattr(value, "ndim", None) in (0, 1) and value.dtype.kind != "V":
        if value.dtype.kind not in "mM":
            value = value.tolist()
        elif value.ndim == 0:
            return _numpy_time(value)
        else:
            value = list(value)
    elif module == "pandas" and isinstance(value, (dt.datetime, dt.timedelta)):
        return _pandas_time(value, is_timestamp=isinstance(value, dt.datetime))
    return tuple(_plain(item) for item in value) if isinstance(value, (list, tuple)) else value


def _numpy_time(value: Any) -> Any:
    """Give a numpy.datetime64 or timedelta64 as Python's, months as an Interval; None for NaT."""
    kind = "timedelta64" if value.dtype.kind == "m" else "datetime64"
    if value != value:
        return None
    unit = value.dtype.str.partition("[")[2].strip("]").lstrip("0123456789")
    if kind == "timedelta64" and unit in ("Y", "M"):
        return Interval(months=int(value.astype("timedelta64[M]").astype("int64")))
    if kind == "datetime64" and unit in ("Y", "M", "W", "D"):
        plain = value.astype("datetime64[D]").tolist()
    else:
        micros = value.astype(f"{kind}[us]")
        # a time finer than microseconds, or one that does not fit them, does not come back
        plain = micros.tolist() if unit and micros.astype(value.dtype) == value else None
    if not isinstance(plain, (dt.date, dt.timedelta)):
        raise _too_fine(value)
    return plain


def _pandas_time(value: Any, *, is_timestamp: bool) -> Any:
    """Give a pandas Timestamp or Timedelta as Python's; None for NaT."""
    if value != value:
        return None
    if getattr(value, "nanosecond" if is_timestamp else "nanoseconds", 0):
        raise _too_fine(value)
    return value.to_pydatetime() if is_timestamp else value.to_pytimedelta()


def _too_fine(value: Any) -> SpecError:
    return SpecError(
        f"{value!r} cannot be written in microseconds, which literals count in; round it to them, or use the "
        "key or the column as an integer of nanoseconds, and write the value as a number"
    )
