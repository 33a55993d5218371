"""The trials: each hurts a session in one way, and holds that the answer is right or the error clear."""

import os
import signal
import threading
import time
import uuid
from pathlib import Path

import windrow as wr
from support.comparison import Answers, compare_with_memory
from support.processes import files_without_names, process
from support.random_calls import asks_of
from support.spark_sessions import settings
from support.spark_trials.session import PARTED, ROWS, SPREAD, wait_for_slots

# ---- what happens inside a worker


def once(directory, name):
    """Whether this is the first time, in any process."""
    try:
        os.close(os.open(os.path.join(directory, name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def note(directory, name):
    """Write down that a task came here: which, in which attempt, in which process."""
    from pyspark import TaskContext

    task = TaskContext.get()
    facts = (task.partitionId(), task.attemptNumber(), task.taskAttemptId(), os.getpid())
    name = ".".join([name, *map(str, facts), uuid.uuid4().hex])
    Path(directory, name).write_text("spilled" if files_without_names(os.getpid()) else "")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class Counting:
    """An aggregate that counts, to which something happens at its first row ``at``: once, or in each attempt."""

    def __init__(self, directory, happens, at=1000, method="update", always=False):
        self.directory, self.happens, self.at, self.method, self.always = directory, happens, at, method, always

    def _passes(self, method, value):
        if method != self.method or value != self.at:
            return
        if self.always or once(self.directory, f"{self.method} met"):
            note(self.directory, "met")
            self.happens()

    def initialize(self):
        return 0

    def update(self, state, value):
        self._passes("update", value)
        return state + 1

    def merge(self, left, right):
        return left + right

    def evaluate(self, state):
        self._passes("evaluate", state)
        return state


# ---- trials: a worker killed


def retried(trials):
    """Whether the task that met its end was tried again, and by another process."""
    (partition, _, attempt, pid, _), *_ = trials.noted("met")
    return [n for n in trials.noted("begun") if n[0] == partition and n[2] > attempt and n[3] != pid]


def killed_as_rows_leave(trials):
    """The process that has spilled rows, and has answered some, is killed."""
    frame = trials.frame(300_000).repartition(2, "k")
    with trials.little_memory():
        operator = wr.operator([PARTED], frame)
    directory = str(trials.notes)

    def run(batches):
        note(directory, "begun")
        for number, batch in enumerate(operator(batches)):
            if number == 3 and once(directory, "killed"):
                note(directory, "met")
                die()
            yield batch

    trials.check(frame.mapInArrow(run, operator.spark_schema), 300_000, **PARTED)
    ((_, _, _, pid, spilled),) = trials.noted("met")
    assert spilled
    assert retried(trials)
    assert trials.gone([pid])


def killed_inside_the_computation(trials):
    """The process dies in the middle of windrow's own loop, called by it."""
    count = wr.aggregate(Counting(str(trials.notes), die), "t", returns=int)
    frame = trials.frame()
    result = wr.with_columns(frame, {**PARTED, "own": count.over(wr.window("k", "t"))})
    trials.check(result.drop("own"), **PARTED)
    assert result.where("own <> n").count() == 0
    assert len(trials.noted("met")) == 1


def killed_behind_windrow(trials):
    """Another process of the same task dies; the one that has windrow's rows must not stay behind."""
    directory = str(trials.notes)

    def run(batches):
        note(directory, "begun")
        for number, batch in enumerate(batches):
            if number == 2 and once(directory, "killed"):
                note(directory, "met")
                die()
            yield batch

    with trials.little_memory():
        result = wr.with_columns(trials.frame(300_000), PARTED)
    trials.check(result.mapInArrow(run, result.schema), 300_000, **PARTED)
    assert len(trials.noted("met")) == 1
    assert retried(trials)


def killed_in_a_split(trials, method, at):
    """One task of a split partition dies; Spark runs it again by itself."""
    count = wr.aggregate(Counting(str(trials.notes), die, at, method), "t", returns=int).over(wr.window(order_by="t"))
    with trials.little_memory():
        frame = trials.frame()
        assert "read twice" in str(wr.explain(frame, {**SPREAD, "own": count}, spread="always"))
        result = wr.with_columns(frame, {**SPREAD, "own": count}, spread="always")
    trials.check(result.where("own > 0").drop("own"), **SPREAD)
    assert len(trials.noted("met")) == 1
    # once more, and from one worker to the next nothing is different
    assert result.where("own <> n").count() == 0


def killed_in_the_first_reading(trials):
    """One task dies before it has summed its rows up."""
    killed_in_a_split(trials, "update", ROWS - 1000)


def killed_in_the_second_reading(trials):
    """One task dies as it answers, when the other may have done."""
    killed_in_a_split(trials, "evaluate", ROWS - 1000)


def killed_executor(trials):
    """The executor dies with its worker, and with the shuffle files that others are to read."""

    def end_executor():
        daemon = process(os.getpid())[0]
        os.kill(process(daemon)[0], signal.SIGKILL)
        time.sleep(60)

    directory = str(trials.notes)

    def run(batches):
        note(directory, "source")
        yield from batches

    frame = trials.frame()
    source = frame.mapInArrow(run, frame.schema)
    count = wr.aggregate(Counting(directory, end_executor), "t", returns=int).over(wr.window("k", "t"))
    result = wr.with_columns(source, {**PARTED, "own": count}).where("own > 0")
    trials.check(result.drop("own"), **PARTED)
    ((_, _, _, pid, _),) = trials.noted("met")
    assert len(trials.noted("source")) > 3
    assert trials.gone([pid])
    wait_for_slots(trials.spark)


def killed_executor_of_two_readings(trials):
    """An executor dies with the shuffle files that are to be read twice."""

    def end_executor():
        daemon = process(os.getpid())[0]
        os.kill(process(daemon)[0], signal.SIGKILL)
        time.sleep(60)

    count = wr.aggregate(Counting(str(trials.notes), end_executor), "t", returns=int).over(wr.window(order_by="t"))
    result = wr.with_columns(trials.frame(), {**SPREAD, "own": count}, spread="always").where("own > 0")
    trials.check(result.repartition(3, "k").drop("own"), **SPREAD)
    ((_, _, _, pid, _),) = trials.noted("met")
    assert trials.gone([pid])
    wait_for_slots(trials.spark)


# ---- trials: attempts beside attempts, stages again


def speculated(trials):
    """A task hangs; Spark starts another beside it, takes its answer, and ends the first."""
    directory = str(trials.notes)

    def hang():
        time.sleep(90)

    begin = time.monotonic()
    count = wr.aggregate(Counting(directory, hang), "t", returns=int).over(wr.window("k", "t"))
    with trials.little_memory():
        result = wr.with_columns(trials.frame(), {**PARTED, "own": count}).where("own > 0")
    trials.check(result.drop("own"), **PARTED)
    assert time.monotonic() - begin < 60
    ((_, attempt, _, pid, _),) = trials.noted("met")
    assert attempt == 0
    assert trials.gone([pid])


def lost_files(trials, calls, shuffled):
    """The files of a shuffle are lost after one job has read them; the next reads them again."""
    directory = str(trials.notes)

    def run(batches):
        note(directory, "source")
        yield from batches

    frame = trials.frame()
    with trials.little_memory():
        source = frame.mapInArrow(run, frame.schema)
        result = wr.with_columns(source, calls, spread="always" if calls is SPREAD else None)
    rows = (result.repartition(3, "k") if shuffled else result).rdd
    first = rows.collect()
    before = len(trials.noted("source"))
    again = rows.map(lambda row: row).collect()
    assert len(trials.noted("source")) == before  # its files are read again: that is what is taken away now
    lost = [path for directory in trials.local for path in directory.rglob("shuffle_*")]
    assert lost
    for path in lost:
        path.unlink()
    last = rows.map(lambda row: row).collect()
    assert len(trials.noted("source")) > before
    assert sorted(first) == sorted(again) == sorted(last)
    table = frame.toArrow()
    expected = wr.with_columns(table, calls).select(["id", *calls]).to_pylist()
    assert sorted(row["id"] for row in last) == list(range(ROWS))
    found = {row["id"]: row for row in last}
    assert all(found[row["id"]][name] == row[name] for row in expected for name in calls)


def lost_shuffle_files(trials):
    lost_files(trials, PARTED, shuffled=False)


def lost_shuffle_files_of_two_readings(trials):
    lost_files(trials, SPREAD, shuffled=True)


# ---- trials: stopped from outside


def slow(trials):
    """A frame that is a minute's work; its worker notes when it has all rows and computes."""
    frame = trials.frame(200_000, 1).repartition(1)
    with wr.config(strategy="naive"):
        operator = wr.operator(
            {"s": "stddev(v) OVER (ORDER BY t ROWS BETWEEN 100000 PRECEDING AND 100000 FOLLOWING)"}, frame
        )
    directory = str(trials.notes)

    def all_of(batches):
        yield from batches
        note(directory, "computing")

    return frame.mapInArrow(lambda batches: operator(all_of(batches)), operator.spark_schema)


def waiting(trials):
    """Tasks that sum up their rows, of which one hangs, with rows on the disk."""
    count = wr.aggregate(Counting(str(trials.notes), lambda: time.sleep(90)), "t", returns=int)
    with trials.little_memory():
        calls = {**SPREAD, "own": count.over(wr.window(order_by="t"))}
        return wr.with_columns(trials.frame(200_000), calls, spread="always")


def failure_of(frame):
    """Run a job, and say what it failed with."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        frame.write.format("noop").mode("overwrite").save()
    except (PySparkException, Py4JJavaError) as error:  # the second is what PySpark makes of a lost worker
        return str(error)
    raise AssertionError("the job did not fail")


def cancelled(trials, frame, place):
    """Cancel a job while a worker is at a place; its process ends, and nothing stays."""
    from pyspark import InheritableThread

    context = trials.spark.sparkContext
    said = []

    def run():
        context.setJobGroup("to be cancelled", "to be cancelled")
        said.append(failure_of(frame))

    thread = InheritableThread(target=run)
    thread.start()
    trials.wait_for(place)
    time.sleep(0.3)
    context.cancelJobGroup("to be cancelled")
    thread.join(30)
    assert not thread.is_alive()
    assert len(said) == 1
    assert "cancelled" in said[0].lower()
    assert trials.gone([pid for *_, pid, _ in trials.noted(place)])


def cancelled_computation(trials):
    cancelled(trials, slow(trials), "computing")


def cancelled_split(trials):
    cancelled(trials, waiting(trials), "met")


def interrupted(trials):
    """Ctrl-C at the terminal: the signal goes to every process of the session's group."""

    def press():
        trials.wait_for("computing")
        time.sleep(0.3)
        os.killpg(0, signal.SIGINT)

    frame = slow(trials)
    thread = threading.Thread(target=press)
    thread.start()
    begin = time.monotonic()
    try:
        frame.collect()
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("it was not interrupted")
    thread.join()
    assert time.monotonic() - begin < 30
    # PySpark asks for this as well, while it waits for another answer from the JVM: not every time does it come through
    trials.spark.sparkContext.cancelAllJobs()
    assert trials.gone([pid for *_, pid, _ in trials.noted("computing")])


# ---- trials: whoever has the rows, however they come


def any_way(trials, number, ways):
    """Random calls give one answer however rows are spread, cut, held and shared."""
    import warnings

    from pyspark.sql.types import StructField, StructType

    from windrow.hosts.spark.types import from_arrow

    table, asks = asks_of(number)
    fields = [StructField(f.name, from_arrow(f.type, f.name), f.nullable) for f in table.schema]
    answers = Answers("windrow otherwise")
    with settings(trials.spark, {"spark.sql.session.timeZone": "UTC"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No Partition Defined", category=UserWarning)
        frame = trials.spark.createDataFrame(table, StructType(fields))
        for tasks, batch, threads, limit, spread in ways:
            how = {"spark.sql.execution.arrow.maxRecordsPerBatch": batch, "spark.sql.shuffle.partitions": tasks}
            with (
                settings(trials.spark, {k: str(v) for k, v in how.items()}),
                wr.config(threads=threads, memory_limit=limit, spill_dir=str(trials.spill), timezone="UTC"),
            ):
                named = {f"c{i}": ask.text for i, ask in enumerate(asks)}
                out = wr.select(frame.repartition(tasks), "id", named, spread=spread).toArrow()
            told = f"{tasks} partitions, batches of {batch}, {threads} threads, memory_limit={limit}, spread={spread!r}"
            compare_with_memory(answers, table, asks, out, told)
    answers.settle(len(asks) * len(ways))


#: Partitions, rows of a batch, threads, memory limit, spread: each value stands beside each other one somewhere.
WAYS = [
    (1, 10_000, 1, None, "never"),
    (5, 1, 2, 1, "auto"),
    (2, 7, 1, 1, "always"),
    (3, 7, 1, 1, "always"),
    (6, 10_000, 2, None, "always"),
    (7, 7, 2, None, "auto"),
    (4, 1, 1, 1, "never"),
]


def one_answer(trials):
    any_way(trials, 11, WAYS[1:4])
