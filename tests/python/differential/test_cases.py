"""The golden tables of tests/cases: windrow by SQL, by the native module, in every strategy; and Spark itself."""

import json
import re
from decimal import Decimal

import pyarrow as pa
import pytest

import windrow as wr
from support.comparison import equal
from support.paths import ROOT
from windrow._windrow import Plan
from windrow.settings import STRATEGIES

DIRECTORY = ROOT / "tests" / "cases"
CASES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(DIRECTORY.glob("*.json"))}
CALLS = [(name, i) for name, case in CASES.items() for i in range(len(case["calls"]))]


def arrow_type(text):
    if text.startswith("list("):
        element = text[5:-1]
        return pa.list_(pa.field("element", arrow_type(element.rstrip("?")), element.endswith("?")))
    name, arguments = re.fullmatch(r"(\w+)(?:\((.*)\))?", text).groups()
    parts = [] if arguments is None else arguments.split(",")
    if name == "decimal":
        return pa.decimal128(int(parts[0]), int(parts[1]))
    if name == "bool":
        return pa.bool_()
    return getattr(pa, name)(*parts)


def array(values, data_type):
    if pa.types.is_list(data_type):
        return pa.array([array(v, data_type.value_type).to_pylist() for v in values], data_type)
    if pa.types.is_floating(data_type):
        return pa.array([None if v is None else float(v) for v in values], data_type)
    if pa.types.is_decimal(data_type):
        return pa.array([None if v is None else Decimal(v) for v in values], data_type)
    if pa.types.is_date(data_type) or pa.types.is_timestamp(data_type):
        return pa.array(values, pa.string()).cast(data_type)
    return pa.array(values, data_type)


def table_of(case):
    types = [arrow_type(c["type"]) for c in case["columns"]]
    fields = [pa.field(c["name"], t, c["nullable"]) for c, t in zip(case["columns"], types, strict=True)]
    return pa.table([array(c["values"], t) for c, t in zip(case["columns"], types, strict=True)], pa.schema(fields))


def settings_of(case):
    return {"ansi": True, "timezone": "UTC", **case.get("options", {})}


def native_call(call):
    """Give a call of a file as the native module takes it."""

    def argument(value):
        if value is not None and isinstance(value.get("literal"), dict):
            (kind, inner), *_ = value["literal"].items()
            value = {"literal": Decimal(inner) if kind == "decimal" else wr.Interval(**value["literal"])}
        return value

    frame = call["frame"] and {
        "open": (False, False),
        "elapsed": False,
        **call["frame"],
        **{side: (call["frame"][side][0], argument(call["frame"][side][1])) for side in ("start", "end")},
    }
    return {**call, "args": [argument(a) for a in call["args"]], "frame": frame, "display": "the call"}


def check(field, column, call):
    assert field.type == arrow_type(call["type"])
    assert field.nullable == call["nullable"]
    check_values(column, call)


def check_values(column, call):
    expected = array(call["expected"], arrow_type(call["type"])).to_pylist()
    column.validate(full=True)
    got = column.to_pylist()
    assert len(got) == len(expected)
    assert all(equal(a, b, rel=1e-14) for a, b in zip(got, expected, strict=True)), (
        f"{call['sql']}\n got      {got}\n expected {expected}"
    )


@pytest.mark.parametrize(("name", "number"), CALLS)
def test_by_sql(name, number):
    case = CASES[name]
    call = case["calls"][number]
    table = table_of(case)
    with wr.config(**settings_of(case)):
        if "error" in call:
            with pytest.raises(getattr(wr, call["error"])):
                wr.select(table, {"c": call["sql"]})
        else:
            out = wr.select(table, {"c": call["sql"]})
            check(out.schema.field("c"), out["c"], call)


@pytest.mark.parametrize("name", CASES)
def test_by_the_native_module(name):
    case = CASES[name]
    table = table_of(case)
    for call in case["calls"]:
        if "call" not in call:
            continue
        for strategy in [None, *STRATEGIES]:
            options = {"threads": 0, "strategy": strategy, **settings_of(case)}
            try:
                out = pa.table(Plan(table.schema, [native_call(call["call"])], options).compute(table))
            except wr.WindrowError as error:
                failed = f"{type(error).__name__}: {error}"
                if strategy is not None and "the strategy option asks for" in failed:
                    continue
                if not failed.startswith(call.get("error", "no error")):
                    pytest.fail(f"{call['sql']} by {strategy}: {failed}")
                continue
            assert "error" not in call, call["sql"]
            check(out.schema.field(0), out.column(0), call)


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if "spark" not in case])
def test_spark_says_the_same(name, oracle_spark):
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructField, StructType

    from windrow.hosts.spark.types import from_arrow

    case = CASES[name]
    table = table_of(case)
    settings = settings_of(case)
    oracle_spark.conf.set("spark.sql.session.timeZone", settings["timezone"])
    oracle_spark.conf.set("spark.sql.ansi.enabled", str(settings["ansi"]).lower())
    schema = StructType([StructField(f.name, from_arrow(f.type, f.name), f.nullable) for f in table.schema])
    at = pa.array(range(table.num_rows), pa.int64())
    schema.add("_at", "long", False)
    frame = oracle_spark.createDataFrame(table.append_column(pa.field("_at", pa.int64(), False), at), schema)
    calls = [c for c in case["calls"] if "spark" not in c]
    answered = [c for c in calls if "error" not in c]
    out = frame.selectExpr("_at", *[f"{c['sql']} AS c{i}" for i, c in enumerate(answered)]).toArrow().sort_by("_at")
    for i, call in enumerate(answered):
        ours, theirs = arrow_type(call["type"]), out.schema.field(f"c{i}")
        assert theirs.nullable == call["nullable"], call["sql"]
        check_values(out[f"c{i}"].cast(ours) if pa.types.is_timestamp(ours) else out[f"c{i}"], call)
        assert pa.types.is_timestamp(ours) or theirs.type == ours
    for call in calls:
        if "error" in call:
            with pytest.raises(PySparkException):
                frame.selectExpr(f"{call['sql']} AS c").toArrow()


def test_every_case_has_calls():
    assert len(CASES) > 40
    assert all(case["about"] and case["calls"] for case in CASES.values())


def test_long_runs_of_nulls():
    """First and last of a thousand rows around each: the validity bitmap's words are skipped, never miscounted."""
    rows = 5000
    values = [i if i % 1777 < 3 or 2000 < i < 2070 else None for i in range(rows)]
    table = pa.table(
        {"id": pa.array(range(rows)), "x": pa.array(values, pa.int64()), "none": pa.nulls(rows, pa.int64())}
    )
    for low, high in [(-1000, 1000), (0, None), (None, 0), (-1000, -64), (63, 1000), (None, None)]:
        window = wr.window(order_by="id", rows=(low, high))
        out = wr.select(
            table,
            f=wr.first_value("x").ignore_nulls().over(window),
            l=wr.last_value("x").ignore_nulls().over(window),
            n=wr.nth_value("x", 3).ignore_nulls().over(window),
            g=wr.first_value("x").over(window),
            e=wr.last_value("none").ignore_nulls().over(window),
        ).to_pydict()
        for i in range(rows):
            start = 0 if low is None else min(max(i + low, 0), rows)
            end = rows if high is None else max(min(i + high + 1, rows), start)
            known = [v for v in values[start:end] if v is not None]
            assert out["f"][i] == (known[0] if known else None)
            assert out["l"][i] == (known[-1] if known else None)
            assert out["n"][i] == (known[2] if len(known) > 2 else None)
            assert out["g"][i] == (values[start] if start < end else None)
            assert out["e"][i] is None
