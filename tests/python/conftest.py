"""What the tests share: markers, the path of their helper modules, one Spark session for the oracles."""

import logging
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

# The Spark that answers are compared with interprets its plans: small data, many different queries.
ORACLE_SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture(autouse=True)
def computed_by_windrow(request):
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
    from sessions import settings, shared_session

    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)  # refusals are part of the game
    with settings(shared_session(), ORACLE_SETTINGS) as session:
        yield session


@pytest.fixture(scope="module")
def spark(request):
    """Give the session that all modules share, with the module's own ``SETTINGS``, which are taken back afterwards."""
    from sessions import settings, shared_session

    with settings(shared_session(), request.module.SETTINGS) as session:
        yield session


def pytest_sessionfinish(session):
    """Hand a worker's counts to the process that started it (pytest-xdist)."""
    from oracle import Answers

    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["answers"] = Answers.totals


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Add up the counts of all workers."""
    from oracle import Answers

    for engine, counts in getattr(node, "workeroutput", {}).get("answers", {}).items():
        Answers.add(engine, *counts)


def pytest_terminal_summary(terminalreporter):
    """Say how many calls were held against other engines, and how many answers differ."""
    from oracle import Answers

    for engine, (compared, different) in sorted(Answers.totals.items()):
        terminalreporter.write_line(f"{compared:,} calls compared with {engine}; {different} disagree")
