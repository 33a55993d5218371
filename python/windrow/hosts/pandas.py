"""pandas DataFrames: the index stays, the rows keep their order, and missing values are NaN, None or NA alike.

Results have the types pandas itself would give: numpy's, integers with missing values as float64 with NaN, booleans
with missing values as object, text as pandas' string type, decimals and dates as objects. A call that reads a column
of an Arrow type (``pd.ArrowDtype``) gives an Arrow type, and one that reads a nullable column (``Int64``, ``boolean``
...) a nullable one, so that frames which keep integers whole stay that way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._execute.arrow_columns import concatenated
from .._execute.explained_call import ExplainedCall
from .._execute.in_memory import ArrowRunner, WorkingColumns, explained_calls
from .._execute.run_metrics import Run, measure
from .._execute.steps import run_steps
from .._execute.top_rows import top_rows
from .._model.expressions import Literal, is_instance_by_name
from .._model.outputs import Output
from .._model.replace import replace
from .._model.windows import Window
from .._parse.items import read_items
from .._parse.query import Query
from .._plan.bind import plan_steps
from .._plan.bound import BoundCall, comparison_only_columns
from .._plan.levels import levels
from .._plan.steps import Evaluate, Project, StepPlan
from ..exceptions import DataError, SpecError, UnsupportedError, WindrowError
from ..settings import current
from .base import ComputeArguments, FrameSchema
from .planning import plan_items
from .query import QueryHost, not_boolean

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PandasHost"]

# how many rows say whether text repeats; fewer are copied faster
_MIN_FACTORIZED = 10_000

# what pyarrow raises over a column that it has no type for: complex and sparse ones, integers past 64 bits
_UNREADABLE = (pa.ArrowException, TypeError, ValueError, OverflowError)


class PandasHost(QueryHost):
    """pandas' DataFrames."""

    name = "pandas"

    def accepts(self, value: Any) -> bool:
        """Whether a value is a DataFrame."""
        return is_instance_by_name(value, "pandas", "DataFrame")

    def schema(self, value: Any) -> FrameSchema:
        """Give the schema of a frame."""
        names = names_of(value)
        columns = _Columns(value, names)
        return FrameSchema(pa.schema([(name, columns[index].type) for index, name in enumerate(names)]))

    def columns(self, frame: Any) -> list[str]:
        """List the names of a frame's columns."""
        return names_of(frame)

    def plan(self, frame: Any, items: Sequence[Any], named: Mapping[str, Any], *, selecting: bool) -> StepPlan:
        """Plan the steps that give some items; a column whose label is no string is named by its text.

        Calls may read levels of the index as well, by their names, where no column has such a name.
        """
        names = names_of(frame)
        # the names of such labels alone say what the plan is
        plain = all(type(label) is str for label in frame.columns)
        select = partial(self.selected, frame)
        check = None if plain else lambda outputs: refuse_numbers(outputs, frame, names)
        try:
            return plan_items(items, named, names, selecting=selecting, check=check, select=select)
        except SpecError as error:
            of_index = _level_names(frame, names)
            if error.column not in of_index:
                with _index_level_hint(frame):
                    raise
        with _index_level_hint(frame):
            outputs = read_items(items, named, names, selecting=selecting, select=select)
            plan = plan_steps(outputs, [*names, *of_index], selecting=selecting)
        # the levels stay in the index
        passed = tuple((name, i) for name, i in plan.project.columns if not len(names) <= i < plan.width)
        return replace(plan, steps=(*plan.steps[:-1], Project(passed)))

    def run(self, frame: Any, plan: StepPlan, arguments: ComputeArguments) -> Any:
        """Run the steps of a plan over a frame; the index stays."""
        names = plan.columns[: plan.width]
        working = WorkingColumns(_Columns(frame, names, compared=_compared(plan)), plan.width, len(frame))
        with _index_level_hint(frame), measure(plan.shown, len(frame)) as run:
            runner = _PandasRunner(frame, plan, run, presorted=arguments.in_memory() is False)
            return run_steps(runner, working, plan)

    def explained(self, frame: Any, plan: StepPlan, sort: bool | None) -> list[list[ExplainedCall]]:
        """Run the steps of a plan over no rows, and say for each step of calls how they are computed."""
        with _index_level_hint(frame):
            columns = _Columns(frame, plan.columns[: plan.width], without_rows=True)
            positions = {n: i for i, n in enumerate(plan.names[: plan.width])}
            shown, read = plan.display_names(), plan.columns_read()

            def type_name(call: BoundCall, field: pa.Field) -> str:
                output = shown[call.name]
                of_call = [positions[n] for n in call.columns_read() if n in positions]
                dtypes = _dtypes(frame, plan.width)
                return _dtype_text(field, [dtypes[i] for i in (of_call if output is None else read[output])])

            return explained_calls(columns, plan, current(), presorted=sort is False, type_name=type_name)

    def query(self, frame: Any, tree: Any) -> Query:
        """Read the tree of a query over a frame."""
        with _index_level_hint(frame):
            return super().query(frame, tree)

    def answer(self, frame: Any, query: Query) -> Any:
        """Answer a query over a frame."""
        with _index_level_hint(frame):
            return super().answer(frame, query)

    def keep_rows(self, frame: Any, keep: str, text: str) -> Any:
        """Keep the rows for which the column ``keep`` is true, and drop it."""
        index = names_of(frame).index(keep)
        marks = pa.Array.from_pandas(frame.iloc[:, index])
        if not (pa.types.is_boolean(marks.type) or pa.types.is_null(marks.type)):
            raise not_boolean(text, marks.type)
        mask = marks.cast(pa.bool_()).fill_null(False).to_numpy(zero_copy_only=False)
        return frame.loc[mask].iloc[:, _other_columns(frame, index)]

    def sort_rows(self, frame: Any, number: str) -> Any:
        """Sort the rows by the column ``number``, and drop that column."""
        index = names_of(frame).index(number)
        return frame.iloc[frame.iloc[:, index].to_numpy().argsort(kind="stable"), _other_columns(frame, index)]

    def slice_rows(self, frame: Any, offset: int, limit: int | None) -> Any:
        """Skip ``offset`` rows, then keep at most ``limit``."""
        return frame.iloc[offset : None if limit is None else offset + limit]

    def concat_rows(self, frames: Sequence[Any]) -> Any:
        """Put the rows of frames with the same columns below one another; the index counts them."""
        import pandas as pd

        first, *others = frames
        if not others:
            return first.reset_index(drop=True)
        if all(list(frame.dtypes) == list(first.dtypes) for frame in others):
            return pd.concat([frame.set_axis(range(frame.shape[1]), axis=1) for frame in frames],
                             ignore_index=True).set_axis(first.columns, axis=1)  # fmt: skip
        tables = [_Columns(frame, names_of(frame)) for frame in frames]
        series = []
        for i in range(first.shape[1]):
            column = concatenated([pa.chunked_array([table[i]]) for table in tables])
            series.append(_series(column, [first.dtypes.iloc[i]]))
        return pd.DataFrame(dict(enumerate(series))).set_axis(first.columns, axis=1)

    def top_rows(self, frame: Any, plan: StepPlan, most: int, counted: str) -> Any:
        """Leave out rows behind the first ``most`` of each partition."""
        columns = _Columns(frame, plan.columns[: plan.width], compared=_compared(plan))
        rows = top_rows(WorkingColumns(columns, plan.width, len(frame)), plan, most, counted, current())
        return None if rows is None else frame.iloc[rows.to_numpy()]

    def null_row(self, frame: Any) -> Any:
        """Make a frame of the same columns with one row of missing values, of Arrow's types."""
        import pandas as pd

        columns = [pa.chunked_array([pa.nulls(1, field.type)]) for field in self.schema(frame).arrow]
        series = [column.to_pandas(types_mapper=pd.ArrowDtype) for column in columns]
        return pd.DataFrame(dict(enumerate(series))).set_axis(frame.columns, axis=1)


