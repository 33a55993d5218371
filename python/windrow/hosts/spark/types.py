"""Types on both sides of ``mapInArrow``: what Spark sends as Arrow, and what it takes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..._execute.level import Level
from ..._execute.stream import Operator
from ..._model.catalog import function_of
from ..._plan.bound import Argument, BoundCall, ColumnArgument
from ...exceptions import SpecError, UnsupportedError
from ...settings import current

__all__ = [
    "arrow_round_trip_type",
    "arrow_type",
    "check_columns",
    "check_declared",
    "check_keys",
    "declared_schema",
    "from_arrow",
    "restored_spark_type",
    "session_timezone",
    "spark_schema",
    "to_arrow",
]

_TO_ARROW: dict[str, Callable[[str], pa.DataType]] = {
    "ByteType": lambda _: pa.int8(),
    "ShortType": lambda _: pa.int16(),
    "IntegerType": lambda _: pa.int32(),
    "LongType": lambda _: pa.int64(),
    "FloatType": lambda _: pa.float32(),
    "DoubleType": lambda _: pa.float64(),
    "BooleanType": lambda _: pa.bool_(),
    "DateType": lambda _: pa.date32(),
    "StringType": lambda _: pa.string(),
    "CharType": lambda _: pa.string(),
    "VarcharType": lambda _: pa.string(),
    "BinaryType": lambda _: pa.binary(),
    "NullType": lambda _: pa.null(),
    "TimestampType": lambda zone: pa.timestamp("us", tz=zone),
    "TimestampNTZType": lambda _: pa.timestamp("us"),
    "DayTimeIntervalType": lambda _: pa.duration("us"),
    "TimeType": lambda _: pa.time64("ns"),
    # the marker by which Spark knows a variant from any other struct
    "VariantType": lambda _: pa.struct(
        [pa.field("value", pa.binary(), False), pa.field("metadata", pa.binary(), False, metadata={"variant": "true"})]
    ),
}

_FROM_ARROW: dict[pa.DataType, Callable[[], T.DataType]] = {
    pa.int8(): T.ByteType,
    pa.int16(): T.ShortType,
    pa.int32(): T.IntegerType,
    pa.int64(): T.LongType,
    pa.float32(): T.FloatType,
    pa.float64(): T.DoubleType,
    pa.bool_(): T.BooleanType,
    pa.date32(): T.DateType,
    pa.string(): T.StringType,
    pa.large_string(): T.StringType,
    pa.string_view(): T.StringType,
    pa.binary(): T.BinaryType,
    pa.large_binary(): T.BinaryType,
    pa.binary_view(): T.BinaryType,
    pa.null(): T.NullType,
    pa.duration("us"): lambda: T.DayTimeIntervalType(T.DayTimeIntervalType.DAY, T.DayTimeIntervalType.SECOND),
}
if hasattr(T, "TimeType"):  # from Spark 4.1 on
    _FROM_ARROW[pa.time64("ns")] = T.TimeType


def session_timezone(session: Any = None) -> str:
    """Give the time zone that Spark's timestamps carry: what was configured, else the session's, else UTC.

    Parameters
    ----------
    session
        A SparkSession; without one, the active session where there is one.

    Returns
    -------
    str
        The zone's name.
    """
    configured = current().timezone
    if configured is not None:
        return configured
    if session is None:
        from pyspark.sql import SparkSession

        session = SparkSession.getActiveSession()
    return "UTC" if session is None else str(session.conf.get("spark.sql.session.timeZone"))


def to_arrow(schema: T.StructType, timezone: str) -> pa.Schema:
    """Give the Arrow schema in which ``mapInArrow`` hands over columns of these types.

    Parameters
    ----------
    schema
        Spark's schema.
    timezone
        The session's time zone, which its timestamps carry.

    Returns
    -------
    pyarrow.Schema
        The same names and nullability.
    """
    check_columns(schema)
    return pa.schema([_arrow_field(f, timezone, f.name) for f in schema.fields])


def _arrow_field(field: T.StructField, timezone: str, column: str) -> pa.Field:
    return _field(field.name, _arrow_type(field.dataType, timezone, column), nullable=field.nullable)


def _field(name: str, dtype: pa.DataType, *, nullable: bool) -> pa.Field:
    # pyarrow makes no field of NULLs alone that may not be NULL; in Spark array() holds such
    return pa.field(name, dtype, nullable or pa.types.is_null(dtype))


def arrow_type(dtype: T.DataType, timezone: str) -> pa.DataType:
    """Give the Arrow type in which ``mapInArrow`` hands over a column of this type."""
    return _arrow_type(dtype, timezone, dtype.simpleString())


def _arrow_type(dtype: T.DataType, timezone: str, column: str) -> pa.DataType:
    if isinstance(dtype, T.DecimalType):
        return pa.decimal128(dtype.precision, dtype.scale)
    if isinstance(dtype, T.ArrayType):
        element = _arrow_type(dtype.elementType, timezone, column)
        return pa.list_(_field("element", element, nullable=dtype.containsNull))
    if isinstance(dtype, T.StructType):
        return pa.struct([_arrow_field(f, timezone, column) for f in dtype.fields])
    if isinstance(dtype, T.MapType):
        key, value = (_arrow_type(t, timezone, column) for t in (dtype.keyType, dtype.valueType))
        if pa.types.is_null(key):
            raise _not_carried(column, dtype)
        return pa.map_(key, _field("value", value, nullable=dtype.valueContainsNull))
    if isinstance(dtype, T.UserDefinedType):
        return _arrow_type(dtype.sqlType(), timezone, column)
    make = _TO_ARROW.get(type(dtype).__name__)
    if make is None:
        raise _not_carried(column, dtype)
    return make(timezone)


def _not_carried(column: str, dtype: T.DataType) -> UnsupportedError:
    return UnsupportedError(
        f"column {column!r} is of type {dtype.simpleString()}, which PySpark cannot hand over through Arrow; "
        f"drop it, or cast it first (an interval of years and months to its number of months, for example)"
    )


def check_columns(schema: T.StructType) -> None:
    """Refuse, before the job, columns that PySpark cannot carry through ``mapInArrow``, however deep they lie."""

    def check(dtype: T.DataType, column: str) -> None:
        if type(dtype).__name__ in ("YearMonthIntervalType", "CalendarIntervalType"):
            raise _not_carried(column, dtype)
        for inner in _inner(dtype):
            check(inner, column)

    for field in schema.fields:
        check(field.dataType, field.name)


def check_declared(schema: T.StructType, calls: Mapping[str, str] | None = None) -> None:
    """Refuse columns of lists and structs of NULLs alone that may not be NULL: PySpark has no field for those.

    Parameters
    ----------
    schema
        The columns.
    calls
        The calls that columns are results of, by their names.

    Raises
    ------
    UnsupportedError
        If there is one.
    """
    for field in schema.fields:
        if _has_no_field(field.dataType):
            call = None if calls is None else calls.get(field.name)
            raise UnsupportedError(
                f"{f'column {field.name!r}' if call is None else f'{call}: its result'} is of type "
                f"{field.dataType.simpleString()} without NULLs, as array() is, which PySpark cannot declare; "
                f"{'cast it, or drop it' if call is None else 'cast its argument'}"
            )


def _has_no_field(dtype: T.DataType) -> bool:
    parts = _parts(dtype)
    return any((isinstance(p, T.NullType) and not nullable) or _has_no_field(p) for p, nullable in parts)


def _parts(dtype: T.DataType) -> list[tuple[T.DataType, bool]]:
    if isinstance(dtype, T.ArrayType):
        return [(dtype.elementType, dtype.containsNull)]
    if isinstance(dtype, T.MapType):
        return [(dtype.keyType, False), (dtype.valueType, dtype.valueContainsNull)]
    if isinstance(dtype, T.StructType):
        return [(f.dataType, f.nullable) for f in dtype.fields]
    return []


def _inner(dtype: T.DataType) -> list[T.DataType]:
    return [inner for inner, _ in _parts(dtype)]


def arrow_round_trip_type(dtype: T.DataType) -> T.DataType:
    """Give the type under which Spark takes a column back from Arrow and finds it right under ``validateSchema``.

    Arrow knows neither which fields an interval of days has nor a text's collation. Declared as they are, such columns
    come back well but are refused where Spark validates; declared like this they only need a cast.
    """
    if isinstance(dtype, T.DayTimeIntervalType):
        return T.DayTimeIntervalType(T.DayTimeIntervalType.DAY, T.DayTimeIntervalType.SECOND)
    if type(dtype) is T.StringType:
        return T.StringType()
    if isinstance(dtype, T.ArrayType):
        return T.ArrayType(arrow_round_trip_type(dtype.elementType), dtype.containsNull)
    if isinstance(dtype, T.MapType):
        return T.MapType(
            arrow_round_trip_type(dtype.keyType), arrow_round_trip_type(dtype.valueType), dtype.valueContainsNull
        )
    if isinstance(dtype, T.StructType):
        return T.StructType(
            [T.StructField(f.name, arrow_round_trip_type(f.dataType), f.nullable, f.metadata) for f in dtype.fields]
        )
    return dtype


def restored_spark_type(function: str, source: T.DataType, result: T.DataType) -> T.DataType | None:
    """Give the type of a result of which Arrow tells less than its argument's type does.

    Parameters
    ----------
    function
        The function.
    source
        Spark's type of its first argument.
    result
        The result's type, as far as Arrow tells.

    Returns
    -------
    pyspark.sql.types.DataType or None
        None where Arrow tells all.
    """
    plain = arrow_round_trip_type(source)
    if not _keeps_type(function):
        return None
    if result == plain:
        return source
    if isinstance(result, T.ArrayType) and result.elementType == plain:
        return T.ArrayType(source, result.containsNull)
    return None


def _keeps_type(function: str) -> bool:
    """Whether results are of the first argument's type: then what Spark knows of it beside holds for them as well."""
    known = function_of(function)
    return known is not None and known.keeps_type


