"""The names of columns: looking them up, and making unique ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ..exceptions import SpecError, suggest

__all__ = [
    "HIDDEN_PREFIX",
    "Names",
    "ambiguous",
    "check_text",
    "columns_named",
    "quoted",
    "unique_names",
    "unknown_column",
    "unused_name",
]

#: The prefix of the names of hidden columns.
HIDDEN_PREFIX = "__windrow"


def quoted(name: str) -> str:
    """Write a name in the quotes of Spark's SQL."""
    return "`" + name.replace("`", "``") + "`"


def check_text(text: str, role: str) -> str:
    """Refuse text that no UTF-8 can hold: half of a surrogate pair, as ``json`` and ``os.fsdecode`` give it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SpecError(
            f"{role} {text[:200]!r} is no text: character {error.start} is half of a surrogate pair"
        ) from None
    return text


def unique_names(columns: Sequence[str], *, case_insensitive: bool = False, without: str = "") -> list[str]:
    """Make names unique; each name that is already unique and has none of the characters ``without`` is kept."""
    if without:
        columns = [c.translate({ord(x): "_" for x in without}) for c in columns]
    taken = {c.lower() if case_insensitive else c for c in columns}
    seen: set[str] = set()
    names = []
    for index, column in enumerate(columns):
        name = column
        key = name.lower() if case_insensitive else name
        if key in seen:
            name = unused_name(f"{column}__windrow_{index}", taken | seen)
            key = name.lower() if case_insensitive else name
        seen.add(key)
        names.append(name)
    return names


def unused_name(name: str, taken: set[str]) -> str:
    """Append underscores to a name until it is not taken."""
    while name.lower() in taken or name in taken:
        name += "_"
    return name


class Names:
    """The names of a frame's columns, looked up by hash.

    Parameters
    ----------
    columns
        The names, in the order of the columns.
    case_insensitive
        Whether names are found regardless of case.
    """

    def __init__(self, columns: Sequence[str], *, case_insensitive: bool) -> None:
        self.columns: list[str] = []
        self._exact: dict[str, list[int]] = {}
        self._by_lowercase: dict[str, list[int]] | None = {} if case_insensitive else None
        for column in columns:
            self.add(column)

    def add(self, column: str) -> None:
        """Add a column."""
        index = len(self.columns)
        self.columns.append(column)
        self._exact.setdefault(column, []).append(index)
        if self._by_lowercase is not None:
            self._by_lowercase.setdefault(column.lower(), []).append(index)

    def named(self, name: str) -> list[int]:
        """Find the columns of a name: exact matches if there are any, else those that differ by case only."""
        found = self._exact.get(name)
        if found is None and self._by_lowercase is not None:
            found = self._by_lowercase.get(name.lower())
        return [] if found is None else found

    def has(self, name: str) -> bool:
        """Whether a column has exactly this name."""
        return name in self._exact

    def find(self, name: str) -> int:
        """Find the one column of a name; a SpecError if there is none, or more than one."""
        found = self.named(name)
        if not found:
            raise unknown_column(name, self.columns)
        if len(found) > 1:
            ambiguous(name, found)
        return found[0]


def columns_named(name: str, columns: Sequence[str], *, case_insensitive: bool) -> list[int]:
    """Find the columns of one name; for more than one look-up make a :class:`Names`."""
    return Names(columns, case_insensitive=case_insensitive).named(name)


def ambiguous(name: str, found: Sequence[int], display: str = "") -> NoReturn:
    """Refuse a name that more than one column has."""
    where = f"{display}: " if display else ""
    raise SpecError(f"{where}column {name!r} is ambiguous, {len(found)} columns have that name; rename all but one")


def unknown_column(name: str, columns: Sequence[str], display: str = "") -> SpecError:
    """Make the error for a name that no column has."""
    where = f"{display}: " if display else ""
    hint = suggest(name, columns)
    error = SpecError(f"{where}column {name!r} is unknown{hint}")
    error.column, error.hint = name, hint
    return error