class _PandasRunner(ArrowRunner["pd.DataFrame"]):
    """Runs steps over a DataFrame's columns."""

    def __init__(self, frame: pd.DataFrame, plan: StepPlan, run: Run, *, presorted: bool) -> None:
        super().__init__(run, current(), presorted=presorted)
        self._frame = frame
        self._plan = plan

    def project(self, working: WorkingColumns, step: Project) -> pd.DataFrame:
        """Put the new columns into the frame, in the types that pandas would give them."""
        frame, plan = self._frame, self._plan
        names = plan.columns[: frame.shape[1]]
        repeated = next((n for n, times in Counter(n for n, _ in step.columns).items() if times > 1), None)
        if repeated is not None and not frame.flags.allows_duplicate_labels:
            raise SpecError(
                f"two columns of the result are called {repeated!r}, and the frame's flags allow no label twice"
            )
        old = [(name, i) for name, i in step.columns if i < plan.width]
        result: pd.DataFrame = frame.iloc[:, [i for _, i in old]]
        if any(name != names[i] for name, i in old):
            result.columns = _as_labels(
                [frame.columns[i] if name == names[i] else _label(frame, name) for name, i in old], frame.columns
            )
        result_labels = list(result.columns)
        reads, dtypes = plan.columns_read(), _dtypes(frame, plan.width)
        labels = dict(zip(names, frame.columns, strict=True))  # what replaces a column keeps its label
        for position, (name, i) in enumerate(step.columns):
            if i >= plan.width:
                values = _series(working[i], [dtypes[r] for r in reads[name]])
                values.index = frame.index
                label = labels[name] if name in labels else _label(frame, name)
                result.insert(position, label, values, allow_duplicates=label in result.columns)
                result_labels.insert(position, label)
        if frame.columns.nlevels == 1 and frame.columns.dtype == object:  # insert before pandas 3 finds a type anew
            result.columns = _as_labels(result_labels, frame.columns)
        return result


