"""A scalar expression with its type, and the rows on which Spark would fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._model.result_columns import without_places
from ..exceptions import ArithmeticOverflowError, DataError, UnsupportedError, WindrowError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Failure", "Scope", "Typed", "failing", "merged", "refused", "within"]

_NO_LITERAL: Any = object()


@dataclass(frozen=True, slots=True)
class Failure:
    """Rows on which an expression has no value.

    Parameters
    ----------
    rows
        Which they are, a boolean expression; null is false.
    error
        What is raised where there are some.
    """

    rows: pl.Expr
    error: WindrowError


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
    """

    expr: pl.Expr
    kind: pa.DataType
    failures: tuple[Failure, ...] = ()
    literal: Any = _NO_LITERAL
    text: str = ""
    ordered: bool = False

    @property
    def is_literal(self) -> bool:
        """Whether it is a literal."""
        return self.literal is not _NO_LITERAL


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
    return tuple(Failure(f.rows & rows, f.error) for f in failures)


def failing(rows: pl.Expr, name: str, text: str, way: str, *, overflow: bool = False) -> Failure:
    """Make a failure, under the name that Spark has for the error."""
    kind: Callable[[str], WindrowError] = ArithmeticOverflowError if overflow else DataError
    return Failure(rows, kind(f"{without_places(text)}: {name}; {way}"))


def refused(what: str, text: str, way: str = "") -> UnsupportedError:
    """Make the error for what is outside the list of exact expressions."""
    remedy = way or "compute it before with the frame's own library, or on Spark"
    return UnsupportedError(
        f"{without_places(text)}: {without_places(what)} is not among the scalars that are exactly Spark's here; "
        f"{remedy}"
    )
