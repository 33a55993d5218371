"""How deep and how long SQL text may be, and what sqlglot's grammar lets pass though it is no SQL.

sqlglot, Polars and Spark walk an expression with one stack frame or more for each level, so a deep one would end in a
``RecursionError`` or overflow the stack of the process. Depth is limited here, where text comes in, by numbers that
hold in a thread with half a megabyte of stack. Chains of AND, OR and ``||`` may be of any length: they become balanced
trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..exceptions import SpecError

__all__ = ["LEVELS", "OPERATORS", "balanced", "check_tokens", "check_tree", "excerpt", "too_deep"]

#: How deep parentheses, brackets and CASE may be nested, and how often one value may be operated on by what is written
#: before or behind it (NOT, casts, fields, subscripts).
LEVELS = 32

#: How many operators may follow one another, as in ``a + b + c``; a CASE counts its branches.
OPERATORS = 200

# Of the Python frames that reading a level takes there are about twenty; a limit of one thousand is Python's default.
_OPENING = {"L_PAREN": "R_PAREN", "L_BRACKET": "R_BRACKET", "L_BRACE": "R_BRACE", "CASE": "END"}
_CLOSING = frozenset(_OPENING.values())
# what cannot follow a comma: sqlglot passes over a comma with nothing behind it
_NO_ITEM = frozenset((
    "R_PAREN", "R_BRACKET", "COMMA", "FROM", "WHERE", "ORDER_BY", "PARTITION_BY", "GROUP_BY", "HAVING", "QUALIFY",
))  # fmt: skip
# chains of these are the same however they are parenthesised
_ASSOCIATIVE = ("And", "Or", "DPipe")
_CHAIN = 16
# a window call in parentheses is this many nodes of a tree
_NODES_A_LEVEL = 3


def excerpt(text: str) -> str:
    """Give a text as a message quotes it: a long one by its beginning."""
    return repr(text) if len(text) <= 300 else f"{text[:200]!r} ... ({len(text):,} characters)"


def too_deep(text: str) -> SpecError:
    """Make the error for what is nested deeper than can be read."""
    return SpecError(
        f"{excerpt(text)} is nested too deep: parentheses, functions, CASE and prefixes may be nested {LEVELS} levels "
        "deep; compute the inner part as a column first"
    )


def check_tokens(tokens: Sequence[Any], text: str) -> None:
    """Refuse text that is nested too deep, or has a hole where SQL wants something and sqlglot does not mind.

    Parameters
    ----------
    tokens
        The tokens of sqlglot's tokenizer.
    text
        The text, for messages.

    Raises
    ------
    SpecError
        For both.
    """
    kinds = [token.token_type.name for token in tokens]
    depth = 0
    # for each open parenthesis, the BETWEENs in it whose AND is still to come
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
    """Refuse a tree that is too deep for those who walk it, and types that cannot be.

    Parameters
    ----------
    tree
        The tree, balanced.
    text
        The text, for messages.

    Raises
    ------
    SpecError
        For both.
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
    """Make balanced trees of long chains of AND, OR and ``||``.

    sqlglot reads ``a AND b AND c`` into a tree as deep as the chain is long.

    Parameters
    ----------
    tree
        A tree of sqlglot's, which is changed.

    Returns
    -------
    sqlglot.exp.Expr
        The tree, or the one that stands in its place.
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
