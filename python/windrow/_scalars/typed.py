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
    "Scope",
    "Typed",
    "Written",
    "failing",
    "merged",
    "not_months",
    "refused",
    "within",
]

#: What to do about an expression that is not exact here.
COMPUTE_ELSEWHERE = "compute it before with the frame's own library, or on Spark"

_NO_LITERAL: Any = object()


@dataclass(frozen=True, slots=True)
class Failure:
    """Rows on which an expression has no value.

    Parameters
    ----------
    rows
        Which they are, a boolean expression; null is false.
    name
        What Spark calls the error.
    text
        The expression that has no value.
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
        """What is raised where there are some."""
        kind: Callable[[str], WindrowError] = ArithmeticOverflowError if self.overflow else DataError
        return kind(f"{hide_result_columns(str(self.text))}: {self.name}; {self.remedy}")


class Written:
    """The text of a syntax tree, written when it is asked for: that of a deep one at each level takes long."""

    def __init__(self, node: Any) -> None:
        self._node = node

    def __str__(self) -> str:
        """The text."""
        return text_of(self._node)


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression of Polars that gives exactly what Spark's gives, with the type that Spark gives it.

    Parameters
    ----------
    expr
        Polars' expression.
    kind
        Its type.
    failures
        The rows on which Spark would fail.
    literal
        The Python value where it is a literal.
    text
        How it was written.
    ordered
        Whether it is text that a category's order, and not the alphabet, orders.
    checks
        Those of the failures that say where a chain of integer operations overflows.
    operations
        How many operations that chain has.
    bound
        A double that no result within the chain is beyond.
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
        """Give the Python value of a literal, or something else where it is none."""
        return self.literal if self.is_literal else other


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression may read, and under which settings.

    Parameters
    ----------
    kinds
        The columns' types by their names.
    ansi
        Whether rows on which Spark fails are errors.
    timezone
        The session's time zone where one is set; else that of the zoned columns read.
    """

    kinds: dict[str, pa.DataType]
    ansi: bool
    timezone: str | None

    def rows(self) -> pl.Expr:
        """Give something that has as many values as the columns."""
        import polars as pl

        return pl.any_horizontal([pl.col(n).is_null() for n in self.kinds] or [pl.lit(False)])

    def zone(self) -> str | None:
        """Give the zone in which timestamps have days and hours; None where columns have several and none is set."""
        if self.timezone is not None:
            return self.timezone
        zones = {k.tz for k in self.kinds.values() if pa.types.is_timestamp(k) and k.tz is not None}
        return None if len(zones) > 1 else next(iter(zones), "UTC")


def merged(*parts: Typed) -> tuple[Failure, ...]:
    """Give the failures of all parts of an expression that evaluates all of them."""
    return tuple(f for part in parts for f in part.failures)


def within(failures: Sequence[Failure], rows: pl.Expr) -> tuple[Failure, ...]:
    """Give the failures that count where an expression evaluates a part for some rows alone."""
    return tuple(replace(f, rows=f.rows & rows) for f in failures)


def failing(rows: pl.Expr, name: str, text: object, remedy: str, *, overflow: bool = False) -> Failure:
    """Make a failure, under the name that Spark has for the error."""
    return Failure(rows, name, text, remedy, overflow)


def not_months(value: Typed, text: object) -> Typed:
    """Refuse an interval of months where it is a value: here intervals are durations, and a month is none."""
    if isinstance(value.literal, Interval) and value.literal.months:
        raise refused("an interval of months that is not added to a date or timestamp", text)
    return value


def refused(what: str, text: object, remedy: str = COMPUTE_ELSEWHERE) -> UnsupportedError:
    """Make the error for what is outside the list of exact expressions."""
    return UnsupportedError(
        f"{hide_result_columns(str(text))}: {hide_result_columns(what)} is not among the scalars that are exactly "
        f"Spark's here; {remedy}"
    )
