"""Failures inside Spark: after each the right answer or a clear error, no process, no file, a session that works.

What happens is in support/spark_trials; each trial says itself whether it really did.
"""

import json
import os
import signal
import subprocess
import sys
import uuid
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

import windrow as wr
from support.paths import child_environment
from support.processes import environment, holds
from support.random_calls import FUZZ, SEED
from support.spark_trials.session import GRACE, MARK, PARTED, SPREAD, Trials
from support.spark_trials.trials import (
    WAYS,
    Counting,
    any_way,
    cancelled_computation,
    cancelled_split,
    die,
    failure_of,
)

pytest.importorskip("pyspark")

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
}


@pytest.fixture
def trials(spark, tmp_path):
    """Give trials on the session that all tests share, which must work afterwards."""
    made = Trials(spark, tmp_path)
    made.begin()
    yield made
    made.check_session()


@pytest.mark.parametrize(
    "trial",
    [
        cancelled_computation,
        cancelled_split,
    ],
    ids=lambda trial: trial.__name__,
)
def test_on_the_shared_session(trials, trial):
    trial(trials)


def fails(result, *words):
    """Have a job fail; its error has all of these words."""
    said = failure_of(result)
    assert all(word in said for word in words), said


def test_a_killed_worker_fails_a_job_that_may_not_try_again(trials):
    """local[2] tries no task twice."""
    count = wr.aggregate(Counting(str(trials.notes), die), "t", returns=int)
    with trials.little_memory():
        result = wr.with_columns(trials.frame(), {"own": count.over(wr.window("k", "t"))})
    fails(result, "Python worker exited unexpectedly")
    ((*_, pid, _),) = trials.noted("met")
    assert trials.gone([pid])


def mistaken():
    """Give what a user's method does; made in here, it goes to workers by value."""

    def mistake():
        raise LookupError("the mistake of the user's")

    return mistake


@pytest.mark.parametrize("calls", [PARTED, SPREAD], ids=["parted", "spread"])
def test_an_exception_in_a_users_aggregate(trials, calls):
    w = wr.window("k", "t") if calls is PARTED else wr.window(order_by="t")
    mistake = Counting(str(trials.notes), mistaken(), always=True)
    count = wr.aggregate(mistake, "t", returns=int, name="Own").over(w)
    with trials.little_memory():
        split = "always" if calls is SPREAD else None
        result = wr.with_columns(trials.frame(200_000), {**calls, "own": count}, spread=split)
    fails(result, "Own.update() raised LookupError: the mistake", "in mistake")
    *_, (*_, spilled) = trials.noted("met")
    assert spilled or calls is SPREAD  # there it has read all rows back, into a section


@pytest.mark.parametrize("call", ["median(v) OVER ()", "count(DISTINCT v) OVER (PARTITION BY id < 0 ORDER BY t)"])
@pytest.mark.filterwarnings("ignore:No Partition Defined")
def test_too_little_memory(trials, call):
    with wr.config(memory_limit=400_000, spill_dir=str(trials.spill)):
        result = wr.with_columns(trials.frame(200_000), {"x": call})
    fails(result, "MemoryLimitError", call.split(" OVER")[0], "memory_limit", "partition")


@pytest.fixture
def small_disk(tmp_path):
    """Give a directory that takes 2 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], check=False).returncode:
        pytest.skip("a small disk takes the rights to mount one")
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.parametrize("calls", [PARTED, SPREAD], ids=["parted", "spread"])
def test_a_full_disk(trials, small_disk, calls):
    with wr.config(memory_limit=1, spill_dir=str(small_disk)):
        result = wr.with_columns(trials.frame(300_000), calls, spread="always" if calls is SPREAD else None)
    fails(result, "SpillError", str(small_disk), "No space left on device")
    assert not list(small_disk.iterdir())

    def all_of_it_is_free():
        disk = os.statvfs(small_disk)
        return disk.f_bfree == disk.f_blocks

    assert holds(all_of_it_is_free, GRACE)


def test_a_batch_of_another_type(trials):
    """A function of the user's in front of the operator gives something else from the third batch on."""
    frame = trials.frame(tasks=1)
    operator = wr.operator([SPREAD], frame)

    def changing(batches):
        for number, batch in enumerate(batches):
            at = batch.schema.get_field_index("v")
            yield batch if number < 2 else batch.set_column(at, "v", pa.array(["many"] * batch.num_rows))

    def run(batches):
        yield from operator(changing(batches))

    fails(frame.mapInArrow(run, operator.spark_schema), "DataError", "'v'", "string", "int64")


@pytest.mark.parametrize("number", range(SEED, SEED + 2 * FUZZ))
def test_results_do_not_depend_on_the_task(trials, number):
    any_way(trials, number, WAYS)


# ---- sessions of their own

OWN = {
    "local[2,4]": [
        "killed_as_rows_leave", "killed_behind_windrow", "killed_in_the_first_reading",
        "killed_in_the_second_reading", "lost_shuffle_files_of_two_readings", "interrupted",
    ],
    "local-cluster[1,1,1024]": [
        "killed_inside_the_computation", "speculated", "killed_executor", "killed_executor_of_two_readings",
        "lost_shuffle_files", "cancelled_split", "one_answer",
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def own_session(tmp_path_factory):
    """Give what asks a session of its own for its trials, once, and says what was said of each."""
    return cache(lambda master: run_trials(master, tmp_path_factory.mktemp("session")))


def run_trials(master, directory):
    mark = uuid.uuid4().hex
    own = child_environment(**{MARK: mark, "SPARK_HOME": str(spark_home(directory))})
    command = [sys.executable, "-m", "support.spark_trials", master, str(directory), *OWN[master]]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=own, start_new_session=True
    ) as process:
        try:
            out, err = process.communicate(timeout=1200)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
    said = {facts["trial"]: facts for facts in map(json.loads, filter(None, out.splitlines()))}
    return process.returncode, said, err, mark, directory


@pytest.mark.spark
@pytest.mark.parametrize(("master", "trial"), [(master, trial) for master, trials in OWN.items() for trial in trials])
def test_in_a_session_of_its_own(own_session, master, trial):
    _, said, err, _, _ = own_session(master)
    assert trial in said, err
    assert said[trial]["said"] is None, said[trial]["said"]


@pytest.mark.spark
@pytest.mark.parametrize("master", OWN)
def test_a_session_leaves_nothing(own_session, master):
    code, _, err, mark, directory = own_session(master)
    assert code == 0, err
    assert holds(lambda: not marked(mark), GRACE), marked(mark)
    assert [path for path in (directory / "local").rglob("*") if path.is_file()] == []


def marked(mark):
    every = [int(pid) for pid in os.listdir("/proc") if pid.isdigit()]
    return [pid for pid in every if f"{MARK}={mark}" in environment(pid)]


def spark_home(directory):
    """Give the installed Spark at another place: local-cluster mode writes its logs there."""
    import pyspark

    home = directory / "spark"
    home.mkdir()
    for path in Path(pyspark.__file__).parent.iterdir():
        (home / path.name).symlink_to(path)
    return home
