"""Exponentially weighted means, in which older values have less weight."""

from __future__ import annotations

import math
from typing import Any

from .._model.calls import Call, call, flag
from .._model.expressions import IntoColumns, IntoExpr
from ..exceptions import SpecError, short_traceback, shown

__all__ = ["ewm_mean", "ewm_mean_by"]


@short_traceback
def ewm_mean(
    x: IntoColumns, alpha: float | None = None, *, half_life: float | None = None, adjust: bool = True
) -> Call:
    """Return the exponentially weighted mean of the frame's values: each row has less weight than the next.

    Parameters
    ----------
    x
        A column of numbers, or of strings that contain numbers.
    alpha
        The smoothing factor, above 0 and at most 1: each row multiplies the weights of earlier rows by ``1 - alpha``.
    half_life
        The number of rows after which a weight is halved. Give this or ``alpha``.
    adjust
        Divide by the sum of the weights. Otherwise each value updates the mean,
        ``(1 - alpha) * mean + alpha * value``, which gives the first value more weight.

    Returns
    -------
    Call
        A double; null for a frame without values. A null counts as a row: it reduces the weights of earlier rows; with
        ``.ignore_nulls()`` it does not.

    Raises
    ------
    SpecError
        If not one of ``alpha`` and ``half_life`` is given. When the plan is made, if ``alpha`` is out of range.

    Notes
    -----
    O(1) amortised per row over growing and moving frames. Over growing frames the results are those of Polars'
    ``ewm_mean`` and pandas' ``ewm``, except that in a row that is null, Polars gives null, and windrow the mean so far.

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
def ewm_mean_by(x: IntoColumns, times: IntoExpr, half_life: IntoExpr) -> Call:
    """Return the exponentially weighted mean of the frame's values by time: weights halve with each half-life.

    Parameters
    ----------
    x
        A column of numbers, or of strings that contain numbers.
    times
        The times of the values: a column of numbers, dates, timestamps or durations, usually the window's order key.
        Rows where it or the value is null are ignored.
    half_life
        The time after which the weight of earlier values is halved: a number if the times are numbers, otherwise a
        timedelta.

    Returns
    -------
    Call
        A double; null for a frame without values.

    Raises
    ------
    SpecError
        When the plan is made, if the half-life is not above 0 or does not go with the times.

    Notes
    -----
    O(1) amortised per row over growing and moving frames. Over growing frames the results are those of
    Polars' ``ewm_mean_by``, except in rows that are null.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [0, 10, 30], "x": [1.0, 3.0, 6.0]})
    >>> wr.with_columns(table, m=wr.ewm_mean_by("x", "t", 10).over(wr.window(order_by="t")))["m"].to_pylist()
    [1.0, 2.0, 5.0]
    """
    return call("ewm_mean_by", x, times, half_life)
