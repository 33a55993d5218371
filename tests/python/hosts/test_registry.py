"""The registry of hosts: who is asked for a frame, and in which order; how a host's expressions are known."""

import pyarrow as pa
import pytest

import windrow as wr
from windrow._model import expressions
from windrow.hosts import base

TOTAL = {"total": wr.sum("x").over(wr.window("k"))}


class Rows:
    """A frame of another package, which speaks Arrow as well."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class RowsHost(base.MemoryHost):
    name = "rows"

    def accepts(self, value):
        return isinstance(value, Rows)

    def schema(self, value):
        return base.FrameSchema(value.table.schema)

    def columns(self, frame):
        return frame.table.column_names

    def run(self, frame, items, named, arguments, *, selecting):
        host = base.host_of(frame.table)
        return Rows(host.run(frame.table, items, named, arguments, selecting=selecting))

    def answer(self, frame, query):
        return Rows(base.host_of(frame.table).answer(frame.table, query))


class Point:
    """An entry point."""

    def load(self):
        return RowsHost()


@pytest.fixture
def rows():
    return Rows(pa.table({"k": [1, 1, 2], "x": [3, 4, 5]}))


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Point()] if group == "windrow.hosts" else [])
    base._installed.cache_clear()
    yield
    base._installed.cache_clear()


def test_a_frame_that_no_host_knows_is_a_stream(rows):
    assert base.host_of(rows).name == "stream"
    assert wr.with_columns(rows, TOTAL)["total"].to_pylist() == [7, 7, 5]


def test_hosts_of_other_packages_are_asked_before_that(rows, installed):
    assert base.host_of(rows).name == "rows"
    made = wr.with_columns(rows, TOTAL)
    assert isinstance(made, Rows)
    assert made.table["total"].to_pylist() == [7, 7, 5]
    assert wr.sql("SELECT x FROM rows WHERE x > 3", rows=rows).table["x"].to_pylist() == [4, 5]
    plan = wr.explain(rows, TOTAL, metrics=True)
    assert plan.metrics[0].total().rows == 3
    with pytest.raises(wr.SpecError, match="is for Spark frames"):
        wr.with_columns(rows, TOTAL, engine="spark")


def test_hosts_of_other_packages_are_not_looked_for_without_need(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: pytest.fail("looked for"))
    base._installed.cache_clear()
    for frame in (pa.table({"x": [1]}), pa.record_batch({"x": [1]})):
        assert base.host_of(frame).name == "arrow"


def test_what_is_no_frame(installed):
    with pytest.raises(wr.SpecError, match="int is not a frame windrow knows"):
        wr.with_columns(3, TOTAL)


def test_expressions_are_known_by_their_reader():
    pl = pytest.importorskip("polars")
    assert expressions.reader_of(pl.col("x")).host == "polars"
    assert expressions.reader_of("x") is None
    assert expressions.foreign_type(pl.Int8) == pa.int8()
    assert expressions.foreign_type(int) is None
