"""Polars as the one who evaluates scalar expressions, for all frames that are not Spark's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._model.result_columns import without_places
from .._plan.bound import Temporary
from .._scalars.to_polars import require, to_polars
from ..exceptions import SpecError, WindrowError, suggest
from .arrow_columns import checked

if TYPE_CHECKING:
    import polars as pl

__all__ = ["checked_expressions", "evaluate", "evaluating"]


def evaluate(temporaries: Sequence[Temporary], columns: Mapping[str, Any], rows: int) -> list[pa.ChunkedArray]:
    """Let Polars compute expressions over Arrow columns.

    Parameters
    ----------
    temporaries
        The expressions.
    columns
        The frame's columns by name; only those an expression names are handed over.
    rows
        How many rows there are.

    Returns
    -------
    list of pyarrow.ChunkedArray
        One for each expression.
    """
    if not temporaries:
        return []
    require()
    import polars as pl

    with evaluating(temporaries):
        made, needed = checked_expressions(temporaries, columns)
        data = {name: checked(columns[name], name) for name in needed} or {"": pa.nulls(rows)}
        frame = pl.DataFrame(pa.table(list(data.values()), names=list(data)))
        result = frame.with_columns(made).select([t.name for t in temporaries])
        return list(result.to_arrow(compat_level=pl.CompatLevel.oldest()).columns)


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


@contextmanager
def evaluating(temporaries: Sequence[Temporary]) -> Iterator[None]:
    """Have whatever Polars raises over expressions be windrow's own error, which shows the expressions as written.

    Polars has errors of its own, panics that are no ``Exception``, and lets through Python's and Arrow's.
    """
    import polars as pl

    try:
        yield
    except (WindrowError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        texts = ", ".join(t.text for t in temporaries)
        if isinstance(error, pl.exceptions.DuplicateError) or "is duplicate" in str(error):
            raise SpecError(
                f"{texts} stands for several columns, and an argument, a key or a condition is one; write a call for "
                "each column"
            ) from error
        said = next(iter(str(error).splitlines()), type(error).__name__)
        raise SpecError(f"Polars cannot evaluate {texts}: {without_places(said)}") from error
