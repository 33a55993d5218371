"""The hidden column that holds a call's result.

Its name is a hash of the call, so equal calls share a column and are computed once.
"""

from __future__ import annotations

import hashlib
import re

from .calls import Call
from .structure import canonical_text

__all__ = ["hide_result_columns", "result_column"]

_PREFIX = "__windrow_w"
#: The prefix of the names that expressions of a host have within others; 16 hexadecimal digits follow.
INPUT_PREFIX = "__windrow_of_"


def is_result_column(name: str) -> bool:
    """Whether a name is one that :func:`result_column` gives."""
    return name.startswith((_PREFIX, INPUT_PREFIX))


def result_column(call: Call) -> str:
    """Name the column that will hold a call's result: the same name for equal calls, and for no others.

    Parameters
    ----------
    call
        The call; its alias does not matter.

    Returns
    -------
    str
        The name.
    """
    if call.result_column is None:
        name = _PREFIX + hashlib.blake2b(canonical_text(call).encode(), digest_size=8).hexdigest()
        object.__setattr__(call, "result_column", name)
        return name
    return call.result_column


def hide_result_columns(message: str) -> str:
    """Replace the names of result columns in a host's message, as no user has written them."""
    message = re.sub(f"{INPUT_PREFIX}[0-9a-f]{{16}}", "an expression of the host", message)
    return re.sub(f"{_PREFIX}[0-9a-f]{{16}}", "a window call", message)
