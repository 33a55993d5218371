"""wr.explain: text and HTML."""

import pyarrow as pa

import windrow as wr

schema = pa.schema({"device": pa.int64(), "id": pa.int64(), "level": pa.float64()})
peak = wr.max("level").over(wr.window("device", "id", rows=(-1000, 1000))).alias("peak")
share = wr.sum("level").over(wr.window("device")).alias("a < b")


def test_of_a_schema():
    plan = wr.explain(schema, peak, share)
    assert [r["name"] for r in plan.rows] == ["peak", "a < b"]
    text = str(plan)
    assert "PARTITION BY device" in text
    assert "two_stacks" in text
    assert all(line == line.rstrip() for line in text.splitlines())
    assert repr(plan) == text


def test_html_is_escaped():
    page = wr.explain(schema, peak, share)._repr_html_()
    assert page.startswith("<div")
    assert "a &lt; b" in page
    assert "a < b" not in page


def test_of_frames():
    table = schema.empty_table()
    assert str(wr.explain(table, peak)) == str(wr.explain(schema, peak))


def test_what_the_host_does():
    plan = wr.explain(schema, s=wr.sum(wr.expr("level * 2")).over())
    assert plan.steps == ["Polars evaluates level * 2 into a column first"]
