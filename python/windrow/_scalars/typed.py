"""A scalar expression with its type, and the rows on which Spark would fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._model.intervals import Interval
from .._model.replace import replace
from .._model.result_columns import hide_result_columns
from .._parse.grammar import text_of
from ..exceptions import ArithmeticOverflowError, DataError, UnsupportedError, WindrowError

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "COMPUTE_ELSEWHERE",
    "Failure",
    "LazySqlText",
    "Scope",
    "Typed",
    "failing",
    "merged",
    "not_months",
    "refused",
    "within",
]

#: The remedy for an expression that windrow cannot evaluate exactly.
COMPUTE_ELSEWHERE = "compute it before with the frame's own library, or on Spark"

_NO_LITERAL: Any = object()


@dataclass(frozen=True, slots=True)
class Failure:
    """Rows on which an expression fails.

    Parameters
    ----------
    rows
        A boolean expression that marks the rows; NULL counts as false.
    name
        Spark's name of the error.
    text
        The expression that fails.
    remedy
        What to write instead.
    overflow
        Whether it is an overflow.
    """

    rows: pl.Expr
    name: str
    text: object
    remedy: str
    overflow: bool = False

    @property
    def error(self) -> WindrowError:
        """The exception for such rows."""
        kind: Callable[[str], WindrowError] = ArithmeticOverflowError if self.overflow else DataError
        return kind(f"{hide_result_columns(str(self.text))}: {self.name}; {self.remedy}")


class LazySqlText:
    """The SQL text of a syntax tree, generated on demand: generating it at each level of a deep tree is slow."""

    def __init__(self, node: Any) -> None:
        self._node = node

    def __str__(self) -> str:
        """The text."""
        return text_of(self._node)


@dataclass(frozen=True, slots=True)
class Typed:
    """A Polars expression that gives exactly Spark's result, with its Spark type.

    Parameters
    ----------
    expr
        Polars' expression.
    kind
        Its type.
    failures
        The rows on which Spark would fail.
    literal
        The Python value of a literal.
    text
        The SQL text.
    ordered
        Whether it is the text of an ordered category.
    checks
        The failures for overflow in a chain of integer operations.
    operations
        The number of operations in that chain.
    bound
        An upper bound for the magnitude of all results in the chain.
    """

    expr: pl.Expr
    kind: pa.DataType
    failures: tuple[Failure, ...] = ()
    literal: Any = _NO_LITERAL
    text: object = ""
    ordered: bool = False
    checks: tuple[Failure, ...] = ()
    operations: int = 0
    bound: pl.Expr | None = None

    @property
    def is_literal(self) -> bool:
        """Whether it is a literal."""
        return self.literal is not _NO_LITERAL

    def literal_or(self, other: Any) -> Any:
        """Return the Python value of a literal, or ``other`` if it is not a literal."""
        return self.literal if self.is_literal else other


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns and settings for compiling an expression.

    Parameters
    ----------
    kinds
        The types of the columns by name.
    ansi
        Whether rows on which Spark fails are errors.
    timezone
        The session's time zone if it is set; else that of the columns with a time zone.
    """

    kinds: dict[str, pa.DataType]
    ansi: bool
    timezone: str | None

    def rows(self) -> pl.Expr:
        """Return an expression with one value per row."""
        import polars as pl

        return pl.any_horizontal([pl.col(n).is_null() for n in self.kinds] or [pl.lit(False)])

    def zone(self) -> str | None:
        """Return the time zone for days and hours; None if it is not set and the columns have several."""
        if self.timezone is not None:
            return self.timezone
        zones = {k.tz for k in self.kinds.values() if pa.types.is_timestamp(k) and k.tz is not None}
        return None if len(zones) > 1 else next(iter(zones), "UTC")


def merged(*parts: Typed) -> tuple[Failure, ...]:
    """Join the failures of the parts of an expression that evaluates all parts."""
    return tuple(f for part in parts for f in part.failures)


def within(failures: Sequence[Failure], rows: pl.Expr) -> tuple[Failure, ...]:
    """Restrict failures to the rows for which a part of an expression is evaluated."""
    return tuple(replace(f, rows=f.rows & rows) for f in failures)


def failing(rows: pl.Expr, name: str, text: object, remedy: str, *, overflow: bool = False) -> Failure:
    """Make a failure with Spark's name of the error."""
    return Failure(rows, name, text, remedy, overflow)


def not_months(value: Typed, text: object) -> Typed:
    """Refuse an interval of months as a value, because intervals are durations here."""
    if isinstance(value.literal, Interval) and value.literal.months:
        raise refused("an interval of months that is not added to a date or timestamp", text)
    return value


def refused(what: str, text: object, remedy: str = COMPUTE_ELSEWHERE) -> UnsupportedError:
    """Return the error for an expression that windrow cannot evaluate exactly."""
    return UnsupportedError(
        f"{hide_result_columns(str(text))}: {hide_result_columns(what)} is not among the scalars that are exactly "
        f"Spark's here; {remedy}"
    )
