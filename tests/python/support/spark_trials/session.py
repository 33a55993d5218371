"""Sessions for trials: made to be hurt, asked afterwards whether they still work, and what is left of them."""

import os
import time
import uuid
from pathlib import Path

import windrow as wr
from support.processes import environment, files_without_names, holds, process

#: By this variable of the environment the processes of a session are known, whoever is their parent by now.
MARK = "SESSION_OF_TRIALS"
# Spark looks every 2 s whether a task was killed, and lets its worker finish for 2 s more.
GRACE = 12
ROWS = 60_000
PARTED = {
    "n": "row_number() OVER (PARTITION BY k ORDER BY t)",
    "total": "sum(v) OVER (PARTITION BY k)",
    "near": "sum(v) OVER (PARTITION BY k ORDER BY t ROWS BETWEEN 100 PRECEDING AND 100 FOLLOWING)",
    "far": "min(v) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN 5000 PRECEDING AND CURRENT ROW)",
}
SPREAD = {
    "n": "row_number() OVER (ORDER BY t)",
    "total": "sum(v) OVER ()",
    "near": "sum(v) OVER (ORDER BY t ROWS BETWEEN 100 PRECEDING AND 100 FOLLOWING)",
    "part": "ntile(7) OVER (ORDER BY t)",
}


class Trials:
    """Trials on a session, each with a directory of its own for its notes and one for spilled rows."""

    def __init__(self, spark, directory):
        self.spark, self.directory = spark, Path(directory)
        self.jvm = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
        # where blocks are: known to workers, or the directory that the session was given, which has all executors'
        given = spark.sparkContext._conf.get("spark.local.dir", None)
        given = given or spark.sparkContext.parallelize([0], 1).map(lambda _: os.environ["SPARK_LOCAL_DIRS"]).first()
        self.local = [Path(d) for d in given.split(",")]
        self.notes = self.spill = None

    def begin(self):
        self.notes, self.spill = (self.directory / uuid.uuid4().hex for _ in range(2))
        self.notes.mkdir()
        self.spill.mkdir()

    def noted(self, name):
        """Give the tasks that came to a place: partition, attempt, attempt of all, process, whether it has spilled."""
        found = []
        for path in self.notes.glob(f"{name}.*"):
            facts = path.name.removeprefix(f"{name}.").split(".")[:4]
            found.append((*map(int, facts), path.read_text() == "spilled"))
        return sorted(found)

    def wait_for(self, name, seconds=30):
        assert holds(lambda: self.noted(name), seconds), f"no task came to {name!r}"

    def frame(self, rows=ROWS, tasks=3):
        return self.spark.range(0, rows, 1, tasks).selectExpr(
            "id", "id % 5 AS k", f"id * 7919 % {rows} AS t", "id * 31 % 1000 - 500 AS v"
        )

    def little_memory(self):
        return wr.config(memory_limit=1, spill_dir=str(self.spill))

    def check(self, result, rows=ROWS, **calls):
        """Hold an answer against windrow's on the same rows in memory."""
        table = self.frame(rows).toArrow()
        expected = wr.with_columns(table, calls).sort_by("id")
        found = result.toArrow().sort_by("id")
        assert found.num_rows == rows
        for name in ("id", *calls):
            assert found[name].to_pylist() == expected[name].to_pylist(), name

    def check_session(self):
        """Ask the session something else, and look at what was left."""
        frame = self.frame(200)
        self.check(wr.with_columns(frame, PARTED), 200, **PARTED)
        self.check(wr.with_columns(frame, SPREAD, spread="always"), 200, **SPREAD)
        assert holds(lambda: not self.left(), GRACE), self.left()

    def left(self):
        """List what should not be there: files, processes that are nobody's, workers that are busy or hold files."""
        found = [str(path) for path in self.spill.iterdir()]
        for directory in self.local:
            found += [str(path) for path in directory.rglob("*") if path.is_file() and not of_spark(path)]
        before = {}
        for pid in self.processes():
            parent, ticks, command = process(pid)
            daemon = "pyspark.daemon" in command
            if "java" in command.split("\0")[0] or not command:
                continue
            if not daemon or parent not in self.processes():
                found.append(f"process {pid} of {parent}: {command}")
            found += [f"{path} of process {pid}" for path in files_without_names(pid)]
            before[pid] = ticks
        time.sleep(0.3)
        found += [f"process {pid} is busy" for pid, ticks in before.items() if process(pid)[1] > ticks + 2]
        return found

    def processes(self):
        """Give the processes below Spark's."""
        every = {int(pid): process(pid)[0] for pid in os.listdir("/proc") if pid.isdigit()}
        mark = os.environ.get(MARK)
        found = {self.jvm}
        while more := {pid for pid, parent in every.items() if parent in found} - found:
            found |= more
        if mark is not None:
            found |= {pid for pid in every if f"{MARK}={mark}" in environment(pid)}
        above = os.getpid()
        while above:
            found.discard(above)
            above = every.get(above, 0)
        return sorted(found)

    def gone(self, pids):
        """Whether processes end, given the time that Spark gives a worker."""
        return holds(lambda: not any(process(pid)[2] for pid in pids), GRACE)


def of_spark(path):
    """Whether Spark made a file among its own, by its name or where it is."""
    spark = ("shuffle_", "temp_shuffle_", "broadcast_", "rdd_", "temp_local_", "taskresult_", ".")
    return path.name.startswith(spark) or any(p.startswith(("spark-", "userFiles-")) for p in path.parts[-3:-1])


def wait_for_slots(spark, count=2):
    """Wait until executors are there, or there again."""
    from windrow.hosts.spark.session import slots

    assert holds(lambda: slots(spark) == count, 60)


def session(master, directory):
    from pyspark.sql import SparkSession

    local = Path(directory, "local")
    local.mkdir()
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.local.dir", str(local)).config("spark.sql.shuffle.partitions", "2")
    builder = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "2000")
    builder = builder.config("spark.sql.adaptive.coalescePartitions.enabled", "false")
    # with a shuffle's files Spark forgets the results that their executor keeps; small ones it sends at once
    builder = builder.config("spark.task.maxDirectResultSize", "64m")
    if master.startswith("local-cluster"):
        builder = builder.config("spark.speculation", "true").config("spark.speculation.interval", "100ms")
        builder = builder.config("spark.speculation.quantile", "0.5").config("spark.speculation.multiplier", "1.1")
        builder = builder.config("spark.speculation.minTaskRuntime", "4s").config("spark.executor.memory", "512m")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    if master.startswith("local-cluster"):
        _another_host(spark, directory)
        wait_for_slots(spark)
    return spark


def _another_host(spark, directory):
    """Add a worker that goes by another address: Spark does not speculate on the host where a task runs already."""
    jvm, context = spark.sparkContext._jvm, spark.sparkContext
    deploy = jvm.org.apache.spark.deploy
    cluster = getattr(getattr(deploy, "LocalSparkCluster$"), "MODULE$").get().get()
    masters = cluster.getClass().getDeclaredField("masterRpcEnvs")
    masters.setAccessible(True)
    urls = context._gateway.new_array(jvm.java.lang.String, 1)
    urls[0] = f"spark://{masters.get(cluster).apply(0).address().hostPort()}"
    work = str(Path(directory, "work of another host"))
    option = jvm.scala.Option
    deploy.worker.Worker.startRpcEnvAndEndpoint(
        "127.0.0.2", 0, 0, 1, 1024, urls, work, option.apply(2), context._jsc.sc().conf(), option.empty()
    )
