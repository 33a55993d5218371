"""Evaluates scalar expressions with Polars, for all frames but Spark's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._model.expressions import HostExpression, Literal, smallest_decimal
from .._model.names import unknown_column, unused_name
from .._model.result_columns import hide_result_columns
from .._parse.limits import excerpt
from .._plan.steps import NamedScalar
from .._scalars.to_polars import require, to_polars
from .._scalars.typed import Failure
from ..exceptions import DataError, SpecError, UnsupportedError, WindrowError
from ..settings import Options
from .arrow_columns import compacted_slice
from .native import refuse_extension
from .ordered_categories import has_ordered_categories, ordered_type
from .validation import Checker

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ColumnTypes", "Expressions", "evaluate", "polars_errors_translated", "refuse_cross_row"]


def evaluate(
    scalars: Sequence[NamedScalar],
    columns: Mapping[str, Any],
    rows: int,
    options: Options,
    checker: Checker | None = None,
    ordered: dict[str, str] | None = None,
) -> list[pa.ChunkedArray]:
    """Evaluate expressions over Arrow columns with Polars.

    Parameters
    ----------
    scalars
        The expressions.
    columns
        The frame's columns by name; only those an expression names are handed over.
    rows
        How many rows there are.
    options
        The settings in force.
    checker
        Checks the columns, of which it may know some already.
    ordered
        The columns that hold ordered categories as text, with their names for messages. Updated in place with the
        expressions that give ordered categories.

    Returns
    -------
    list of pyarrow.ChunkedArray
        One for each expression.

    Raises
    ------
    DataError, ArithmeticOverflowError
        For rows on which Spark fails, under ANSI rules.
    """
    if not scalars:
        return []
    if all(_is_decimal_literal(t) for t in scalars):  # a sum of a decimal needs no Polars
        return [_constant_column(t.expression, rows) for t in scalars]
    require()
    import polars as pl

    ordered = {} if ordered is None else ordered
    made = Expressions(scalars, _types_of(columns, ordered), options)
    ordered |= made.ordered
    check = (checker or Checker()).validated
    for name in made.columns_read:
        refuse_extension(name, columns[name].type)
    data = {name: check(columns[name], name) for name in made.columns_read} or {"": pa.nulls(rows)}
    series = {str(i): _series(name, column) for i, (name, column) in enumerate(data.items())}
    with polars_errors_translated(scalars):
        frame = pl.DataFrame(series)  # by position: Polars gives an empty name another here
        frame.columns = list(data)
        result = made.with_expressions(frame).select([t.name for t in scalars])
        return list(result.to_arrow(compat_level=pl.CompatLevel.oldest()).columns)


def _series(name: str, column: Any) -> pl.Series:
    """Convert a column to a Polars series; Polars does not support some Arrow types, and panics on others."""
    import polars as pl

    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    column = pa.chunked_array([compacted_slice(chunk) for chunk in chunks], type=column.type)
    try:
        made: pl.Series = pl.from_arrow(column)  # type: ignore[assignment]
        if pa.types.is_dictionary(column.type) and column.type.ordered and column.num_chunks:
            categories = pl.Series(column.unify_dictionaries().chunk(0).dictionary)
            # which has the order of its categories, as a Categorical has not
            if made.dtype == pl.Categorical and not categories.has_nulls() and categories.is_unique().all():
                made = made.cast(pl.Enum(categories))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException) as error:
        raise UnsupportedError(
            f"column {name!r}: Polars, which evaluates expressions here, cannot read {column.type}: "
            f"{str(error).splitlines()[0]}; compute the expression first and name its column"
        ) from None
    return made


class Expressions:
    """Expressions compiled to Polars' own, over columns of known types.

    Parameters
    ----------
    scalars
        The expressions.
    types
        The types of the columns by name.
    options
        The settings in force.
    """

    def __init__(
        self,
        scalars: Sequence[NamedScalar],
        types: Mapping[str, pa.DataType],
        options: Options,
    ) -> None:
        import polars as pl

        self._scalars = scalars
        ansi = True if options.ansi is None else options.ansi
        self.exprs: list[pl.Expr] = []
        self.failures: list[Failure] = []
        columns_read: dict[str, None] = {}
        #: The host's expressions that the others read, by their names.
        self.inputs: dict[str, pl.Expr] = {}
        types = dict(types) if any(s.inputs for s in scalars) else types
        for scalar in scalars:
            for name, expression in scalar.inputs.items():
                expr = to_polars(expression, types, ansi=ansi, timezone=options.timezone).expr
                roots = [self._known(root, types, scalar) for root in expr.meta.root_names()]
                columns_read |= dict.fromkeys(roots)
                self.inputs[name] = expr.alias(name)
                empty = pl.DataFrame([_series(r, pa.array([], types[r])).alias(r) for r in roots])
                with polars_errors_translated([scalar]):
                    made = empty.select(self.inputs[name]).to_arrow(compat_level=pl.CompatLevel.oldest())
                types = {**types, name: made.schema.field(0).type}
        #: Those that give ordered categories as text, each with what a message calls it.
        self.ordered: dict[str, str] = {}
        for scalar in scalars:
            value = to_polars(scalar.expression, types, ansi=ansi, timezone=options.timezone)
            with polars_errors_translated([scalar]):
                roots = value.expr.meta.root_names()
            columns_read |= dict.fromkeys(self._known(r, types, scalar) for r in roots if r not in self.inputs)
            self.exprs.append(value.expr.alias(scalar.name))
            self.failures += value.failures
            if value.ordered or has_ordered_categories(value.kind):
                self.ordered[scalar.name] = scalar.text
        self.columns_read = list(columns_read)

    @staticmethod
    def _known(name: str, types: Mapping[str, pa.DataType], scalar: NamedScalar) -> str:
        if name not in types:
            raise unknown_column(name, list(types), f"expression {scalar.text}")
        return name

    def with_expressions(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Add the expressions to a frame as columns; raise for rows in which an expression fails."""
        if self.inputs:
            with polars_errors_translated(self._scalars):
                frame = frame.with_columns(self.inputs.values())
        taken = {*frame.columns, *(t.name for t in self._scalars)}
        flags = [unused_name(f"__windrow_failure_{i}", taken) for i in range(len(self.failures))]
        marks = [f.rows.any().alias(n) for f, n in zip(self.failures, flags, strict=True)]

        def evaluate_rows(rows: pl.DataFrame) -> pl.DataFrame:
            # in one plan, so that what a value and its failures have in common is computed once
            return rows.lazy().with_columns([*self.exprs, *marks]).collect() if marks else rows.with_columns(self.exprs)

        with polars_errors_translated(self._scalars, without_rows=lambda: evaluate_rows(frame.clear())):
            result = evaluate_rows(frame)
        if marks and result.height:
            for failure, name in zip(self.failures, flags, strict=True):
                if result[name][0]:
                    raise failure.error
        return result.drop(flags + list(self.inputs))

    def condition(self) -> pl.Expr:
        """Return the only expression as one for a Polars plan, which raises for rows in which it fails."""
        import polars as pl

        (expr,), failures = self.exprs, self.failures
        if not failures:
            return expr
        parts = [expr.alias("value"), *(f.rows.alias(f"failure {i}") for i, f in enumerate(failures))]

        def check(batch: pl.Series) -> pl.Series:
            fields = batch.struct.unnest()
            for number, failure in enumerate(failures):
                if fields[f"failure {number}"].any():
                    raise failure.error
            return fields["value"]

        call: Callable[..., pl.Expr] = pl.struct(parts).map_batches
        return call(check, return_dtype=pl.Boolean, is_elementwise=True)


