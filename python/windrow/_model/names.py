"""Column names: looking them up, and making them unique."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, NoReturn, TypeAlias

from ..exceptions import SpecError, close_names, shown, suggest

__all__ = [
    "HIDDEN_PREFIX",
    "Names",
    "Role",
    "ambiguous",
    "check_text",
    "columns_named",
    "is_expression",
    "no_window_call",
    "python_text",
    "quoted",
    "sql_text",
    "unique_names",
    "unknown_column",
    "unused_name",
]

#: What a column is to a call: an argument or a filter, a partition key, an order key, what stands where there is no
#: row.
Role: TypeAlias = Literal["value", "key", "order", "default"]

# longer text is not looked at
_LONGEST: Final = 1000
_PLAIN: Final = re.compile(r"\w+\Z")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
#: Names that SQL text would be read as something else than a column for, unless they are quoted.
_RESERVED_WORDS = """
all alter and any as between case create cross current_date current_timestamp current_user distinct drop else end
except false fetch for from glob grant having ilike in inner insert intersect into join lateral like minus not notnull
null on or outer partitioned_by qualify regexp returning revoke rlike rollback select serdeproperties session_user
tablesample then true uncache union using values when where with xor
"""
RESERVED = frozenset(_RESERVED_WORDS.split())
_WORD: Final = re.compile(r"[^\W\d]\w*")
_OPERATOR: Final = re.compile(
    r"[-+*/%<>=!|&^()\[\]]|\b(?:and|or|not|is|in|like|rlike|ilike|between|div|as|case|distinct)\b", re.IGNORECASE
)
# an order key as SQL and Django write it
_DIRECTION: Final = re.compile(
    r"\s*(-)?\s*(.+?)(?:\s+(asc|desc))?(?:\s+nulls\s+(first|last))?\s*\Z", re.IGNORECASE | re.DOTALL
)

#: The prefix of the names of hidden columns.
HIDDEN_PREFIX = "__windrow"


def quoted(name: str) -> str:
    """Quote a name with backticks, as in Spark's SQL."""
    return "`" + name.replace("`", "``") + "`"


def check_text(text: str, role: str) -> str:
    """Refuse text that is not valid Unicode: half of a surrogate pair, as ``json`` and ``os.fsdecode`` return it."""
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


def unknown_column(name: str, columns: Sequence[str], display: str = "", role: Role = "value") -> SpecError:
    """Make the error for a name that no column has.

    Parameters
    ----------
    name
        The name.
    columns
        The columns there are.
    display
        The call it stands in, or nothing.
    role
        What the column was to be, which decides what may have been meant.

    Returns
    -------
    SpecError
        The error. Its hint gives near names, or the spelling of what is no name: ``"level * 2"``, ``"id desc"``.
    """
    where = f"{display}: " if display else ""
    hint = _instead(name, columns, role) or suggest(name, columns)
    if role == "default":
        near = close_names(name, columns)
        hint = f"{suggest(name, near)} A" if near else "; a"
        hint += f" string is a column's name: for the text write wr.lit({python_text(name)}), in SQL {sql_text(name)}"
    error = SpecError(f"{where}column {name!r} is unknown{hint}")
    error.column, error.hint = name, hint
    return error


def no_window_call(text: str) -> SpecError:
    """Make the error for a SQL item without a window call."""
    query = python_text(f"SELECT {text} FROM frame") if len(text) <= 100 else "query"
    return SpecError(
        f"{shown(text)} has no window call, which is written fn(...) OVER (PARTITION BY ... ORDER BY ...); an "
        f"expression without one is computed by wr.sql({query}, frame=frame), or by the frame's own methods"
    )


def is_expression(text: str, columns: Sequence[str]) -> bool:
    """Whether text that is not a column name looks like an expression over columns."""
    return bool(_as_expression(text, columns)[0])


def identifier(name: str) -> str:
    """Write a column name in SQL, quoted if necessary."""
    return name if _PLAIN_NAME.match(name) and name.lower() not in RESERVED else quoted(name)


def python_text(text: str) -> str:
    """Write a string literal in Python, with double quotes if possible."""
    return f'"{text}"' if text.isprintable() and not set(text) & {'"', "\\"} else repr(text)


def sql_text(text: str) -> str:
    """Write a string literal in SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _instead(name: str, columns: Sequence[str], role: Role) -> str:
    """Say how to write a name that is really an order, a list or an expression; empty for other names."""
    keys = [part.strip() for part in name.split(",")] if role in ("key", "order") else []
    made = [_as_key(key, columns, role)[0] for key in keys]
    if len(keys) > 1 and all(made):
        return f"; for several keys write a list, [{', '.join(made)}]"
    text, near = _as_key(name, columns, role)
    if not text:
        return ""
    return f"; did you mean {' or '.join(map(repr, near))}? Or write {text}" if near else f"; write {text}"


def _as_key(key: str, columns: Sequence[str], role: Role) -> tuple[str, list[str]]:
    """Write a key given as text, such as ``x desc``, in Python, and list similar columns; empty if it is no key."""
    if key in columns:
        return python_text(key), []
    found = _DIRECTION.match(key) if role == "order" and len(key) <= _LONGEST else None
    if found is not None:
        minus, column, way, nulls = found.groups()
        if minus and column not in columns:
            minus, column = None, f"-{column}"
        inner, near = _as_key(column, columns, "key")
        if not inner and (way or nulls) and (close := close_names(column, columns)):
            inner = python_text(close[0])
        if not inner or not (minus or way or nulls):
            return inner, near
        function = "desc" if bool(minus) != ((way or "").lower() == "desc") else "asc"
        return f"wr.{function}({inner}" + (f', nulls="{nulls.lower()}")' if nulls else ")"), near
    expression, near = _as_expression(key, columns)
    return (f"wr.expr({python_text(expression)})", near) if expression else ("", [])


def _as_expression(text: str, columns: Sequence[str]) -> tuple[str, list[str]]:
    """Write text as SQL if it is an expression over columns, and list the other columns with similar names."""
    if len(text) > _LONGEST or _OPERATOR.search(text) is None:
        return "", []
    plain = {c.lower() for c in columns if _PLAIN.match(c) and c.lower() not in RESERVED}
    found = plain.intersection(w.lower() for w in _WORD.findall(text))
    for column in sorted(columns, key=len, reverse=True):  # a longer name may contain a shorter one
        if not column.strip() or column not in text or column.lower() in plain:
            continue
        found.add(column.lower())
        if quoted(column) not in text:
            quotes = quoted(column).replace("\\", r"\\")
            text = re.sub(rf"(?<!\w){re.escape(column)}(?!\w)", quotes, text)
    near = [c for c in close_names(text, columns) if c.lower() not in found]
    return (text, near) if found else ("", [])
