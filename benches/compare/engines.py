"""The engines: how each takes a table, and how it is asked a case.

``prepare`` is outside the clock: it registers the Arrow table, or makes a Polars frame of it, cut into batches where
the engine deals those to its threads. ``run`` is inside: plan, sort, compute, and the result as Arrow.
"""

from __future__ import annotations

import os
import platform
from abc import ABC, abstractmethod
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

if TYPE_CHECKING:
    from .cases import Case

__all__ = ["ENGINES", "Engine", "limit_threads", "versions"]


def limit_threads(threads: int) -> None:
    """Say how many threads to use to the engines that ask only once; before they are imported."""
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    os.environ["TOKIO_WORKER_THREADS"] = str(threads)  # DataFusion's runtime
    pa.set_cpu_count(threads)


class Engine(ABC):
    """An engine with so many threads."""

    name: ClassVar[str]

    def __init__(self, threads: int) -> None:
        self.threads = threads

    @abstractmethod
    def prepare(self, table: pa.Table) -> Any:
        """Take a table in."""

    @abstractmethod
    def run(self, prepared: Any, case: Case, ids: bool = False) -> pa.Table:
        """Answer a case; with ``ids``, its order column stands before the results and tells the rows apart."""


class Windrow(Engine):
    """windrow on a pyarrow table."""

    name = "windrow"

    def prepare(self, table: pa.Table) -> pa.Table:
        """Take the table as it is."""
        return table

    def run(self, prepared: pa.Table, case: Case, ids: bool = False) -> pa.Table:
        """Answer in the order of the input's rows."""
        import windrow as wr

        calls = [call.alias(name) for call, name in zip(case.windrow(), case.results, strict=True)]
        with wr.config(threads=self.threads):
            result = wr.with_columns(prepared, *calls) if case.passed else wr.select(prepared, *calls)
        if ids and case.order not in result.column_names:
            result = result.append_column(case.order, prepared[case.order])
        return result


class Polars(Engine):
    """Polars by its expressions, on the engine that is faster for the case."""

    name = "polars"

    def prepare(self, table: pa.Table) -> Any:
        """Make a frame of one chunk."""
        import polars as pl

        frame = pl.from_arrow(table, rechunk=True)
        assert isinstance(frame, pl.DataFrame)
        return frame

    def run(self, prepared: Any, case: Case, ids: bool = False) -> pa.Table:
        """Answer in the order of the input's rows."""
        assert case.polars is not None
        named = [expr.alias(name) for expr, name in zip(case.polars(), case.results, strict=True)]
        kept = [*case.passed, *([case.order] if ids and case.order not in case.passed else [])]
        lazy = prepared.lazy().select(*kept, *named)
        return lazy.collect(engine="streaming" if case.streaming else "in-memory").to_arrow()


def _select(engine: Engine, case: Case, ids: bool) -> str:
    """The case as SQL."""
    calls = case.sql_of.get(engine.name, case.sql)
    assert calls is not None
    kept = [*case.passed, *([case.order] if ids and case.order not in case.passed else [])]
    results = [f"{call} AS {name}" for call, name in zip(calls, case.results, strict=True)]
    return f"SELECT {', '.join([*kept, *results])} FROM t"


class DuckDB(Engine):
    """DuckDB on a registered Arrow table."""

    name = "duckdb"

    def prepare(self, table: pa.Table) -> Any:
        """Register the table in batches, which its threads share."""
        import duckdb

        connection = duckdb.connect()
        connection.execute(f"SET threads = {self.threads}")
        # The results of windows have no order to keep, so threads need not wait for each other.
        connection.execute("SET preserve_insertion_order = false")
        connection.register("t", pa.Table.from_batches(table.to_batches(max_chunksize=122_880), table.schema))
        return connection

    def run(self, prepared: Any, case: Case, ids: bool = False) -> pa.Table:
        """Answer in an order of DuckDB's own."""
        return prepared.sql(_select(self, case, ids)).to_arrow_table()


class DataFusion(Engine):
    """DataFusion on registered batches."""

    name = "datafusion"

    def prepare(self, table: pa.Table) -> Any:
        """Register the table in as many parts as there are threads."""
        from datafusion import SessionConfig, SessionContext

        context = SessionContext(SessionConfig().with_target_partitions(self.threads))
        batches = table.to_batches(max_chunksize=8192)
        each = -(-len(batches) // self.threads)
        parts = [batches[start : start + each] for start in range(0, len(batches), each)]
        context.register_record_batches("t", parts)
        return context

    def run(self, prepared: Any, case: Case, ids: bool = False) -> pa.Table:
        """Answer in an order of DataFusion's own."""
        return prepared.sql(_select(self, case, ids)).to_arrow_table()


#: By name; windrow is held against the others.
ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (Windrow, Polars, DuckDB, DataFusion)}


def versions() -> dict[str, str]:
    """Give the versions of all engines, of Python and of pyarrow."""
    distributions = {name: name for name in ("pyarrow", *ENGINES)} | {Windrow.name: "windrow-arrow"}
    return {"python": platform.python_version(), **{name: version(of) for name, of in distributions.items()}}
