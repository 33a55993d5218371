"""What windrow's functions take and give, for annotations: values of windrow's own, unions, and others' by structure.

>>> import windrow as wr
>>> from windrow.typing import IntoExpr, Order
>>> def newest_first(key: IntoExpr) -> Order:
...     return wr.desc(key)

The frames and expressions of other libraries are protocols, so that none of them need be installed, and one that is
not leaves the types of the others as they are. Methods take any arguments in them: a protocol only tells one library's
objects from another's. pyarrow, which has no types of its own, is Any or a protocol too: checkers that report what they
do not know would report every function of windrow's otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from ._execute.explained_call import ExplainedCall
from ._execute.run_metrics import Measured, Metrics
from ._model.calls import Call, Derived
from ._model.expressions import Column, Expr, IntoColumns, IntoCondition, IntoExpr, Literal, Sql
from ._model.formulas import Formula
from ._model.frames import Bound, Closed, Exclude, Frame, IntoBound
from ._model.placing import Calls
from ._model.protocols import LiteralValue, NumpyArray, NumpyScalar, PolarsExpr, SparkColumn, SparkWindow
from ._model.windows import IntoOrder, Nulls, Order, Window, Windows
from .hosts.explanation import Explanation
from .settings import Config, Engine, Spread, Strategy

__all__ = [
    "ArrowArray",
    "ArrowFrame",
    "ArrowReader",
    "ArrowSchema",
    "ArrowStream",
    "Bound",
    "Call",
    "Calls",
    "Closed",
    "Column",
    "Config",
    "Derived",
    "DuckDBRelation",
    "Engine",
    "Exclude",
    "ExplainedCall",
    "Explanation",
    "Expr",
    "Formula",
    "Frame",
    "FrameLike",
    "IntoArray",
    "IntoBound",
    "IntoColumns",
    "IntoCondition",
    "IntoDataType",
    "IntoExpr",
    "IntoItem",
    "IntoItems",
    "IntoOrder",
    "IntoSelectItem",
    "IntoSelectItems",
    "Literal",
    "LiteralValue",
    "Measured",
    "MemoryFrameT",
    "Metrics",
    "NarwhalsFrame",
    "Nulls",
    "NumpyArray",
    "NumpyScalar",
    "Order",
    "PandasFrame",
    "PolarsExpr",
    "PolarsFrame",
    "SchemaLike",
    "SparkColumn",
    "SparkFrame",
    "SparkFrameT",
    "SparkItem",
    "SparkItems",
    "SparkSchema",
    "SparkSelectItem",
    "SparkSelectItems",
    "SparkSession",
    "SparkWindow",
    "Spread",
    "Sql",
    "Strategy",
    "StreamLike",
    "UserAggregate",
    "Window",
    "Windows",
]


FrameT_co = TypeVar("FrameT_co", covariant=True)


class PolarsFrame(Protocol):
    """A ``polars.DataFrame`` or ``LazyFrame``."""

    def lazy(self) -> Any:
        """Give a LazyFrame."""

    def collect_schema(self) -> Any:
        """Give the names and types of the columns."""


class PandasFrame(Protocol):
    """A ``pandas.DataFrame``."""

    def iterrows(self) -> Any:
        """Go over the rows."""

    def set_index(self, *args: Any, **kwargs: Any) -> Any:
        """Make columns the index."""


class ArrowFrame(Protocol):
    """A ``pyarrow.Table`` or ``RecordBatch``."""

    def to_struct_array(self, *args: Any, **kwargs: Any) -> Any:
        """Give the rows as structs."""

    def rename_columns(self, *args: Any, **kwargs: Any) -> Any:
        """Give the columns other names."""


class ArrowReader(Protocol):
    """A ``pyarrow.RecordBatchReader``."""

    def read_next_batch(self) -> Any:
        """Read one batch."""

    def read_all(self) -> Any:
        """Read all batches as a table."""


class SparkFrame(Protocol):
    """A PySpark ``DataFrame``, Classic or Connect."""

    @property
    def isStreaming(self) -> bool:  # noqa: N802 - PySpark's name
        """Whether it has a source that goes on giving rows."""

    def mapInArrow(self, *args: Any, **kwargs: Any) -> Any:  # noqa: N802 - PySpark's name
        """Map record batches."""


class SparkSession(Protocol[FrameT_co]):
    """A PySpark ``SparkSession``, Classic or Connect."""

    @property
    def catalog(self) -> Any:
        """The tables, views and functions."""

    def table(self, name: str, /) -> FrameT_co:
        """Give a table as a DataFrame."""


class SparkSchema(Protocol):
    """A PySpark ``StructType``."""

    def fieldNames(self) -> Any:  # noqa: N802 - PySpark's name
        """List the names of the fields."""

    def simpleString(self) -> str:  # noqa: N802 - PySpark's name
        """Write the type as text."""


class DuckDBRelation(Protocol):
    """A DuckDB relation."""

    def to_arrow_table(self, *args: Any, **kwargs: Any) -> Any:
        """Read all rows as a table."""

    def create_view(self, *args: Any, **kwargs: Any) -> Any:
        """Make a view of it."""


class NarwhalsFrame(Protocol):
    """A DataFrame or a LazyFrame of Narwhals'."""

    @property
    def implementation(self) -> Any:
        """Which library's frame it wraps."""

    def to_native(self) -> Any:
        """Give the frame that it wraps."""


