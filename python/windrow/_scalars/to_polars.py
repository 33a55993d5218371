"""Scalar expressions as Polars' own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from .._model.expressions import Column, HostExpression, Literal, Scalar
from .._parse.limits import OPERATORS
from ..exceptions import SpecError, UnsupportedError
from .compiled import compiled
from .growth import extent
from .literals import typed_literal
from .typed import Typed, not_months
from .types import VOID

if TYPE_CHECKING:
    import polars as pl

__all__ = ["require", "to_polars", "within_limits"]

# How many operations an expression of the user's may have.
_OPERATIONS = 100_000


def require() -> None:
    """Say what to install where Polars is missing."""
    try:
        import polars  # noqa: F401
    except ImportError:
        raise UnsupportedError(
            "expressions as arguments, keys and filters are evaluated by Polars: pip install 'windrow-arrow[polars]', "
            "or compute the column first and name it"
        ) from None


def to_polars(expression: Scalar, kinds: Mapping[str, pa.DataType], *, ansi: bool, timezone: str | None) -> Typed:
    """Turn an expression into one of Polars.

    Parameters
    ----------
    expression
        The expression.
    kinds
        The types of the columns by their names.
    ansi
        Whether rows on which Spark fails are errors.
    timezone
        The session's time zone, None where none is set.

    Returns
    -------
    Typed
        The expression, and the rows on which it has no value; of a host's own expression the type is not known.

    Raises
    ------
    SpecError
        For SQL that is wrong in Spark too.
    UnsupportedError
        For SQL outside the list of what is exact.
    """
    import polars as pl

    if isinstance(expression, HostExpression):
        return Typed(expression.value, VOID)
    if isinstance(expression, Column):
        return Typed(pl.col(expression.name), kinds.get(expression.name, VOID))
    if isinstance(expression, Literal) and expression.text is None:
        return not_months(typed_literal(expression.value, str(expression)), expression)
    return compiled(str(expression), kinds, ansi=ansi, timezone=timezone)


def within_limits(expression: pl.Expr) -> pl.Expr:
    """Refuse a Polars expression on which Polars would overflow the stack, or work for minutes.

    Parameters
    ----------
    expression
        The expression.

    Returns
    -------
    polars.Expr
        The same.

    Raises
    ------
    SpecError
        If it is too deep or too large. The message does not show it: printing it goes as deep.
    """
    most = OPERATORS + 1  # the column at the end counts as well
    operations, levels = extent(expression, _OPERATIONS, most)
    if operations > _OPERATIONS:
        raise SpecError(
            f"a Polars expression has more than {_OPERATIONS:,} operations, where what it uses twice counts twice; "
            "compute a part of it as a column first, with with_columns"
        )
    if levels > most:
        raise SpecError(
            f"a Polars expression is too deep: at most {OPERATORS} operations may follow one another, as in x + 1 + 1; "
            "use pl.sum_horizontal, pl.all_horizontal, pl.any_horizontal or pl.concat_str, or compute a part of it as "
            "a column first, with with_columns"
        )
    return expression
