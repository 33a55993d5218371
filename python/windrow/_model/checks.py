"""Checks of the values of the model's fields."""

from __future__ import annotations

from typing import Any, NoReturn

from ..exceptions import SpecError, shown

__all__ = ["flag", "is_tuple_of", "refuse_field"]


def is_tuple_of(value: object, classes: type | tuple[type, ...]) -> bool:
    """Whether a value is a tuple of values of one class or another."""
    if not isinstance(value, tuple):
        return False
    for part in value:  # noqa: SIM110 - all() of a generator takes twice as long, and every call is checked
        if not isinstance(part, classes):
            return False
    return True


def refuse_field(owner: object, name: str, wanted: str, instead: str) -> NoReturn:
    """Refuse the value of a field.

    Parameters
    ----------
    owner
        The value that is being made.
    name
        Which of its fields.
    wanted
        What the field holds.
    instead
        The spelling that works.

    Raises
    ------
    SpecError
        Always.
    """
    given = shown(getattr(owner, name))
    raise SpecError(f"{type(owner).__name__}(): {name}={given} is not {wanted}; write {instead}")


def flag(value: Any, what: str) -> bool:
    """Convert a flag argument to a bool; refuse expressions and arrays."""
    if value is None or isinstance(value, (bool, int)) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise SpecError(f"{what}={shown(value)} is neither True nor False")
