"""Every example in the docstrings runs and prints what it says; every public name has a docstring."""

import doctest
import importlib
import pkgutil

import pytest

import windrow as wr

pytestmark = pytest.mark.engine

MODULES = [
    m.name
    for m in pkgutil.walk_packages(wr.__path__, "windrow.")
    # .spark's examples need a session; what they would show is in spark/test_dataframe.py
    if not m.name.startswith(("windrow._windrow", "windrow.spark", "windrow.hosts.spark"))
]


@pytest.mark.parametrize("name", ["windrow", *MODULES])
def test_examples(name):
    pytest.importorskip("polars")
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_every_public_name_is_described():
    assert sorted(wr.__all__) == sorted(set(wr.__all__))
    for name in wr.__all__:
        assert getattr(wr, name).__doc__, name


def test_every_function_says_what_it_takes_and_shows_it():
    from windrow import functions
    from windrow._windrow import functions as registry

    aliases = {name for function in registry() for name in function["aliases"]}
    for name in functions.__all__:
        text = getattr(functions, name).__doc__
        assert "Returns\n" in text, name
        if name not in aliases:
            assert "Examples\n" in text, name
            assert "Notes\n" in text, name  # what it costs


def test_every_function_of_the_core_has_a_builder_of_its_name():
    from windrow import functions
    from windrow._windrow import functions as registry

    known = {n for f in registry() for n in [f["name"], *f["aliases"]]}
    shorthands = {"count_distinct", "sum_distinct"}  # PySpark's names for what .distinct() says
    formulas = {name for name in functions.__all__ if getattr(wr, name).__module__ == "windrow.functions.derived"}
    assert set(functions.__all__) == known | shorthands | formulas
    assert 5 <= len(formulas) < 20
    for function in registry():
        required = [a["role"] for a in function["arguments"] if a["required"]]
        for name in [function["name"], *function["aliases"]]:
            made = getattr(functions, name)(*["1h" if role == "distance" else "x" for role in required])
            assert made.function == name
