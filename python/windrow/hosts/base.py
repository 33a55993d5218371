"""The host protocol, and the registry of hosts.

A host handles the frames of one library: their columns, and how window calls on them are computed and explained. No
other module depends on the kind of frame. Hosts of other packages are entry points of the group ``windrow.hosts``, each
an object with the methods of :class:`Host`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from .._execute.arrow_columns import empty_table
from .._execute.explained_call import ExplainedCall
from .._execute.in_memory import explained_calls
from .._execute.run_metrics import Measured, capture
from .._model.expressions import HostExpression, selected
from .._parse.query import Query, read_query
from .._plan.steps import StepPlan
from ..exceptions import DataError, SpecError, WindrowError, shown
from ..settings import current
from .explanation import Explanation, explain_plan
from .planning import plan_items

__all__ = [
    "ComputeArguments",
    "FrameSchema",
    "Host",
    "MemoryHost",
    "ReadAsTable",
    "host_of",
    "host_of_schema",
    "opened",
    "register_host",
    "run_items",
    "schema_of",
]


class FrameSchema(NamedTuple):
    """The schema of a frame: Arrow's, the host's own where it has one, and the time zone of its timestamps."""

    arrow: pa.Schema
    host_schema: object = None
    timezone: str | None = None


@dataclass(frozen=True, slots=True)
class ComputeArguments:
    """The keyword arguments of ``with_columns``, ``select`` and ``explain`` beside the items."""

    sort: bool | str | None = None
    engine: str | None = None
    spread: str | None = None

    def in_memory(self) -> bool | None:
        """Return ``sort`` for a frame that is not Spark's; the other two are for Spark only.

        Raises
        ------
        SpecError
            For a value that is Spark's, or none at all.
        """
        if self.sort is not None and not isinstance(self.sort, bool):
            raise SpecError(f"sort={shown(self.sort)} is neither True, False nor None; 'spark' is for Spark frames")
        for name, value in (("engine", self.engine), ("spread", self.spread)):
            if value is not None:
                raise SpecError(
                    f"{name}={shown(value)} is for Spark frames; to call a column so, write {{{name!r}: ...}}"
                )
        return self.sort


class Host(Protocol):
    """The frames of one library, and how window calls on them are computed."""

    name: str

    def accepts(self, value: Any) -> bool:
        """Whether a value is a frame of this host; does not import the frame's library."""

    def accepts_schema(self, value: Any) -> bool:
        """Whether a value is a schema of this host."""

    def check(self, arguments: ComputeArguments) -> None:
        """Refuse arguments that no frame of this host supports."""

    def opened(self, frame: Any) -> Any:
        """Return the frame that steps run over: this one, or what it is read into, which has a host of its own."""

    def schema(self, value: Any) -> FrameSchema:
        """Give the schema of a frame or of a schema."""

    def columns(self, frame: Any) -> list[str]:
        """List the names of a frame's columns."""

    def plan(self, frame: Any, items: Sequence[Any], named: Mapping[str, Any], *, selecting: bool) -> StepPlan:
        """Plan what :func:`windrow.with_columns` or (``selecting``) :func:`windrow.select` was given."""

    def run(self, frame: Any, plan: StepPlan, arguments: ComputeArguments) -> Any:
        """Run the steps of a plan over a frame."""

    def as_given(self, frame: Any, result: Any) -> Any:
        """Give the result of :meth:`run` or :meth:`answer` as the kind of frame that was given, not opened."""

    def explain(self, frame: Any, plan: StepPlan, arguments: ComputeArguments, *, metrics: bool) -> Explanation:
        """Explain how the steps would be run; with ``metrics`` run them, and report the metrics."""

    def query(self, frame: Any, tree: Any) -> Query:
        """Read the tree of a query of :func:`windrow.sql`: a SELECT of :mod:`windrow._parse.relations`."""

    def answer(self, frame: Any, query: Query) -> Any:
        """Answer a query."""


