"""Deep and long questions: answered in linear time, or refused with the limit in the message; nothing overflows."""

from __future__ import annotations

import random
import subprocess
import sys

import polars as pl
import pyarrow as pa
import pytest

import windrow as wr
from windrow._parse.limits import LEVELS, OPERATORS
from windrow._parse.types import arrow_type

TABLE = pa.table({"id": [1, 2, 3], "x": [1, 2, 3], "b": [True, False, None], "s": ["a", "b", None]})

NESTED = {
    "parentheses": ("(", "x", ")"),
    "minus": ("-(", "x", ")"),
    "abs": ("abs(", "x", ")"),
    "case": ("case when b then ", "x", " end"),
    "cast": ("cast(", "x", " as bigint)"),
    "windows": ("sum(", "x", ") over ()"),
}


def _sum(text: str) -> list[object]:
    return wr.select(TABLE, f"sum({text}) over () as y")["y"].to_pylist()


@pytest.mark.parametrize("kind", NESTED)
def test_nesting_is_answered_up_to_the_limit_and_refused_beyond(kind: str) -> None:
    begin, middle, end = NESTED[kind]
    for depth in (LEVELS - 8, LEVELS, LEVELS + 30, 5_000):
        text = begin * depth + middle + end * depth
        if depth < LEVELS - 4:
            assert len(_sum(text)) == 3
        else:
            with pytest.raises(wr.SpecError, match=f"{LEVELS} levels"):
                _sum(text)


@pytest.mark.parametrize("text", ["x" + "::int" * 4_000, "not " * 4_000 + "b", "- " * 4_000 + "x", "x" + ".x" * 4_000])
def test_prefixes_and_suffixes_are_refused_beyond_the_limit(text: str) -> None:
    with pytest.raises(wr.SpecError, match=f"{LEVELS} levels"):
        _sum(text)


def test_long_chains_of_and_or_and_concatenation_are_answered() -> None:
    n = 1_000
    every = " and ".join(f"x > {-i}" for i in range(n))
    assert wr.sql(f"select x from t where {every}", t=TABLE)["x"].to_pylist() == [1, 2, 3]
    some = " or ".join(f"x = {i}" for i in range(3, n))
    assert wr.select(TABLE, f"count(*) filter (where {some}) over () y")["y"].to_pylist() == [1, 1, 1]
    text = wr.select(TABLE, f"max(s || '{'x'}'{' || s' * n}) over () as y")["y"].to_pylist()
    assert text == ["bx" + "b" * n] * 3
    windows = " and ".join(["sum(x) over () > 0"] * 100)
    assert wr.select(TABLE, f"{windows} as y")["y"].to_pylist() == [True] * 3


def test_a_balanced_chain_answers_as_python_does() -> None:
    draw = random.Random(7)
    checked = 0
    for _ in range(12):
        terms = [draw.choice(["b", "not b", "x > 1", "x < 3", "s = 'a'", "true", "false"]) for _ in range(40)]
        operators = [draw.choice(["and", "or"]) for _ in terms]
        run = draw.randrange(18, 39)
        operators[:run] = ["or"] * run
        chain = terms[0] + "".join(f" {o} {t}" for o, t in zip(operators, terms[1:], strict=False))
        # OR binds less than AND: parentheses around each AND group say the same
        groups = " or ".join("(" + g + ")" for g in chain.split(" or "))
        one = wr.select(TABLE, f"max(case when {chain} then 1 else 0 end) over (partition by id) as y")
        for row, (x, b, s) in enumerate([(1, True, "a"), (2, False, "b"), (3, None, None)]):
            values = {"b": b, "not b": None if b is None else not b, "x > 1": x > 1, "x < 3": x < 3,
                      "s = 'a'": None if s is None else s == "a", "true": True, "false": False}  # fmt: skip
            truths = [[values[t] for t in g.split(" and ")] for g in chain.split(" or ")]
            assert one["y"][row].as_py() == any(all(v is True for v in g) for g in truths), groups
            checked += 1
    assert checked == 36


def test_long_chains_of_other_operators_say_the_limit() -> None:
    assert _sum("x" + " + x" * (OPERATORS - 100)) == [606] * 3
    for text in (
        "x" + " + x" * 5_000,
        "sum(x) over ()" + " + x" * 3_000,
        "case" + " when x = 1 then 2" * 2_000 + " end",
    ):
        with pytest.raises(wr.SpecError, match=f"at most {OPERATORS} operators"):
            wr.select(TABLE, f"max({text}) over () as y" if "over" not in text else text)
    with pytest.raises(wr.SpecError, match=f"at most {OPERATORS} operators"):
        wr.with_columns(TABLE, y=wr.sum(wr.expr("x" + " + 1" * 5_000)).over())
    listed = "x in (" + ", ".join(f"x + {i}" for i in range(1, 600)) + ", 2D, -3L, null)"
    assert wr.select(TABLE, f"max(if({listed}, x, 0)) over () as y")["y"].to_pylist() == [2] * 3


