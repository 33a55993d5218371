"""Aggregates of the user's: every strategy against folding each frame by hand, and the ways to write one wrongly."""

import collections
import itertools
import random
import threading
import time

import pyarrow as pa
import pytest

import windrow as wr

# Each collects its frame's values in order, so that a row lost, doubled, leaked or out of place shows.


class Update:
    """Nothing but what there must be; changes its state in place."""

    def initialize(self):
        return []

    def update(self, state, x):
        state.append(x)
        return state

    def evaluate(self, state):
        return ",".join(map(str, state))


class Merging(Update):
    def merge(self, left, right):
        left.extend(right)
        right.clear()  # what a method is given is its own
        return left


class Retracting(Update):
    def retract(self, state, x):
        assert state.pop(0) == x
        return state


class Both(Merging, Retracting):
    pass


class Adopting(Update):
    """Keeps parts of what it is given, and gives parts of it back."""

    def initialize(self):
        return {"runs": []}

    def update(self, state, x):
        if state["runs"]:
            state["runs"][-1].append(x)
        else:
            state["runs"].append([x])
        return state

    def merge(self, left, right):
        if not left["runs"]:
            return right
        left["runs"] += right["runs"]
        return left

    def evaluate(self, state):
        return ",".join(str(x) for run in state["runs"] for x in run)


class Tuples(Update):
    def initialize(self):
        return ()

    def update(self, state, x):
        return (*state, x)

    def merge(self, left, right):
        return left + right


class Held:
    def __init__(self):
        self.values = []


class Objects(Update):
    """A state of a class of one's own."""

    def initialize(self):
        return Held()

    def update(self, state, x):
        state.values.append(x)
        return state

    def merge(self, left, right):
        left.values += right.values
        return left

    def evaluate(self, state):
        return ",".join(map(str, state.values))


class Shared(Merging):
    """Gives one and the same object for every state."""

    STATE: list = []  # noqa: RUF012 - the mistake that is meant

    def initialize(self):
        return self.STATE


KINDS = [Update, Merging, Retracting, Both, Adopting, Tuples, Objects, Shared]
# rows before, rows after; None: all of them
FRAMES = [(None, 0), (None, None), (0, None), (3, 0), (2, 2), (7, -2), (-1, 3), (None, 2), (1, None), (0, 0), (9, 5)]
EXCLUDES = [None, "current row", "group", "ties"]