class MemoryHost:
    """Base class of hosts of frames in memory."""

    def accepts_schema(self, value: Any) -> bool:
        """Whether a value is a schema of this host: it has none of its own."""
        return False

    def check(self, arguments: ComputeArguments) -> None:
        """Refuse arguments that no frame of this host supports."""
        arguments.in_memory()

    def opened(self, frame: Any) -> Any:
        """Give what steps run over: the frame."""
        return frame

    def schema(self, value: Any) -> FrameSchema:
        """Give the schema of a frame."""
        raise NotImplementedError

    def columns(self, frame: Any) -> list[str]:
        """List the names of a frame's columns."""
        return list(self.schema(frame).arrow.names)

    def plan(self, frame: Any, items: Sequence[Any], named: Mapping[str, Any], *, selecting: bool) -> StepPlan:
        """Plan the steps that give some items."""
        return plan_items(items, named, self.columns(frame), selecting=selecting, select=partial(self.selected, frame))

    def selected(self, frame: Any, selector: HostExpression) -> list[str]:
        """Name a frame's columns that a selector of Polars chooses."""
        return selected(selector, self.schema(frame).arrow)

    def run(self, frame: Any, plan: StepPlan, arguments: ComputeArguments) -> Any:
        """Run the steps of a plan over a frame."""
        raise NotImplementedError

    def as_given(self, frame: Any, result: Any) -> Any:
        """Give the result as it is."""
        return result

    def finish(self, result: Any) -> None:
        """Compute a lazy result."""

    def explained(self, frame: Any, plan: StepPlan, sort: bool | None) -> list[list[ExplainedCall]]:
        """Run the steps of a plan over no rows, and explain the calls of each step.

        Refuses whatever :meth:`run` would refuse. The default runs the steps as for a pyarrow Table.
        """
        nothing = empty_table(self.schema(frame).arrow)
        return explained_calls(nothing.columns, plan, current(), nothing.schema, presorted=sort is False)

    def explain(self, frame: Any, plan: StepPlan, arguments: ComputeArguments, *, metrics: bool) -> Explanation:
        """Explain how the steps of a plan would be run; with ``metrics`` run them, and report the metrics."""
        explained = explain_plan(plan, self.explained(frame, plan, arguments.in_memory()))
        if not metrics:
            return explained
        begun = perf_counter()
        with capture() as runs:
            self.finish(self.run(frame, plan, arguments))
        seconds = perf_counter() - begun
        measured = Measured(", ".join(o.name for o in plan.outputs), runs)
        return Explanation(explained.calls, explained.steps, [measured], seconds)

    def query(self, frame: Any, tree: Any) -> Query:
        """Read the tree of a query over a frame."""
        return read_query(tree, self.columns(frame), case_insensitive=True)

    def answer(self, frame: Any, query: Query) -> Any:
        """Answer a query over a frame."""
        raise NotImplementedError


class ReadAsTable(MemoryHost):
    """A host whose frames are read into a pyarrow Table, which is the answer's kind too."""

    def opened(self, frame: Any) -> pa.Table:
        """Give what steps run over: a Table, as some frames can be read once only."""
        return read_table(frame)

    def schema(self, value: Any) -> FrameSchema:
        """Give the schema of a frame, of which no row is read; a stream that can be opened once only is spent by it."""
        if not hasattr(value, "__arrow_c_stream__"):
            return FrameSchema(read_table(value).schema)
        with _readable(value), pa.RecordBatchReader.from_stream(value) as reader:
            return FrameSchema(reader.schema)


def read_table(value: Any) -> pa.Table:
    """Read an object that exports an Arrow stream or array as a table."""
    with _readable(value):
        return pa.table(value)


