"""PySpark: DataFrames of Spark Classic and Spark Connect, their schemas, and PySpark's own Columns.

Here is what tells whether a value is PySpark's. All else stands in modules that import PySpark, and is loaded when such
a value comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..._model.expressions import Expr, Item, is_instance_by_name
from ..._model.windows import Window
from ..._parse.query import Query, read_query
from ..._plan.steps import StepPlan
from ...exceptions import UnsupportedError
from ...settings import current
from ..base import ComputeArguments, FrameSchema

if TYPE_CHECKING:
    import pyarrow as pa

    from ..explanation import Explanation

__all__ = ["SparkHost", "SparkReader", "read_window"]


class SparkReader:
    """PySpark's Columns, read structurally, and its types."""

    host = "spark"

    def owns(self, value: Any) -> bool:
        """Whether a value is a Column, Classic or Connect."""
        return is_instance_by_name(value, "pyspark.sql", "Column")

    def expression(self, value: Any) -> Expr:
        """Read an argument, a key or a condition."""
        from .columns.reader import read_argument
        from .jvm import depth_limited

        with depth_limited("a PySpark Column"):
            return read_argument(value)

    def order(self, value: Any) -> tuple[Expr, bool, bool]:
        """Read an order key: what to order by, whether descending, and whether nulls come first."""
        from .columns.reader import read_order
        from .jvm import depth_limited

        with depth_limited("a PySpark Column"):
            order = read_order(value)
        return order.key, order.descending, order.nulls_first

    def item(self, value: Any, *, plain: bool, frame_column: Callable[[Any], str | None] | None) -> Item:
        """Read an item; ``plain`` says whether a Column without a window call will do."""
        from .columns.reader import read_item
        from .jvm import depth_limited

        with depth_limited("a PySpark Column"):
            return read_item(value, plain=plain, frame_column=frame_column)

    def arrow_type(self, value: Any) -> pa.DataType | None:
        """Give the Arrow type of a PySpark DataType, or of its class; None for all other values."""
        kind = value if isinstance(value, type) else type(value)
        if all(c.__module__.partition(".")[0] != "pyspark" for c in kind.__mro__) or not hasattr(value, "simpleString"):
            return None
        from pyspark.sql.types import DataType

        from .types import arrow_type

        made = value() if isinstance(value, type) and issubclass(value, DataType) else value
        return arrow_type(made, current().timezone or "UTC")


def read_window(value: Any) -> Window | None:
    """Read a ``WindowSpec``, Classic or Connect, or None for all other values."""
    if not is_instance_by_name(value, "pyspark.sql", "WindowSpec"):
        return None
    from .columns.reader import read_window as read
    from .jvm import depth_limited

    with depth_limited("a PySpark Window"):
        return read(value)


class SparkHost:
    """PySpark's DataFrames."""

    name = "spark"

    def accepts(self, value: Any) -> bool:
        """Whether a value is a DataFrame of Spark's.

        Raises
        ------
        UnsupportedError
            For one of pandas on Spark.
        """
        if is_instance_by_name(value, "pyspark.sql", "DataFrame"):
            return True
        if is_instance_by_name(value, "pyspark", "DataFrame"):
            raise UnsupportedError("a pandas-on-Spark frame is not supported; use its Spark frame: frame.to_spark()")
        return False

    def accepts_schema(self, value: Any) -> bool:
        """Whether a value is a StructType."""
        return is_instance_by_name(value, "pyspark.sql.types", "StructType")

    def check(self, arguments: ComputeArguments) -> None:
        """Refuse what no DataFrame can be computed with."""
        from .options import ComputeOptions

        ComputeOptions(arguments.sort, arguments.engine, arguments.spread)

    def schema(self, value: Any) -> FrameSchema:
        """Give the schema of a frame or of a StructType, and the session's time zone."""
        from .types import session_timezone, to_arrow

        spark = value if self.accepts_schema(value) else value.schema
        zone = session_timezone(None if spark is value else value.sparkSession)
        return FrameSchema(to_arrow(spark, zone), spark, zone)

    def columns(self, frame: Any) -> list[str]:
        """List the names of a frame's columns."""
        return list(frame.columns)

    def opened(self, frame: Any) -> Any:
        """Give what steps run over: the frame."""
        return frame

    def as_given(self, frame: Any, result: Any) -> Any:
        """Give the result as it is."""
        return result

    def plan(self, frame: Any, items: Sequence[Any], named: Mapping[str, Any], *, selecting: bool) -> StepPlan:
        """Plan the steps that give some items."""
        from .jvm import depth_limited
        from .planning import make_plan

        with depth_limited("the plan of the frame and its windows"):
            return make_plan(frame, items, named, selecting=selecting)

    def run(self, frame: Any, plan: StepPlan, arguments: ComputeArguments) -> Any:
        """Put the steps of a plan into a frame's own."""
        from .host import run_spark
        from .jvm import depth_limited
        from .options import ComputeOptions

        compute_options = ComputeOptions(arguments.sort, arguments.engine, arguments.spread)
        with depth_limited("the plan of the frame and its windows"):
            return run_spark(frame, plan, compute_options)

    def explain(self, frame: Any, plan: StepPlan, arguments: ComputeArguments, *, metrics: bool) -> Explanation:
        """Say how the steps of a plan would be run; with ``metrics`` run them, and give the figures."""
        from .host import explain_spark
        from .jvm import depth_limited, is_classic
        from .options import ComputeOptions

        if not plan.computes() and not metrics and is_classic(frame):
            from .accelerate import explain

            return explain(frame)
        compute_options = ComputeOptions(arguments.sort, arguments.engine, arguments.spread)
        with depth_limited("the plan of the frame and its windows"):
            return explain_spark(frame, plan, compute_options, metrics=metrics)

    def query(self, frame: Any, tree: Any) -> Query:
        """Read the tree of a query over a frame, whose session says whether columns are found regardless of case."""
        from .planning import case_insensitive

        return read_query(tree, self.columns(frame), case_insensitive=case_insensitive(frame))

    def answer(self, frame: Any, query: Query) -> Any:
        """Answer a query over a frame."""
        from .jvm import depth_limited
        from .query import answer

        with depth_limited("the plan of the frame and the query"):
            return answer(self, frame, query)
