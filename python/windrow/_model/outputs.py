"""The columns of a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .calls import Call, Derived
from .expressions import Column, Expr
from .names import identifier
from .structure import Structural

__all__ = ["Output", "expression_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Output(Structural):
    """One column of the result: a call, an expression over calls, or (None) an input column.

    Parameters
    ----------
    name
        The column's name.
    item
        What it is.
    column
        The input column's name, where the result has another.
    position
        Which of the frame's columns it is, where that is meant and not a name, as by a star.
    """

    name: str
    item: Call | Derived | None
    column: str | None = None
    position: int | None = None

    @staticmethod
    def shown(outputs: Sequence[Output]) -> str:
        """Return the SQL of the outputs."""
        return ", ".join(f"{o.item.sql} AS {identifier(o.name)}" for o in outputs if o.item is not None)


def expression_of(output: Output) -> Expr:
    """Return the expression of an item.

    Parameters
    ----------
    output
        The item.

    Returns
    -------
    Column, Literal, Sql, Call or Derived
        What reading its text gave.
    """
    item = output.item
    if item is None:
        return Column(output.name if output.column is None else output.column)
    return item.expression if isinstance(item, Derived) and not item.calls else item
