"""Scalar expressions as Polars' own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._model.expressions import Column, Host, Literal, Scalar
from .._model.result_columns import without_places
from .._parse.limits import OPERATORS
from ..exceptions import SpecError, UnsupportedError
from .polars_sql import polars_text

if TYPE_CHECKING:
    import polars as pl

__all__ = ["require", "to_polars", "within_limits"]

# How many operations an expression may have: what it uses twice counts twice, as Polars goes through it twice.
_NODES = 100_000


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
    level, nodes = [expression], 1
    for _ in range(OPERATORS + 1):
        level = [inner for outer in level for inner in outer.meta.pop()]
        nodes += len(level)
        if nodes > _NODES:
            raise SpecError(
                f"a Polars expression has more than {_NODES:,} operations, where what it uses twice counts twice; "
                "compute a part of it as a column first, with with_columns"
            )
        if not level:
            return expression
    raise SpecError(
        f"a Polars expression is too deep: at most {OPERATORS} operations may follow one another, as in x + 1 + 1; use "
        "pl.sum_horizontal, pl.all_horizontal, pl.any_horizontal or pl.concat_str, or compute a part of it as a column "
        "first, with with_columns"
    )
