"""The names of columns: finding them, and making names that differ from all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ..exceptions import SpecError, suggest

__all__ = [
    "HIDDEN",
    "Names",
    "ambiguous",
    "check_text",
    "columns_named",
    "fresh",
    "quoted",
    "unique_names",
    "unknown_column",
]

#: How the names of columns begin that nobody is to see.
HIDDEN = "__windrow"


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


def unique_names(columns: Sequence[str], *, folded: bool = False, without: str = "") -> list[str]:
    """Give each column a name of its own; those keep theirs that are not repeated and have none of some characters."""
    if without:
        columns = [c.translate({ord(x): "_" for x in without}) for c in columns]
    taken = {c.lower() if folded else c for c in columns}
    seen: set[str] = set()
    names = []
    for index, column in enumerate(columns):
        name = column
        key = name.lower() if folded else name
        if key in seen:
            name = fresh(f"{column}__windrow_{index}", taken | seen)
            key = name.lower() if folded else name
        seen.add(key)
        names.append(name)
    return names


def fresh(name: str, taken: set[str]) -> str:
    """Give a name that is not taken, as near as can be to the one wished for."""
    while name.lower() in taken or name in taken:
        name += "_"
    return name


class Names:
    """The names of a frame's columns, each of which is found without a look at all others.

    Parameters
    ----------
    columns
        The names, in the order of the columns.
    folded
        Whether names are found regardless of case.
    """

    def __init__(self, columns: Sequence[str], *, folded: bool) -> None:
        self.columns: list[str] = []
        self._exact: dict[str, list[int]] = {}
        self._folded: dict[str, list[int]] | None = {} if folded else None
        for column in columns:
            self.add(column)

    def add(self, column: str) -> None:
        """Know a further column."""
        index = len(self.columns)
        self.columns.append(column)
        self._exact.setdefault(column, []).append(index)
        if self._folded is not None:
            self._folded.setdefault(column.lower(), []).append(index)

    def named(self, name: str) -> list[int]:
        """Find the columns of a name: those that have it as it is written, else those that have it in another case."""
        found = self._exact.get(name)
        if found is None and self._folded is not None:
            found = self._folded.get(name.lower())
        return [] if found is None else found

    def has(self, name: str) -> bool:
        """Whether a column has a name as it is written."""
        return name in self._exact

    def find(self, name: str) -> int:
        """Find the one column of a name; a SpecError if there is none, or more than one."""
        found = self.named(name)
        if not found:
            raise unknown_column(name, self.columns)
        if len(found) > 1:
            ambiguous(name, found)
        return found[0]


def columns_named(name: str, columns: Sequence[str], *, folded: bool) -> list[int]:
    """Find the columns of one name among names that are asked only once."""
    return Names(columns, folded=folded).named(name)


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
