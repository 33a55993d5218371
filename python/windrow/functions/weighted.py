"""Exponentially weighted means and moments, in which older values have less weight."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

from .._model.calls import Call, call
from .._model.checks import flag
from .._model.expressions import IntoColumns, IntoExpr
from .._model.intervals import Interval
from .._model.lengths import as_length
from ..exceptions import SpecError, short_traceback, shown

__all__ = ["ewm_corr", "ewm_cov", "ewm_mean", "ewm_mean_by", "ewm_std", "ewm_var"]


def _decay(function: str, given: dict[str, Any]) -> Any:
    """Give the smoothing factor, or the half-life where that is a time."""
    named = {name: value for name, value in given.items() if value is not None}
    if len(named) != 1:
        raise SpecError(f"{function} takes alpha, span, com or half_life, and one of them")
    [(name, value)] = named.items()
    if name == "alpha":
        return value
    if name == "half_life" and isinstance(value, (str, dt.timedelta, Interval)):
        return as_length(value, f"the half_life of {function}")
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    least = {"span": "from 1", "com": "from 0", "half_life": "above 0"}[name]
    if not (number > 0 if name == "half_life" else number >= (1 if name == "span" else 0)):
        kind = "a number of rows" if name == "half_life" else "a number"
        raise SpecError(f"the {name} of {function} is {kind} {least}, not {shown(value)}")
    if name == "half_life":
        return -math.expm1(-math.log(2) / number)
    return 2 / (number + 1) if name == "span" else 1 / (number + 1)


def _weighted(function: str, args: list[Any], adjust: bool, bias: bool | None, ignore_nulls: bool) -> Call:
    biased = bias is not None and flag(bias, f"{function}(): bias")
    adjusts = flag(adjust, f"{function}(): adjust")
    if biased or not adjusts:
        args.append(adjusts)
    if biased:
        args.append(True)
    made = call(function, *args)
    return made.ignore_nulls() if flag(ignore_nulls, f"{function}(): ignore_nulls") else made


@short_traceback
def ewm_mean(
    x: IntoColumns,
    alpha: float | None = None,
    *,
    span: float | None = None,
    com: float | None = None,
    half_life: float | str | dt.timedelta | Interval | None = None,
    adjust: bool = True,
    ignore_nulls: bool = False,
) -> Call:
    """Return the exponentially weighted mean of the frame's values: each row has less weight than the next.

    Parameters
    ----------
    x
        A column of numbers, or of strings that contain numbers.
    alpha
        The smoothing factor, above 0 and at most 1: each row multiplies the weights of earlier rows by ``1 - alpha``.
    span, com, half_life
        The decay in other words, one of them or ``alpha``: it is ``2 / (span + 1)``, ``1 / (com + 1)``, or follows from
        the number of rows after which a weight is halved. A duration such as ``"1h"`` or a timedelta halves weights by
        time, that of the window's one order key; then a null does not count, nor a row whose key is null.
    adjust
        Divide by the sum of the weights. Otherwise each value updates the mean,
        ``(1 - alpha) * mean + alpha * value``, which gives the first value more weight.
    ignore_nulls
        Let a null not count as a row, as ``.ignore_nulls()`` does. Otherwise it reduces the weights of earlier rows.

    Returns
    -------
    Call
        A double; null for a frame without values.

    Raises
    ------
    SpecError
        If not one of ``alpha``, ``span``, ``com`` and ``half_life`` is given, or it is out of range. When the plan is
        made, if a half-life is a duration and the window has not one order key of dates or times.

    Notes
    -----
    O(1) amortised per row over growing and moving frames. Over growing frames the results are those of pandas' ``ewm``
    and Polars' ``ewm_mean``, except that in a row that is null, Polars gives null, and windrow the result so far.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3], "x": [0.0, 3.0, 7.0], "y": [1.0, 5.0, 6.0]})
    >>> w = wr.window(order_by="t")
    >>> wr.with_columns(table, m=wr.ewm_mean("x", 0.5).over(w))["m"].to_pylist()
    [0.0, 2.0, 4.857142857142857]
    """
    decay = _decay("ewm_mean", {"alpha": alpha, "span": span, "com": com, "half_life": half_life})
    return _weighted("ewm_mean", [x, decay], adjust, None, ignore_nulls)


@short_traceback
def ewm_var(
    x: IntoColumns,
    alpha: float | None = None,
    *,
    span: float | None = None,
    com: float | None = None,
    half_life: float | str | dt.timedelta | Interval | None = None,
    adjust: bool = True,
    bias: bool = False,
    ignore_nulls: bool = False,
) -> Call:
    """Return the exponentially weighted variance of the frame's values.

    Parameters
    ----------
    x
        A column of numbers, or of strings that contain numbers.
    alpha
        The smoothing factor, above 0 and at most 1: each row multiplies the weights of earlier rows by ``1 - alpha``.
    span, com, half_life
        The decay in other words, one of them or ``alpha``: it is ``2 / (span + 1)``, ``1 / (com + 1)``, or follows from
        the number of rows after which a weight is halved. A duration such as ``"1h"`` or a timedelta halves weights by
        time, that of the window's one order key; then a null does not count, nor a row whose key is null.
    adjust
        Divide by the sum of the weights. Otherwise each value updates the mean,
        ``(1 - alpha) * mean + alpha * value``, which gives the first value more weight.
    bias
        Take the weighted moments as they are. Otherwise they are corrected for bias, as in pandas and Polars.
    ignore_nulls
        Let a null not count as a row, as ``.ignore_nulls()`` does. Otherwise it reduces the weights of earlier rows.

    Returns
    -------
    Call
        A double; null for a frame without values, and unless ``bias``, for one with a single value.

    Raises
    ------
    SpecError
        If not one of ``alpha``, ``span``, ``com`` and ``half_life`` is given, or it is out of range. When the plan is
        made, if a half-life is a duration and the window has not one order key of dates or times.

    Notes
    -----
    O(1) amortised per row over growing and moving frames. Over growing frames the results are those of pandas' ``ewm``
    and Polars' ``ewm_var``, except that in a row that is null, Polars gives null, and windrow the result so far.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3], "x": [0.0, 3.0, 7.0], "y": [1.0, 5.0, 6.0]})
    >>> w = wr.window(order_by="t")
    >>> wr.with_columns(table, v=wr.ewm_var("x", 0.5).over(w))["v"].to_pylist()[:2]
    [None, 4.5]
    """
    decay = _decay("ewm_var", {"alpha": alpha, "span": span, "com": com, "half_life": half_life})
    return _weighted("ewm_var", [x, decay], adjust, bias, ignore_nulls)


@short_traceback
def ewm_std(
    x: IntoColumns,
    alpha: float | None = None,
    *,
    span: float | None = None,
    com: float | None = None,
    half_life: float | str | dt.timedelta | Interval | None = None,
    adjust: bool = True,
    bias: bool = False,
    ignore_nulls: bool = False,
) -> Call:
    """Return the exponentially weighted standard deviation of the frame's values: the root of :func:`ewm_var`.

    Parameters
    ----------
    x
        A column of numbers, or of strings that contain numbers.
    alpha
        The smoothing factor, above 0 and at most 1: each row multiplies the weights of earlier rows by ``1 - alpha``.
    span, com, half_life
        The decay in other words, one of them or ``alpha``: it is ``2 / (span + 1)``, ``1 / (com + 1)``, or follows from
        the number of rows after which a weight is halved. A duration such as ``"1h"`` or a timedelta halves weights by
        time, that of the window's one order key; then a null does not count, nor a row whose key is null.
    adjust
        Divide by the sum of the weights. Otherwise each value updates the mean,
        ``(1 - alpha) * mean + alpha * value``, which gives the first value more weight.
    bias
        Take the weighted moments as they are. Otherwise they are corrected for bias, as in pandas and Polars.
    ignore_nulls
        Let a null not count as a row, as ``.ignore_nulls()`` does. Otherwise it reduces the weights of earlier rows.

    Returns
    -------
    Call
        A double; null for a frame without values, and unless ``bias``, for one with a single value.

    Raises
    ------
    SpecError
        If not one of ``alpha``, ``span``, ``com`` and ``half_life`` is given, or it is out of range. When the plan is
        made, if a half-life is a duration and the window has not one order key of dates or times.

    Notes
    -----
    O(1) amortised per row over growing and moving frames. Over growing frames the results are those of pandas' ``ewm``
    and Polars' ``ewm_std``, except that in a row that is null, Polars gives null, and windrow the result so far.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3], "x": [0.0, 3.0, 7.0], "y": [1.0, 5.0, 6.0]})
    >>> w = wr.window(order_by="t")
    >>> wr.with_columns(table, s=wr.ewm_std("x", 0.5, bias=True).over(w)).column("s").to_pylist()[0]
    0.0
    """
    decay = _decay("ewm_std", {"alpha": alpha, "span": span, "com": com, "half_life": half_life})
    return _weighted("ewm_std", [x, decay], adjust, bias, ignore_nulls)


@short_traceback
def ewm_cov(
    y: IntoColumns,
    x: IntoExpr,
    alpha: float | None = None,
    *,
    span: float | None = None,
    com: float | None = None,
    half_life: float | str | dt.timedelta | Interval | None = None,
    adjust: bool = True,
    bias: bool = False,
    ignore_nulls: bool = False,
) -> Call:
    """Return the exponentially weighted covariance of the frame's pairs.

    Parameters
    ----------
    y, x
        Columns of numbers, or of strings that contain numbers. A row where one is null counts as null.
    alpha
        The smoothing factor, above 0 and at most 1: each row multiplies the weights of earlier rows by ``1 - alpha``.
    span, com, half_life
        The decay in other words, one of them or ``alpha``: it is ``2 / (span + 1)``, ``1 / (com + 1)``, or follows from
        the number of rows after which a weight is halved. A duration such as ``"1h"`` or a timedelta halves weights by
        time, that of the window's one order key; then a null does not count, nor a row whose key is null.
    adjust
        Divide by the sum of the weights. Otherwise each value updates the mean,
        ``(1 - alpha) * mean + alpha * value``, which gives the first value more weight.
    bias
        Take the weighted moments as they are. Otherwise they are corrected for bias, as in pandas and Polars.
    ignore_nulls
        Let a null not count as a row, as ``.ignore_nulls()`` does. Otherwise it reduces the weights of earlier rows.

    Returns
    -------
    Call
        A double; null for a frame without pairs, and unless ``bias``, for one with a single pair.

    Raises
    ------
    SpecError
        If not one of ``alpha``, ``span``, ``com`` and ``half_life`` is given, or it is out of range. When the plan is
        made, if a half-life is a duration and the window has not one order key of dates or times.

    Notes
    -----
    O(1) amortised per row over growing and moving frames. Over growing frames the results are those of pandas' ``ewm``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3], "x": [0.0, 3.0, 7.0], "y": [1.0, 5.0, 6.0]})
    >>> w = wr.window(order_by="t")
    >>> wr.with_columns(table, c=wr.ewm_cov("y", "x", 0.5).over(w))["c"].to_pylist()[:2]
    [None, 6.0]
    """
    decay = _decay("ewm_cov", {"alpha": alpha, "span": span, "com": com, "half_life": half_life})
    return _weighted("ewm_cov", [y, x, decay], adjust, bias, ignore_nulls)


@short_traceback
def ewm_corr(
    y: IntoColumns,
    x: IntoExpr,
    alpha: float | None = None,
    *,
    span: float | None = None,
    com: float | None = None,
    half_life: float | str | dt.timedelta | Interval | None = None,
    adjust: bool = True,
    ignore_nulls: bool = False,
) -> Call:
    """Return the exponentially weighted correlation of the frame's pairs.

    Parameters
    ----------
    y, x
        Columns of numbers, or of strings that contain numbers. A row where one is null counts as null.
    alpha
        The smoothing factor, above 0 and at most 1: each row multiplies the weights of earlier rows by ``1 - alpha``.
    span, com, half_life
        The decay in other words, one of them or ``alpha``: it is ``2 / (span + 1)``, ``1 / (com + 1)``, or follows from
        the number of rows after which a weight is halved. A duration such as ``"1h"`` or a timedelta halves weights by
        time, that of the window's one order key; then a null does not count, nor a row whose key is null.
    adjust
        Divide by the sum of the weights. Otherwise each value updates the mean,
        ``(1 - alpha) * mean + alpha * value``, which gives the first value more weight.
    ignore_nulls
        Let a null not count as a row, as ``.ignore_nulls()`` does. Otherwise it reduces the weights of earlier rows.

    Returns
    -------
    Call
        A double; null for fewer than two pairs, or where a column does not vary.

    Raises
    ------
    SpecError
        If not one of ``alpha``, ``span``, ``com`` and ``half_life`` is given, or it is out of range. When the plan is
        made, if a half-life is a duration and the window has not one order key of dates or times.

    Notes
    -----
    O(1) amortised per row over growing and moving frames. Over growing frames the results are those of pandas' ``ewm``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3], "x": [0.0, 3.0, 7.0], "y": [1.0, 5.0, 6.0]})
    >>> w = wr.window(order_by="t")
    >>> wr.with_columns(table, c=wr.ewm_corr("y", "x", 0.5).over(w))["c"].to_pylist()[0] is None
    True
    """
    decay = _decay("ewm_corr", {"alpha": alpha, "span": span, "com": com, "half_life": half_life})
    return _weighted("ewm_corr", [y, x, decay], adjust, None, ignore_nulls)


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
