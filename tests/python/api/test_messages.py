"""A mistake's message leads to what works: what it offers is tried here."""

import random
import traceback

import pyarrow as pa
import pytest

import windrow as wr
from support.random_calls import SEED
from windrow._model.catalog import function_of
from windrow._model.synonyms import SPELLINGS, near_names, spelling

TABLE = pa.table({"id": [1, 2, 3], "level": [1, 2, 3], "my col": [1, 2, 3], "k": ["a", "a", "b"]})


def message_of(action):
    with pytest.raises(wr.WindrowError) as caught:
        action()
    return str(caught.value)


# ---- names that the package does not have


def near_misses(name, rng):
    """Give a name with a letter dropped, doubled, put in the place of its neighbour, or another one's."""
    at = rng.randrange(len(name))
    yield name[:at] + name[at + 1 :]
    yield name[:at] + name[at] + name[at:]
    yield name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :] if at else name[1] + name[0] + name[2:]
    yield name.replace("_", "")
    first, *rest = name.split("_")
    yield first + "".join(map(str.capitalize, rest))


def plain(name):
    return name.replace("_", "").lower()


def test_near_misses_of_every_public_name_offer_it():
    rng = random.Random(SEED)
    known = set(map(plain, wr.__all__))
    attributes = functions = 0
    for name in wr.__all__:
        for miss in near_misses(name, rng):
            if len(miss) < 3 or hasattr(wr, miss) or spelling(miss) is not None:
                continue
            if plain(miss) in known and plain(miss) != plain(name):
                continue  # another name in other letters
            with pytest.raises(AttributeError) as caught:
                getattr(wr, miss)
            # Window or window, where the capital is what was lost
            assert any(f"'{n}'" in str(caught.value) for n in (name, name.lower())), (miss, str(caught.value))
            attributes += 1
            # SQL's names are the same in capitals
            if function_of(name) is not None and function_of(miss.lower()) is None:
                said = message_of(lambda miss=miss: wr.with_columns(TABLE, f"{miss}(level) OVER ()"))
                assert f'"{name}"' in said, (miss, said)
                functions += 1
    assert attributes > 350
    assert functions > 200


@pytest.mark.parametrize(("python", "sql", "names"), SPELLINGS, ids=lambda value: value.split(" ")[0])
def test_what_is_offered_for_other_libraries_names_works(python, sql, names):
    class Aggregate:
        def initialize(self):
            return 0

        def update(self, state, x):
            return x

    def function(x, *frames):
        return x

    names_known = {"wr": wr, "frame": pa.table({"x": [1], "k": [1]}), "Aggregate": Aggregate, "function": function}
    if "vectorized" in python:
        names_known["function"] = lambda x, begin, end: x
    made = eval(python, names_known)
    if sql:
        assert made.sql == sql
        table = pa.table({"x": [3.0, 1.0, 2.0], "y": [1, 2, 3], "t": [1, 2, 3], "flag": [True, False, None]})
        if "bool_and" in sql:
            table = table.set_column(0, "x", pa.array([True, None, False]))
        if isinstance(made, wr.Call) and made.window is None:
            made = made.over(wr.window(order_by="t"))
        assert wr.select(table, y=made)["y"].type != pa.null()
    for name in names.split():
        assert not hasattr(wr, name)
        with pytest.raises(AttributeError) as caught:
            getattr(wr, name)
        assert str(caught.value) == f"module 'windrow' has no attribute {name!r}; write {python}"
        if sql and name not in ("unique", "join"):  # which are words of SQL
            said = message_of(lambda name=name: wr.with_columns(TABLE, f"{name}(level) OVER (ORDER BY id)"))
            assert f"; write {sql}, in Python {python}" in said


def test_other_libraries_names_are_listed_once():
    every = [name for _, _, names in SPELLINGS for name in names.split()]
    assert len(every) == len(set(every)) > 90


MOVING = ["mean", "sum", "min", "max", "std", "var", "median", "quantile", "skew", "kurtosis", "corr", "cov", "count"]


@pytest.mark.parametrize("name", MOVING)
def test_moving_and_growing_functions(name):
    table = pa.table({"x": [3.0, 1.0, 2.0, 5.0], "y": [1, 2, 3, 5], "t": [1, 2, 3, 4]})
    frames = {
        f"rolling_{name}": "ROWS BETWEEN 6 PRECEDING",
        f"rolling_{name}_by": "RANGE BETWEEN 6 PRECEDING",
        f"cum_{name}": "ROWS BETWEEN UNBOUNDED PRECEDING",
        f"cum{name}": "ROWS BETWEEN UNBOUNDED PRECEDING",
    }
    for unknown, frame in frames.items():
        python, sql = spelling(unknown)
        made = eval(python, {"wr": wr})
        assert made.sql == sql
        assert f"{frame} AND CURRENT ROW" in sql
        assert wr.select(table, a=made)["a"].equals(wr.select(table, a=sql)["a"])
    assert spelling(f"rolling_{name}_of") is None


def test_what_nobody_knows_leads_to_the_list():
    with pytest.raises(AttributeError, match=r"'qqqq'; dir\(windrow\) lists what it has"):
        wr.qqqq  # noqa: B018
    said = message_of(lambda: wr.with_columns(TABLE, "qqqq(level) OVER ()"))
    assert said.endswith('there is no window function "qqqq"; windrow.functions.__all__ lists those there are')
    assert near_names("", ["sum"]) == []
    assert not hasattr(wr, "__wrapped__")
    with pytest.raises(AttributeError, match=r"no attribute '_rank'$"):
        wr._rank  # noqa: B018


def test_python_adds_no_suggestion_of_its_own():
    try:
        wr.summ  # noqa: B018
    except AttributeError as error:
        last = traceback.format_exception(error)[-1]
    assert last.strip().endswith("has no attribute 'summ'; did you mean 'sum' or 'try_sum'?")
