"""Scalar expressions as Polars' own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from .._model.expressions import Column, Host, Literal, Scalar
from ..exceptions import UnsupportedError
from .compiled import compiled
from .literals import typed_literal
from .typed import Failure

if TYPE_CHECKING:
    import polars as pl

__all__ = ["require", "to_polars"]


def require() -> None:
    """Say what to install where Polars is missing."""
    try:
        import polars  # noqa: F401
    except ImportError:
        raise UnsupportedError(
            "expressions as arguments, keys and filters are evaluated by Polars: pip install 'windrow[polars]', "
            "or compute the column first and name it"
        ) from None


def to_polars(
    expression: Scalar, kinds: Mapping[str, pa.DataType], *, ansi: bool, timezone: str | None
) -> tuple[pl.Expr, tuple[Failure, ...]]:
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
    tuple
        The expression, and the rows on which it has no value.

    Raises
    ------
    SpecError
        For SQL that is wrong in Spark too.
    UnsupportedError
        For SQL outside the list of what is exact.
    """
    import polars as pl

    if isinstance(expression, Host):
        return expression.value, ()
    if isinstance(expression, Column):
        return pl.col(expression.name), ()
    if isinstance(expression, Literal):
        return typed_literal(expression.value, str(expression)).expr, ()
    made = compiled(expression.text, kinds, ansi=ansi, timezone=timezone)
    return made.expr, made.failures
