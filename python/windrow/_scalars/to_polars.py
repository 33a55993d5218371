"""Converts scalar expressions to Polars expressions."""

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

# The maximum number of operations in a user's expression.
_OPERATIONS = 100_000


def require() -> None:
    """Raise an error that names the package to install if Polars is missing."""
    try:
        import polars  # noqa: F401
    except ImportError:
        raise UnsupportedError(
            "expressions as arguments, keys and filters are evaluated by Polars: pip install 'windrow-arrow[polars]', "
            "or compute the column first and name it"
        ) from None


def to_polars(expression: Scalar, kinds: Mapping[str, pa.DataType], *, ansi: bool, timezone: str | None) -> Typed:
    """Convert an expression to a Polars expression.

    Parameters
    ----------
    expression
        The expression.
    kinds
        The types of the columns by name.
    ansi
        Whether rows on which Spark fails are errors.
    timezone
        The session's time zone; None if it is not set.

    Returns
    -------
    Typed
        The expression, and the rows on which it fails; the type is unknown for a Polars expression of the user's.

    Raises
    ------
    SpecError
        For SQL that is an error in Spark too.
    UnsupportedError
        For SQL that windrow cannot evaluate exactly.
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
    """Refuse a Polars expression that would make Polars overflow the stack or run for minutes.

    Parameters
    ----------
    expression
        The expression.

    Returns
    -------
    polars.Expr
        The same expression.

    Raises
    ------
    SpecError
        If it is too deep or too large. The message does not contain it, because printing it is recursive too.
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