def check_keys(schema: T.StructType, calls: Sequence[BoundCall]) -> None:
    """Refuse keys that have no order in Spark, and collations, which Arrow does not carry.

    Parameters
    ----------
    schema
        The columns the calls read.
    calls
        The calls.
    """
    types = {f.name: f.dataType for f in schema.fields}
    for call in calls:
        keys = [*call.partition_by, *(o.column for o in [*call.order_by, *call.argument_order])]
        known = function_of(call.function) if call.user is None else None
        by_order, by_value = ([], []) if known is None else (known.positions("ordered"), known.positions("compared"))
        ordered = [call.args[i] for i in by_order if i < len(call.args)]
        for name in [*keys, *_columns(ordered)]:
            _check_key(types[name], name, call.display)
        compared = call.args if call.distinct else [call.args[i] for i in by_value if i < len(call.args)]
        for name in _columns(compared):
            _check_collation(types[name], name, call.display)


def _columns(arguments: Sequence[Argument]) -> list[str]:
    return [a.column for a in arguments if isinstance(a, ColumnArgument)]


def _check_key(dtype: T.DataType, column: str, display: str) -> None:
    _check_collation(dtype, column, display)
    if type(dtype).__name__ in ("MapType", "VariantType"):
        raise SpecError(f"{display}: column {column!r} is of type {dtype.simpleString()}, which has no order")
    for inner in _inner(dtype):
        _check_key(inner, column, display)


