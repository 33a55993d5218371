"""Python code for values, for ``repr``: after ``import windrow as wr`` the code gives an equal value.

Values of the standard library are written with their modules, such as ``datetime.date(2024, 1, 1)``, except
``Decimal('1.5')``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

__all__ = ["code_of", "constructor_code"]


def code_of(value: Any) -> str:
    """Write a value as code.

    Parameters
    ----------
    value
        A value of the model, or a plain one; what has SQL for its ``repr`` has a method ``code``.

    Returns
    -------
    str
        The code.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{float(value)}')"
    if isinstance(value, tuple):
        inner = ", ".join(map(code_of, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, list):
        return f"[{', '.join(map(code_of, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{code_of(k)}: {code_of(v)}" for k, v in value.items()) + "}"
    written: str = value.code() if hasattr(type(value), "code") else repr(value)
    return written


def constructor_code(value: Any, name: str) -> str:
    """Write a dataclass's value as a call of its constructor, without the fields that have their defaults.

    Parameters
    ----------
    value
        The value.
    name
        How the class is written.

    Returns
    -------
    str
        The code.
    """
    parts = []
    for field in fields(value):
        given = getattr(value, field.name)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if field.init and not (given is default or (type(given) is type(default) and given == default)):
            parts.append(f"{field.name}={code_of(given)}")
    return f"{name}({', '.join(parts)})"
