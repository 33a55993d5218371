"""Scalar expressions as Polars' own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._model.expressions import Column, Host, Literal, Scalar
from .._model.result_columns import without_places
from ..exceptions import SpecError, UnsupportedError
from .polars_sql import polars_text

if TYPE_CHECKING:
    import polars as pl

__all__ = ["require", "to_polars"]


def require() -> None:
    """Say what to install where Polars is missing."""
    try:
        import polars  # noqa: F401
    except ImportError:
        raise UnsupportedError(
            "expressions as arguments, keys and filters are evaluated by Polars: pip install 'windrow-arrow[polars]', "
            "or compute the column first and name it"
        ) from None


def to_polars(expression: Scalar) -> pl.Expr:
    """Turn an expression into one of Polars."""
    import polars as pl

    if isinstance(expression, Host):
        made = expression.value
    elif isinstance(expression, Column):
        made = pl.col(expression.name)
    elif isinstance(expression, Literal):
        made = pl.lit(expression.value)
    else:
        text = polars_text(expression.text)
        try:
            made = pl.sql_expr(text)
        except pl.exceptions.PolarsError as error:
            raise SpecError(
                f"{without_places(expression.text)}: Polars, which evaluates expressions here, cannot read it: "
                f"{without_places(str(error))}; compute the column first with the frame's own methods, or give a "
                "Polars expression"
            ) from None
    return made  # type: ignore[no-any-return]
