"""Tokens that identify objects which cannot be compared, such as expressions of a host and functions of a user."""

from __future__ import annotations

import os
from itertools import count
from uuid import uuid4

__all__ = ["unique_token"]

_PROCESS = uuid4().hex
_COUNT = count()


def unique_token() -> str:
    """Return a text that no other call returns, in any process; an object's id is given to another when it dies."""
    return f"{_PROCESS}-{os.getpid()}-{next(_COUNT)}"  # a fork has its parent's numbers
