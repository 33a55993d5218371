"""The errors windrow raises.

Every error is a :class:`WindrowError` and also the built-in exception a Python user would expect, so ``except
ValueError`` catches a wrong window specification as well as ``except windrow.SpecError`` does. A message names the
call as the user wrote it, the column, its type, and what to do instead. The native module raises these same classes.
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
    """The base of every error windrow raises."""


class SpecError(WindrowError, ValueError):
    """The question is wrong: an unknown column or function, a frame that cannot be, arguments that do not fit.

    Raised when the plan is made, before any row is read. ``column`` is the name of the column that is unknown, if that
    is what is wrong, and ``hint`` the end of the message, which says what to write instead.
    """

    column: str | None = None
    hint: str = ""


class UnsupportedError(WindrowError, NotImplementedError):
    """The question has a meaning that windrow does not compute, or not yet."""


class ArithmeticOverflowError(WindrowError, ArithmeticError):
    """A result does not fit its type, as with Spark under ANSI mode; ``wr.config(ansi=False)`` gives NULL instead."""


class MemoryLimitError(WindrowError, MemoryError):
    """What must be held, or what a call answers, does not fit ``memory_limit``, the memory there is, or its type."""


class SpillError(WindrowError, OSError):
    """Rows that ``memory_limit`` leaves no room for could not be written to ``spill_dir``, or read back right."""


class OrderError(WindrowError, ValueError):
    """Streamed rows are not grouped by the partition keys, or not in the order the window asks for."""


class DataError(WindrowError, ValueError):
    """A value cannot be used as asked, such as the text ``'x'`` in a sum, or data are broken on their way."""


class UserError(WindrowError, RuntimeError):
    """A function of the user's own raised, or gave what does not fit; its exception, if any, is ``__cause__``."""


class InternalError(WindrowError, RuntimeError):
    """A fault of windrow itself; please report it."""


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
    """Show a value in a message, a long one by its beginning.

    Parameters
    ----------
    value
        Anything a user may have given, also what has no ``repr``, as an int of 5,000 digits has none.

    Returns
    -------
    str
        At most a hundred characters and an ellipsis.
    """
    try:
        text = repr(value)
    except Exception:
        text = f"{type(value).__name__}(...)"
    return text if len(text) <= 100 else f"{text[:100]}..."


def suggest(name: str, known: Iterable[str]) -> str:
    """Say which of the known names come close to one that is unknown, as the end of a message.

    Parameters
    ----------
    name
        The name that was not found.
    known
        The names there are.

    Returns
    -------
    str
        ``"; did you mean 'level'?"``, or the first names there are, or an empty string where there is none.
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
