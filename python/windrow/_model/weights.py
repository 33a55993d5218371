"""Sums, means and deviations of weighted rows: over ROWS frames of fixed length, with a ``lag`` for each row."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal as OneOf, TypeAlias

from ..exceptions import SpecError, shown
from .calls import call
from .conditions import when
from .expressions import IntoColumns, Literal, as_columns, lit
from .formulas import Formula
from .frames import Bound
from .operators import ATOM, OR, operation
from .replace import replace
from .windows import Window

__all__ = ["Weights", "weighted"]

#: The weight of each row of a frame, from its first to its last; or the name of a window of scipy's.
Weights: TypeAlias = (
    Sequence[float] | OneOf["triang", "bartlett", "hann", "hamming", "blackman"] | tuple[OneOf["gaussian"], float]
)

_COSINES: Final = {"hann": (0.5, 0.5), "hamming": (0.54, 0.46), "blackman": (0.42, 0.5, 0.08)}


def weighted(function: str, x: IntoColumns, weights: Weights, what: OneOf["total", "average", "deviation"]) -> Formula:
    """Make the weighted sum, mean or standard deviation of a frame's values.

    Parameters
    ----------
    function
        The function that it is without weights.
    x
        A column of numbers.
    weights
        As :data:`Weights`.
    what
        Which of these.

    Returns
    -------
    Formula
        The function, which takes windows with a ROWS frame whose bounds are numbers.
    """
    role = f"{function}()"
    column = as_columns(x, role)
    make_weights = _maker(weights, role, signed=what != "deviation")

    def make(window: Window) -> Any:
        first, last = _rows(window, role)
        row_weights = make_weights(last - first + 1)
        base = replace(window, frame=None, min_rows=None, min_span=None)
        values = [
            (column if not at else call("lag", column, -at).placed(base)).cast("double")
            for at in range(first, last + 1)
        ]
        count = call("count", column).placed(replace(window, min_rows=None))
        least = max(window.min_rows or 0, 2 if what == "deviation" else 1)
        if what == "total":
            result = _weighted_sum(values, row_weights)
        else:
            sum_of_weights = _sum(
                [when(v.is_null()).then(0.0).otherwise(w) for v, w in zip(values, row_weights, strict=True)]
            )
            if what == "average":
                result = _weighted_sum(values, row_weights) / sum_of_weights
            else:
                center = call("avg", column).placed(replace(window, min_rows=None, min_span=None)).cast("double")
                result = _deviation([value - center for value in values], row_weights, sum_of_weights, count)
            result = when(sum_of_weights != 0).then(result).otherwise(None)
        return when(count >= least).then(result).otherwise(None)

    return Formula(function, (column, Literal(weights) if isinstance(weights, str) else lit(weights)), make)


def _weighted_sum(values: list[Any], weights: list[float]) -> Any:
    return _sum([(value * weight).fill_null(0.0) for value, weight in zip(values, weights, strict=True)])


def _deviation(values: list[Any], weights: list[float], sum_of_weights: Any, count: Any) -> Any:
    """Make the deviation of values that are near 0, so that the difference of squares is accurate."""
    mean = _weighted_sum(values, weights) / sum_of_weights
    squares = _weighted_sum([_square(value) for value in values], weights) / sum_of_weights
    variance = (squares - _square(mean)) * count / (count - 1)
    positive = when(variance < 0).then(0.0).otherwise(variance)  # a rounding error
    return operation("sqrt({})", ATOM, (positive, OR))


def _square(value: Any) -> Any:
    return operation("power({}, 2)", ATOM, (value, OR))  # a text that holds the value once


def _sum(terms: list[Any]) -> Any:
    """Add terms in a tree of little depth: SQL limits how many operators follow one another."""
    half = len(terms) // 2
    return _sum(terms[:half]) + _sum(terms[half:]) if half else terms[0]


def _rows(window: Window, role: str) -> tuple[int, int]:
    """Give the first and the last row of a window's frame, relative to the current one."""
    frame = window.frame
    if frame is not None and frame.units == "rows" and frame.exclude == "no_others":
        first, last = _distance(frame.start), _distance(frame.end)
        if first is not None and last is not None:
            return first, last
    raise SpecError(
        f"{role}: weights belong to the rows of a frame of fixed length, such as rows=7 or rows=(-3, 3), and the "
        f"window has {'none' if frame is None else frame}"
    )


def _distance(bound: Bound) -> int | None:
    if bound.kind == "current_row":
        return 0
    value = bound.offset.value if isinstance(bound.offset, Literal) else None
    if not isinstance(value, int):
        return None
    return value if bound.kind == "following" else -value


def _maker(weights: Any, role: str, *, signed: bool) -> Callable[[int], list[float]]:
    """Give what makes the weights of a number of rows."""
    weights = weights if isinstance(weights, str) else lit(weights).value
    if weights == "triang":
        return lambda n: [(2 * (min(i, n - 1 - i) + 1) - (n + 1) % 2) / (n + n % 2) for i in range(n)]
    if weights == "bartlett":
        return lambda n: [1 - abs(2 * i / (n - 1) - 1) if n > 1 else 1.0 for i in range(n)]
    if isinstance(weights, str) and weights in _COSINES:
        return lambda n: [_cosines(_COSINES[weights], i, n) for i in range(n)]
    if isinstance(weights, tuple) and len(weights) == 2 and weights[0] == "gaussian" and _is_number(weights[1]):
        if weights[1] > 0:
            return lambda n: [math.exp(-(((i - (n - 1) / 2) / weights[1]) ** 2) / 2) for i in range(n)]
    elif isinstance(weights, tuple) and weights and all(map(_is_number, weights)):
        given = [float(w) for w in weights]
        if not signed and min(given) < 0:
            raise SpecError(f"{role}: weights={shown(weights)}: a deviation has no negative weights")
        return lambda n: _of_length(given, n, role)
    names = ", ".join(repr(n) for n in ("triang", "bartlett", *_COSINES))
    raise SpecError(
        f"{role}: weights={shown(weights)} is no list of numbers, one for each row of the frame, nor one of {names} "
        "and ('gaussian', std)"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _cosines(factors: Sequence[float], i: int, n: int) -> float:
    if n == 1:
        return 1.0
    return math.fsum((-1) ** k * f * math.cos(2 * math.pi * k * i / (n - 1)) for k, f in enumerate(factors))


def _of_length(weights: list[float], n: int, role: str) -> list[float]:
    if len(weights) != n:
        raise SpecError(f"{role}: {len(weights)} weights do not go with a frame of {n} rows; write one for each row")
    return weights
