"""Plans are kept for the next frame, and only where they are that frame's."""

import gc
import threading
import weakref

import pyarrow as pa
import pytest

import windrow as wr
from windrow._execute import native
from windrow._model.bounded_cache import BoundedCache
from windrow.hosts import planning

TABLE = pa.table({"k": [1, 2, 1], "t": [3, 2, 1], "x": [5, None, 7]})
W = wr.window("k", "t")


@pytest.fixture
def made(monkeypatch):
    """Count the plans that are made, from empty caches."""
    counts = {"steps": 0, "native": 0}
    for module, cache in ((planning, "_PLANS"), (native, "_PLANS")):
        monkeypatch.setattr(module, cache, BoundedCache(8))

    def counting(name, function):
        def called(*args, **named):
            counts[name] += 1
            return function(*args, **named)

        return called

    monkeypatch.setattr(planning, "plan_steps", counting("steps", planning.plan_steps))
    monkeypatch.setattr(native, "make_plan", counting("native", native.make_plan))
    return counts


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: wr.with_columns(t, wr.sum("x").over(W).alias("s")),
        lambda t: wr.with_columns(t, {"s": "sum(x) OVER (PARTITION BY k ORDER BY t)"}),
        lambda t: wr.select(t, ["k"], [wr.expr("x - lag(x) OVER (ORDER BY t)").alias("d")]),
        lambda t: wr.with_columns(t, s=wr.lag("x", 1, 0).over(W)),
    ],
)
def test_equal_items_over_equal_columns_share_a_plan(made, ask):
    results = [ask(TABLE).to_pydict() for _ in range(3)]
    assert results[0] == results[1] == results[2]
    assert made == {"steps": 1, "native": 1}
    other = ask(TABLE.set_column(2, "x", pa.array([5.5, None, 7.5])))
    assert made == {"steps": 1, "native": 2}
    assert other.num_rows == 3
    ask(TABLE.append_column("y", [[1, 2, 3]]))
    assert made["steps"] == 2


def test_what_is_equal_in_python_alone_has_plans_of_its_own(made):
    shifts = [wr.lag("x", n).over(W).alias("p") for n in (1, 2)]
    assert [wr.select(TABLE, c)["p"].to_pylist() for c in shifts] == [[7, None, None], [None] * 3]
    for value, kind in ((1, pa.int32()), (True, pa.bool_()), (1.0, pa.float64())):
        assert wr.select(TABLE, a=wr.max(wr.lit(value)).over())["a"].type == kind
    assert made["steps"] == 5
    names = [wr.select(TABLE, wr.sum("x").over().alias(n)).column_names for n in ("a", "b")]
    assert names == [["a"], ["b"]]


def test_settings_are_part_of_a_native_plan(made):
    table = pa.table({"x": [2**62, 2**62]})
    call = wr.sum("x").over().alias("s")
    with pytest.raises(wr.ArithmeticOverflowError):
        wr.with_columns(table, call)
    with wr.config(ansi=False):
        assert wr.with_columns(table, call)["s"].to_pylist() == [-(2**63)] * 2
    with pytest.raises(wr.ArithmeticOverflowError):
        wr.with_columns(table, call)
    assert made == {"steps": 1, "native": 2}


def test_mistakes_are_found_each_time(made):
    for _ in range(2):
        with pytest.raises(wr.SpecError, match="'nothing'"):
            wr.with_columns(TABLE, wr.sum("nothing").over())
        with pytest.raises(wr.SpecError, match="x"):
            wr.with_columns(TABLE.set_column(2, "x", pa.array([[1], [2], None])), wr.corr("x", "t").over())
    assert made["steps"] == 3


def test_functions_of_the_user_are_not_kept_alive(made):
    class Kept:
        def __call__(self, part):
            return part

    function = Kept()
    alive = weakref.ref(function)
    call = wr.partition_function(function, "x", returns=pa.int64(), name="kept").over(W).alias("s")
    assert wr.with_columns(TABLE, call)["s"].to_pylist() == [5, None, 7]
    del function, call
    gc.collect()
    assert alive() is None


def test_the_cache_is_bounded():
    cache = BoundedCache(3)
    for i in range(5):
        cache.put(i, str(i))
        assert cache.get(2) == ("2" if i >= 2 else None)
    assert [cache.get(i) for i in range(5)] == [None, None, "2", "3", "4"]


def test_threads_share_the_caches():
    failures = []

    def work(number):
        try:
            for i in range(60):
                name = f"s{(number + i) % 7}"
                out = wr.with_columns(TABLE, wr.sum("x").over(W).alias(name))
                assert out[name].to_pylist() == [12, None, 7]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