@contextmanager
def _index_level_hint(frame: pd.DataFrame) -> Iterator[None]:
    """Have an error about an unknown column say what to write where a level of the index has that name."""
    try:
        yield
    except SpecError as error:
        message = str(error).removesuffix(error.hint)
        if error.column is not None and None in frame.index.names and not _counts_rows(frame.index):
            index = "a level of the index" if frame.index.nlevels > 1 else "the index"
            raise SpecError(
                f"{error}; {index} has no name: if that is meant, write frame.rename_axis({error.column!r})"
            ) from None
        if error.column is None or error.column not in frame.index.names:
            raise
        raise SpecError(
            f"{message}; {error.column!r} is a level of the index, which only calls can read: write frame.reset_index()"
        ) from None


def _counts_rows(index: pd.Index[Any]) -> bool:
    """Whether an index is that of a frame that was given none."""
    import pandas as pd

    return isinstance(index, pd.RangeIndex)


def _level_names(frame: pd.DataFrame, columns: Collection[str]) -> list[str]:
    """Name the levels of the index; one that has no name of its own, or a column's, by what no call names."""
    counts = Counter(frame.index.names)
    return [
        name if isinstance(name, str) and counts[name] == 1 and name not in columns else f"\0level {i}"
        for i, name in enumerate(frame.index.names)
    ]


def _level(frame: pd.DataFrame, level: int) -> pd.Series[Any]:
    """Give the values of a level of the index."""
    import pandas as pd

    values: pd.Series[Any] = pd.Series(frame.index.get_level_values(level))
    return values


def _dtypes(frame: pd.DataFrame, width: int) -> list[Any]:
    """List the dtypes of the columns, and of the levels of the index if a plan of that width reads them."""
    dtypes = list(frame.dtypes)
    return dtypes + [frame.index.get_level_values(i).dtype for i in range(width - len(dtypes))]


def _label(frame: pd.DataFrame, name: str) -> Any:
    """Give the label of a new column: where labels have levels, the name is the first's."""
    levels = frame.columns.nlevels
    return name if levels == 1 else (name, *[""] * (levels - 1))


