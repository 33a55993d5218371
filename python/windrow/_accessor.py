"""What ``df.wr`` has, whichever library registers it."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from ._model.calls import Call, Derived
from ._model.expressions import IntoCondition, as_condition
from ._parse.sql_text import expr
from .api import explain, select, sql, with_columns
from .exceptions import SpecError, short_traceback
from .hosts.base import host_of
from .hosts.explanation import Explanation
from .hosts.query import QueryHost, filtered
from .typing import IntoItem, IntoItems, IntoSelectItems

__all__ = ["Accessor"]

F = TypeVar("F")


class Accessor(Generic[F]):
    """windrow's functions as methods of a frame: ``df.wr.with_columns(...)``.

    Parameters
    ----------
    frame
        The frame.
    """

    def __init__(self, frame: F) -> None:
        self._frame: Any = frame

    @short_traceback
    def with_columns(self, *exprs: IntoItems, sort: bool | None = None, **named: IntoItem) -> F:
        """Add the results of window calls as columns; the same as :func:`windrow.with_columns`.

        Parameters
        ----------
        *exprs, sort, **named
            As for :func:`windrow.with_columns`.

        Returns
        -------
        same kind as the frame
            The frame with the columns.
        """
        made: F = with_columns(self._frame, *exprs, named, sort=sort)
        return made

    @short_traceback
    def select(self, *items: IntoSelectItems, sort: bool | None = None, **named: IntoItem) -> F:
        """Give a frame of the given columns and calls; the same as :func:`windrow.select`.

        Parameters
        ----------
        *items, sort, **named
            As for :func:`windrow.select`.

        Returns
        -------
        same kind as the frame
            The columns, in the order written.
        """
        made: F = select(self._frame, *items, named, sort=sort)
        return made

    @short_traceback
    def sql(self, query: str, **frames: Any) -> F:
        """Compute a SQL query over the frame, whose name in FROM is ``self``; the same as :func:`windrow.sql`.

        Parameters
        ----------
        query
            As for :func:`windrow.sql`.
        **frames
            Further frames, by the names for FROM.

        Returns
        -------
        same kind as the frame
            The answer.
        """
        made: F = sql(query, **{"self": self._frame, **frames})
        return made

    @short_traceback
    def filter(self, condition: IntoCondition | Call | Derived) -> F:
        """Keep the rows for which a condition is true, which may contain window calls, as in QUALIFY.

        Over a LazyFrame with windrow's results, a condition on keys by which all its calls partition is applied before
        the windows, so that the partitions left out are not computed, nor read where Polars can skip them.

        Parameters
        ----------
        condition
            SQL text such as ``"rank() OVER (PARTITION BY k ORDER BY x) = 1"`` or ``"k = 3"``, or an expression.

        Returns
        -------
        same kind as the frame
            The rows, in their order, with the columns that they had. A row for which the condition is NULL is left out.

        Raises
        ------
        SpecError, UnsupportedError
            For every mistake that can be found without data, such as a condition that is not boolean.
        """
        item: Any = expr(condition) if isinstance(condition, str) else condition
        if not isinstance(item, (Call, Derived)):
            item = as_condition(item, "filter()")
        elif item.several is not None:
            raise SpecError(f"filter() takes one condition, and {item.sql} is several columns; join them by & or |")
        host = host_of(self._frame)
        assert isinstance(host, QueryHost), "the frames of both libraries answer queries"
        made: F = filtered(host, self._frame, item)
        return made

    @short_traceback
    def explain(
        self, *exprs: IntoItems, sort: bool | None = None, metrics: bool = False, **named: IntoItem
    ) -> Explanation:
        """Show how window calls would be computed; the same as :func:`windrow.explain`.

        Parameters
        ----------
        *exprs, sort, metrics, **named
            As for :func:`windrow.explain`.

        Returns
        -------
        Explanation
            It prints as text, and as tables in a notebook.
        """
        made: Explanation = explain(self._frame, *exprs, named, sort=sort, metrics=metrics)
        return made
