"""String functions by Spark's rules. A character is a Unicode code point."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from .._parse.limits import excerpt
from .casts import to_text
from .typed import COMPUTE_ELSEWHERE, Scope, Typed, failing, merged, refused
from .types import BOOLEAN, INT, STRING, family, shown

if TYPE_CHECKING:
    import polars as pl

__all__ = ["concatenated", "instr", "like", "padded", "substring", "trimmed"]


def as_text(arg: Typed, text: object, scope: Scope) -> Typed:
    """Cast a value to text as concat and || do."""
    import polars as pl

    if arg.kind == STRING:
        return arg
    if family(arg.kind) == "void":
        return Typed(pl.lit(None, dtype=pl.String), STRING, arg.failures)
    found = to_text(arg, scope)
    if found is None:
        raise refused(f"{shown(arg.kind)} as text", text)
    failures = arg.failures
    if found[1] is not None:
        failures += (failing(found[1], "a value whose text is not exactly Spark's", text, COMPUTE_ELSEWHERE),)
    return Typed(found[0], STRING, failures)


def concatenated(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile concat: the result is NULL if an argument is NULL."""
    import polars as pl

    parts = [as_text(a, text, scope) for a in args]
    return Typed(pl.concat_str([p.expr for p in parts]), STRING, merged(*parts))


