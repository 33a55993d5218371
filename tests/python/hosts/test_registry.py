"""The registry of hosts: who is asked for a frame, and in which order; how a host's expressions are known."""

import random
import warnings

import pyarrow as pa
import pytest

import windrow as wr
from support.lists_host import ListsHost
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

    def run(self, frame, plan, arguments):
        return Rows(base.host_of(frame.table).run(frame.table, plan, arguments))

    def answer(self, frame, query):
        return Rows(base.host_of(frame.table).answer(frame.table, query))


class Point:
    """An entry point."""

    name = "rows"

    def load(self):
        return RowsHost()


class HalfInstalled:
    """One of a package that cannot be imported."""

    name = "half"

    def __init__(self, error):
        self.error = error

    def load(self):
        raise self.error


class Failing(RowsHost):
    """A host that fails over what it does not know."""

    name = "failing"

    def load(self):
        return self

    def accepts(self, value):
        return value.no_such_attribute


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


def test_broken_packages_are_passed_over(rows, monkeypatch):
    """Whatever they raise: frames that others know are theirs, and a wrong one is told in windrow's words."""
    rng, warned = random.Random(9), 0
    errors = [ImportError("no module"), AttributeError("gone"), RuntimeError("x"), TypeError()]
    try:
        for _ in range(20):
            broken = [HalfInstalled(rng.choice(errors)) if rng.random() < 0.5 else Failing() for _ in range(2)]
            sound = rng.random() < 0.5
            points = [*broken, *([Point()] if sound else [])]
            rng.shuffle(points)
            monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)  # noqa: B023
            base._installed.cache_clear()
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                assert base.host_of(rows).name == ("rows" if sound else "stream")
                with pytest.raises(wr.SpecError, match="int is not a frame windrow knows"):
                    wr.with_columns(5, TOTAL)
            assert all("windrow.hosts" in str(w.message) or "passed over" in str(w.message) for w in told)
            warned += len(told)
    finally:
        base._installed.cache_clear()
    assert warned >= 40


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


LISTS = [
    ({"n": "row_number() OVER (PARTITION BY k ORDER BY x)"}, "SELECT x, lag(x) OVER (ORDER BY x) AS p FROM t"),
    ({"d": "x - lag(x) OVER (ORDER BY x)"}, "SELECT DISTINCT k FROM t ORDER BY k"),
    ({"s": "sum(row_number() OVER (ORDER BY x + k)) OVER (PARTITION BY k)"}, "SELECT * FROM t WHERE x > 2 LIMIT 2"),
    ({"x": "max(x) OVER (ORDER BY k)"}, "SELECT k, x FROM t QUALIFY rank() OVER (ORDER BY x DESC) = 1"),
    ({"c": "count(*) OVER ()"}, "SELECT x FROM t ORDER BY x DESC LIMIT 2 OFFSET 1"),
]


def test_a_host_in_one_file(monkeypatch):
    monkeypatch.setattr(base, "_installed", lambda: (ListsHost(),))
    rng, compared = random.Random(3), 0
    for items, query in LISTS * 3:
        rows = rng.randrange(1, 8)
        table = pa.table({"k": [rng.randrange(3) for _ in range(rows)], "x": rng.sample(range(9), rows)})
        frame = table.to_pydict()
        assert wr.with_columns(frame, items) == wr.with_columns(table, items).to_pydict()
        assert wr.select(frame, "k", items) == wr.select(table, "k", items).to_pydict()
        assert wr.sql(query, t=frame) == wr.sql(query, t=table).to_pydict()
        assert str(wr.explain(frame, items)) == str(wr.explain(table, items))
        assert wr.explain(frame, items, metrics=True).metrics[0].total().rows == rows
        compared += rows
    assert compared > 30
    with pytest.raises(wr.SpecError, match="column 'z' is unknown"):
        wr.with_columns({"k": [1]}, n="sum(z) OVER ()")
    with pytest.raises(wr.SpecError, match="is for Spark frames"):
        wr.with_columns({"k": [1]}, n="count(*) OVER ()", engine="spark")
    with pytest.raises(wr.OrderError):
        wr.with_columns({"k": [2, 1]}, n="row_number() OVER (ORDER BY k)", sort=False)
