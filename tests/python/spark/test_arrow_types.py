"""Schemas on their way to Arrow and back: no session is needed."""

import random

import pytest

import windrow as wr
from support.random_calls import rounds

pytest.importorskip("pyspark")

import pyspark.sql.types as T  # noqa: N812

from windrow.hosts.spark.types import from_arrow, to_arrow


def a_type(rng, depth=0):
    kind = rng.choice(["null", "null", "long"] if depth > 3 else ["null", "long", "array", "struct", "map"])
    if kind == "array":
        return T.ArrayType(a_type(rng, depth + 1), rng.random() < 0.5)
    if kind == "struct":
        names = "abc"[: rng.randint(1, 3)]
        return T.StructType([T.StructField(n, a_type(rng, depth + 1), rng.random() < 0.5) for n in names])
    if kind == "map":
        return T.MapType(T.StringType(), a_type(rng, depth + 1), rng.random() < 0.5)
    return T.NullType() if kind == "null" else T.LongType()


@pytest.mark.parametrize("number", rounds(3, quick=1))
def test_nulls_alone_at_any_depth(number):
    rng = random.Random(number)
    void = 0
    for _ in range(40):
        dtype = a_type(rng)
        void += "void" in dtype.simpleString()
        schema = T.StructType([T.StructField("id", T.LongType()), T.StructField("n", dtype, rng.random() < 0.5)])
        field = to_arrow(schema, "UTC").field("n")
        assert from_arrow(field.type, "n").simpleString() == dtype.simpleString()
        calls = {"a": "lag(n) OVER (ORDER BY id)", "b": "collect_list(n) OVER (ORDER BY id)"}
        made = wr.operator(calls, schema).spark_schema
        assert made["a"].dataType.simpleString() == dtype.simpleString()
        assert made["b"].dataType.simpleString() == f"array<{dtype.simpleString()}>"
    assert void > 10


def test_a_map_of_no_keys_is_refused_by_name():
    schema = T.StructType([T.StructField("m", T.ArrayType(T.MapType(T.NullType(), T.NullType())))])
    with pytest.raises(wr.UnsupportedError, match=r"column 'm' is of type map<void,void>"):
        wr.operator("count(*) OVER () AS n", schema)


@pytest.mark.skipif(not hasattr(T, "TimeType"), reason="Spark 4.1 and later")
@pytest.mark.parametrize("function", ["max(t)", "mode(t)", "percentile_disc(0.5) WITHIN GROUP (ORDER BY t)"])
def test_times_of_day(function):
    schema = T.StructType([T.StructField("t", T.TimeType())])
    assert wr.operator(f"{function} OVER () AS x", schema).spark_schema["x"].dataType == T.TimeType()


@pytest.mark.parametrize("name", ["a.b", "a`b", ".", "`"])
def test_names_that_mapinarrow_cannot_read(name):
    schema = T.StructType([T.StructField("id", T.LongType()), T.StructField(name, T.LongType())])
    op = wr.operator("count(*) OVER (PARTITION BY id) AS n", schema)
    with pytest.raises(wr.UnsupportedError, match=r"the name of column .* has a dot or a backtick"):
        _ = op.spark_schema
    good = wr.operator({name: "count(*) OVER (PARTITION BY id)"}, T.StructType([T.StructField("id", T.LongType())]))
    assert good.spark_schema.names == ["id", name]
