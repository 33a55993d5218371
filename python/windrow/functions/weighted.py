"""Exponentially weighted means: a value weighs the less the older it is."""

from __future__ import annotations

import math
from typing import Any

from .._model.calls import Call, call, flag
from .._model.expressions import IntoExpr
from ..exceptions import SpecError, short_traceback, shown

__all__ = ["ewm_mean", "ewm_mean_by"]


@short_traceback
def ewm_mean(x: IntoExpr, alpha: float | None = None, *, half_life: float | None = None, adjust: bool = True) -> Call:
    """Average the frame's values, each row before the frame's last weighing less by a constant factor.

    Parameters
    ----------
    x
        A column of numbers, or of strings that hold them.
    alpha
        What a row takes off the weights of those before it, above 0 and up to 1: they are multiplied by ``1 - alpha``.
    half_life
        The same as a number of rows over which a weight becomes half of itself. Give this or ``alpha``.
    adjust
        Divide by the sum of the weights. Otherwise move the mean from value to value,
        ``(1 - alpha) * before + alpha * value``, which gives the first value more weight.

    Returns
    -------
    Call
        Float64; null where the frame has no value. Rows that are null have no value but make those before them older;
        with ``.ignore_nulls()`` they do not.

    Raises
    ------
    SpecError
        If not one of ``alpha`` and ``half_life`` is given. When the plan is made, if ``alpha`` is out of range.

    Notes
    -----
    O(1) amortised per row over growing and moving frames. Over growing frames as Polars' ``ewm_mean`` and pandas'
    ``ewm``; in a row that is null itself, Polars gives null, and this the mean of the values before.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3], "x": [0.0, 3.0, 7.0]})
    >>> wr.with_columns(table, m=wr.ewm_mean("x", 0.5).over(wr.window(order_by="t")))["m"].to_pylist()
    [0.0, 2.0, 4.857142857142857]
    """
    if (alpha is None) == (half_life is None):
        raise SpecError("ewm_mean takes alpha or half_life, and one of them")
    if half_life is not None:
        given: Any = half_life
        try:
            rows = math.nan if isinstance(given, str) else float(given)
        except (TypeError, ValueError, OverflowError):
            rows = math.nan
        if not rows > 0:
            raise SpecError(f"the half_life of ewm_mean is a number of rows above 0, not {shown(half_life)}")
        alpha = -math.expm1(-math.log(2) / rows)
    return call("ewm_mean", x, alpha) if flag(adjust, "ewm_mean(): adjust") else call("ewm_mean", x, alpha, False)


@short_traceback
def ewm_mean_by(x: IntoExpr, times: IntoExpr, half_life: IntoExpr) -> Call:
    """Average the frame's values, moved from each value to the next by the time between them.

    Parameters
    ----------
    x
        A column of numbers, or of strings that hold them.
    times
        When the values are: a column of numbers, dates, moments or durations, mostly the window's order key. Rows where
        it or the value is null are passed over.
    half_life
        The time over which the weight of what came before becomes half of itself: a number where the times are numbers,
        else a timedelta.

    Returns
    -------
    Call
        Float64; null where the frame has no value.

    Raises
    ------
    SpecError
        When the plan is made, if the half-life is not above 0 or does not go with the times.

    Notes
    -----
    O(1) amortised per row over growing and moving frames. Over growing frames as Polars' ``ewm_mean_by``, but in rows
    that are null themselves.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [0, 10, 30], "x": [1.0, 3.0, 6.0]})
    >>> wr.with_columns(table, m=wr.ewm_mean_by("x", "t", 10).over(wr.window(order_by="t")))["m"].to_pylist()
    [1.0, 2.0, 5.0]
    """
    return call("ewm_mean_by", x, times, half_life)
