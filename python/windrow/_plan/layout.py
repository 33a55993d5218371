"""The layout of a result: which working column each of its columns is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .._model.outputs import Output
from .steps import Project

__all__ = ["arrange"]


def arrange(
    columns: Sequence[str], outputs: Sequence[Output], new: Sequence[int], *, selecting: bool, folded: bool = False
) -> Project:
    """Lay out the result's columns.

    Parameters
    ----------
    columns
        The frame's columns.
    outputs
        What was asked for.
    new
        The working column of each output that is none of the frame's, in their order.
    selecting
        For ``select`` only the outputs; otherwise all columns, one of the same name replaced in its place.
    folded
        Whether names differ regardless of case, as in Spark by default.

    Returns
    -------
    Project
        The result's columns in order.
    """
    if selecting:
        return Project(tuple(_selected(columns, outputs, new)))
    fold: Callable[[str], str] = str.lower if folded else str
    made = dict(zip((o.name for o in outputs if o.item is not None), new, strict=True))
    by_name = {fold(name): (name, index) for name, index in made.items()}
    kept = [by_name.get(fold(c), (c, i)) for i, c in enumerate(columns)]
    replaced = {fold(c) for c in columns}
    return Project((*kept, *((n, i) for n, i in made.items() if fold(n) not in replaced)))


def _selected(columns: Sequence[str], outputs: Sequence[Output], new: Sequence[int]) -> list[tuple[str, int]]:
    positions: dict[str, list[int]] = {}
    for index, column in enumerate(columns):
        positions.setdefault(column, []).append(index)
    chosen: list[tuple[str, int]] = []
    made = iter(new)
    for output in outputs:
        if output.item is not None:
            chosen.append((output.name, next(made)))
        elif output.position is not None:
            chosen.append((output.name, output.position))
        else:
            source = output.name if output.column is None else output.column
            chosen.extend((output.name, i) for i in positions.get(source, ()))
    return chosen
