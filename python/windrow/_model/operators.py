"""Operators and methods that every expression and every call has: they build what parsing their SQL gives.

    wr.col("v") - wr.lag("v").over(w)       wr.expr("v - lag(v) OVER (...)")

The operators are only named here: :mod:`windrow._parse.operators` joins their operands by SQL's grammar.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, Protocol, TypeVar

from ..exceptions import SpecError, short_traceback, shown
from .names import check_text
from .structure import Structural

__all__ = [
    "AND",
    "ATOM",
    "NOT",
    "OR",
    "PREDICATE",
    "PRODUCT",
    "SIGN",
    "SUM",
    "Maker",
    "Operators",
    "checked_name",
    "operation",
    "register_maker",
]

#: How tightly SQL's operators bind, from the loosest.
OR, AND, NOT, PREDICATE, SUM, PRODUCT, SIGN, ATOM = range(1, 9)

ExpressionT = TypeVar("ExpressionT", bound="Operators")


class Maker(Protocol):
    """Makes expressions of operands. The parser, which stands above the model, registers its own."""

    def operation(self, template: str, binding: int, operands: Sequence[tuple[Any, int]]) -> Any:
        """Join operands by SQL text.

        Parameters
        ----------
        template
            The text, with ``{}`` in the place of each operand.
        binding
            How tightly it binds.
        operands
            Each value, with how tightly it must bind to stand without parentheses. A str is a text.

        Returns
        -------
        Sql or Derived
            What parsing the text gives.
        """

    def cast(self, value: Any, to: Any) -> Any:
        """Convert a value to a type."""

    def named(self, value: Any, name: str) -> Any:
        """Make an item with a name of an expression."""


_maker: Maker


def register_maker(maker: Maker) -> None:
    """Register what makes expressions of operands."""
    global _maker
    _maker = maker


def operation(template: str, binding: int, *operands: tuple[Any, int]) -> Any:
    """Join operands by SQL text, as :meth:`Maker.operation` does."""
    return _maker.operation(template, binding, operands)


def _binary(operator: str, binding: int, left: Any, right: Any) -> Any:
    return operation(f"{{}} {operator} {{}}", binding, (left, binding), (right, binding + 1))


def _comparison(operator: str, left: Any, right: Any) -> Any:
    if right is None or left is None:
        raise SpecError(
            f"{operator} None is null on every row, as in SQL; write .is_null() or .is_not_null(), and wr.lit(None) "
            "for a null that is meant"
        )
    return operation(f"{{}} {operator} {{}}", PREDICATE, (left, SUM), (right, SUM))


class Operators(Structural):
    """What all expressions have: operators, and methods that give expressions.

    ``==`` builds an expression like the other comparisons; :meth:`equals` compares two expressions themselves.
    """

    __slots__ = ()
    # numpy's scalars and pandas' Series leave the operator to this class
    __array_ufunc__ = None
    __pandas_priority__ = 10_000

    # ------------------------------------------------------------------------------------------------------ operators

    @short_traceback
    def __add__(self, other: Any) -> Any:
        """Add, as SQL's ``+``."""
        return _binary("+", SUM, self, other)

    @short_traceback
    def __radd__(self, other: Any) -> Any:
        """Add, as SQL's ``+``."""
        return _binary("+", SUM, other, self)

    @short_traceback
    def __sub__(self, other: Any) -> Any:
        """Subtract, as SQL's ``-``."""
        return _binary("-", SUM, self, other)

    @short_traceback
    def __rsub__(self, other: Any) -> Any:
        """Subtract, as SQL's ``-``."""
        return _binary("-", SUM, other, self)

    @short_traceback
    def __mul__(self, other: Any) -> Any:
        """Multiply, as SQL's ``*``."""
        return _binary("*", PRODUCT, self, other)

    @short_traceback
    def __rmul__(self, other: Any) -> Any:
        """Multiply, as SQL's ``*``."""
        return _binary("*", PRODUCT, other, self)

    @short_traceback
    def __truediv__(self, other: Any) -> Any:
        """Divide, as SQL's ``/``: integers give doubles, and division by zero is an error under ANSI rules."""
        return _binary("/", PRODUCT, self, other)

    @short_traceback
    def __rtruediv__(self, other: Any) -> Any:
        """Divide, as SQL's ``/``."""
        return _binary("/", PRODUCT, other, self)

    @short_traceback
    def __mod__(self, other: Any) -> Any:
        """Give the remainder, as SQL's ``%``: it has the sign of the dividend."""
        return _binary("%", PRODUCT, self, other)

    @short_traceback
    def __rmod__(self, other: Any) -> Any:
        """Give the remainder, as SQL's ``%``."""
        return _binary("%", PRODUCT, other, self)

    @short_traceback
    def __pow__(self, other: Any) -> Any:
        """Raise to a power, as SQL's ``power``: a double."""
        return operation("power({}, {})", ATOM, (self, OR), (other, OR))

    @short_traceback
    def __rpow__(self, other: Any) -> Any:
        """Raise to a power, as SQL's ``power``: a double."""
        return operation("power({}, {})", ATOM, (other, OR), (self, OR))

    @short_traceback
    def __floordiv__(self, other: Any) -> NoReturn:
        """Refuse ``//``, which rounds down in Python and towards zero in SQL."""
        raise SpecError(
            "// rounds down in Python and towards zero in SQL; write wr.expr('a div b') for SQL's, or "
            "wr.expr('floor(a / b)')"
        )

    __rfloordiv__ = __floordiv__

    @short_traceback
    def __neg__(self) -> Any:
        """Negate, as SQL's ``-``."""
        return operation("-{}", SIGN, (self, ATOM))

    @short_traceback
    def __pos__(self: ExpressionT) -> ExpressionT:
        """Give the expression itself."""
        return self

    @short_traceback
    def __abs__(self) -> Any:
        """Give the absolute value, as SQL's ``abs``."""
        return self.abs()

    @short_traceback
    def __and__(self, other: Any) -> Any:
        """Whether both conditions hold, as SQL's ``AND``."""
        return _binary("AND", AND, self, other)

    @short_traceback
    def __rand__(self, other: Any) -> Any:
        """Whether both conditions hold, as SQL's ``AND``."""
        return _binary("AND", AND, other, self)

    @short_traceback
    def __or__(self, other: Any) -> Any:
        """Whether one of two conditions holds, as SQL's ``OR``."""
        return _binary("OR", OR, self, other)

    @short_traceback
    def __ror__(self, other: Any) -> Any:
        """Whether one of two conditions holds, as SQL's ``OR``."""
        return _binary("OR", OR, other, self)

    @short_traceback
    def __invert__(self) -> Any:
        """Whether a condition does not hold, as SQL's ``NOT``."""
        return operation("NOT {}", NOT, (self, PREDICATE))

    @short_traceback
    def __eq__(self, other: object) -> Any:
        """Compare the values, as SQL's ``=``; :meth:`equals` compares the expressions."""
        return _comparison("=", self, other)

    @short_traceback
    def __ne__(self, other: object) -> Any:
        """Compare the values, as SQL's ``<>``."""
        return _comparison("<>", self, other)

    @short_traceback
    def __lt__(self, other: Any) -> Any:
        """Compare the values, as SQL's ``<``."""
        return _comparison("<", self, other)

    @short_traceback
    def __le__(self, other: Any) -> Any:
        """Compare the values, as SQL's ``<=``."""
        return _comparison("<=", self, other)

    @short_traceback
    def __gt__(self, other: Any) -> Any:
        """Compare the values, as SQL's ``>``."""
        return _comparison(">", self, other)

    @short_traceback
    def __ge__(self, other: Any) -> Any:
        """Compare the values, as SQL's ``>=``."""
        return _comparison(">=", self, other)

    def __hash__(self) -> int:
        """Refuse to be a key of a dict or a member of a set, which compare with ``==``."""
        raise TypeError(
            f"{self!r} cannot be in a set or a key of a dict, which compare by ==, and that builds an expression; "
            "compare expressions with .equals(other), and use str(expression) as a key"
        )

    @short_traceback
    def __bool__(self) -> bool:
        """Refuse to be a condition of Python's, in ``and``, ``or``, ``not``, ``in``, ``if`` and ``0 < x < 9``."""
        raise SpecError(
            f"{self!r} has no truth of its own: it is computed for each row. Write & for and, | for or, ~ for not, "
            ".between(a, b) for a <= x <= b, .is_in([...]) for in, wr.when(...) for if, and .equals(other) to compare "
            "two expressions themselves"
        )

    # -------------------------------------------------------------------------------------------------------- methods

    @short_traceback
    def abs(self) -> Any:
        """Give the absolute value, as SQL's ``abs``.

        Returns
        -------
        Sql or Derived
            Of the same type; null for null. The smallest integer is an error under ANSI rules.

        Examples
        --------
        >>> import windrow as wr
        >>> (wr.col("x") - wr.lag("x").over(wr.window(order_by="t"))).abs()
        abs(x - lag(x) OVER (ORDER BY t))
        """
        return operation("abs({})", ATOM, (self, OR))

    @short_traceback
    def cast(self, to: Any) -> Any:
        """Convert to another type, as SQL's ``CAST``.

        Parameters
        ----------
        to
            A type of Spark's SQL such as ``"double"`` or ``"decimal(10, 2)"``; a type of pyarrow, Polars or PySpark, or
            ``int``, ``float``, ``str``, ``bool``.

        Returns
        -------
        Sql or Derived
            Null for null. What does not fit is an error under ANSI rules.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.col("x").cast("double")
        wr.expr('CAST(x AS DOUBLE)')
        """
        return _maker.cast(self, to)

    @short_traceback
    def is_null(self) -> Any:
        """Whether a row has no value, as SQL's ``IS NULL``; NaN is a value.

        Returns
        -------
        Sql or Derived
            A boolean, never null.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.lag("x").over(wr.window(order_by="t")).is_null()
        lag(x) OVER (ORDER BY t) IS NULL
        """
        return operation("{} IS NULL", PREDICATE, (self, SUM))

    @short_traceback
    def is_not_null(self) -> Any:
        """Whether a row has a value, as SQL's ``IS NOT NULL``; NaN is one.

        Returns
        -------
        Sql or Derived
            A boolean, never null.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.count().filter(wr.col("x").is_not_null())
        count(*) FILTER (WHERE NOT x IS NULL)
        """
        return operation("NOT {} IS NULL", NOT, (self, SUM))  # as sqlglot writes it

    @short_traceback
    def fill_null(self, value: Any) -> Any:
        """Give another value where there is none, as SQL's ``coalesce``; NaN stays.

        Parameters
        ----------
        value
            A value, or an expression. A str is a text.

        Returns
        -------
        Sql or Derived
            Of the type that both have in common.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.lag("x").over(wr.window(order_by="t")).fill_null(0)
        coalesce(lag(x) OVER (ORDER BY t), 0)
        """
        return operation("coalesce({}, {})", ATOM, (self, OR), (value, OR))

    @short_traceback
    def between(self, low: Any, high: Any) -> Any:
        """Whether a value lies between two others, both included, as SQL's ``BETWEEN``.

        Parameters
        ----------
        low, high
            Values, or expressions. A str is a text.

        Returns
        -------
        Sql or Derived
            A boolean; null where that is not known.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.col("x").between(0, 9)
        wr.expr('x BETWEEN 0 AND 9')
        """
        return operation("{} BETWEEN {} AND {}", PREDICATE, (self, SUM), (low, SUM), (high, SUM))

    @short_traceback
    def is_in(self, values: Iterable[Any]) -> Any:
        """Whether a value is one of several, as SQL's ``IN``.

        Parameters
        ----------
        values
            A list of values or expressions. A str in it is a text. With an empty list the result is false.

        Returns
        -------
        Sql or Derived
            A boolean; null for null, and where the value is not found among values one of which is null.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.col("kind").is_in(["a", "b"])
        wr.expr("kind IN ('a', 'b')")
        """
        if isinstance(values, (str, bytes, Operators)) or not isinstance(values, Iterable):
            raise SpecError(f"is_in() takes a list of values, not {shown(values)}; to compare with one write ==")
        listed = list(values)
        if not listed:  # which SQL cannot write
            return operation("NOT {} IS NULL AND FALSE", AND, (self, SUM))
        places = ", ".join(["{}"] * len(listed))
        return operation(f"{{}} IN ({places})", PREDICATE, (self, SUM), *[(v, OR) for v in listed])

    @short_traceback
    def alias(self, name: str) -> Any:
        """Name the column that the expression gives; without a name it is called by its SQL text.

        Parameters
        ----------
        name
            The column's name.

        Returns
        -------
        Derived
            The expression with the name, an item of ``with_columns`` and ``select``.

        Examples
        --------
        >>> import windrow as wr
        >>> (wr.col("x") * 2).alias("twice")
        x * 2 AS twice
        """
        return _maker.named(self, checked_name(name))


def checked_name(name: Any) -> str:
    """Give the name of an output, refusing what is none."""
    if not isinstance(name, str) or not name:
        raise SpecError(f"alias() takes a column's name, not {shown(name)}")
    return check_text(name, "alias()")
