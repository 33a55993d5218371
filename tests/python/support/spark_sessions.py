"""The Spark session that all tests share, and settings that hold for a block."""

import os
import tempfile
from contextlib import contextmanager

import pyarrow.parquet as pq

from support.paths import IMPORTS


def shared_session():
    """Give the session, which the first to ask starts."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.executorEnv.PYTHONPATH", os.pathsep.join(map(str, IMPORTS)))  # for workers
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@contextmanager
def settings(session, values):
    """Set Spark's settings for a block; afterwards they are as they were."""
    before = {key: session.conf.get(key, None) for key in values}
    for key, value in values.items():
        session.conf.set(key, value)
    try:
        yield session
    finally:
        for key, value in before.items():
            session.conf.unset(key) if value is None else session.conf.set(key, value)


def frame_of(session, table):
    """Make a DataFrame of an Arrow table, which ``createDataFrame`` takes from Spark 4.0 on."""
    from pyspark.errors import PySparkTypeError

    try:
        return session.createDataFrame(table)
    except PySparkTypeError:
        path = tempfile.mkstemp(suffix=".parquet")[1]
        pq.write_table(table, path)
        return session.read.parquet(path)
