"""Polars as the one who evaluates scalar expressions, for all frames that are not Spark's."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._model.result_columns import without_places
from .._plan.bound import Temporary
from .._scalars.to_polars import require, to_polars
from ..exceptions import SpecError, UnsupportedError, suggest
from .validation import Checker

if TYPE_CHECKING:
    import polars as pl

__all__ = ["checked_expressions", "evaluate", "evaluation_error"]


def evaluate(
    temporaries: Sequence[Temporary],
    columns: Mapping[str, Any],
    rows: int,
    checker: Checker | None = None,
) -> list[pa.ChunkedArray]:
    """Let Polars compute expressions over Arrow columns.

    Parameters
    ----------
    temporaries
        The expressions.
    columns
        The frame's columns by name; only those an expression names are handed over.
    rows
        How many rows there are.
    checker
        Checks the columns, of which it may know some already.

    Returns
    -------
    list of pyarrow.ChunkedArray
        One for each expression.
    """
    if not temporaries:
        return []
    require()
    import polars as pl

    made, needed = checked_expressions(temporaries, columns)
    check = (checker or Checker()).checked
    data = {name: check(columns[name], name) for name in needed} or {"": pa.nulls(rows)}
    frame = pl.DataFrame({name: _series(name, column) for name, column in data.items()})
    try:
        result = frame.with_columns(made).select([t.name for t in temporaries])
    except pl.exceptions.PolarsError as error:
        raise evaluation_error(temporaries, error) from None
    return list(result.to_arrow(compat_level=pl.CompatLevel.oldest()).columns)


def _series(name: str, column: Any) -> pl.Series:
    """Give a column to Polars, which has no series of some Arrow types, and panics on some."""
    import polars as pl

    try:
        made: pl.Series = pl.from_arrow(column)  # type: ignore[assignment]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException) as error:
        raise UnsupportedError(
            f"column {name!r}: Polars, which evaluates expressions here, cannot read {column.type}: "
            f"{str(error).splitlines()[0]}; compute the expression first and name its column"
        ) from None
    return made


def checked_expressions(temporaries: Sequence[Temporary], columns: Collection[str]) -> tuple[list[pl.Expr], list[str]]:
    """Turn expressions into Polars' own, and list the columns they read, all of which must be known."""
    made = [to_polars(t.expression).alias(t.name) for t in temporaries]
    needed: list[str] = []
    for temporary, expression in zip(temporaries, made, strict=True):
        for name in expression.meta.root_names():
            if name not in columns:
                raise SpecError(f"expression {temporary.text}: column {name!r} is unknown{suggest(name, columns)}")
            needed.append(name)
    return made, list(dict.fromkeys(needed))


def evaluation_error(temporaries: Sequence[Temporary], error: Exception) -> SpecError:
    """Make the error for expressions that Polars fails on."""
    texts = ", ".join(t.text for t in temporaries)
    return SpecError(f"Polars cannot evaluate {texts}: {without_places(str(error).splitlines()[0])}")
