"""Values that depend on conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..exceptions import SpecError, short_traceback
from .code_text import code_of
from .expressions import Expr, IntoCondition, IntoExpr, as_condition, as_expr
from .names import python_text
from .operators import ATOM, OR, operation

__all__ = ["Then", "When", "when"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class When:
    """A condition that waits for its value: ``wr.when(condition)``."""

    cases: tuple[tuple[Expr, Expr], ...]
    condition: Expr

    def __repr__(self) -> str:
        """The beginning as code."""
        return f"{_code(self.cases)}.when({code_of(self.condition)})"

    @short_traceback
    def then(self, value: IntoExpr) -> Then:
        """Say what rows get for which the condition is true.

        Parameters
        ----------
        value
            A value or an expression; for a text ``wr.lit("text")``, for a column ``wr.col("name")``.

        Returns
        -------
        Then
            What takes a further ``.when(...)``, or ``.otherwise(...)``.
        """
        return Then((*self.cases, (self.condition, _value(value, "then"))))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Then:
    """Conditions with their values, which wait for ``.otherwise(...)``."""

    cases: tuple[tuple[Expr, Expr], ...]

    def __repr__(self) -> str:
        """The beginning as code."""
        return _code(self.cases)

    @short_traceback
    def when(self, condition: IntoCondition) -> When:
        """Add a condition, for rows for which none before it is true.

        Parameters
        ----------
        condition
            As for :func:`windrow.when`.

        Returns
        -------
        When
            What takes ``.then(...)``.
        """
        return When(self.cases, as_condition(condition, "when()"))

    @short_traceback
    def otherwise(self, value: IntoExpr) -> Any:
        """Say what rows get for which no condition is true.

        Parameters
        ----------
        value
            As for ``then``; None for null.

        Returns
        -------
        Sql or Derived
            The expression, of the type that all values have in common.
        """
        operands = [part for case in self.cases for part in case] + [_value(value, "otherwise")]
        text = "CASE " + "WHEN {} THEN {} " * len(self.cases) + "ELSE {} END"
        return operation(text, ATOM, *[(part, OR) for part in operands])


@short_traceback
def when(condition: IntoCondition) -> When:
    """Begin a value that depends on conditions, as SQL's ``CASE``: ``wr.when(c).then(a).otherwise(b)``.

    Parameters
    ----------
    condition
        A boolean column's name, or an expression. Null counts as false.

    Returns
    -------
    When
        What takes ``.then(value)``, further ``.when(...).then(...)``, and at the end ``.otherwise(value)``.

    Raises
    ------
    SpecError
        For a condition that is a bool of Python's, and for a value that is a str: ``wr.lit("text")`` or
        ``wr.col("name")`` is meant.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3], "x": [5, 7, 4]})
    >>> step = wr.col("x") - wr.lag("x").over(wr.window(order_by="t"))
    >>> moved = wr.when(step > 0).then(wr.lit("up")).when(step < 0).then(wr.lit("down")).otherwise(None)
    >>> wr.with_columns(table, moved=moved)["moved"].to_pylist()
    [None, 'up', 'down']
    """
    return When((), as_condition(condition, "when()"))


def _code(cases: tuple[tuple[Expr, Expr], ...]) -> str:
    return "wr" + "".join(f".when({code_of(condition)}).then({code_of(value)})" for condition, value in cases)


def _value(value: Any, method: str) -> Expr:
    if isinstance(value, str):
        text = python_text(value)
        raise SpecError(
            f"{method}({text}): write wr.lit({text}) for the text, and wr.col({text}) for the column of that name"
        )
    return as_expr(value, f"{method}()")
