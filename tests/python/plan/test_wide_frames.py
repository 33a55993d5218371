"""The names of wide frames: found as they are defined, at a cost that grows with their number alone."""

import itertools
import random
import time

import pyarrow as pa
import pytest

import windrow as wr
from windrow._model.names import Names
from windrow._parse.items import read_items
from windrow._plan.bind import plan_steps


def test_names_are_found_as_defined():
    rng, found = random.Random(1), 0
    for _ in range(300):
        columns = ["".join(rng.choices("aAbBß", k=rng.randrange(1, 3))) for _ in range(rng.randrange(8))]
        case_insensitive = rng.random() < 0.5
        names = Names(columns, case_insensitive=case_insensitive)
        for _ in range(5):
            name = "".join(rng.choices("aAbBß", k=rng.randrange(1, 3)))
            exact = [i for i, c in enumerate(columns) if c == name]
            expected = exact or [i for i, c in enumerate(columns) if case_insensitive and c.lower() == name.lower()]
            assert names.named(name) == expected, (name, columns, case_insensitive)
            assert names.has(name) == bool(exact)
            found += bool(expected)
    assert found > 200


def calls(columns):
    return [wr.sum(c).over(wr.window()).alias(f"s{c}") for c in columns]


WAYS = {
    "calls": lambda t, c: wr.with_columns(t, calls(c)),
    "names": lambda t, c: wr.select(t, [*c, wr.count().over(wr.window())]),
    "expressions": lambda _, c: plan_steps(
        read_items([wr.max(wr.expr(f"{n} + 1")).over(wr.window()) for n in c], {}, c), c
    ),
    "query": lambda t, c: wr.sql(f"SELECT {', '.join(c)}, count(*) OVER () AS n FROM t", t=t),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_the_cost_grows_with_the_columns(way):
    runs = itertools.count()

    def cost(width):
        run = next(runs)  # names of their own: parsed expressions are kept
        columns = [f"c{run}_{i}" for i in range(width)]
        table = pa.table({c: pa.nulls(1, pa.int64()) for c in columns})
        begin = time.process_time()
        WAYS[way](table, columns)
        return time.process_time() - begin

    cost(50)
    few, many = (min(cost(width) for _ in range(2)) for width in (300, 2400))
    assert many < 24 * few + 0.1, (few, many)
