"""The native module's catalog of functions, as dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from .._windrow import functions
from .code_text import constructor_code

__all__ = ["Function", "Parameter", "function_names", "function_of", "functions_within_group"]

_MISSING: Any = object()


@dataclass(frozen=True, slots=True, repr=False)
class Parameter:
    """A parameter of a function.

    Parameters
    ----------
    name
        What messages call it.
    role
        What it is used for. ``"value"``, ``"ordered"`` and ``"compared"`` have one value per row.
    is_setting
        Whether it is read once when the call is planned, and not per row.
    default
        The value used where it is left out, if there is one.
    """

    name: str
    role: str
    is_setting: bool
    default: Any = _MISSING

    def __repr__(self) -> str:
        """The parameter as code."""
        return constructor_code(self, "Parameter")

    def is_default(self, value: Any) -> bool:
        """Whether a literal equals the default."""
        return type(value) is type(self.default) and bool(value == self.default)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the catalog.

    Parameters
    ----------
    name
        Its name; an alias is another.
    aliases
        Its other names.
    family
        What kind of function it is.
    arguments
        What it takes.
    min_arguments
        How many of these must be given.
    takes_star
        Whether ``*`` may stand for its arguments.
    takes_frame
        Whether it looks at a frame that the call chooses.
    ignore_nulls_index
        Where Spark's functions take IGNORE NULLS as TRUE or FALSE, behind the last argument.
    within_group
        What ``WITHIN GROUP (ORDER BY x)`` is to it: the key that is its first argument, or the order of its rows.
    keeps_type
        Whether results have the first argument's type, or are lists of it, so that type information that only the host
        has can be applied to the result.
    order_sensitivity
        How its answer depends on the order of rows.
    """

    name: str
    aliases: tuple[str, ...]
    family: Literal["aggregate", "value", "offset", "ranking", "running"]
    arguments: tuple[Parameter, ...]
    min_arguments: int
    takes_star: bool
    takes_frame: bool
    ignore_nulls_index: int | None
    within_group: Literal["key", "rows"] | None
    keeps_type: bool
    order_sensitivity: Literal["rows", "peers", "values", "rounding", "equal_values", "none"]

    @property
    def is_exact(self) -> bool:
        """Whether it gives the same result, to the last digit, for any order and grouping of the rows."""
        return self.family == "aggregate" and self.order_sensitivity in ("equal_values", "none")

    @property
    def is_extremum(self) -> bool:
        """Whether it gives the smallest or largest value of an argument."""
        return self.order_sensitivity == "equal_values"

    def positions(self, *roles: str) -> list[int]:
        """List the positions of the arguments of these roles."""
        return [i for i, a in enumerate(self.arguments) if a.role in roles]

    def is_setting(self, index: int) -> bool:
        """Whether the argument of this index is read once when the call is planned, and not per row."""
        return index < len(self.arguments) and self.arguments[index].is_setting

    def takes_literal(self, index: int) -> bool:
        """Whether the type of a literal at this index has no influence on the result."""
        if index == self.ignore_nulls_index or self.takes_star:
            return True
        return self.is_setting(index) or index in self.positions("default", "frequency")


@cache
def _functions() -> dict[str, Function]:
    rows = [_function(row) for row in functions()]
    return {name: row for row in rows for name in (row.name, *row.aliases)}


def _function(row: dict[str, Any]) -> Function:
    return Function(
        row["name"],
        tuple(row["aliases"]),
        row["family"],
        tuple(Parameter(a["name"], a["role"], a["setting"], a.get("default", _MISSING)) for a in row["arguments"]),
        row["min_arguments"],
        row["star"],
        row["frames"],
        row["ignore_nulls_index"],
        row["within_group"],
        row["keeps_type"],
        row["order_sensitivity"],
    )


def function_of(name: str) -> Function | None:
    """Return the function of a name or an alias, in lower case.

    Parameters
    ----------
    name
        The name.

    Returns
    -------
    Function or None
        None if windrow has no such function.
    """
    return _functions().get(name)


@cache
def function_names() -> frozenset[str]:
    """Return the names and aliases of windrow's functions."""
    return frozenset(_functions())


def functions_within_group() -> list[str]:
    """List the functions that accept ``WITHIN GROUP``; first those whose argument is its key."""
    found = [(row.within_group, name) for name, row in _functions().items() if row.within_group is not None]
    return [name for _, name in sorted(found, key=lambda one: one[0])]
