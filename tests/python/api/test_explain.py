"""wr.explain: text and HTML."""

import random

import pyarrow as pa
import pytest

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


@pytest.mark.parametrize("seed", range(2))
def test_pandas_labels_of_all_kinds(seed):
    """What with_columns computes, explain explains and operator takes: labels may be numbers, or be there twice."""
    pandas = pytest.importorskip("pandas")
    rng, repeated = random.Random(seed), 0
    for _ in range(15):
        labels = [rng.choice(["a", "b", 0, 1, 2.5, "0", ("a", 1), None]) for _ in range(rng.randrange(1, 5))]
        values = {0: [1, 2], 1: [0.5, None], 2: ["x", None], 3: [True, False]}
        frame = pandas.concat(
            [pandas.Series(values[rng.randrange(4)]) for _ in labels] + [pandas.Series([3, 4])], axis=1
        )
        frame.columns = pandas.Index([*labels, "v"], dtype=object)
        call = "sum(v) OVER (ORDER BY v)"
        out = wr.with_columns(frame, y=call)
        assert out["y"].tolist() == [3, 7]
        assert "sum(v)" in str(wr.explain(frame, call))
        assert wr.operator({"y": call}, frame).schema.names[-1] == "y"
        repeated += len(set(map(str, labels))) < len(labels)
    assert repeated > 3
