"""The layout of a result: where each of its columns comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .._model.outputs import Output

__all__ = ["Slot", "arrange"]


@dataclass(frozen=True, slots=True)
class Slot:
    """Where one column of the result comes from: input column ``index``, or new column ``index``."""

    name: str
    new: bool
    index: int


def arrange(columns: Sequence[str], outputs: Sequence[Output], *, selecting: bool, folded: bool = False) -> list[Slot]:
    """Lay out the result's columns.

    Parameters
    ----------
    columns
        The frame's columns.
    outputs
        What was asked for.
    selecting
        For ``select`` only the outputs; otherwise all columns, one of the same name replaced in its place.
    folded
        Whether names differ regardless of case, as in Spark by default.

    Returns
    -------
    list of Slot
        The result's columns in order.
    """
    fold: Callable[[str], str] = str.lower if folded else str
    new = [o for o in outputs if o.item is not None]
    if selecting:
        slots: list[Slot] = []
        positions: dict[str, list[int]] = {}
        for index, column in enumerate(columns):
            positions.setdefault(column, []).append(index)
        made = 0
        for output in outputs:
            if output.item is not None:
                slots.append(Slot(output.name, True, made))
                made += 1
            elif output.position is not None:
                slots.append(Slot(output.name, False, output.position))
            else:
                source = output.name if output.column is None else output.column
                slots.extend(Slot(output.name, False, i) for i in positions.get(source, ()))
        return slots
    by_name = {fold(o.name): i for i, o in enumerate(new)}
    replaced = {fold(c) for c in columns}
    slots = [
        Slot(new[by_name[fold(c)]].name, True, by_name[fold(c)]) if fold(c) in by_name else Slot(c, False, i)
        for i, c in enumerate(columns)
    ]
    return slots + [Slot(o.name, True, i) for i, o in enumerate(new) if fold(o.name) not in replaced]
