"""Settings: wr.config and the WINDROW_* variables."""

import asyncio
import random
import sys
import threading
from contextlib import nullcontext

import pyarrow as pa
import pytest

import windrow as wr
from windrow import settings as settings_module
from windrow._windrow import cores
from windrow.settings import current

pytestmark = pytest.mark.engine


def test_settings_are_restored():
    with wr.config(threads=3, ansi=False, timezone="Europe/Berlin", strategy="naive"):
        expected = {"ansi": False, "timezone": "Europe/Berlin", "strategy": "naive", "list_views": False}
        assert current().native() == {"threads": min(3, cores()), **expected}
        with wr.config(strategy=None):
            assert current().strategy is None
        assert current().strategy == "naive"
    expected = {"threads": 0, "ansi": True, "timezone": "UTC", "strategy": None, "list_views": False}
    assert current().native() == expected


def test_settings_are_restored_after_an_error():
    with pytest.raises(RuntimeError), wr.config(threads=1):
        raise RuntimeError
    assert current().threads is None


@pytest.mark.parametrize(("given", "size"), [("4GB", 4 * 2**30), ("512 MiB", 2**29), ("1.5k", 1536), (1000, 1000)])
def test_memory_limit(given, size):
    with wr.config(memory_limit=given):
        assert current().memory_limit == size


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ({"thread": 1}, "did you mean 'threads'"),
        ({"threads": -1}, "threads=-1"),
        ({"threads": True}, "threads=True"),
        ({"memory_limit": "lots"}, "'4GB'"),
        ({"spill_dir": "/no/such/directory"}, "exists"),
        ({"ansi": "maybe"}, "ansi='maybe' is neither true nor false"),
        ({"progress": 2}, "progress=2 is neither true nor false"),
        ({"timezone": "Europe/Berln"}, "did you mean 'Europe/Berlin'"),
        ({"strategy": "fast"}, "'segment_tree'"),
    ],
)
def test_refused(setting, says):
    with pytest.raises(wr.SpecError, match=says):
        wr.config(**setting)


def test_threads_are_bounded_by_cores_unless_the_environment_asks_for_more(monkeypatch):
    monkeypatch.delenv("WINDROW_THREADS", raising=False)
    with wr.config(threads=4096):
        assert current().native()["threads"] == cores()
        monkeypatch.setenv("WINDROW_THREADS", str(cores() + 7))
        assert current().native()["threads"] == cores() + 7
        monkeypatch.setenv("WINDROW_THREADS", "1")
        assert current().native()["threads"] == cores()
    with wr.config(threads=1):
        assert current().native()["threads"] == 1
    monkeypatch.setenv("WINDROW_THREADS", str(cores() + 7))
    assert current().native()["threads"] == cores() + 7


def test_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("WINDROW_THREADS", "2")
    monkeypatch.setenv("WINDROW_ANSI", "off")
    monkeypatch.setenv("WINDROW_PROGRESS", "1")
    monkeypatch.setenv("WINDROW_SPILL_DIR", str(tmp_path))
    monkeypatch.setenv("WINDROW_SOMETHING_OF_A_TEST_SUITE", "1")
    assert (current().threads, current().ansi, current().spill_dir) == (2, False, str(tmp_path))
    assert current().progress is True
    with wr.config(threads=5):
        assert current().threads == 5
    monkeypatch.setenv("WINDROW_STRATEGY", "quick")
    with pytest.raises(wr.SpecError, match="environment variable WINDROW_STRATEGY"):
        current()


def test_shows_itself():
    with wr.config(threads=2) as settings:
        assert repr(settings) == "wr.config(threads=2)"  # what nobody has set is not shown


