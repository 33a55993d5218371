"""Resolves calls of functions and operators to a row of the table, by argument types, and casts the arguments."""

from __future__ import annotations

from collections.abc import Sequence

from .._model.replace import replace
from .casts import cast, null_of
from .exact import candidates
from .typed import Scope, Typed, refused
from .types import DATE, DOUBLE, INT, NTZ, STRING, family, shown

__all__ = ["called"]

_WITH_TEXT = {"void", "string", "integer", "decimal", "boolean", "date", "timestamp", "timestamp_ntz"}
_INTS = {"tinyint", "smallint", "int"}


def called(name: str, args: Sequence[Typed], scope: Scope, text: object, whole: object) -> Typed:
    """Call a function or operator of the table.

    Parameters
    ----------
    name
        The function or operator.
    args
        Its arguments.
    scope
        The settings.
    text
        The call, as written.
    whole
        The expression that contains it, for messages.

    Returns
    -------
    Typed
        The call.

    Raises
    ------
    UnsupportedError
        If the table has no row for these argument types.
    """
    literal_only = None
    for row in candidates(name):
        patterns = row.arguments
        if row.variadic and len(args) >= len(patterns):
            patterns = (*patterns, *[patterns[-1]] * (len(args) - len(patterns)))
        if len(patterns) != len(args):
            continue
        given = [_argument(a, p.removeprefix("literal "), scope, text) for a, p in zip(args, patterns, strict=True)]
        found = [g for g in given if g is not None]
        if len(found) < len(given):
            continue
        read = [i for i, p in enumerate(patterns) if p.startswith("literal ") and args[i].literal_or(None) is None]
        if not read:
            return replace(row.make(found, scope, text), text=text)
        literal_only = read[0] + 1
    what = f"{name}({', '.join(shown(a.kind) for a in args)})"
    raise refused(
        what if literal_only is None else f"{what} whose argument {literal_only} is no literal, or NULL,", whole
    )


def _argument(value: Typed, pattern: str, scope: Scope, text: object) -> Typed | None:
    """Cast an argument to the type of a pattern; None if the pattern does not accept it."""
    kind = family(value.kind)
    if pattern == "text":
        return value if kind in _WITH_TEXT else None
    if kind == "void":
        default = {
            "string": STRING, "date": DATE, "double": DOUBLE, "number": DOUBLE, "integer": INT, "int": INT,
            "timestamp_ntz": NTZ,
        }.get(pattern)  # fmt: skip
        return None if default is None else Typed(null_of(default), default, value.failures, None)
    if pattern == "floating":
        return value if kind in ("float", "double") else None
    if pattern == "number" and kind in ("integer", "float", "double", "decimal"):
        return value
    if pattern == "double" and kind in ("integer", "float", "double", "decimal"):
        return cast(value, DOUBLE, text, scope)
    if pattern == "int":
        return value if shown(value.kind) in _INTS else None
    return value if kind == pattern else None
