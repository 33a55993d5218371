"""Tokens that identify objects which cannot be compared, such as expressions of a host and functions of a user."""

from __future__ import annotations

import os
from itertools import count
from uuid import uuid4

__all__ = ["unique_token"]

_PROCESS = uuid4().hex
_COUNT = count()


def unique_token() -> str:
    """Return a string that no other call returns, in any process. An object's id would be reused after its end."""
    return f"{_PROCESS}-{os.getpid()}-{next(_COUNT)}"  # a fork has its parent's numbers