class ColumnTypes(Mapping[str, pa.DataType]):
    """The types of columns by name, determined on request.

    Parameters
    ----------
    names
        A collection that knows which names there are.
    type_of
        Gives the type of a name that there is, or refuses it.
    """

    def __init__(self, names: Collection[str], type_of: Callable[[str], pa.DataType]) -> None:
        self._names = names
        self._type_of = type_of

    def __getitem__(self, name: str) -> pa.DataType:
        return self._type_of(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _types_of(columns: Mapping[str, Any], ordered: Collection[str]) -> ColumnTypes:
    def type_of(name: str) -> pa.DataType:
        kind: pa.DataType = columns[name].type
        refuse_extension(name, kind)
        return ordered_type(kind, text=True) if name in ordered else kind

    return ColumnTypes(columns, type_of)


def _is_decimal_literal(scalar: NamedScalar) -> bool:
    literal = scalar.expression
    return isinstance(literal, Literal) and isinstance(literal.value, Decimal) and literal.text is None


def _constant_column(expression: Any, rows: int) -> pa.ChunkedArray:
    kind = pa.decimal128(*smallest_decimal(expression.value))
    return pa.chunked_array([pa.repeat(pa.scalar(expression.value, kind), rows)], type=kind)


def refuse_cross_row(scalars: Collection[NamedScalar], where: str) -> None:
    """Refuse expressions that read other rows than the current one, if not all rows are available.

    Parameters
    ----------
    scalars
        The expressions.
    where
        What is at hand instead.

    Raises
    ------
    UnsupportedError
        If there is one.
    """
    for scalar in scalars:
        host = (e for e in (scalar.expression, *scalar.inputs.values()) if isinstance(e, HostExpression))
        functions = [f for e in host for f in e.other_rows]
        if functions:
            raise UnsupportedError(
                f"{scalar.text} reads other rows than its own ({', '.join(functions)}), and would see {where}; "
                "compute it into a column first"
            )


@contextmanager
def polars_errors_translated(
    scalars: Sequence[NamedScalar], *, without_rows: Callable[[], object] | None = None
) -> Iterator[None]:
    """Translate Polars' errors to windrow's, which show the expressions as the user wrote them.

    Polars has errors of its own, panics that are no ``Exception``, and lets through Python's and Arrow's.

    Parameters
    ----------
    scalars
        The expressions.
    without_rows
        Does the same over no rows, where there are some: what fails there as well is no fault of the rows.

    Raises
    ------
    SpecError
        The expressions are wrong.
    DataError
        They fail over these rows.
    """
    import polars as pl

    try:
        yield
    except (WindrowError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        texts = excerpt(", ".join(t.text for t in scalars))
        if isinstance(error, pl.exceptions.DuplicateError) or "is duplicate" in str(error):
            raise SpecError(
                f"{texts} stands for several columns, and an argument, a key or a condition is one; write a call for "
                "each column"
            ) from error
        message = next(iter(str(error).splitlines()), type(error).__name__)
        kind: type[WindrowError] = SpecError
        if without_rows is not None:
            try:
                without_rows()
            except (Exception, pl.exceptions.PanicException):
                pass
            else:
                kind = DataError
        raise kind(f"Polars cannot evaluate {texts}: {hide_result_columns(message)}") from error
