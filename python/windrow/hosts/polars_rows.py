"""Analyses Polars expressions: the columns that they read, and the functions that read other rows than their own.

An expression that reads other rows does not respect partitions.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

__all__ = ["columns_and_other_rows"]

# Polars serialises an expression as a tree. These nodes, functions and families of functions read one row only. All
# others are taken to read other rows, because an error is better than a wrong result.
_NODES: Final = {"Alias", "BinaryExpr", "Cast", "Column", "Eval", "KeepName", "Literal", "RenameAlias", "Ternary"}
_FUNCTIONS: Final = {
    "Abs", "AsStruct", "Atan2", "Ceil", "Clip", "Coalesce", "Cut", "Erf", "Erfc", "Exp", "FillNull", "Floor", "Hash",
    "Log", "Log1p", "MaxHorizontal", "MeanHorizontal", "MinHorizontal", "Negate", "Pow", "RepeatBy", "Replace",
    "ReplaceStrict", "Round", "RoundSF", "SetSortedFlag", "Sign", "SumHorizontal", "ToPhysical", "Truncate",
    "FoldHorizontal", "ReduceHorizontal",
}  # fmt: skip
_FAMILIES: Final = {
    "ArrayExpr", "BinaryExpr", "Business", "Categorical", "ListExpr", "StringExpr", "StructExpr", "TemporalExpr",
    "Trigonometry",
}  # fmt: skip
_BOOLEAN: Final = {
    "AllHorizontal", "AnyHorizontal", "IsBetween", "IsClose", "IsFinite", "IsIn", "IsInfinite", "IsNan", "IsNotNan",
    "IsNotNull", "IsNull", "Not",
}  # fmt: skip
# Nodes that select columns by other means than their names.
_SELECTS_COLUMNS: Final = re.compile('"(Selector|Wildcard|Columns|DtypeColumn|IndexColumn|Nth|Exclude)"|"Column":"\\^')
_CROSS_ROW: Final = {"ConcatVertical", "Explode"}
# Functions whose search value or replacement is a whole column if it is not a literal.
_SET_FUNCTIONS: Final = {
    "ContainsAny", "ContainsMany", "ExtractMany", "FindMany", "IsIn", "Replace", "ReplaceMany", "ReplaceStrict",
}  # fmt: skip


def columns_and_other_rows(expression: Any) -> tuple[frozenset[str] | None, tuple[str, ...]]:
    """Return the columns that a Polars expression reads, and its functions that read other rows than their own.

    Parameters
    ----------
    expression
        A ``polars.Expr``.

    Returns
    -------
    tuple
        The columns in lower case, or None if it selects columns by other means than names; and the functions by Polars'
        names, with ``Over`` for an expression with its own partitions. There are none if it reads only its own row.
    """
    try:
        text = expression.meta.serialize(format="json")
        tree = json.loads(text)
    except Exception:  # a function that cannot be serialised
        return None, ("a function of the user's",)
    return None if _SELECTS_COLUMNS.search(text) else frozenset(_columns(tree)), _other_rows(tree)


def _columns(tree: Any) -> set[str]:
    names: set[str] = set()
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if isinstance(name := node.get("Column"), str):
                names.add(name.lower())
            pending += node.values()
        elif isinstance(node, list):
            pending += node
    return names


def _other_rows(tree: Any) -> tuple[str, ...]:
    found: dict[str, None] = {}
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += node
        elif isinstance(node, dict) and len(node) == 1:
            ((name, content),) = node.items()
            pending += _inspect(name, content, found)
        elif isinstance(node, str) and node not in ("Element", "Wildcard"):
            found[node] = None  # such as Len
    return tuple(found)


def _inspect(name: str, content: Any, found: dict[str, None]) -> list[Any]:
    """Record the functions of a node in ``found``, and return its children."""
    if name == "Function":
        if (function := _cross_row_name(content["function"], content["input"])) is not None:
            found[function] = None
        return list(content["input"])
    if name == "AnonymousFunction":
        if "ROW_SEPARABLE" not in str(content.get("options", "")):
            found["map_batches"] = None
        return list(content["input"])
    if name == "Agg":
        found[next(iter(content)) if isinstance(content, dict) else str(content)] = None
        return []
    if name not in _NODES:
        found[name] = None
        return []
    if name in ("Column", "Literal"):
        if isinstance(content, dict) and "Series" in content:
            found["a Series"] = None
        return []
    if name == "Ternary":
        return [content[k] for k in ("predicate", "truthy", "falsy")]
    if name == "BinaryExpr":
        return [content["left"], content["right"]]
    if name in ("Cast", "Eval", "RenameAlias"):
        return [content["expr"]]
    return [content[0] if isinstance(content, list) else content]


def _cross_row_name(function: Any, inputs: list[Any]) -> str | None:
    """Return the name of a function that is not known to read one row only; None for the others."""
    name, inner, options = function, None, None
    if isinstance(function, dict):
        name, inner = next(iter(function.items()))
        if isinstance(inner, dict):
            inner, options = next(iter(inner.items()), (None, None))
        inner = inner if isinstance(inner, str) else None
    one = inner if name == "Boolean" or name in _FAMILIES else name
    if one in _SET_FUNCTIONS and not all(_is_literal(i) for i in inputs[1:]):
        return str(one)
    if name == "Boolean":
        return None if inner in _BOOLEAN else str(inner)
    if name in _FAMILIES:
        return str(inner) if inner in _CROSS_ROW or _infers_from_values(inner, options) else None
    return None if name in _FUNCTIONS else str(name)


def _is_literal(node: Any) -> bool:
    while isinstance(node, dict) and "Cast" in node:
        node = node["Cast"]["expr"]
    return isinstance(node, dict) and "Literal" in node


def _infers_from_values(name: str | None, options: Any) -> bool:
    """Whether a string function infers a format or a type from the first values of its column."""
    if name == "Strptime":
        return bool(options[1]["format"] is None)
    if name == "JsonDecode":
        return options is None or (isinstance(options, dict) and options.get("dtype", options) is None)
    return name == "ToDecimal" and not (isinstance(options, dict) and "scale" in options)