def _as_labels(labels: Sequence[Any], like: Any) -> Any:
    """Give labels as an index of the levels of another."""
    import pandas as pd

    if like.nlevels > 1:
        return pd.MultiIndex.from_tuples(labels, names=like.names)
    # a type is found for the labels only where there was one: 2 beside 2.5 stays an integer
    dtype = like.dtype if like.dtype == object else None
    return pd.Index(labels, dtype=dtype, name=like.name, tupleize_cols=False)


def _other_columns(frame: pd.DataFrame, index: int) -> list[int]:
    return [i for i in range(frame.shape[1]) if i != index]


def names_of(frame: pd.DataFrame) -> list[str]:
    """Name a frame's columns: a label that is no string by its text, where no other column is called so."""
    labels: list[Any] = list(frame.columns)
    texts = [_text(c) for c in labels]
    counts = Counter(texts)
    return [
        text if isinstance(label, str) or counts[text] == 1 else f"\0{index}"
        for index, (label, text) in enumerate(zip(labels, texts, strict=True))
    ]


def _text(label: Any) -> str:
    """Write a label; of one with levels whose first alone says something, that is the name."""
    if isinstance(label, tuple) and label and not any(part != "" for part in label[1:]):
        return str(label[0])
    return str(label)


def refuse_numbers(outputs: Sequence[Output], frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Refuse a number where a column is expected whose label is that number: ``wr.sum(0)`` sums zeros.

    Parameters
    ----------
    outputs
        What was asked for.
    frame, names
        The frame, and the names of its columns.

    Raises
    ------
    SpecError
        If there is one.
    """
    labels: list[Any] = list(frame.columns)
    numbers = {label: name for label, name in zip(labels, names, strict=True) if isinstance(label, int)}
    if not numbers:
        return
    for calls in levels(o.item for o in outputs if o.item is not None):
        for call in calls.values():
            window = call.window or Window()
            keys = [*window.partition_by, *(o.key for o in (*window.order_by, *call.argument_order))]
            for part in (*call.args[:1], *keys):
                value = part.value if isinstance(part, Literal) else None
                if isinstance(value, int) and not isinstance(value, bool) and value in numbers:
                    name = numbers[value]
                    advice = f"the column labelled {value} is written {name!r}"
                    if name.startswith("\0"):
                        advice = f"the column labelled {value} has no name of its own, give it one"
                    raise SpecError(
                        f"{call.sql}: {value} is a number here, the same for each row; {advice}. For the number "
                        f"write wr.lit({float(value)}), and count() for count({value})"
                    )


class _Columns:
    """A frame's columns as Arrow arrays, made when they are asked for.

    ``without_rows`` keeps of each its type alone, which may follow from its values. ``compared`` are those of which the
    values are only compared, so that text may come as a dictionary.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        names: Sequence[str],
        *,
        without_rows: bool = False,
        compared: Collection[int] = (),
    ) -> None:
        self._frame = frame
        self._names = names
        self._without_rows = without_rows
        self._compared = compared

    def __getitem__(self, index: int) -> Any:
        width = self._frame.shape[1]
        values = self._frame.iloc[:, index] if index < width else _level(self._frame, index - width)
        try:
            column = _factorized(values) if index in self._compared else None
            if column is None:
                column = pa.Array.from_pandas(values)
            return column.slice(0, 0) if self._without_rows else column
        except _UNREADABLE as error:
            raise _unreadable(self._names[index], values, error) from None


def _compared(plan: StepPlan) -> set[int]:
    """Return the positions of the frame's columns of which a plan only compares the values."""
    compared = comparison_only_columns([call for step in plan.computes() for call in step.calls])
    evaluated = {i for step in plan.steps if isinstance(step, Evaluate) for i in step.reads}
    return {i for i, name in enumerate(plan.names[: plan.width]) if name in compared and i not in evaluated}


