"""The layout of a result: the working column of each of its columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .._model.outputs import Output
from .steps import Project

__all__ = ["result_projection"]


def result_projection(
    columns: Sequence[str],
    outputs: Sequence[Output],
    new: Sequence[int],
    *,
    selecting: bool,
    case_insensitive: bool = False,
) -> Project:
    """Lay out the result's columns.

    Parameters
    ----------
    columns
        The frame's columns.
    outputs
        What was asked for.
    new
        The working column of each computed output, in order.
    selecting
        For ``select`` only the outputs; otherwise all columns, one of the same name replaced in its place.
    case_insensitive
        Whether names differ regardless of case, as in Spark by default.

    Returns
    -------
    Project
        The result's columns in order.
    """
    if selecting:
        return Project(tuple(_selected(columns, outputs, new)))
    normalize: Callable[[str], str] = str.lower if case_insensitive else str
    new_columns = dict(zip((o.name for o in outputs if o.item is not None), new, strict=True))
    by_name = {normalize(name): (name, index) for name, index in new_columns.items()}
    existing = [by_name.get(normalize(c), (c, i)) for i, c in enumerate(columns)]
    replaced = {normalize(c) for c in columns}
    return Project((*existing, *((n, i) for n, i in new_columns.items() if normalize(n) not in replaced)))


def _selected(columns: Sequence[str], outputs: Sequence[Output], new: Sequence[int]) -> list[tuple[str, int]]:
    positions: dict[str, list[int]] = {}
    for index, column in enumerate(columns):
        positions.setdefault(column, []).append(index)
    projection: list[tuple[str, int]] = []
    new_columns = iter(new)
    for output in outputs:
        if output.item is not None:
            projection.append((output.name, next(new_columns)))
        elif output.position is not None:
            projection.append((output.name, output.position))
        else:
            source = output.name if output.column is None else output.column
            projection.extend((output.name, i) for i in positions.get(source, ()))
    return projection