def table(rows, seed=0, partitions=4):
    draw = random.Random(seed)
    return pa.table(
        {
            "k": [draw.randrange(partitions) for _ in range(rows)],
            "t": [draw.randrange(rows // 3 + 1) for _ in range(rows)],
            "x": pa.array([draw.choice([None, *range(10)]) for _ in range(rows)], pa.int64()),
            "good": pa.array([draw.choice([True, True, False, None]) for _ in range(rows)]),
            "y": [draw.randrange(5) for _ in range(rows)],
        }
    )


def expected(data, before, after, exclude=None, where=None, order=None):
    """Fold each frame by hand."""
    rows = data.to_pylist()
    result = [None] * len(rows)
    for _, members in itertools.groupby(sorted(range(len(rows)), key=lambda i: rows[i]["k"]), lambda i: rows[i]["k"]):
        part = sorted(members, key=lambda i: rows[i]["t"])
        for at, row in enumerate(part):
            first = 0 if before is None else max(0, at - before)
            last = len(part) if after is None else at + after + 1
            frame = part[first : max(first, last)]
            if exclude == "current row":
                frame = [i for i in frame if i != row]
            if exclude == "group":
                frame = [i for i in frame if rows[i]["t"] != rows[row]["t"]]
            if exclude == "ties":
                frame = [i for i in frame if i == row or rows[i]["t"] != rows[row]["t"]]
            if where is not None:
                frame = [i for i in frame if rows[i][where]]
            if order is not None:
                places = {i: place for place, i in enumerate(part)}
                frame = sorted(frame, key=lambda i: (rows[i][order], places[i]))
            result[row] = ",".join(str(rows[i]["x"]) for i in frame)
    return result


def window(before, after, exclude=None):
    bounds = (None if before is None else -before, after)
    return wr.window("k", "t", rows=bounds, exclude=exclude)


def answer(data, kind, before, after, exclude=None, strategy=None, where=None):
    call = wr.aggregate(kind, "x", returns=str)
    if where is not None:
        call = call.filter(where)
    with wr.config(strategy=strategy):
        return wr.with_columns(data, s=call.over(window(before, after, exclude)))["s"].to_pylist()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("exclude", EXCLUDES, ids=str)
def test_frames(kind, exclude):
    data = table(150)
    for before, after in FRAMES:
        assert answer(data, kind, before, after, exclude) == expected(data, before, after, exclude)
    assert Shared.STATE == []


ABLE = {
    Update: ["refold", "naive"],
    Retracting: ["prefix", "refold", "naive"],
    Merging: ["whole", "scan", "two_stacks", "segment_tree", "refold", "naive"],
    Both: ["whole", "scan", "prefix", "two_stacks", "segment_tree", "refold", "naive"],
    Adopting: ["scan", "two_stacks", "segment_tree", "refold"],
    Objects: ["scan", "two_stacks", "segment_tree", "refold"],
}


@pytest.mark.parametrize(("kind", "strategy"), [(k, s) for k, able in ABLE.items() for s in able])
def test_strategies(kind, strategy):
    data = table(100, seed=1)
    for before, after in FRAMES:
        for exclude in (None, "current row"):
            if (kind, strategy) == (Retracting, "prefix") and exclude is not None:
                with pytest.raises(wr.SpecError, match="strategy option asks for prefix, and"):
                    answer(data, kind, before, after, exclude, strategy)
                continue
            wanted = expected(data, before, after, exclude, where="good")
            assert answer(data, kind, before, after, exclude, strategy, where="good") == wanted


def test_frames_by_column():
    data = table(80, seed=2)
    data = data.append_column("back", pa.array([i % 7 for i in range(80)]))
    rows = data.to_pylist()
    wanted = [None] * 80
    for k in range(4):
        part = sorted((i for i in range(80) if rows[i]["k"] == k), key=lambda i: rows[i]["t"])
        for at, row in enumerate(part):
            frame = part[max(0, at - rows[row]["back"]) : at + 1]
            wanted[row] = ",".join(str(rows[i]["x"]) for i in frame)
    w = wr.window("k", "t", rows=(wr.preceding(wr.col("back")), 0))
    for kind in (Update, Merging, Retracting, Both):
        assert wr.with_columns(data, s=wr.aggregate(kind, "x", returns=str).over(w))["s"].to_pylist() == wanted


def test_argument_order():
    data = table(120, seed=3)
    for before, after in FRAMES:
        for kind in (Update, Both):
            call = wr.aggregate(kind, "x", returns=str).order_by("y").over(window(before, after))
            wanted = expected(data, before, after, order="y")
            assert wr.with_columns(data, s=call)["s"].to_pylist() == wanted


def test_peers_are_in_a_default_frame():
    data = pa.table({"t": [1, 1, 2], "x": [5, 6, 7]})
    call = wr.aggregate(Update, "x", returns=str).over(wr.window(order_by="t"))
    assert wr.with_columns(data, s=call)["s"].to_pylist() == ["5,6", "5,6", "5,6,7"]


def test_min_rows():
    call = wr.aggregate(Merging, "x", returns=str).over(wr.window(order_by="t", rows=(-1, 0), min_rows=2))
    data = pa.table({"t": [1, 2, 3], "x": [5, 6, 7]})
    assert wr.with_columns(data, s=call)["s"].to_pylist() == [None, "5,6", "6,7"]


def cut(data, seed):
    draw = random.Random(seed)
    at = 0
    while at < data.num_rows:
        size = draw.choice([1, 1, 2, 3, 10, 40])
        yield from data.slice(at, size).combine_chunks().to_batches()
        at += size


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_streams_cut_anywhere(kind):
    data = table(160, seed=4, partitions=3).sort_by([("k", "ascending"), ("t", "ascending")])
    for number, (before, after) in enumerate(FRAMES):
        for exclude in (None, "ties"):
            call = wr.aggregate(kind, "x", returns=str).filter("good").over(window(before, after, exclude))
            op = wr.operator(call.alias("s"), data.schema, sort=False)
            parts = list(op(cut(data, number)))
            wanted = expected(data, before, after, exclude, where="good")
            assert pa.Table.from_batches(parts)["s"].to_pylist() == wanted


def test_streams_with_an_argument_order():
    data = table(160, seed=5, partitions=3).sort_by([("k", "ascending"), ("t", "ascending")])
    for number, (before, after) in enumerate(FRAMES):
        call = wr.aggregate(Both, "x", returns=str).order_by("y").over(window(before, after))
        parts = list(wr.operator(call.alias("s"), data.schema, sort=False)(cut(data, number)))
        assert pa.Table.from_batches(parts)["s"].to_pylist() == expected(data, before, after, order="y")


def test_a_million_tiny_partitions_cost_no_million_seconds():
    rows = 200_000
    data = pa.table({"k": range(rows), "t": [0] * rows, "x": range(rows)})

    class Count:
        def initialize(self):
            return 0

        def update(self, state, x):
            return state + 1

    for w in (wr.window("k"), wr.window("k", "t"), wr.window("k", "t", rows=(-5, 5))):
        started = time.perf_counter()
        assert set(wr.with_columns(data, n=wr.aggregate(Count, "x", returns=int).over(w))["n"].to_pylist()) == {1}
        assert time.perf_counter() - started < 10


class Calls:
    """Counts calls; a sum of squares."""

    def __init__(self):
        self.calls = dict.fromkeys(["initialize", "update", "merge", "retract", "evaluate"], 0)

    def initialize(self):
        self.calls["initialize"] += 1
        return 0

    def update(self, state, x):
        self.calls["update"] += 1
        return state + x * x

    def evaluate(self, state):
        self.calls["evaluate"] += 1
        return state


class CallsMerge(Calls):
    def merge(self, left, right):
        self.calls["merge"] += 1
        return left + right


class CallsRetract(Calls):
    def retract(self, state, x):
        self.calls["retract"] += 1
        return state - x * x


@pytest.mark.parametrize("width", [100, 3000])
def test_methods_are_not_called_more_than_needed(width):
    rows = 10_000
    data = pa.table({"t": range(rows), "x": range(rows)})
    wanted = wr.with_columns(data.append_column("q", pa.array([x * x for x in range(rows)])), s=wr.sum("q").over(
        wr.window(order_by="t", rows=(-width, width))))["s"].to_pylist()  # fmt: skip
    for kind in (CallsMerge, CallsRetract):
        given = kind()
        call = wr.aggregate(given, "x", returns=int).over(wr.window(order_by="t", rows=(-width, width)))
        assert wr.with_columns(data, s=call)["s"].to_pylist() == wanted
        assert given.calls["update"] <= 2 * rows
        assert given.calls["merge"] <= 2 * rows
        assert given.calls["retract"] <= rows
        assert given.calls["initialize"] <= 2
    given = Calls()
    wr.with_columns(data, s=wr.aggregate(given, "x", returns=int).over(wr.window(order_by="t")))
    assert given.calls == {"initialize": 1, "update": rows, "merge": 0, "retract": 0, "evaluate": rows}


def test_explain_says_what_a_frame_costs():
    data = pa.table({"t": [1], "x": [1]})
    moving = wr.window(order_by="t", rows=(-50, 50))
    said = {k: str(wr.explain(data, wr.aggregate(k, "x", returns=str).over(moving))) for k in KINDS}
    reason = "refold: there is no merge: each moving frame is aggregated from its start, one update per row in it"
    assert reason in said[Update]
    assert "two_stacks" in said[Merging]
    assert "prefix" in said[Retracting]
    assert "prefix" in said[Both]


def test_several_values_literals_and_none():
    class Weighted:
        def initialize(self):
            return 0.0

        def update(self, state, x, weight, factor):
            return state if x is None else state + x * weight * factor

    data = pa.table({"x": [1, None, 3], "w": [0.5, 1.0, 2.0]})
    call = wr.aggregate(Weighted, "x", "w", wr.lit(10), returns="double")
    assert wr.with_columns(data, s=call.over())["s"].to_pylist() == [65.0] * 3

    class Rows:
        def initialize(self):
            return 0

        def update(self, state):
            return state + 1

    assert wr.with_columns(data, n=wr.aggregate(Rows, returns=int).over())["n"].to_pylist() == [3] * 3


VALUES = [
    (pa.array([1, None, 3], pa.int8()), [1, None, 3]),
    (pa.array([2**63 - 1, None], pa.int64()), [2**63 - 1, None]),
    (pa.array([2**64 - 1], pa.uint64()), [2**64 - 1]),
    (pa.array([1.5, None, float("inf")]), [1.5, None, float("inf")]),
    (pa.array([True, None, False]), [True, None, False]),
    (pa.array(["a", None, "ß"]), ["a", None, "ß"]),
    (pa.array(["a", None]).dictionary_encode(), ["a", None]),
    (pa.array([[1, None], None, []], pa.list_(pa.int64())), [[1, None], None, []]),
    (pa.array([{"a": 1, "b": ["x"]}, None]), [{"a": 1, "b": ["x"]}, None]),
    (pa.array([None, None]), [None, None]),
]


@pytest.mark.parametrize(("column", "values"), VALUES, ids=lambda v: str(getattr(v, "type", "")))
def test_values_are_pythons(column, values):
    class Texts(Update):
        def evaluate(self, state):
            return repr(state)

    data = pa.table({"x": column, "t": range(len(column))})
    call = wr.aggregate(Texts, "x", returns=str).over(wr.window(order_by="t", rows=(None, None)))
    assert wr.with_columns(data, s=call)["s"].to_pylist() == [repr(values)] * len(values)


def test_values_cannot_be_changed_for_others():
    class Greedy(Update):
        def update(self, state, x):
            x.append(len(state))
            return [*state, x]

        def evaluate(self, state):
            return repr(state)

    data = pa.table({"x": [[1], [2], [3]], "t": [1, 2, 3]})
    call = wr.aggregate(Greedy, "x", returns=str).over(wr.window(order_by="t", rows=(-1, 0)))
    assert wr.with_columns(data, s=call)["s"].to_pylist() == ["[[1, 0]]", "[[1, 0], [2, 1]]", "[[2, 0], [3, 1]]"]


def test_the_state_itself_is_the_result():
    class Listed:
        def initialize(self):
            return []

        def update(self, state, x):
            state.append(x)
            return state

    data = pa.table({"t": [1, 2, 3], "x": [7, 8, 9]})
    call = wr.aggregate(Listed, "x", returns="array<bigint>").over(wr.window(order_by="t"))
    assert wr.with_columns(data, s=call)["s"].to_pylist() == [[7], [7, 8], [7, 8, 9]]


class Broken(Both):
    def __init__(self, method):
        self.method = method

    def __getattribute__(self, name):
        found = super().__getattribute__(name)
        if name in ("initialize", "update", "merge", "retract", "evaluate") and name == self.method:

            def raising(*args):
                raise ZeroDivisionError("no way")

            return raising
        return found


@pytest.mark.parametrize("method", ["initialize", "update", "merge", "retract", "evaluate"])
def test_exceptions_carry_the_users_own(method):
    data = table(50)
    strategy = "two_stacks" if method == "merge" else None
    call = wr.aggregate(Broken(method), "x", returns=str).over(window(6, 0))
    with wr.config(strategy=strategy), pytest.raises(wr.UserError) as caught:
        wr.with_columns(data, s=call)
    assert f"Broken.{method}() raised ZeroDivisionError: no way" in str(caught.value)
    assert str(caught.value).startswith("Broken(x) OVER (PARTITION BY k")
    cause = caught.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    assert cause.__traceback__.tb_frame.f_code.co_name == "raising"
    assert isinstance(caught.value, wr.WindrowError)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_exit_exceptions_propagate(error):
    class Ends(Update):
        def update(self, state, x):
            raise error

    with pytest.raises(error):
        wr.with_columns(table(10), s=wr.aggregate(Ends, "x", returns=str).over())


def test_a_forgotten_return():
    class Forgets(Update):
        def update(self, state, x):
            state.append(x)

    with pytest.raises(wr.UserError, match=r"Forgets.update\(\) returned None and not its state, a list: return it"):
        wr.with_columns(table(10), s=wr.aggregate(Forgets, "x", returns=str).over())


def test_results_that_do_not_fit():
    with pytest.raises(wr.UserError, match=r"Update gave '.*' \(str\), which is no int64"):
        wr.with_columns(table(10), s=wr.aggregate(Update, "x", returns=int).over(window(2, 0)))


def test_wrong_classes():
    class Nothing:
        pass

    class NoUpdate:
        def initialize(self):
            return 0

    class Constructed(Update):
        def __init__(self, size):
            self.size = size

    class Attribute(Update):
        merge = 5

    class OneMerge(Update):
        def merge(self, left):
            return left

    for cls, message in [
        (Nothing, "Nothing has no initialize and no update"),
        (NoUpdate, "NoUpdate has no update"),
        (Constructed, "cannot be made without arguments"),
        (Attribute, "Attribute.merge is 5 and no method"),
        (OneMerge, r"OneMerge.merge\(\) is called with two states"),
    ]:
        with pytest.raises(wr.SpecError, match=message):
            wr.aggregate(cls, "x", returns=int)
    with pytest.raises(wr.SpecError, match=r"Update.update\(\) is called with the state and 2 values"):
        wr.aggregate(Update, "x", "y", returns=str)
    with pytest.raises(wr.SpecError, match="'sum' is a function of windrow's"):
        wr.aggregate(Update, "x", returns=str, name="sum")
    with pytest.raises(wr.SpecError, match="does not take DISTINCT"):
        wr.with_columns(table(5), s=wr.aggregate(Update, "x", returns=str).distinct().over())
    assert wr.with_columns(table(5), s=wr.aggregate(Constructed(3), "x", returns=str).over()).num_rows == 5


def test_states_that_do_not_pickle():
    class Locked(Update):
        def initialize(self):
            return (x for x in ())

        def update(self, state, x):
            return state

        def evaluate(self, state):
            return "never"

    with pytest.raises(wr.UserError, match=r"Locked.*generator"):
        wr.with_columns(table(5), s=wr.aggregate(Locked, "x", returns=str).over())

    class Lambda(Update):
        def initialize(self):
            return 0

        def update(self, state, x):
            return lambda: x

        def evaluate(self, state):
            return "fine"

    data = pa.table({"t": [1, 2, 3, 4], "x": [1, 2, 3, 4]})
    call = wr.aggregate(Lambda, "x", returns=str).over(wr.window(order_by="t", rows=(None, 0)))
    assert wr.with_columns(data, s=call)["s"].to_pylist() == ["fine"] * 4
    op = wr.operator(call.alias("s"), data.schema, sort=False)
    with pytest.raises(wr.UserError, match=r"the state of Lambda.*cannot be pickled"):
        list(op(data.to_batches(max_chunksize=1)))


def test_the_callers_thread_and_context():
    threads = set()

    class Notes(Update):
        def update(self, state, x):
            threads.add(threading.get_ident())
            return state

    big = table(100_000)
    with wr.config(threads=4):
        wr.with_columns(big, s=wr.aggregate(Notes, "x", returns=str).over(window(None, 0)))
    assert threads == {threading.get_ident()}


@pytest.mark.slow
def test_other_threads_go_on():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(time.perf_counter())

    class Max:
        def initialize(self):
            return 0

        update = staticmethod(max)  # no bytecode runs, so Python itself would not switch

    other = threading.Thread(target=tick)
    other.start()
    data = pa.table({"x": range(200_000)})
    started = time.perf_counter()
    wr.with_columns(data, s=wr.aggregate(Max, "x", returns=int).over(wr.window(order_by="x", rows=(-100, 0))))
    ended = time.perf_counter()
    stop.set()
    other.join()
    during = [t for t in ticks if started < t < ended]
    assert len(during) > (ended - started) * 10


class Slots:
    __slots__ = ("later", "values")

    def __init__(self):
        self.values = []


class Frozen:
    def __init__(self):
        object.__setattr__(self, "values", [])

    def __setattr__(self, name, value):
        raise AttributeError(name)


class Knot(Held):
    """Holds itself, and one list twice."""

    def __init__(self):
        super().__init__()
        self.self = self
        self.again = self.values


class Loud(Held):
    """Says itself how it is copied."""

    copies = 0

    def __deepcopy__(self, memo):
        type(self).copies += 1
        made = type(self)()
        made.values = list(self.values)
        return made


@pytest.mark.parametrize("cls", [Held, Slots, Frozen, Knot, Loud], ids=lambda cls: cls.__name__)
def test_objects_as_states(cls):
    class Kept(Objects):
        def initialize(self):
            return cls()

        def update(self, state, x):
            if cls is Knot:
                assert state.self is state
                assert state.again is state.values
            state.values.append(x)
            return state

        def merge(self, left, right):
            left.values.extend(right.values)
            right.values.clear()
            return left

    data = table(80, seed=6)
    for before, after in FRAMES:
        assert answer(data, Kept, before, after) == expected(data, before, after)
    assert (Loud.copies > 0) == (cls is Loud)
    Loud.copies = 0


@pytest.mark.parametrize(
    "make",
    [set, dict, collections.Counter, collections.deque, lambda: [[], {"a": [[]]}, (1, [])]],
)
def test_containers_as_states(make):
    """What was copied is equal, of the same type, and shares nothing that can change."""

    class Copied(Update):
        def initialize(self):
            return make()

        def update(self, state, x):
            kept.append(state)
            return state

        def evaluate(self, state):
            return f"{type(state).__name__} {state == make()}"

    kept = []
    data = pa.table({"t": [1, 2, 3], "x": [1, 2, 3]})
    call = wr.aggregate(Copied, "x", returns=str).over(wr.window("t", "t"))
    assert set(wr.with_columns(data, s=call)["s"].to_pylist()) == {f"{type(make()).__name__} True"}
    assert len({id(state) for state in kept}) == 3
    if make.__name__ == "<lambda>":
        assert len({id(state[1]["a"][0]) for state in kept} | {id(state[2][1]) for state in kept}) == 6
