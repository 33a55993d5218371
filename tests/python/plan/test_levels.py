"""Levels: calls inside calls are laid out so that each is computed once, after what it reads; the names they get."""

import copy
import pickle

import pyarrow as pa
import pytest

import windrow as wr
from windrow._model.calls import Derived
from windrow._model.result_columns import result_column
from windrow._model.tokens import unique_token
from windrow._parse.sql_text import parse_call, parse_item
from windrow._plan.levels import levels

pytest.importorskip("polars")
import polars as pl

table = pa.table({"id": [1, 2, 3, 4, 5], "k": ["a", "a", "b", "b", "b"], "v": [10, None, 30, 25, 31]})
by_id = wr.window(order_by="id")
DEEP = "max(sum(row_number() OVER (ORDER BY id)) OVER (ORDER BY id) - id) OVER (PARTITION BY k) * 2"


class TestNames:
    def test_a_column_is_replaced_in_its_place(self):
        out = wr.with_columns(table, "v - lag(v) OVER (ORDER BY id) AS k", "v + count(*) OVER () AS v")
        assert out.to_pydict() == {"id": [1, 2, 3, 4, 5], "k": [None, None, None, -5, 6], "v": [15, None, 35, 30, 36]}

    def test_without_an_alias_the_text_is_the_name(self):
        out = wr.select(table, "id", "v-lag(v) over (order by id)")
        assert out.column_names == ["id", "v - lag(v) OVER (ORDER BY id)"]

    def test_duplicates_that_no_item_reads_pass(self):
        double = pa.table([table["id"], table["v"], table["v"]], ["id", "v", "v"])
        out = wr.with_columns(double, "1 + sum(row_number() OVER (ORDER BY id)) OVER () AS s")
        assert out.column_names == ["id", "v", "v", "s"]
        assert out["s"].to_pylist() == [16] * 5

    def test_the_same_call_under_two_names(self):
        out = wr.select(table, "count(*) OVER () AS a", "count(*) OVER () AS b", "count(*) OVER () + 1 AS c")
        assert out.to_pylist()[0] == {"a": 5, "b": 5, "c": 6}


class TestModel:
    def test_equal_calls_are_computed_once(self):
        items = [parse_item(t) for t in ("v - lag(v) OVER (ORDER BY id)", "lag(v) OVER (ORDER BY id) * 2")]
        items.append(wr.lag("v").over(by_id).alias("p"))
        assert [len(level) for level in levels(items)] == [1]

    def test_what_differs_has_a_place_of_its_own(self):
        w = wr.window(order_by="id")
        calls = [
            wr.lag("v", 1, 1).over(w),
            wr.lag("v", 1, 1.0).over(w),
            wr.lag("v", 1, True).over(w),
            wr.lag("v", 1, wr.col("1")).over(w),
            wr.lag(pl.col("v")).over(w),
            wr.lag(pl.col("v")).over(w),
            wr.sum("v").over(wr.window(min_rows=1)),
            wr.sum("v").over(wr.window(min_rows=2)),
        ]
        assert len({result_column(c) for c in calls}) == len(calls)
        assert result_column(calls[0].alias("x")) == result_column(calls[0])
        assert result_column(wr.sum(calls[0].alias("x")).over(w)) == result_column(wr.sum(calls[0]).over(w))

    def test_a_copy_keeps_its_column_and_no_other_call_has_it(self, monkeypatch):
        """Whatever ids are given away: here all objects have one."""
        monkeypatch.setattr("windrow._model.result_columns.id", lambda _: 7, raising=False)
        w, frame = wr.window(), pl.DataFrame({"x": [1, 2, 3]})
        for copied in (lambda call: pickle.loads(pickle.dumps(call)), copy.deepcopy):
            call = wr.sum(pl.col("x") * 2).over(w)
            kept, other = copied(call), wr.sum(pl.col("x") * 100).over(w)
            assert result_column(copied(call)) == result_column(call) != result_column(other)
            assert wr.with_columns(frame, a=kept, b=other).row(0) == (1, 12, 600)

    def test_tokens_of_processes_differ(self, monkeypatch):
        first = unique_token()
        monkeypatch.setattr("windrow._model.tokens._COUNT", iter([int(first.rsplit("-", 1)[1])]))
        monkeypatch.setattr("os.getpid", lambda: -1)
        assert unique_token() != first

    def test_levels(self):
        item = parse_item(DEEP)
        assert isinstance(item, Derived)
        laid = levels([item])
        assert [[c.function for c in level.values()] for level in laid] == [["row_number"], ["sum"], ["max"]]

    def test_the_text_survives(self):
        text = "coalesce(v - lag(v) OVER (ORDER BY id), 0) AS s"
        assert repr(parse_item(text)) == text
        call = parse_call("sum(v - lag(v) OVER (ORDER BY id)) OVER (PARTITION BY k)")
        assert parse_call(repr(call)).equals(call)

    def test_a_call_is_no_condition(self):
        with pytest.raises(wr.SpecError, match="no truth"):
            bool(parse_item("1 + count(*) OVER ()"))

    def test_explain(self):
        plan = wr.explain(table, DEEP + " AS deep", p=wr.lag("v").over(by_id))
        assert [(r["name"], r["sort"]) for r in plan.rows] == [
            ("row_number() OVER (ORDER BY id)", "level 1, sort 0"),
            ("p", "level 1, sort 0"),
            ("sum(row_number() OVER (ORDER BY id)) OVER (ORDER BY id)", "level 2, sort 0"),
            (DEEP.removesuffix(" * 2"), "level 3, sort 0"),
        ]
        assert "level 3, sort 0: PARTITION BY k" in str(plan)
        assert any(s.endswith("into deep last") for s in plan.steps)


def test_how_deep_and_how_often_calls_may_stand_in_calls():
    table = pa.table({"x": [1, 2, 3]})

    def nested(deep, times):
        item = "x"
        for _ in range(deep):
            item = wr.sum(item).over(wr.window(*[item] * (times - 1)))
        return item

    deepest = wr.with_columns(table, y=nested(32, 1))["y"].to_pylist()
    assert deepest == [6 * 3**31] * 3
    assert wr.with_columns(table, y=nested(9, 2))["y"].to_pylist() == [1, 2, 3]
    for deep, times, begun in ((33, 1, 32), (500, 1, 32), (10, 2, 9), (100, 2, 9)):
        with pytest.raises(wr.SpecError, match="calls may be nested 32 levels deep, and 1,000 may stand in one"):
            nested(deep, times)
        assert nested(begun, times) is not None
