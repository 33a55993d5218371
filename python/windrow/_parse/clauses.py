"""Refuses queries that sqlglot reads and Spark does not: clauses in another order, and forms of other dialects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..exceptions import SpecError
from .limits import excerpt

__all__ = ["check_clauses"]

# the order of clauses; WINDOW may also follow ORDER BY
_RANKS: Final = {
    "FROM": 0, "WHERE": 1, "GROUP_BY": 2, "HAVING": 3, "WINDOW": 4, "QUALIFY": 4, "ORDER_BY": 5, "LIMIT": 6,
    "OFFSET": 7,
}  # fmt: skip
_NAMES: Final = {"GROUP_BY": "GROUP BY", "ORDER_BY": "ORDER BY"}
_SET_OPERATIONS: Final = frozenset(("UNION", "EXCEPT", "INTERSECT"))
# after these a clause may follow; after all other tokens its word is a name
_ENDS: Final = frozenset((
    "ALL", "ASC", "DESC", "END", "FALSE", "FIRST", "IDENTIFIER", "NULL", "NUMBER", "R_BRACKET", "R_PAREN", "STAR",
    "STRING", "TRUE", "VAR",
))  # fmt: skip


def check_clauses(tokens: Sequence[Any], text: str) -> None:
    """Refuse a query whose clauses are in another order than Spark's, and forms that only other dialects have.

    Parameters
    ----------
    tokens
        The tokens of sqlglot's tokenizer.
    text
        The text, for messages.

    Raises
    ------
    SpecError
        In both cases.
    """
    kinds = [token.token_type.name for token in tokens]
    if "SELECT" not in kinds:
        return
    # for each open parenthesis, the last clause of the SELECT in it; None before its FROM
    last: list[str | None] = [None]
    for index, kind in enumerate(kinds):
        before = kinds[index - 1] if index else ""
        after = kinds[index + 1] if index + 1 < len(kinds) else ""
        clause = last[-1]
        if kind == "L_PAREN":
            last.append(None)
        elif kind == "R_PAREN":
            if len(last) > 1:
                last.pop()
        elif kind == "SELECT" and before != "ALL" and clause != "FROM":
            last[-1] = None
        elif kind in _SET_OPERATIONS and before != "STAR":
            if clause is not None and _RANKS[clause] >= _RANKS["ORDER_BY"]:
                raise _refused(tokens[index], text, f"{_name(clause)} before it needs parentheses around its SELECT,")
            last[-1] = None
        elif before == "STAR" and ((kind == "EXCEPT" and after != "L_PAREN") or _says(tokens[index], "EXCLUDE")):
            raise _refused(tokens[index], text, "columns are left out by * EXCEPT (a, b),")
        elif kind == "COMMA" and clause == "LIMIT":
            raise _refused(tokens[index], text, "rows are skipped by LIMIT n OFFSET m,")
        elif kind in _RANKS and before != "DISTINCT" and (kind == "FROM" or (clause is not None and before in _ENDS)):
            if clause is not None and not _may_follow(kind, clause):
                raise _refused(tokens[index], text, f"{_name(kind)} cannot follow {_name(clause)},")
            last[-1] = kind if clause is None or _RANKS[kind] >= _RANKS[clause] else clause


def _may_follow(kind: str, clause: str) -> bool:
    if "FROM" in (kind, clause) and kind != clause:
        return clause == "FROM"
    either = {kind, clause}
    return _RANKS[kind] > _RANKS[clause] or either == {"WINDOW", "QUALIFY"} or either == {"WINDOW", "ORDER_BY"}


def _name(kind: str) -> str:
    return _NAMES.get(kind, kind)


def _says(token: Any, word: str) -> bool:
    return token.token_type.name == "VAR" and str(token.text).upper() == word


def _refused(token: Any, text: str, said: str) -> SpecError:
    return SpecError(
        f"{excerpt(text)} cannot be read as SQL: {said} at {token.text!r} (line {token.line}, column {token.col})"
    )
