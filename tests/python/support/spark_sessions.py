"""The Spark session that all tests share, and settings that hold for a block."""

import os
from contextlib import contextmanager

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
