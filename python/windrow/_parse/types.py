"""The argument ``returns=``: converts types of pyarrow, Polars, PySpark, Spark's DDL and Python to pyarrow types."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from .._model.expressions import foreign_type
from ..exceptions import SpecError
from ..settings import current
from .limits import LEVELS, excerpt

__all__ = ["arrow_type"]

_PYTHON: Final[dict[Any, pa.DataType]] = {
    bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string(), bytes: pa.binary(),
    dt.date: pa.date32(), dt.datetime: pa.timestamp("us"), dt.timedelta: pa.duration("us"), dt.time: pa.time64("us"),
}  # fmt: skip
_DDL: Final[dict[str, pa.DataType]] = {
    "boolean": pa.bool_(), "byte": pa.int8(), "tinyint": pa.int8(), "short": pa.int16(), "smallint": pa.int16(),
    "int": pa.int32(), "integer": pa.int32(), "long": pa.int64(), "bigint": pa.int64(), "float": pa.float32(),
    "real": pa.float32(), "double": pa.float64(), "string": pa.string(), "varchar": pa.string(), "char": pa.string(),
    "binary": pa.binary(), "date": pa.date32(), "timestamp_ntz": pa.timestamp("us"), "void": pa.null(),
}  # fmt: skip
_TOKEN = re.compile(r"\s*(`(?:[^`]|``)+`|\w+|[<>(),:])")


def arrow_type(returns: Any, what: str) -> pa.DataType:
    """Convert a type to pyarrow's.

    Parameters
    ----------
    returns
        A pyarrow DataType, a Polars dtype, a PySpark DataType, a Python type such as ``int``, or a text: Spark's DDL
        (``"bigint"``, ``"struct<idfa: string, imei: array<string>>"``) or a name of pyarrow's (``"int64"``).
    what
        The owner of the type, for error messages.

    Returns
    -------
    pyarrow.DataType
        Timestamps with a time zone get that of ``wr.config(timezone=...)``, or UTC if it is not set.

    Raises
    ------
    SpecError
        For all other values.
    """
    if isinstance(returns, pa.DataType):
        return returns
    if isinstance(returns, pa.Field):
        return returns.type
    if isinstance(returns, str):
        return _Ddl(returns, what).read()
    if isinstance(returns, type) and returns in _PYTHON:
        return _PYTHON[returns]
    if (known := foreign_type(returns)) is not None:
        return known
    if returns is Decimal:
        raise SpecError(f"{what}: returns=Decimal says neither digits nor scale; write returns='decimal(18, 2)'")
    raise SpecError(
        f"{what}: returns={returns!r} is no type; write pa.int64(), Spark's DDL such as 'bigint' or "
        "'struct<a: int, b: array<string>>', a PySpark or Polars type, or int, float, str, bool"
    )


class _Ddl:
    """A parser of Spark's DDL types; ``a INT, b STRING`` is a struct, as in Spark."""

    def __init__(self, text: str, what: str) -> None:
        self.text = text
        self.what = what
        self.depth = 0
        self.refused = False
        self.tokens: list[str] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                raise self._unknown()
            self.tokens.append(match[1])
            at = match.end()

    def read(self) -> pa.DataType:
        tokens = list(self.tokens)
        self.depth = 0
        try:
            result = self._type()
            if not self.tokens:
                return result
        except SpecError:
            if self.depth > LEVELS or self.refused:  # the other parsers would fail too
                raise
        try:
            return pa.type_for_alias(self.text)
        except ValueError:
            pass
        self.tokens, self.depth = tokens, 0
        result = pa.struct(self._fields(None))
        if self.tokens:
            raise self._unknown()
        return result

    def _type(self) -> pa.DataType:
        self.depth += 1
        if self.depth > LEVELS:
            raise SpecError(
                f"{self.what}: returns={excerpt(self.text)} is nested too deep: types may be nested {LEVELS} "
                "levels deep"
            )
        made = self._one_type()
        self.depth -= 1
        return made

    def _one_type(self) -> pa.DataType:
        name = self._next().lower()
        if name == "array":
            self._expect("<")
            inner = self._type()
            self._expect(">")
            return pa.list_(pa.field("element", inner))
        if name == "map":
            self._expect("<")
            key = self._type()
            self._expect(",")
            value = self._type()
            self._expect(">")
            return pa.map_(key, value)
        if name == "struct":
            self._expect("<")
            fields = self._fields(">")
            self._expect(">")
            return pa.struct(fields)
        if name in ("decimal", "dec", "numeric"):
            numbers = self._numbers()
            digits, scale = {0: (10, 0), 1: (*numbers, 0), 2: (*numbers,)}.get(len(numbers), (0, 0))
            if not (1 <= digits <= 38 and scale <= digits):
                raise self._unknown()
            return pa.decimal128(digits, scale)
        if name in ("timestamp", "timestamp_ltz"):
            return pa.timestamp("us", tz=current().timezone or "UTC")
        if name == "interval":
            units = [self._next().lower()]
            if self.tokens and self.tokens[0].lower() == "to":
                self._next()
                units.append(self._next().lower())
            if not {*units} <= {"day", "hour", "minute", "second"}:
                self.refused = True
                raise SpecError(
                    f"{self.what}: returns={self.text!r} has months, which no value of Python is made of; return a "
                    "number of months, with returns='int'"
                )
            return pa.duration("us")
        if name not in _DDL:
            raise self._unknown()
        if name in ("varchar", "char"):
            self._numbers()
        return _DDL[name]

    def _fields(self, end: str | None) -> list[pa.Field]:
        fields: list[pa.Field] = []
        while not fields or (self.tokens and self.tokens[0] == "," and self._next()):
            if end is not None and self.tokens[:1] == [end]:
                break
            name = self._next()
            if self.tokens[:1] == [":"]:
                self._next()
            field = pa.field(name[1:-1].replace("``", "`") if name.startswith("`") else name, self._type())
            if [t.lower() for t in self.tokens[:2]] == ["not", "null"]:
                del self.tokens[:2]
                field = field.with_nullable(False)
            fields.append(field)
        return fields

    def _numbers(self) -> list[int]:
        numbers: list[int] = []
        if self.tokens[:1] == ["("]:
            self._next()
            while self.tokens and self.tokens[0] != ")":
                token = self._next()
                if token != ",":
                    if not (token.isascii() and token.isdigit() and len(token) < 10):
                        raise self._unknown()
                    numbers.append(int(token))
            self._expect(")")
        return numbers

    def _next(self) -> str:
        if not self.tokens:
            raise self._unknown()
        return self.tokens.pop(0)

    def _expect(self, token: str) -> None:
        if self._next() != token:
            raise self._unknown()

    def _unknown(self) -> SpecError:
        return SpecError(
            f"{self.what}: returns={excerpt(self.text)} is no type; write Spark's DDL, such as 'bigint', "
            "'decimal(18, 2)' or 'struct<a: int, b: array<string>>', or a pyarrow type"
        )
