"""What a call reads: a column, a literal, SQL text or an expression of the host.

windrow evaluates no scalar expressions. Text and host expressions are handed to the host (Polars or Spark), which turns
them into temporary columns before the window call runs.
"""

from __future__ import annotations

import re
from typing import Any

from ._model.expressions import Sql
from .exceptions import SpecError

__all__ = ["expr"]

_OVER = re.compile(r"\bover\b", re.IGNORECASE)


def expr(text: str) -> Any:
    """Write a scalar expression as SQL text that the host evaluates: Spark with ``F.expr``, all others with Polars.

    Parameters
    ----------
    text
        SQL such as ``"price * quantity"`` or ``"`a column` > 1"``. Window calls may stand in it, such as
        ``"price - lag(price) OVER (ORDER BY day)"``: they are computed first. The dialect is Spark's on every frame;
        where Polars evaluates and its SQL cannot say as much, that is an error. A row that Spark fails on, for a
        division by zero say, is null there.

    Returns
    -------
    Sql, Derived or Call
        The expression, to be used as an argument, a key or a filter; with window calls in it also as an item of
        ``with_columns`` and ``select``.

    Raises
    ------
    SpecError
        If the text is empty, or has an OVER and cannot be read.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"price": [2, 3, 4], "quantity": [1, 0, 2]})
    >>> total = wr.sum(wr.expr("price * quantity")).filter(wr.expr("quantity > 0")).over(wr.window())
    >>> wr.with_columns(table, total=total)["total"].to_pylist()
    [10, 10, 10]
    >>> step = wr.expr("price - lag(price) OVER (ORDER BY price)")
    >>> wr.with_columns(table, largest=wr.max(step).over(wr.window()))["largest"].to_pylist()
    [1, 1, 1]
    """
    if not isinstance(text, str) or not text.strip():
        raise SpecError(f"expr() takes SQL text, not {text!r}")
    if _OVER.search(text):
        from .sql import parse_expression

        return parse_expression(text)
    return Sql(text.strip())
