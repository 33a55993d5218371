"""Catalyst's window expressions, as they stand in an analysed plan, read into the builder's calls.

What a call reads stays an expression of Spark's, casts and all; only what must be one value for all rows (offsets,
percentages, delimiters, bounds) is taken out of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._model.calls import Call
from ..._model.catalog import function_of
from ..._model.expressions import Expr, Literal
from ..._model.windows import Bound, Frame, Order, Window, relative
from ...exceptions import UnsupportedError
from .jvm import class_of, is_descending, items, value_of

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
_VALUES = {"AnyValue": "any_value", "First": "first_value", "Last": "last_value"}
_PYTHON = ("PythonUDAF", "PythonFuncExpression", "PythonUDF")


def read_window_expression(expression: Any, column: Callable[[Any], Expr], *, ansi: bool) -> Call:
    """Read a Catalyst ``WindowExpression``.

    Parameters
    ----------
    expression
        The JVM's object, analysed.
    column
        Gives the column that holds a Catalyst expression.
    ansi
        Whether the session is in ANSI mode, as the expression must have been when it was analysed.

    Returns
    -------
    Call
        The builder's call, without a name.

    Raises
    ------
    UnsupportedError
        With the reason, if windrow has nothing that answers alike.
    """
    try:
        return _CatalystReader(column, ansi).call(expression)
    except UnsupportedError as error:
        raise UnsupportedError(f"{expression.sql()}: {error}") from None


def bound_of(bound: Any, *, start: bool) -> Bound:
    """Read a frame's bound.

    Parameters
    ----------
    bound
        One of Catalyst's special bounds, or an expression that is one value for all rows.
    start
        Whether it is the frame's start.

    Returns
    -------
    Bound
        The bound.

    Raises
    ------
    UnsupportedError
        If it is NULL, or no constant.
    """
    kinds: dict[str, Bound] = {
        "CurrentRow": Bound("current_row"),
        "UnboundedPreceding": Bound("unbounded_preceding"),
        "UnboundedFollowing": Bound("unbounded_following"),
    }
    known = kinds.get(class_of(bound))
    if known is not None:
        return known
    value = value_of(bound, "the frame's bound")
    if value is None:
        raise UnsupportedError("the frame's bound is NULL")
    return relative(Literal(value), start=start)


class _CatalystReader:
    def __init__(self, column: Callable[[Any], Expr], ansi: bool) -> None:
        self.column = column
        self.ansi = ansi

    def call(self, expression: Any) -> Call:
        function = expression.windowFunction()
        call = self._aggregate(function) if class_of(function) == "AggregateExpression" else self._ranking(function)
        known = function_of(call.function)
        return call.over(self._window(expression.windowSpec(), framed=known is None or known.takes_frame))

    def _window(self, spec: Any, *, framed: bool) -> Window:
        frame = None
        if framed:
            written = spec.frameSpecification()
            units = class_of(written.frameType())
            frame = Frame(
                "rows" if units == "RowFrame" else "range",
                bound_of(written.lower(), start=True),
                bound_of(written.upper(), start=False),
            )
        partition = tuple(self.column(k) for k in items(spec.partitionSpec()))
        return Window(partition, tuple(self._order(o) for o in items(spec.orderSpec())), frame)

    def _order(self, order: Any) -> Order:
        nulls_first = class_of(order.nullOrdering()) == "NullsFirst"
        return Order(self.column(order.child()), is_descending(order), nulls_first)

    # ------------------------------------------------------------------------------------------------------- functions

    def _ranking(self, function: Any) -> Call:
        kind = class_of(function)
        fields = _fields(function)
        if kind in _RANKING:
            return Call(_RANKING[kind])
        if kind == "NTile":
            return Call("ntile", (_literal(fields["buckets"], "ntile's number of buckets"),))
        if kind in ("Lag", "Lead"):
            offset = fields["inputOffset" if kind == "Lag" else "offset"]
            args = [self.column(fields["input"]), _literal(offset, "the offset")]
            if not _is_null(fields["default"]):
                args.append(self.column(fields["default"]))
            return Call(kind.lower(), tuple(args), nulls_ignored=bool(fields["ignoreNulls"]) or None)
        if kind == "NthValue":
            args = [self.column(fields["input"]), _literal(fields["offset"], "nth_value's offset")]
            return Call("nth_value", tuple(args), nulls_ignored=bool(fields["ignoreNulls"]) or None)
        if kind == "CounterDiff":
            return Call("counter_diff", tuple(self.column(c) for c in items(function.children())))
        raise _unknown(function)

    def _aggregate(self, expression: Any) -> Call:
        function = expression.aggregateFunction()
        call = self._function(function)
        condition = expression.filter()
        if condition.isDefined():
            call = call.filter(self.column(condition.get()))
        return call.distinct() if expression.isDistinct() else call

    def _function(self, function: Any) -> Call:
        kind = class_of(function)
        if kind in _RANKING or kind in ("NTile", "NthValue", "CounterDiff"):
            return self._ranking(function)
        fields = _fields(function)
        if kind in _PLAIN:
            name, count = _PLAIN[kind]
            args = [self.column(a) for a in list(fields.values())[:count]]
            return Call(self._mode(name, function, fields), tuple(args), nulls_ignored=_respects(kind, fields))
        if kind == "Count":
            children = items(fields["children"])
            everything = all(class_of(c) == "Literal" and not _is_null(c) for c in children)
            return Call("count", () if everything else tuple(map(self.column, children)))
        if kind in _VALUES:
            return Call(
                _VALUES[kind], (self.column(fields["child"]),), nulls_ignored=bool(fields["ignoreNulls"]) or None
            )
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
            if not _is_null(fields["delimiter"]):
                args.append(_literal(fields["delimiter"], "the delimiter"))
            order = tuple(self._order(o) for o in items(fields["orderExpressions"]))
            return Call("listagg", tuple(args), argument_order=order)
        if kind == "Mode":
            value, reverse = self.column(fields["child"]), fields["reverseOpt"]
            # Some(true) is the least of several modes, Some(false) the greatest, as ORDER BY ASC and DESC ask for
            order = (Order(value, not reverse.get(), bool(reverse.get())),) if reverse.isDefined() else ()
            return Call("mode", (value,), argument_order=order)
        if kind in ("Percentile", "PercentileCont", "PercentileDisc", "ApproximatePercentile"):
            return self._percentile(kind, fields)
        raise _unknown(function)

    def _percentile(self, kind: str, fields: dict[str, Any]) -> Call:
        value = self.column(fields["left" if kind == "PercentileCont" else "child"])
        share = _literal(fields["right" if kind == "PercentileCont" else "percentageExpression"], "the percentage")
        if kind == "ApproximatePercentile":
            return Call("percentile_approx", (value, share, _literal(fields["accuracyExpression"], "the accuracy")))
        reverse = bool(fields.get("reverse", False))
        if kind == "Percentile":
            if reverse:
                raise UnsupportedError("percentile counts from the greatest value here")
            frequency = fields["frequencyExpression"]
            plain = class_of(frequency) == "Literal" and frequency.eval(None) == 1
            return Call("percentile", (value, share) if plain else (value, share, self.column(frequency)))
        if fields.get("legacyCalculation", False):
            raise UnsupportedError("spark.sql.legacy.percentileDiscCalculation is on")
        name = "percentile_cont" if kind == "PercentileCont" else "percentile_disc"
        return Call(name, (value, share), argument_order=(Order(value, reverse, not reverse),))

    def _mode(self, name: str, function: Any, fields: dict[str, Any]) -> str:
        """Give the function's name under the overflow mode that it was analysed in."""
        if fields.get("nullOnDivideByZero", True) is False:
            raise UnsupportedError("spark.sql.legacy.statisticalAggregate is on")
        if name not in ("sum", "avg"):
            return name
        mode = fields["evalContext"].evalMode() if "evalContext" in fields else fields["evalMode"]
        written = str(mode.toString())
        if written == "TRY":
            return f"try_{name}"
        if (written == "ANSI") != self.ansi:
            raise UnsupportedError(
                f"{name} was written while spark.sql.ansi.enabled was {written == 'ANSI'}, and it is {self.ansi} now"
            )
        return name


def _literal(expression: Any, role: str) -> Expr:
    return Literal(value_of(expression, role))


def _fields(node: Any) -> dict[str, Any]:
    return {str(node.productElementName(i)): node.productElement(i) for i in range(node.productArity())}


def _is_null(expression: Any) -> bool:
    return class_of(expression) == "Literal" and expression.value() is None


def _respects(kind: str, fields: dict[str, Any]) -> bool | None:
    return False if kind in ("CollectList", "CollectSet") and fields.get("ignoreNulls", True) is False else None


def _unknown(function: Any) -> UnsupportedError:
    kind = class_of(function)
    if kind in _PYTHON:
        return UnsupportedError(
            f"{function.toString()} is a Python function that Spark runs; written as wr.aggregate(...) windrow runs it"
        )
    return UnsupportedError(f"windrow has no function {function.prettyName()}")
