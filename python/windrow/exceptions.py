"""The exceptions that windrow raises.

Each is a subclass of :class:`WindrowError` and of a matching built-in exception, so both ``except ValueError`` and
``except windrow.SpecError`` catch an invalid window. A message names the call as the user wrote it, the column, its
type, and what to do instead. The native module raises the same classes.
"""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

__all__ = [
    "ArithmeticOverflowError",
    "DataError",
    "InternalError",
    "MemoryLimitError",
    "OrderError",
    "SpecError",
    "SpillError",
    "UnsupportedError",
    "UserError",
    "WindrowError",
]


class WindrowError(Exception):
    """The base class of all exceptions that windrow raises."""


class SpecError(WindrowError, ValueError):
    """The query is invalid: an unknown column or function, an invalid frame, arguments of a wrong type.

    It is raised when the plan is made, before any row is read. If a column is unknown, ``column`` is its name. ``hint``
    is the end of the message, which says what to write instead.
    """

    column: str | None = None
    hint: str = ""


class UnsupportedError(WindrowError, NotImplementedError):
    """The query is valid, but windrow does not support it."""


class ArithmeticOverflowError(WindrowError, ArithmeticError):
    """A result does not fit its type, as in Spark's ANSI mode.

    With ``wr.config(ansi=False)`` the result is Spark's without ANSI mode: integers wrap around, decimals are NULL.
    """


class MemoryLimitError(WindrowError, MemoryError):
    """Rows or results do not fit in ``memory_limit``, in the available memory, or in the result type."""


class SpillError(WindrowError, OSError):
    """Rows beyond ``memory_limit`` could not be written to ``spill_dir``, or were damaged when they were read back."""


class OrderError(WindrowError, ValueError):
    """The rows of a stream are not grouped by the partition keys, or not sorted by the order keys."""


class DataError(WindrowError, ValueError):
    """A value cannot be converted as needed, such as the text ``'x'`` in a sum, or the input data are damaged."""


class UserError(WindrowError, RuntimeError):
    """A user-defined function failed or returned an invalid value; ``__cause__`` is its exception, if there is one."""


class InternalError(WindrowError, RuntimeError):
    """A bug in windrow; please report it."""


F = TypeVar("F", bound=Callable[..., Any])


def short_traceback(function: F) -> F:
    """Let the errors of a public function point at the line that called it, without the frames within windrow.

    One frame is left, which pytest hides. Causes keep their frames, and an :class:`InternalError` keeps its own, as do
    all where ``WINDROW_FULL_TRACEBACK`` is set in the environment.

    Parameters
    ----------
    function
        The function, or a method of a public class.

    Returns
    -------
    Callable
        A function that does the same.
    """

    @functools.wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        try:
            return function(*args, **named)
        except InternalError:
            raise
        except WindrowError as error:
            if os.environ.get("WINDROW_FULL_TRACEBACK"):
                raise
            raise error.with_traceback(None)  # noqa: B904

    return cast("F", called)


def shown(value: object) -> str:
    """Return the repr of a value for a message, truncated if it is long.

    Parameters
    ----------
    value
        Any value, also one whose ``repr`` fails, such as an int of 5,000 digits.

    Returns
    -------
    str
        At most 100 characters and an ellipsis.
    """
    try:
        text = repr(value)
    except Exception:
        text = f"{type(value).__name__}(...)"
    return text if len(text) <= 100 else f"{text[:100]}..."


def suggest(name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name, as the end of a message.

    Parameters
    ----------
    name
        The name that was not found.
    known
        The valid names.

    Returns
    -------
    str
        ``"; did you mean 'level'?"``; the first valid names if none is similar; empty if there are no valid names.
    """
    names = list(dict.fromkeys(known))
    close = close_names(name, names)
    if close:
        return "; did you mean " + " or ".join(repr(n) for n in close) + "?"
    if not names:
        return ""
    shown = ", ".join(repr(n) for n in names[:12])
    return f"; there is {shown}" + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """List up to three of the known names that come close to an unknown one, the closest first."""
    lower = {n.lower(): n for n in reversed(list(known))}
    return [lower[n] for n in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.6)]
