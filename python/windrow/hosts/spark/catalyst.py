"""Catalyst's window expressions, as they stand in a plan, read into the builder's calls.

What a call reads stays an expression of Spark's, casts and all; only what must be one value for all rows (offsets,
percentages, delimiters, bounds) is taken out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..._model.calls import Call, Derived
from ..._model.catalog import function_of
from ..._model.expressions import Expr, Literal
from ..._model.frames import Bound, Frame, relative
from ..._model.intervals import Interval
from ..._model.windows import Order, Window
from ...exceptions import UnsupportedError
from .catalyst_node import CatalystNode, value_of
from .pandas_functions import is_pandas_function, over_calls, pandas_function
from .python_aggregates import PythonSettings, python_aggregate

__all__ = ["bound_of", "read_window_expression"]

# class -> function and how many of its first fields are the arguments
_PLAIN = {
    "Average": ("avg", 1), "BitAndAgg": ("bit_and", 1), "BitOrAgg": ("bit_or", 1), "BitXorAgg": ("bit_xor", 1),
    "BoolAnd": ("bool_and", 1), "BoolOr": ("bool_or", 1), "CollectList": ("collect_list", 1),
    "CollectSet": ("collect_set", 1), "Corr": ("corr", 2), "CountIf": ("count_if", 1),
    "CovPopulation": ("covar_pop", 2), "CovSample": ("covar_samp", 2), "Kurtosis": ("kurtosis", 1), "Max": ("max", 1),
    "MaxBy": ("max_by", 2), "Median": ("median", 1), "Min": ("min", 1), "MinBy": ("min_by", 2),
    "Product": ("product", 1), "RegrAvgX": ("regr_avgx", 2), "RegrAvgY": ("regr_avgy", 2),
    "RegrCount": ("regr_count", 2), "RegrIntercept": ("regr_intercept", 2), "RegrR2": ("regr_r2", 2),
    "RegrSXX": ("regr_sxx", 2), "RegrSXY": ("regr_sxy", 2), "RegrSYY": ("regr_syy", 2),
    "RegrSlope": ("regr_slope", 2), "Skewness": ("skewness", 1), "StddevPop": ("stddev_pop", 1),
    "StddevSamp": ("stddev_samp", 1), "Sum": ("sum", 1), "VariancePop": ("var_pop", 1),
    "VarianceSamp": ("var_samp", 1),
}  # fmt: skip
_RANKING = {
    "CumeDist": "cume_dist", "DenseRank": "dense_rank", "PercentRank": "percent_rank", "Rank": "rank",
    "RowNumber": "row_number",
}  # fmt: skip
# an order key of such a type is a number of months to windrow
_MONTHS = ("interval year", "interval month")
_COUNTERS = ("CounterDiff", "CounterDiffWithStartTime")
_VALUES = {"AnyValue": "any_value", "First": "first_value", "Last": "last_value"}
_BOUNDS = {
    "CurrentRow": Bound("current_row"),
    "UnboundedPreceding": Bound("unbounded_preceding"),
    "UnboundedFollowing": Bound("unbounded_following"),
}


def read_window_expression(
    expression: CatalystNode, column: Callable[[CatalystNode], Expr], *, ansi: bool, python: PythonSettings
) -> Call | Derived:
    """Read a Catalyst ``WindowExpression``.

    Parameters
    ----------
    expression
        The expression, of an analysed plan.
    column
        Gives the column that holds an expression.
    ansi
        Whether the session is in ANSI mode, as the expression must have been when it was analysed.
    python
        The settings by which Python functions get and give values.

    Returns
    -------
    Call or Derived
        The builder's call, or an expression of SQL over calls, without a name.

    Raises
    ------
    UnsupportedError
        With the reason, if windrow has nothing that answers alike.
    """
    try:
        return _CatalystReader(column, ansi, python).call(expression)
    except UnsupportedError as error:
        raise UnsupportedError(f"{expression.sql}: {error}") from None


def bound_of(kind: str, value: Callable[[], Any], *, start: bool) -> Bound:
    """Read a frame's bound.

    Parameters
    ----------
    kind
        The class of Catalyst's expression: one of its special bounds, or any that is one value for all rows.
    value
        Gives that value.
    start
        Whether it is the frame's start.

    Returns
    -------
    Bound
        The bound.

    Raises
    ------
    UnsupportedError
        If it is NULL.
    """
    known = _BOUNDS.get(kind)
    if known is not None:
        return known
    offset = value()
    if offset is None:
        raise UnsupportedError("the frame's bound is NULL")
    return relative(Literal(offset), start=start)


class _CatalystReader:
    def __init__(self, column: Callable[[CatalystNode], Expr], ansi: bool, python: PythonSettings) -> None:
        self.column = column
        self.ansi = ansi
        self.python = python

    def call(self, expression: CatalystNode) -> Call | Derived:
        function, spec = expression["windowFunction"], expression["windowSpec"]
        if function.kind == "AggregateExpression" and function["aggregateFunction"].kind == "PythonUDAF":
            if function["filter"] is not None or function["isDistinct"]:
                raise UnsupportedError("a Python function with FILTER or DISTINCT is Spark's")
            call = python_aggregate(function["aggregateFunction"], spec, self.column, self.python)
            return call.over(self._window(spec, framed=False))
        plain = function["aggregateFunction"] if function.kind == "AggregateExpression" else function
        if is_pandas_function(plain):
            template, calls = pandas_function(plain, self.column)
            window = self._window(spec, framed=True)
            return over_calls(template, [self._modified(c, function).over(window) for c in calls], str(expression.sql))
        call = self._modified(self._function(plain), function)
        known = function_of(call.function)
        return call.over(self._window(spec, framed=known is None or known.takes_frame))

    def _window(self, spec: CatalystNode, *, framed: bool) -> Window:
        frame = None
        if framed:
            written = spec["frameSpecification"]
            months = any(o["child"].type_name.startswith(_MONTHS) for o in spec["orderSpec"])
            frame = Frame(
                "rows" if written["frameType"] == "RowFrame" else "range",
                _bound(written["lower"], start=True, in_months=months),
                _bound(written["upper"], start=False, in_months=months),
            )
        # a key of one value for all rows parts nothing
        partition = tuple(self.column(k) for k in spec["partitionSpec"] if k.constant is None)
        return Window(partition, tuple(map(self._order, spec["orderSpec"])), frame)

    def _order(self, order: CatalystNode) -> Order:
        return Order(
            self.column(order["child"]), order["direction"] == "Descending", order["nullOrdering"] == "NullsFirst"
        )

    # ------------------------------------------------------------------------------------------------------- functions

    def _ranking(self, function: CatalystNode) -> Call:
        kind = function.kind
        if kind in _RANKING:
            return Call(_RANKING[kind])
        if kind == "NTile":
            return Call("ntile", (_literal(function["buckets"], "ntile's number of buckets"),))
        if kind in ("Lag", "Lead"):
            offset = function["inputOffset" if kind == "Lag" else "offset"]
            args = [self.column(function["input"]), _literal(offset, "the offset")]
            if not function["default"].is_null:
                args.append(self.column(function["default"]))
            return Call(kind.lower(), tuple(args), nulls_ignored=function["ignoreNulls"] or None)
        if kind == "NthValue":
            args = [self.column(function["input"]), _literal(function["offset"], "nth_value's offset")]
            return Call("nth_value", tuple(args), nulls_ignored=function["ignoreNulls"] or None)
        if kind in _COUNTERS:
            arguments = [v for v in (function.fields or {}).values() if isinstance(v, CatalystNode)]
            return Call("counter_diff", tuple(self.column(a) for a in arguments if a.constant != ["null"]))
        raise _unknown(function)

    def _modified(self, call: Call, expression: CatalystNode) -> Call:
        """Give a call with the modifiers of an aggregate; other functions have none."""
        if expression.kind != "AggregateExpression":
            return call
        if expression["filter"] is not None:
            call = call.filter(self.column(expression["filter"]))
        return call.distinct() if expression["isDistinct"] else call

    def _function(self, function: CatalystNode) -> Call:
        kind = function.kind
        if kind in _RANKING or kind in ("Lag", "Lead", "NTile", "NthValue", *_COUNTERS):
            return self._ranking(function)
        fields = function.fields or {}
        if kind in _PLAIN:
            name, count = _PLAIN[kind]
            args = [self.column(a) for a in list(fields.values())[:count]]
            return Call(self._mode(name, fields), tuple(args), nulls_ignored=_respects(kind, fields))
        if kind == "Count":
            everything = all(c.kind == "Literal" and not c.is_null for c in fields["children"])
            return Call("count", () if everything else tuple(map(self.column, fields["children"])))
        if kind in _VALUES:
            return Call(_VALUES[kind], (self.column(fields["child"]),), nulls_ignored=fields["ignoreNulls"] or None)
        if kind == "MaxMinByK":
            args = [self.column(fields["valueExpr"]), self.column(fields["orderingExpr"])]
            args.append(_literal(fields["kExpr"], "the number of values"))
            return Call("min_by" if fields["reverse"] else "max_by", tuple(args))
        if kind == "HyperLogLogPlusPlus":
            return Call("approx_count_distinct", (self.column(fields["child"]), Literal(float(fields["relativeSD"]))))
        if kind == "HistogramNumeric":
            return Call(
                "histogram_numeric",
                (self.column(fields["child"]), _literal(fields["nBins"], "the number of bins")),
            )
        if kind == "ListAgg":
            args = [self.column(fields["child"])]
            if not fields["delimiter"].is_null:
                args.append(_literal(fields["delimiter"], "the delimiter"))
            order = tuple(map(self._order, fields["orderExpressions"]))
            return Call("listagg", tuple(args), argument_order=order)
        if kind == "Mode":
            value, reverse = self.column(fields["child"]), fields["reverseOpt"]
            # true is the least of several modes, false the greatest, as ORDER BY ASC and DESC ask for
            order = () if reverse is None else (Order(value, not reverse, reverse),)
            return Call("mode", (value,), argument_order=order)
        if kind in ("Percentile", "PercentileCont", "PercentileDisc", "ApproximatePercentile"):
            return self._percentile(kind, fields)
        raise _unknown(function)

    def _percentile(self, kind: str, fields: Mapping[str, Any]) -> Call:
        value = self.column(fields["left" if kind == "PercentileCont" else "child"])
        share = _literal(fields["right" if kind == "PercentileCont" else "percentageExpression"], "the percentage")
        if kind == "ApproximatePercentile":
            return Call("percentile_approx", (value, share, _literal(fields["accuracyExpression"], "the accuracy")))
        reverse = bool(fields.get("reverse", False))
        if kind == "Percentile":
            if reverse:
                raise UnsupportedError("percentile counts from the greatest value here")
            frequency = fields["frequencyExpression"]
            plain = frequency.kind == "Literal" and frequency.constant == ["int", 1]
            return Call("percentile", (value, share) if plain else (value, share, self.column(frequency)))
        if fields.get("legacyCalculation", False):
            raise UnsupportedError("spark.sql.legacy.percentileDiscCalculation is on")
        name = "percentile_cont" if kind == "PercentileCont" else "percentile_disc"
        return Call(name, (value, share), argument_order=(Order(value, reverse, not reverse),))

    def _mode(self, name: str, fields: Mapping[str, Any]) -> str:
        """Give the function's name under the overflow mode that it was analysed in."""
        if fields.get("nullOnDivideByZero", True) is False:
            raise UnsupportedError("spark.sql.legacy.statisticalAggregate is on")
        if name not in ("sum", "avg"):
            return name
        written = fields["evalContext"]["evalMode"] if "evalContext" in fields else fields["evalMode"]
        if written == "TRY":
            return f"try_{name}"
        if (written == "ANSI") != self.ansi:
            raise UnsupportedError(
                f"{name} was written while spark.sql.ansi.enabled was {written == 'ANSI'}, and it is {self.ansi} now"
            )
        return name


def _bound(bound: CatalystNode, *, start: bool, in_months: bool) -> Bound:
    def value() -> Any:
        offset = value_of(bound, "the frame's bound")
        return offset.months if in_months and isinstance(offset, Interval) else offset

    return bound_of(bound.kind, value, start=start)


def _literal(expression: CatalystNode, role: str) -> Expr:
    return Literal(value_of(expression, role))


def _respects(kind: str, fields: Mapping[str, Any]) -> bool | None:
    return False if kind in ("CollectList", "CollectSet") and fields.get("ignoreNulls", True) is False else None


def _unknown(function: CatalystNode) -> UnsupportedError:
    return UnsupportedError(f"windrow has no function {function.label}")
