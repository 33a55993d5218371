"""What the tests share: markers, one Spark session, the order of files, the count of comparisons."""

import importlib
import logging
import os
import sys

import pytest

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
os.environ.setdefault("WINDROW_FULL_TRACEBACK", "1")  # what fails here is windrow's
# Each JVM lives for minutes: what the second compiler and parallel collectors do for it costs more than it brings.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# In CI everything is installed: what cannot be imported there is a failure.
if os.environ.get("CI"):
    pytest.importorskip = lambda name, *_, **__: importlib.import_module(name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Fail what says that it needs something, and is skipped, in CI."""
    report = yield
    if os.environ.get("CI") and report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if reason.startswith("needs "):
            report.outcome, report.longrepr = "failed", f"skipped in CI, where everything is installed: {reason}"
    return report


# The Spark that answers are compared with interprets its plans: small data, many different queries.
ORACLE_SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.hookimpl(tryfirst=True)  # before pytest looks at what -m asks for
def pytest_collection_modifyitems(items):
    """Mark what takes a session of Spark's; its files take longest and come first, so that others fill up the end."""
    for item in items:
        if {"spark", "oracle_spark"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("spark")
    long = {item.path for item in items if item.get_closest_marker("spark")}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture(autouse=True)
def windrow_engine(request):
    """Have windrow compute what ``engine="auto"`` leaves to Spark: tests hold the two against each other.

    Modules that are about engines or settings say ``pytestmark = pytest.mark.engine``.
    """
    import windrow as wr

    if request.node.get_closest_marker("engine"):
        yield
    else:
        with wr.config(engine="windrow"):
            yield


@pytest.fixture(scope="module")
def oracle_spark():
    """Give Spark, set up to answer many small queries; other modules' settings come back afterwards."""
    pytest.importorskip("pyspark")
    from support.spark_sessions import settings, shared_session

    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)  # refusals are part of the game
    with settings(shared_session(), ORACLE_SETTINGS) as session:
        yield session


@pytest.fixture(scope="module")
def spark(request):
    """Give the session that all modules share, with the module's own ``SETTINGS``, which are taken back afterwards."""
    from support.spark_sessions import settings, shared_session

    with settings(shared_session(), request.module.SETTINGS) as session:
        yield session


def pytest_sessionfinish(session):
    """Hand a worker's counts to the process that started it (pytest-xdist)."""
    from support.comparison import Answers

    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["answers"] = Answers.totals


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Add up the counts of all workers."""
    from support.comparison import Answers

    for engine, counts in getattr(node, "workeroutput", {}).get("answers", {}).items():
        Answers.add(engine, *counts)


def pytest_terminal_summary(terminalreporter):
    """Say how many calls were held against other engines, and how many answers differ."""
    from support.comparison import Answers

    for engine, (compared, different) in sorted(Answers.totals.items()):
        terminalreporter.write_line(f"{compared:,} calls compared with {engine}; {different} disagree")
