"""Limits for the depth and length of SQL text, and checks for invalid SQL that sqlglot accepts.

sqlglot, Polars and Spark process expressions recursively, so a deeply nested expression would raise a
``RecursionError`` or overflow the stack. The limits are low enough for a thread with a stack of half a megabyte. Chains
of AND, OR and ``||`` may have any length, because they are converted to balanced trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..exceptions import SpecError

__all__ = ["LEVELS", "OPERATORS", "balanced", "check_tokens", "check_tree", "excerpt", "too_deep"]

#: The maximum nesting of parentheses, brackets and CASE, and the maximum number of prefix and postfix operators on one
#: value (NOT, casts, fields, subscripts).
LEVELS = 32

#: The maximum number of operators in a row, as in ``a + b + c``; each branch of a CASE counts.
OPERATORS = 200

# Parsing takes about twenty Python frames per level, and Python's default limit is one thousand.
_OPENING = {"L_PAREN": "R_PAREN", "L_BRACKET": "R_BRACKET", "L_BRACE": "R_BRACE", "CASE": "END"}
_CLOSING = frozenset(_OPENING.values())
# tokens that cannot follow a comma: sqlglot accepts a comma without a following item
_NO_ITEM = frozenset((
    "R_PAREN", "R_BRACKET", "COMMA", "FROM", "WHERE", "ORDER_BY", "PARTITION_BY", "GROUP_BY", "HAVING", "QUALIFY",
))  # fmt: skip
# associative operators
_ASSOCIATIVE = ("And", "Or", "DPipe")
_CHAIN = 16
# the number of tree nodes of a window call in parentheses
_NODES_A_LEVEL = 3


def excerpt(text: str) -> str:
    """Return a text for a message, truncated if it is long."""
    return repr(text) if len(text) <= 300 else f"{text[:200]!r} ... ({len(text):,} characters)"


def too_deep(text: str) -> SpecError:
    """Return the error for text that is nested too deeply."""
    return SpecError(
        f"{excerpt(text)} is nested too deep: parentheses, functions, CASE and prefixes may be nested {LEVELS} levels "
        "deep; compute the inner part as a column first"
    )


def check_tokens(tokens: Sequence[Any], text: str) -> None:
    """Refuse text that is nested too deeply, or lacks an item that SQL requires and sqlglot does not.

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
    depth = 0
    # for each open parenthesis, the number of BETWEENs in it without their AND yet
    waiting = [0]
    for index, kind in enumerate(kinds):
        before = kinds[index - 1] if index else ""
        after = kinds[index + 1] if index + 1 < len(kinds) else ""
        ends = not after or after in _CLOSING
        if kind in _OPENING:
            depth += 1
            if depth > LEVELS:
                raise too_deep(text)
            waiting.append(0)
            if kind == "L_PAREN" and before == "FILTER" and after != "WHERE":
                raise _hole(tokens[index], text, "FILTER takes its condition as FILTER (WHERE ...)")
        elif kind in _CLOSING:
            depth -= 1
            if len(waiting) > 1 and waiting.pop():
                raise _hole(tokens[index], text, "BETWEEN has no AND")
        elif kind == "COMMA" and (not after or after in _NO_ITEM or before in ("", "L_PAREN", "L_BRACKET")):
            raise _hole(tokens[index], text, "a comma has nothing on one side of it")
        elif kind == "PARTITION_BY" and (ends or after == "ORDER_BY"):
            raise _hole(tokens[index], text, "PARTITION BY names no key")
        elif kind == "ASC" and after == "DESC" and before not in ("ORDER_BY", "COMMA"):
            raise _hole(tokens[index], text, "ASC and DESC contradict each other")
        elif kind == "BETWEEN":
            waiting[-1] += 1
            if ends or after == "BETWEEN":
                raise _hole(tokens[index], text, "BETWEEN has no bounds")
        elif kind == "AND" and waiting[-1]:
            waiting[-1] -= 1
            if ends:
                raise _hole(tokens[index], text, "BETWEEN has no second bound")
    if waiting[-1]:
        raise _hole(tokens[-1], text, "BETWEEN has no AND")


def _hole(token: Any, text: str, said: str) -> SpecError:
    return SpecError(
        f"{excerpt(text)} cannot be read as SQL: {said} at {token.text!r} (line {token.line}, column {token.col})"
    )


def check_tree(tree: Any, text: str) -> None:
    """Refuse a tree that is too deep for recursive functions, and invalid types.

    Parameters
    ----------
    tree
        The tree, balanced.
    text
        The text, for messages.

    Raises
    ------
    SpecError
        In both cases.
    """
    from sqlglot import exp

    stack = [(tree, 0, 0)]
    while stack:
        node, operators, levels = stack.pop()
        if isinstance(node, exp.DataType):
            _check_type(node, text)
        children = list(node.iter_expressions())
        if isinstance(node, exp.Case):
            operators += len(node.args["ifs"])
        if children and isinstance(node, exp.Binary) and not isinstance(node, exp.Dot):
            operators += 1
        elif children:
            levels += _NODES_A_LEVEL if isinstance(node, exp.DataType) else 1
        if operators > OPERATORS:
            raise SpecError(
                f"{excerpt(text)} is too long: at most {OPERATORS} operators, or branches of CASE, may follow one "
                "another; AND, OR and || may be as many as you like; compute a part as a column first"
            )
        if levels > _NODES_A_LEVEL * LEVELS:
            raise too_deep(text)
        stack += [(child, operators, levels) for child in children]


def _check_type(node: Any, text: str) -> None:
    if node.this.name not in ("DECIMAL", "DECIMAL32", "DECIMAL64", "DECIMAL128", "DECIMAL256"):
        return
    written = [str(p.this.this if hasattr(p.this, "this") else p.this) for p in node.expressions]
    whole = [int(w) if len(w) < 10 and w.isascii() and w.isdigit() else -1 for w in written]
    if whole and not (len(whole) <= 2 and 1 <= whole[0] <= 38 and 0 <= (*whole, 0)[1] <= whole[0]):
        raise SpecError(
            f"{excerpt(text)}: there is no DECIMAL({', '.join(written)}); a decimal has 1 to 38 digits, and no more of "
            "them behind the point"
        )


def balanced(tree: Any) -> Any:
    """Convert long chains of AND, OR and ``||`` to balanced trees.

    sqlglot parses such a chain into a tree whose depth is the length of the chain.

    Parameters
    ----------
    tree
        A tree of sqlglot's. It is modified.

    Returns
    -------
    sqlglot.exp.Expr
        The same tree, or its replacement.
    """
    from sqlglot import exp

    kinds = tuple(getattr(exp, name) for name in _ASSOCIATIVE)
    heads = [n for n in tree.find_all(*kinds) if type(n.parent) is not type(n)]
    for head in heads:
        terms = list(_terms(head))
        if len(terms) <= _CHAIN:
            continue
        parent, key, index = head.parent, head.arg_key, head.index
        made = _joined(type(head), terms, head.args)
        if parent is None:
            tree = made
        else:
            parent.set(key, made, index)
    return tree


def _terms(head: Any) -> Iterator[Any]:
    stack = [head]
    while stack:
        node = stack.pop()
        if type(node) is type(head):
            stack += [node.expression, node.this]
        else:
            yield node


def _joined(kind: Any, terms: list[Any], args: Any) -> Any:
    rest = {k: v for k, v in args.items() if k not in ("this", "expression")}
    while len(terms) > 1:
        pairs = [kind(this=a, expression=b, **rest) for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + (terms[-1:] if len(terms) % 2 else [])
    return terms[0]