@pytest.fixture
def often_switched():
    """Have threads take turns after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def seen(rng, mine, depth, pause):
    """Enter blocks within blocks, and yield what is in force and what should be."""
    threads = rng.choice([mine, None])
    with wr.config(threads=threads, ansi=rng.choice([None, False])) as settings:
        yield pause
        yield current().threads, threads
        if depth:
            yield from seen(rng, mine, depth - 1, pause)
        if rng.random() < 0.3:
            wr.config(threads=mine + 100)  # until the block's end
            threads = mine + 100
        yield pause
        yield current().threads, threads
        del settings


def compared(steps, pause):
    return [step for step in steps if step is not pause]


@pytest.mark.usefixtures("often_switched")
def test_threads_see_their_own_blocks():
    found, start, finished = [], threading.Barrier(4), []

    def work(mine):
        rng = random.Random(mine)
        start.wait()
        for _ in range(60):
            found.extend(compared(seen(rng, mine, rng.randrange(3), None), None))
        finished.append(mine)

    workers = [threading.Thread(target=work, args=(mine,)) for mine in range(1, 5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) > 480
    assert [pair for pair in found if pair[0] != pair[1]] == []
    assert sorted(finished) == [1, 2, 3, 4]
    assert current().threads is None  # nothing of a block stays with the process, whoever entered first
    assert in_a_thread(lambda: current().threads) is None


def test_tasks_see_their_own_blocks():
    async def work(mine):
        rng, found = random.Random(mine), []
        for _ in range(30):
            for step in seen(rng, mine, rng.randrange(3), None):
                if step is None:
                    await asyncio.sleep(0)
                else:
                    found.append(step)
            assert current().threads is None
        return found

    async def all_of_them():
        return await asyncio.gather(*map(work, range(1, 6)))

    found = [pair for pairs in asyncio.run(all_of_them()) for pair in pairs]
    assert len(found) > 300
    assert [pair for pair in found if pair[0] != pair[1]] == []
    assert current().threads is None


def in_a_thread(function):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(function()))
    thread.start()
    thread.join()
    return answers[0]


def test_without_a_block_all_threads_see_it():
    try:
        wr.config(threads=3)
        assert in_a_thread(lambda: current().threads) == 3
        kept = wr.config(threads=4)
        assert current().threads == 4
        assert in_a_thread(lambda: current().threads) == 4
        with kept:
            assert (current().threads, in_a_thread(lambda: current().threads)) == (4, 3)
        assert current().threads == 3
        in_a_thread(lambda: wr.config(threads=5))
        assert current().threads == 5
    finally:
        wr.config(threads=None)
    assert current().threads is None


@pytest.mark.parametrize("seed", range(3))
def test_a_kept_setting_is_seen_at_once(seed):
    """However it is written, the other thread sees what was set last, though the one that set it never looks."""
    rng, kept, seen = random.Random(seed), [], []

    def made(number):
        return wr.config(threads=number)

    def named(number):
        config = wr.config(threads=number)
        kept.append(config)

    def dropped(number):
        wr.config(threads=number)

    try:
        for number in range(1, 60):
            way = rng.choice(["list", "function", "name", "dropped", "keywords"])
            if way == "list":
                kept.append(wr.config(threads=number))
            elif way == "function":
                kept.append(made(number))
            elif way == "keywords":
                config = wr.config(threads=number)
            else:
                (named if way == "name" else dropped)(number)
            seen.append((number, in_a_thread(lambda: current().threads), way))
            if rng.random() < 0.3:
                kept.clear()
        assert config is not None
    finally:
        wr.config(threads=None)
    assert [s for s in seen if s[0] != s[1]] == []
    assert len(seen) == 59


def test_a_setting_is_seen_while_the_thread_that_made_it_waits():
    """Nothing is guessed from where that thread stands: here in a function of C's, right behind."""

    def main(wait):
        wr.config(ansi=False)
        wait()

    lock = threading.Lock()
    lock.acquire()
    waiting = threading.Thread(target=main, args=(lock.acquire,))
    try:
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
        assert current().ansi is False
    finally:
        lock.release()
        waiting.join()
        wr.config(ansi=None)