def _check_collation(dtype: T.DataType, column: str, display: str) -> None:
    collation = getattr(dtype, "collation", "UTF8_BINARY")
    if isinstance(dtype, T.StringType) and collation not in ("UTF8_BINARY", None):
        raise UnsupportedError(
            f"{display}: column {column!r} has the collation {collation}, which PySpark does not hand over through "
            f"Arrow; for case-insensitive text write wr.expr('lower({column})'), or collate it UTF8_BINARY"
        )
    for inner in _inner(dtype):
        _check_collation(inner, column, display)


def from_arrow(dtype: pa.DataType, column: str) -> T.DataType:
    """Give Spark's type for an Arrow type.

    Parameters
    ----------
    dtype
        The Arrow type.
    column
        Its column, for the message.

    Returns
    -------
    pyspark.sql.types.DataType
        Spark's type.

    Raises
    ------
    UnsupportedError
        If ``mapInArrow`` takes no such type back.
    """
    if pa.types.is_decimal128(dtype):
        return T.DecimalType(dtype.precision, dtype.scale)
    if pa.types.is_timestamp(dtype) and dtype.unit == "us":
        return T.TimestampNTZType() if dtype.tz is None else T.TimestampType()
    if pa.types.is_struct(dtype):
        return T.StructType([_spark_field(dtype.field(i), column) for i in range(dtype.num_fields)])
    if pa.types.is_map(dtype):
        return T.MapType(
            from_arrow(dtype.key_type, column), from_arrow(dtype.item_type, column), dtype.item_field.nullable
        )
    if _is_list(dtype):
        return T.ArrayType(from_arrow(dtype.value_type, column), dtype.value_field.nullable)
    make = _FROM_ARROW.get(dtype)
    if make is None:
        raise UnsupportedError(
            f"column {column!r} is of type {dtype}, which Spark does not take from Arrow; cast it first"
        )
    return make()


