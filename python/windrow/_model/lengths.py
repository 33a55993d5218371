"""Distances of the order key as users write them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from ..exceptions import SpecError, shown
from .expressions import Literal, as_expr
from .intervals import Interval, parse_duration

__all__ = ["as_length"]


def as_length(value: Any, what: str) -> Literal:
    """Give a distance as a literal.

    Parameters
    ----------
    value
        A number, a duration's text, a timedelta or an interval; None for none. A timedelta is elapsed time; the days of
        a text or an interval are the calendar's.
    what
        What messages call it.

    Returns
    -------
    Literal
        The distance.

    Raises
    ------
    SpecError
        If it is no distance, or negative.
    """
    expression = Literal(parse_duration(value)) if isinstance(value, str) else as_expr(value, what)
    amount = expression.value if isinstance(expression, Literal) else expression
    if isinstance(amount, str):
        amount = parse_duration(amount)
    if amount is None:
        return Literal(None)
    if isinstance(amount, bool) or not isinstance(amount, (int, float, Decimal, dt.timedelta, Interval)):
        raise SpecError(
            f"{what} is a number, a duration such as '30m', a timedelta or wr.interval(...), not {shown(value)}"
        )
    if isinstance(amount, dt.timedelta):
        amount = Interval(microseconds=amount // dt.timedelta(microseconds=1))
    if isinstance(amount, Interval):
        negative = amount.is_negative()
    else:
        negative = (amount.is_nan() if isinstance(amount, Decimal) else amount != amount) or amount < 0
    if negative:
        raise SpecError(f"{what} is a distance of at least 0, not {shown(value)}")
    return Literal(amount)