@pytest.mark.parametrize("seed", range(20))
def test_settings_are_those_of_a_simple_model(seed):
    """Configs that are kept, dropped, entered again and left in any order; the process has what was never entered."""
    rng = random.Random(seed)
    outside, blocks, kept, looked = [], [], [], 0

    def expected(layers):
        found = {"threads": None, "ansi": None}
        for settings in layers:
            found |= settings
        return found

    def in_force():
        return {"threads": current().threads, "ansi": current().ansi}

    try:
        for _ in range(60):
            way = rng.choice(["set", "set", "set", "enter", "enter", "exit", "drop"])
            inner = blocks[-1][2] if blocks else outside
            if way == "set":
                settings = {rng.choice(["threads", "ansi"]): None}
                settings |= {n: rng.choice([1, 2, 3]) if n == "threads" else rng.random() < 0.5 for n in settings}
                made = wr.config(**settings)
                inner.append(settings)
                if rng.random() < 0.5:
                    kept.append((made, settings, inner))
            elif way == "enter" and kept:
                made, settings, where = rng.choice(kept)
                where[:] = [s for s in where if s is not settings]
                made.__enter__()
                blocks.append((made, settings, []))
            elif way == "exit" and blocks:
                blocks.pop()[0].__exit__(None, None, None)
            elif way == "drop" and kept:
                kept.pop(rng.randrange(len(kept)))
            of_blocks = [layer for _, settings, within in blocks for layer in (settings, *within)]
            assert in_force() == expected([*outside, *of_blocks])
            assert in_a_thread(in_force) == expected(outside)
            looked += 1
    finally:
        while blocks:
            blocks.pop()[0].__exit__(None, None, None)
        wr.config(threads=None, ansi=None)
    assert looked == 60


@pytest.mark.parametrize("within", [False, True])
def test_what_is_set_and_dropped_does_not_add_up(within):
    """Even while an early Config is held, as a notebook's ``Out[1]`` does."""
    try:
        with wr.config() if within else nullcontext():
            early = wr.config(threads=3)
            for number in range(300):
                wr.config(threads=number % 4)
            assert current().threads == 3
            layers = settings_module._layers.get() if within else settings_module._outside
            assert 0 < len(layers) <= 5
            del early
    finally:
        wr.config(threads=None)


def test_a_block_is_entered_again_and_by_several():
    settings = wr.config(threads=2)
    with settings:
        with settings:
            assert current().threads == 2

            def other():
                with settings:
                    return current().threads

            assert in_a_thread(other) == 2
            assert current().threads == 2
        assert current().threads == 2
    assert current().threads is None


def test_what_is_made_in_a_block_keeps_its_settings():
    """Readers, an operator and lazy frames, read in other threads and after the block."""
    pl = pytest.importorskip("polars")
    table = pa.table({"x": [2**63 - 1, 1]})
    call = "sum(x) OVER ()"
    query = "SELECT sum(x) OVER () AS s FROM t WHERE x + 0 > 0 QUALIFY sum(x) OVER () < 0 ORDER BY x + x"
    with wr.config(ansi=False):
        operator = wr.operator({"s": call}, table.schema, sort=True)
        reader = wr.with_columns(table.to_reader(), s=call, sort=True)
        lazy = wr.with_columns(pl.from_arrow(table).lazy(), s=call)
        asked = wr.sql(query, t=table.to_reader())
        asked_lazily = wr.sql(query, t=pl.from_arrow(table).lazy())
    ways = [
        lambda: pa.Table.from_batches(operator(table.to_batches()))["s"].to_pylist(),
        lambda: reader.read_all()["s"].to_pylist(),
        lambda: lazy.collect()["s"].to_list(),
        lambda: lazy.collect(engine="streaming")["s"].to_list(),
        lambda: asked.read_all()["s"].to_pylist(),
        lambda: asked_lazily.collect()["s"].to_list(),
    ]
    assert [in_a_thread(way) for way in ways] == [[-(2**63)] * 2] * 6
    with pytest.raises(wr.ArithmeticOverflowError):
        wr.with_columns(table, s=call)