def _is_list(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_list(dtype) or pa.types.is_list_view(dtype))


def _spark_field(field: pa.Field, column: str) -> T.StructField:
    return T.StructField(field.name, from_arrow(field.type, column), field.nullable)


def spark_schema(operator: Operator) -> T.StructType:
    """Give the schema to declare to ``mapInArrow``.

    Parameters
    ----------
    operator
        The operator over record batches that it is given.

    Returns
    -------
    pyspark.sql.types.StructType
        Input columns with the very field they had, metadata included, where the operator was given Spark's schema.

    Raises
    ------
    UnsupportedError
        If the batches that come have no columns: in PySpark they have no rows then. For a column whose name PySpark's
        ``mapInArrow`` reads as another column or as none.
    """
    names = operator.names_read
    if not names:
        raise UnsupportedError(
            f"{operator!r}: a frame without columns comes to Python without its rows; give mapInArrow one that has a "
            "column, such as df.select(F.lit(True).alias('row'))"
        )
    unreadable = next((n for n in names if "." in n or "`" in n), None)
    if unreadable is not None:
        raise UnsupportedError(
            f"{operator!r}: the name of column {unreadable!r} has a dot or a backtick, which PySpark's mapInArrow "
            "reads as a field's or not at all; give it another name first, or use wr.with_columns(frame, ...)"
        )
    schema = operator.host_schema if isinstance(operator.host_schema, T.StructType) else None
    if schema is None:
        schema = T.StructType([_spark_field(f, f.name) for f in operator.input_schema])
    for level in operator.levels:
        schema = _level_schema(level, schema)
    last = operator.last
    if last is None:
        return schema
    fields = [*schema.fields, *(T.StructField(f.name, from_arrow(f.type, f.name), True) for f in last.fields)]
    return T.StructType([_named(fields[index], name) for name, index in last.project.columns])


def declared_schema(operator: Operator) -> T.StructType:
    """Give what :func:`spark_schema` gives, of types that PySpark can declare."""
    schema = spark_schema(operator)
    check_declared(schema, {c.name: c.display for level in operator.levels for c in level.step.calls})
    return schema


def _named(field: T.StructField, name: str) -> T.StructField:
    return T.StructField(name, field.dataType, field.nullable, field.metadata)


def _level_schema(level: Level, schema: T.StructType) -> T.StructType:
    """Give the schema of one level of calls, from that of the batches that come."""
    arrow, step, new = level.input_schema, level.step, level.new_fields
    # a level may have a column that its batches do not come with: the rows' numbers
    fields = [*schema.fields, *(_spark_field(f, f.name) for f in list(arrow)[len(schema.fields) :])]
    position = {name: i for i, name in enumerate(step.names[: len(arrow)])}

    def made(index: int, name: str) -> T.StructField:
        call, field = step.calls[index], new[index]
        source = call.argument_column()
        if source in position:
            at = position[source]
            given, dtype = arrow.field(at).type, fields[at].dataType
            keeps = _keeps_type(call.function)
            if keeps and given == field.type:
                return T.StructField(name, dtype, field.nullable)
            if keeps and _is_list(field.type) and field.type.value_type == given:
                return T.StructField(name, T.ArrayType(dtype, field.type.value_field.nullable), field.nullable)
        return T.StructField(name, from_arrow(field.type, name), field.nullable)

    first = len(step.names)
    return T.StructType(
        [_named(fields[i], name) if i < first else made(i - first, name) for name, i in level.project.columns]
    )