def concatenated_with(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile concat_ws, which skips NULLs."""
    import polars as pl

    parts = [as_text(a, text, scope) for a in args[1:]]
    if not parts:
        return Typed(pl.lit(""), STRING)
    return Typed(
        pl.concat_str([p.expr for p in parts], separator=args[0].literal, ignore_nulls=True), STRING, merged(*parts)
    )


def substring(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile substring: positions are 1-based; negative ones count from the end."""
    import polars as pl

    string, position = args[0].expr, args[1].expr.cast(pl.Int64)
    first = (
        pl.when(position > 0)
        .then(position - 1)
        .when(position < 0)
        .then(string.str.len_chars().cast(pl.Int64) + position)
        .otherwise(0 * position)
    )
    begin = pl.max_horizontal(first, 0 * first)
    if len(args) == 3:
        length = args[2].expr.cast(pl.Int64)
        end = first + length
        taken = string.str.slice(begin, pl.when(end > begin).then(end - begin).otherwise(0))
    else:
        length, taken = position, string.str.slice(begin)
    return Typed(pl.when(position.is_not_null() & length.is_not_null()).then(taken), STRING, merged(*args))


def end_of(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile right: the last characters of a text."""
    import polars as pl

    count = args[1].expr.cast(pl.Int64)
    kept = pl.when(count <= 0).then(pl.lit("")).otherwise(args[0].expr.str.tail(pl.max_horizontal(count, 0 * count)))
    return Typed(pl.when(count.is_not_null() & args[0].expr.is_not_null()).then(kept), STRING, merged(*args))


def trimmed(side: str) -> Callable[[list[Typed], Scope, object], Typed]:
    """Return the function for trim, ltrim or rtrim, of spaces or of the characters in the first argument."""

    def make(args: list[Typed], scope: Scope, text: object) -> Typed:
        letters = " " if len(args) == 1 else args[0].literal
        string = args[-1].expr
        if not letters:
            return Typed(string, STRING, merged(*args))
        cut = {"both": string.str.strip_chars, "start": string.str.strip_chars_start, "end": string.str.strip_chars_end}
        return Typed(cut[side](letters), STRING, merged(*args))

    return make


# the maximum length of a padded text: much longer ones would exhaust the memory before an error can be raised
_LONGEST = 1_000_000


def padded(side: str) -> Callable[[list[Typed], Scope, object], Typed]:
    """Return the function for lpad or rpad, which also truncate longer texts."""

    def make(args: list[Typed], scope: Scope, text: object) -> Typed:
        length = max(args[1].literal, 0)
        if length > _LONGEST:
            raise refused(f"padding to more than {_LONGEST:,} letters", text)
        fill = " " if len(args) == 2 else args[2].literal
        if len(fill) != 1:
            raise refused("padding with more than one letter, or none,", text)
        pad = args[0].expr.str.pad_start if side == "start" else args[0].expr.str.pad_end
        return Typed(pad(length, fill).str.slice(0, length), STRING, merged(*args))

    return make


def instr(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile instr: the 1-based position of the second text in the first; 0 if it does not occur."""
    import polars as pl

    string, wanted = args[0].expr, args[1].expr
    letters = args[1].literal_or(None)
    before = string if letters == "" else string.str.splitn(wanted if letters is None else letters, 2)
    if letters != "":
        before = before.struct.field("field_0")
    found: pl.Expr = pl.when(string.str.contains(wanted, literal=True)).then(before.str.len_chars().cast(pl.Int32) + 1)
    found = pl.when(wanted == "").then(pl.lit(1, dtype=pl.Int32)).otherwise(found.fill_null(0))
    return Typed(pl.when(string.is_not_null() & wanted.is_not_null()).then(found), INT, merged(*args))


def located_in(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile locate: the 1-based position of the first text in the second."""
    return instr([args[1], args[0]], scope, text)


def contains_like(method: str) -> Callable[[list[Typed], Scope, object], Typed]:
    """Return the function for contains, startswith or endswith."""

    def make(args: list[Typed], scope: Scope, text: object) -> Typed:
        string, wanted = args[0].expr, args[1].expr
        if method == "contains":
            return Typed(string.str.contains(wanted, literal=True), BOOLEAN, merged(*args))
        return Typed(getattr(string.str, method)(wanted), BOOLEAN, merged(*args))

    return make


def replaced(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile replace: all occurrences of one text are replaced by another."""
    old, new = args[1].literal, "" if len(args) == 2 else args[2].literal
    result = args[0].expr.str.replace_all(old, new, literal=True) if old else args[0].expr
    return Typed(result, STRING, merged(*args))


def backwards(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile reverse."""
    return Typed(args[0].expr.str.split("").list.reverse().list.join(""), STRING, args[0].failures)


def like(value: Typed, pattern: Typed, text: object, *, escape: str = "\\", case_insensitive: bool = False) -> pl.Expr:
    """Compile LIKE and ILIKE with a literal pattern."""
    like = pattern.literal
    if not isinstance(like, str):
        raise refused("LIKE of a pattern that is no literal text", text)
    if case_insensitive:  # Spark compares lower-case texts; Rust's (?i) folds fewer letters
        if not like.isascii():
            raise refused("ILIKE with letters beyond ASCII", text)
        like = like.lower()
    written, letters = "", iter(like)
    for letter in letters:
        if letter == escape:
            following = next(letters, None)
            if following not in ("%", "_", escape):
                raise refused(f"a pattern with {escape!r} before another letter than %, _ and itself", text)
            written += re.escape(following)
        else:
            written += {"%": ".*", "_": "."}.get(letter, re.escape(letter))
    string = value.expr.str.to_lowercase() if case_insensitive else value.expr
    return string.str.contains(rf"(?s)\A{written}\z")


# tokens with the same meaning in Java's and Rust's regular expressions, with their replacements for Rust
_SAME = re.compile(
    r"[A-Za-z0-9 _\-,:;@/#%&=~'\"<>!]|[()|*+?^]|\{\d+(?:,\d*)?\}|\\[.\\^$*+?()\[\]{}|/-]"
    r"|\[\^?(?:[A-Za-z0-9 _,:;@/]|[A-Za-z0-9]-[A-Za-z0-9])+\]"
)
_OTHER = {
    ".": "[^\\n\\r\\x{85}\\x{2028}\\x{2029}]", r"\d": "[0-9]", r"\w": "[A-Za-z0-9_]", r"\s": r"[ \t\n\x0B\f\r]",
    r"\D": "[^0-9]", r"\W": "[^A-Za-z0-9_]", r"\S": r"[^ \t\n\x0B\f\r]",
}  # fmt: skip


def rlike(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile rlike, for regular expressions that have the same meaning in Java and in Rust."""
    pattern = args[1].literal
    written, at = "", 0
    if re.search(r"[*+?}]\+", pattern):
        raise refused("a regular expression with a possessive quantifier", text)
    while at < len(pattern):
        if pattern.startswith("(?", at):
            break
        if pattern[at] == "$" and at == len(pattern) - 1:
            written += r"(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z"
            at += 1
        elif (found := _SAME.match(pattern, at)) is not None:
            written += found[0]
            at = found.end()
        elif pattern[at] in _OTHER or pattern[at : at + 2] in _OTHER:
            token = pattern[at] if pattern[at] in _OTHER else pattern[at : at + 2]
            written += _OTHER[token]
            at += len(token)
        else:
            break
    if at < len(pattern):
        raise refused(f"a regular expression with {pattern[at:]!r}", text)
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        raise refused(f"the regular expression {excerpt(pattern)}", text) from None
    return Typed(args[0].expr.str.contains(written), BOOLEAN, merged(*args))
