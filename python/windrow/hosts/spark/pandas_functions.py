"""The functions of pandas-on-Spark, which Spark has beside its own, as expressions of SQL over windrow's calls.

    pandas_stddev(x, 2) OVER w   ->   if(n = 2, NULL, sqrt(v * n / (n - 2))), n: count(x) OVER w, v: var_pop(x) OVER w

Spark evaluates the expressions, which have its functions' cases of few or equal values; results may differ from theirs
in the last digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._model.calls import Call, Derived
from ..._model.expressions import Expr, Literal, Sql
from ..._model.result_columns import result_column
from ...exceptions import UnsupportedError
from .catalyst_node import CatalystNode

__all__ = ["is_pandas_function", "over_calls", "pandas_function"]

#: SQL over the results of calls, which it has as {0}, {1} and so on, and these.
_Parts = tuple[str, tuple[Call, ...]]

_INTEGERS = ("tinyint", "smallint", "int", "bigint")
# of a sum of powers of deviations, below which pandas takes it for 0
_ZERO = "1E-14D"
_SQUARES = "({1} * {0})"
_CUBES = f"({{2}} * sqrt({_SQUARES} * {_SQUARES} * {_SQUARES}) / sqrt({{0}}))"
_SKEWNESS = (
    f"if({{0}} < 3, NULL, if(abs({_SQUARES}) < {_ZERO} OR abs({_CUBES}) < {_ZERO}, 0D, "
    "{2} * sqrt(double({0}) * ({0} - 1)) / ({0} - 2)))"
)
_FOURTHS = f"(({{2}} + 3) * {_SQUARES} * {_SQUARES} / {{0}})"
_UPPER = f"({{0}} * ({{0}} + 1D) * ({{0}} - 1D) * {_FOURTHS})"
_LOWER = f"(({{0}} - 2D) * ({{0}} - 3D) * {_SQUARES} * {_SQUARES})"
_KURTOSIS = (
    f"if({{0}} < 4, NULL, if(abs({_LOWER}) < {_ZERO}, 0D, if(abs({_UPPER}) < {_ZERO}, 0D, {_UPPER}) / {_LOWER}"
    " - 3D * (({0} - 1D) / ({0} - 2D)) * (({0} - 1D) / ({0} - 3D))))"
)


def _moments(function: str, template: str) -> Callable[[Sequence[Expr], Mapping[str, Any]], _Parts]:
    def parts(arguments: Sequence[Expr], _: Mapping[str, Any]) -> _Parts:
        args = tuple(arguments)
        return template, (Call("count", args), Call("var_pop", args), Call(function, args))

    return parts


def _deviations(
    count: str, population: str, sample: str, template: str = "{0}"
) -> Callable[[Sequence[Expr], Mapping[str, Any]], _Parts]:
    """Divide a sum by the number of values less ``ddof``, whatever that is."""

    def parts(arguments: Sequence[Expr], fields: Mapping[str, Any]) -> _Parts:
        ddof, args = int(fields["ddof"]), tuple(arguments)
        if ddof in (0, 1):
            return "{0}", (Call(sample if ddof else population, args),)
        divided = template.format(f"{{1}} * {{0}} / ({{0}} - ({ddof}))")
        return f"if({{0}} = {ddof}, NULL, {divided})", (Call(count, args), Call(population, args))

    return parts


def _deviation(arguments: Sequence[Expr], fields: Mapping[str, Any]) -> _Parts:
    text, calls = _deviations("count", "var_pop", "var_samp", "sqrt({0})")(arguments, fields)
    if len(calls) == 1:
        calls = (Call("stddev_samp" if int(fields["ddof"]) else "stddev_pop", calls[0].args),)
    return text, calls


def _product(arguments: Sequence[Expr], fields: Mapping[str, Any]) -> _Parts:
    if fields["child"].type_name in _INTEGERS:
        raise UnsupportedError("windrow's product of integers is a double, and pandas_product is exact")
    made = "coalesce({0}, 1D)"  # no factors make 1
    if fields["ignoreNA"]:
        return made, (Call("product", tuple(arguments)),)
    rows, values = Call("count"), Call("count", tuple(arguments))
    return f"if({{1}} > {{2}}, NULL, {made})", (Call("product", tuple(arguments)), rows, values)


def _weighted_mean(arguments: Sequence[Expr], fields: Mapping[str, Any]) -> _Parts:
    call = Call("ewm_mean", (*arguments, Literal(float(fields["alpha"]))))
    return "{0}", (call.ignore_nulls() if fields["ignoreNA"] else call,)


def _null_index(arguments: Sequence[Expr], _: Mapping[str, Any]) -> _Parts:
    return "int({0})", (Call("bounded_sum", tuple(arguments)),)


def _last_non_null(arguments: Sequence[Expr], _: Mapping[str, Any]) -> _Parts:
    return "{0}", (Call("last_value", tuple(arguments), nulls_ignored=True),)


_FUNCTIONS: dict[str, Callable[[Sequence[Expr], Mapping[str, Any]], _Parts]] = {
    "EWM": _weighted_mean,
    "LastNonNull": _last_non_null,
    "NullIndex": _null_index,
    "PandasCovar": _deviations("regr_count", "covar_pop", "covar_samp"),
    "PandasKurtosis": _moments("kurtosis", _KURTOSIS),
    "PandasProduct": _product,
    "PandasSkewness": _moments("skewness", _SKEWNESS),
    "PandasStddev": _deviation,
    "PandasVariance": _deviations("count", "var_pop", "var_samp"),
}


def is_pandas_function(function: CatalystNode) -> bool:
    """Whether a function is one of pandas-on-Spark's that calls of windrow's make up."""
    return function.kind in _FUNCTIONS


def pandas_function(function: CatalystNode, column: Callable[[CatalystNode], Expr]) -> _Parts:
    """Give SQL over calls that answers as a function of pandas-on-Spark's.

    Parameters
    ----------
    function
        The Catalyst function.
    column
        Gives the column that holds an expression.

    Returns
    -------
    tuple of str and tuple of Call
        The SQL, which has the results of the calls as ``{0}``, ``{1}`` and so on; and the calls, without windows.

    Raises
    ------
    UnsupportedError
        If windrow's result would differ.
    """
    fields = function.fields or {}
    arguments = [column(a) for a in fields.values() if isinstance(a, CatalystNode)]
    return _FUNCTIONS[function.kind](arguments, fields)


def over_calls(template: str, calls: Sequence[Call], text: str) -> Call | Derived:
    """Give an expression over calls; a call, if it is just that.

    Parameters
    ----------
    template
        What :func:`pandas_function` gives.
    calls
        The calls, with their windows.
    text
        The expression as it was written.

    Returns
    -------
    Call or Derived
        The expression.
    """
    if template == "{0}":
        return calls[0]
    named = {result_column(call): call for call in calls}
    return Derived(Sql(template.format(*named)), named, text)