def test_what_would_grow_without_bound_when_rewritten_is_refused() -> None:
    with pytest.raises(wr.UnsupportedError, match="operations"):
        _sum("(" * 20 + "x" + ") % 7" * 20)
    assert _sum("round(" * 20 + "x + 0.25D" + ")" * 20) == [6.0] * 3


def test_polars_expressions_say_their_limits() -> None:
    chain = pl.col("x")
    for _ in range(2_000):
        chain = chain + 1
    doubled = pl.col("x")
    for _ in range(40):
        doubled = doubled * doubled
    good = pl.col("x")
    for _ in range(60):
        good = good + 1
    for frame in (TABLE, pl.from_arrow(TABLE)):
        with pytest.raises(wr.SpecError, match=f"at most {OPERATORS} operations"):
            wr.with_columns(frame, y=wr.sum(chain).over())
        with pytest.raises(wr.SpecError, match=r"100,000 operations"):
            wr.with_columns(frame, y=wr.sum(doubled).over())
        assert next(iter(wr.with_columns(frame, y=wr.sum(good).over())["y"])) in (186, pa.scalar(186))


@pytest.mark.slow
def test_the_limits_hold_in_a_thread_with_a_small_stack() -> None:
    code = f"""
import threading
import polars as pl, pyarrow as pa, windrow as wr
table = pa.table({{"x": [1], "b": [True]}})
def ask():
    e = pl.col("x")
    for i in range({OPERATORS - 1}):
        e = e.abs()
    wr.with_columns(table, y=wr.sum(e).over())
    wr.select(table, "sum(x" + " + x" * {OPERATORS - 1} + ") over () y")
    wr.select(table, "sum(" + "abs(" * 24 + "x" + ")" * 24 + ") over () y")
    wr.sql("select x from t where b" + " and b" * 3000, t=table)
    print("answered")
threading.stack_size(512 * 1024)
thread = threading.Thread(target=ask)
thread.start()
thread.join()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "answered\n"), done.stderr


def test_types_nested_too_deep_are_refused() -> None:
    deep = "array<" * 40 + "int" + ">" * 40
    with pytest.raises(wr.SpecError, match=f"{LEVELS} levels"):
        arrow_type(deep, "f")
    with pytest.raises(wr.SpecError):
        arrow_type("struct<" * 5_000, "f")
    with pytest.raises(wr.SpecError):
        wr.select(TABLE, f"max(cast(x as {deep})) over () y")
    with pytest.raises(wr.SpecError, match="no type"):
        arrow_type("decimal(5, 9)", "f")


def test_a_deep_caller_gets_our_error_as_well() -> None:
    def down(levels: int) -> list[object]:
        return down(levels - 1) if levels else _sum("(" * 28 + "x" + ")" * 28)

    with pytest.raises((wr.SpecError, RecursionError)) as caught:
        down(600)
    assert isinstance(caught.value, wr.SpecError)


HOLES = (
    "sum(x) over (partition by b, order by x)", "sum(x) over (partition by b,)", "sum(x) over (order by x,)",
    "sum(x,) over ()", "sum(x) over (partition by)", "sum(x) over (partition by order by x)",
    "sum(x) over (order by x asc desc)", "sum(x) over (order by id rows between 1 preceding)",
    "sum(x) over (order by id rows between 1 preceding and)", "sum(x) filter (x > 1) over ()",
    "sum(x) over (order by id rows)", "sum(x) over (order by id rows 1)", "sum(x) over (order by id range)",
    "sum(x) over (order by id rows between unbounded and current row)", "sum(x) over (order by id rows between)",
    "sum(x) over (order by id groups between current row)", "sum(coalesce(x,)) over ()",
    "sum(x) over (rows between between 1 preceding and 1 following)",
)  # fmt: skip


@pytest.mark.parametrize("text", HOLES)
def test_holes_in_the_grammar_are_refused(text: str) -> None:
    with pytest.raises(wr.SpecError):
        wr.select(TABLE, text)


def test_lists_with_a_trailing_comma_are_refused_in_queries() -> None:
    with pytest.raises(wr.SpecError, match="comma"):
        wr.sql("select x, from t", t=TABLE)
    answered = wr.sql("select x, sum(x) over (order by id rows between 1 preceding and current row) y from t", t=TABLE)
    assert answered["y"].to_pylist() == [1, 3, 5]