def _coded(objects: Any) -> tuple[Any, Any] | None:
    """Number the texts among objects; None if there is something else, or hardly one that repeats."""
    import pandas as pd

    codes, found = pd.factorize(objects)
    # a text equals nothing else, but 1 equals True
    repeats = len(found) <= len(objects) // 2
    return (codes, found) if repeats and pd.api.types.infer_dtype(found) == "string" else None


def _factorized(values: pd.Series[Any]) -> pa.Array | None:
    """Give text among Python objects as a dictionary, where its values repeat; None for all other columns.

    To look objects up by their hashes takes less time than to copy their text.
    """
    if values.dtype != object or len(values) < _MIN_FACTORIZED:
        return None
    objects = values.to_numpy()
    coded = _coded(objects) if _coded(objects[:_MIN_FACTORIZED]) is not None else None
    if coded is None:
        return None
    codes, found = coded
    missing = codes < 0
    indices = pa.array(codes.astype("int32"), mask=missing if missing.any() else None)
    return pa.DictionaryArray.from_arrays(indices, pa.array(found, pa.large_string()))


def _unreadable(name: str, values: pd.Series[Any], error: Exception) -> WindrowError:
    """Make the error for a column that pyarrow has no type for."""
    what = f"column {name!r} ({values.dtype})"
    of_numpy = getattr(values.dtype, "kind", "")
    if of_numpy == "c" or (of_numpy == "O" and any(isinstance(v, complex) for v in values.head(1000))):
        return UnsupportedError(
            f"{what} holds complex numbers, which windrow does not support; make columns of their parts, as "
            f"frame[{name!r}].map(lambda z: z.real)"
        )
    if hasattr(values, "sparse"):
        return UnsupportedError(
            f"{what} is sparse, which windrow does not support; write frame[{name!r}].sparse.to_dense()"
        )
    if isinstance(error, OverflowError):
        return UnsupportedError(
            f"{what} holds integers of more than 64 bits, which windrow does not support; make decimals of them, as "
            f"frame[{name!r}].map(decimal.Decimal)"
        )
    return DataError(f"{what} cannot be read as one type of Arrow's: {error}; cast it first, such as with astype")


def _dtype_text(field: pa.Field, read: Sequence[Any]) -> str:
    """Name the dtype of a result; where it has missing values, numpy's whole numbers and booleans are of another."""
    import pandas as pd

    dtype = _series(pa.chunked_array([], field.type), read).dtype
    if not field.nullable or isinstance(dtype, pd.api.extensions.ExtensionDtype):
        return str(dtype)
    with_missing = {"i": "float64", "u": "float64", "b": "object"}.get(dtype.kind)
    return str(dtype) if with_missing is None else f"{dtype}, or {with_missing} with NULLs"


def _series(column: pa.ChunkedArray, read: Sequence[Any]) -> Any:
    import pandas as pd

    if any(isinstance(dtype, pd.ArrowDtype) for dtype in read):
        return column.to_pandas(types_mapper=pd.ArrowDtype)
    if any(isinstance(dtype, pd.api.extensions.ExtensionDtype) and hasattr(dtype, "numpy_dtype") for dtype in read):
        nullable: dict[Any, Any] = {
            pa.int8(): pd.Int8Dtype(), pa.int16(): pd.Int16Dtype(), pa.int32(): pd.Int32Dtype(),
            pa.int64(): pd.Int64Dtype(), pa.uint8(): pd.UInt8Dtype(), pa.uint16(): pd.UInt16Dtype(),
            pa.uint32(): pd.UInt32Dtype(), pa.uint64(): pd.UInt64Dtype(), pa.bool_(): pd.BooleanDtype(),
            pa.float32(): pd.Float32Dtype(), pa.float64(): pd.Float64Dtype(),
        }  # fmt: skip
        return column.to_pandas(types_mapper=nullable.get)
    indices = column.type.index_type if pa.types.is_dictionary(column.type) else None
    if indices is not None and pa.types.is_unsigned_integer(indices):  # which pyarrow 19 cannot give to pandas
        column = column.cast(pa.dictionary(pa.int64(), column.type.value_type, column.type.ordered))
    return column.to_pandas()
