"""The grammar of SQL strings: sqlglot's Spark dialect with few changes.

The dialect has no functions of its own, so that each call keeps the name and the arguments that the user wrote.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ClassVar

from .._model.names import check_text
from ..exceptions import SpecError
from .clauses import check_clauses
from .limits import balanced, check_tokens, check_tree, excerpt, too_deep

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import Dialect

__all__ = ["dialect", "function_name", "parse", "syntax", "text_of"]

# functions whose arguments have a grammar of their own: these sqlglot must read itself
_SPECIAL_SYNTAX = {"CAST", "TRY_CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "TRIM"}


def syntax() -> Any:
    """Import and return ``sqlglot.exp``. It is imported late, because that takes longer than importing windrow."""
    from sqlglot import exp

    return exp


@functools.cache
def dialect() -> type[Dialect]:
    """Return the dialect, made on the first call."""
    from sqlglot import exp
    from sqlglot.dialects.spark import Spark

    class WindrowSpark(Spark):
        """Spark's dialect, with every function as ``exp.Anonymous``."""

        class Tokenizer(Spark.Tokenizer):
            """Spark's tokenizer. In ``'it''s'`` the doubled quote is one quote, as in Spark 4."""

            STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'", '"']

        class Parser(Spark.Parser):  # type: ignore[misc,valid-type]
            """Spark's parser without its functions."""

            FUNCTIONS: ClassVar[dict[str, Any]] = {}
            FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
                k: v for k, v in Spark.Parser.FUNCTION_PARSERS.items() if k in _SPECIAL_SYNTAX
            }
            SUBQUERY_PREDICATES: ClassVar[dict[Any, Any]] = {}
            # else array(1, 2)[0] is read as the list of one 0
            ARRAY_CONSTRUCTORS: ClassVar[dict[str, Any]] = {}

            def _parse_partition_and_order(self) -> Any:
                # in OVER, Spark's CLUSTER BY is PARTITION BY
                if self._match(Spark.Tokenizer.KEYWORDS["CLUSTER BY"]):
                    return self._parse_csv(self._parse_assignment), None
                return super()._parse_partition_and_order()

        class Generator(Spark.Generator):  # type: ignore[misc,valid-type]
            """Spark's generator, with the type TIME."""

            TYPE_MAPPING: ClassVar[dict[Any, str]] = {
                k: v for k, v in Spark.Generator.TYPE_MAPPING.items() if k != exp.DataType.Type.TIME
            }

    return WindrowSpark


def text_of(node: Any) -> str:
    """Write a tree as SQL text."""
    return str(node.sql(dialect=dialect(), normalize_functions=False))


def parse(text: str) -> Any:
    """Parse SQL text into a syntax tree. A syntax error names the position."""
    syntax()
    from sqlglot.errors import SqlglotError

    if not text.strip():
        raise SpecError("a SQL string is empty; write it as fn(...) OVER (...)")
    check_text(text, "the SQL string")
    spark = dialect()()
    try:
        tokens = spark.tokenize(text)
        check_tokens(tokens, text)
        check_clauses(tokens, text)
        trees = spark.parser().parse(tokens, text)
    except RecursionError:  # the caller has used up most of Python's stack
        raise too_deep(text) from None
    except SqlglotError as error:
        detail = getattr(error, "errors", None) or []
        if detail and detail[0].get("highlight"):
            at = detail[0]
            said = f"{at['description'].rstrip('. ')} at {at['highlight']!r} (line {at['line']}, column {at['col']})"
        else:
            said = str(error).splitlines()[0]
        raise SpecError(f"{excerpt(text)} cannot be read as SQL: {said}") from None
    if len(trees) != 1 or trees[0] is None:
        raise SpecError(f"{excerpt(text)} is not one SQL expression")
    tree = balanced(trees[0])
    check_tree(tree, text)
    unknown = tree.find(syntax().Placeholder)
    if unknown is not None:
        raise SpecError(
            f"{excerpt(text)} cannot be read as SQL: :{unknown.name} has no value here; write the value, and for a "
            f"field of a variant variant_get(v, '$.{unknown.name}')"
        )
    return tree


def function_name(node: Any) -> str | None:
    """Return the name of the function that a node calls; None if the node is not a call."""
    exp = syntax()
    if isinstance(node, exp.Any):  # "any" is a keyword to sqlglot
        return "any"
    return str(node.this).lower() if isinstance(node, exp.Anonymous) else None