@contextmanager
def _readable(value: Any) -> Iterator[None]:
    """Translate exceptions raised over an object within a block to windrow's own."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # the object's own code, and its library's errors
        kind = type(value).__name__
        if "non-struct type" in str(error):
            raise SpecError(
                f"{kind} is one column, and windrow takes frames; write pa.table({{'name': values}}), or "
                "series.to_frame()"
            ) from None
        raise DataError(f"{kind} cannot be read as an Arrow table: {error}") from error


_HOSTS: list[Host] = []
_FALLBACKS: list[Host] = []


def register_host(host: Host, *, fallback: bool = False) -> None:
    """Register a host; a ``fallback`` is asked after all others."""
    (_FALLBACKS if fallback else _HOSTS).append(host)


def host_of(frame: Any) -> Host:
    """Give the host of a frame, without importing the library it comes from.

    Parameters
    ----------
    frame
        Any object.

    Returns
    -------
    Host
        The first that accepts it.

    Raises
    ------
    SpecError
        If none does.
    """
    for host in _HOSTS:
        if host.accepts(frame):
            return host
    # entry-point scan: slow, so only if no built-in host accepts the frame
    for host in _installed():
        if _accepts(host, frame):
            return host
    for host in _FALLBACKS:
        if host.accepts(frame):
            return host
    kind = type(frame).__name__
    instead = ""
    if isinstance(frame, Mapping):
        instead = "; write pa.table({'name': values})"
    elif kind.endswith(("GroupBy", "GroupedData")):
        instead = "; give the frame itself, and the keys as wr.window(partition_by=[...])"
    elif kind in ("Series", "ndarray", "list", "tuple"):
        instead = "; a frame has columns with names: write pa.table({'name': values}), or series.to_frame()"
    raise SpecError(
        f"{kind} is not a frame windrow knows: it takes polars, pyarrow, pandas and PySpark frames and objects with "
        f"__arrow_c_stream__{instead}"
    )


def run_items(
    frame: Any, items: Sequence[Any], named: Mapping[str, Any], arguments: ComputeArguments, *, selecting: bool
) -> Any:
    """Compute what :func:`windrow.with_columns` or (``selecting``) :func:`windrow.select` was given.

    Parameters
    ----------
    frame
        The frame, of any kind.
    items, named
        The items, and those that were given by name.
    arguments
        The other arguments.
    selecting
        Whether the result has only the items.

    Returns
    -------
    same kind as ``frame``
        The result.
    """
    given = host_of(frame)
    host, source = _opened(given, frame)
    plan = host.plan(source, items, named, selecting=selecting)
    return given.as_given(frame, host.run(source, plan, arguments))


def opened(frame: Any) -> tuple[Host, Any]:
    """Return the host that runs steps over a frame, and the frame that it runs them over.

    Parameters
    ----------
    frame
        Any object.

    Returns
    -------
    tuple
        The host, and the frame or what it was read into.

    Raises
    ------
    SpecError
        If no host accepts it.
    """
    return _opened(host_of(frame), frame)


def _opened(host: Host, frame: Any) -> tuple[Host, Any]:
    source = host.opened(frame)
    return (host, frame) if source is frame else opened(source)


def schema_of(value: Any) -> FrameSchema:
    """Give the schema of a schema, or of a frame of any kind.

    Parameters
    ----------
    value
        A pyarrow Schema, a PySpark StructType, an object with ``__arrow_c_schema__``, or a frame.

    Returns
    -------
    FrameSchema
        The schema.
    """
    host = host_of_schema(value)
    if host is None:
        return host_of(value).schema(value)
    try:
        return host.schema(value)
    except pa.ArrowException:
        return FrameSchema(read_table(value).schema)  # says what it is instead of a schema


def host_of_schema(value: Any) -> Host | None:
    """Give the host of a schema; None for what is no schema.

    Parameters
    ----------
    value
        Any object.

    Returns
    -------
    Host or None
        The first that accepts it.
    """
    return next((host for host in _HOSTS if host.accepts_schema(value)), None)


@cache
def _installed() -> tuple[Host, ...]:
    """Load the hosts of other packages; one that cannot be loaded is left out, with a warning."""
    from importlib.metadata import entry_points  # takes longer to import than all of this package

    hosts: list[Host] = []
    for point in entry_points(group="windrow.hosts"):
        try:
            hosts.append(point.load())
        except Exception as error:
            _warn_about(f"the entry point {point.name!r} of windrow.hosts cannot be loaded, and is left out", error)
    return tuple(hosts)


def _accepts(host: Host, frame: Any) -> bool:
    """Whether a host of another package accepts a frame; a host that raises does not."""
    try:
        return bool(host.accepts(frame))
    except WindrowError:  # it says why not
        raise
    except Exception as error:
        _warn_about(
            f"the host {getattr(host, 'name', host)!r} fails over {type(frame).__name__}, and is passed over", error
        )
        return False


def _warn_about(text: str, error: Exception) -> None:
    warnings.warn(f"{text}: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2)