class ArrowStream(Protocol):
    """Any object that gives an Arrow stream through the C interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """Give the stream."""


class ArrowArray(Protocol):
    """Any object that gives an Arrow array, or a batch of rows, through the C interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Any:
        """Give the array."""


class ArrowSchema(Protocol):
    """Any object that gives an Arrow schema through the C interface, a field and a type among them."""

    def __arrow_c_schema__(self) -> Any:
        """Give the schema."""


class PolarsDataType(Protocol):
    """A data type of Polars'."""

    def is_nested(self) -> bool:
        """Whether its values are lists or structs."""

    def is_temporal(self) -> bool:
        """Whether its values are times."""


class SparkDataType(Protocol):
    """A data type of PySpark's."""

    def simpleString(self) -> str:  # noqa: N802 - PySpark's name
        """Write the type as text."""

    def jsonValue(self) -> Any:  # noqa: N802 - PySpark's name
        """Write the type as JSON."""


class UserAggregate(Protocol):
    """What :func:`windrow.aggregate` takes; ``merge``, ``retract`` and ``evaluate`` may be there as well."""

    def initialize(self) -> Any:
        """Give the state of no rows."""

    def update(self, *args: Any, **kwargs: Any) -> Any:
        """Give the state with one more row."""


#: Frames whose results are frames of the same kind, by their own values or in memory.
SparkFrameT = TypeVar("SparkFrameT", bound=SparkFrame)
MemoryFrameT = TypeVar(
    "MemoryFrameT",
    bound=PolarsFrame | PandasFrame | ArrowFrame | ArrowReader | DuckDBRelation | NarwhalsFrame,
)
#: Frames whose results are pyarrow Tables.
StreamLike: TypeAlias = ArrowStream | ArrowArray
FrameLike: TypeAlias = (
    SparkFrame | PolarsFrame | PandasFrame | ArrowFrame | ArrowReader | DuckDBRelation | NarwhalsFrame | StreamLike
)
SchemaLike: TypeAlias = ArrowSchema | SparkSchema

#: What ``with_columns`` adds: a call, an expression, or SQL text; on Spark also a Column of PySpark's.
IntoItem: TypeAlias = Call | Calls | Derived | Column | Literal | Sql | str
SparkItem: TypeAlias = IntoItem | SparkColumn
#: The same, or several of them by their names or in a list.
IntoItems: TypeAlias = IntoItem | Mapping[str, IntoItem] | Sequence[IntoItem | Mapping[str, IntoItem]]
SparkItems: TypeAlias = SparkItem | Mapping[str, SparkItem] | Sequence[SparkItem | Mapping[str, SparkItem]]
#: And what ``select`` takes besides: columns.
IntoSelectItem: TypeAlias = IntoItem
SparkSelectItem: TypeAlias = SparkItem
IntoSelectItems: TypeAlias = IntoSelectItem | Mapping[str, IntoItem] | Sequence[IntoSelectItem | Mapping[str, IntoItem]]
SparkSelectItems: TypeAlias = (
    SparkSelectItem | Mapping[str, SparkItem] | Sequence[SparkSelectItem | Mapping[str, SparkItem]]
)

#: A type: pyarrow's, Polars', PySpark's, Spark's DDL, or one of Python's such as ``int``.
IntoDataType: TypeAlias = str | type | ArrowSchema | PolarsDataType | SparkDataType
#: What a function over columns may give.
IntoArray: TypeAlias = ArrowArray | ArrowStream | NumpyArray | Sequence[Any]
