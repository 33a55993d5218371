"""The Spark session that all tests share, and settings that hold for a block."""

from contextlib import contextmanager


def shared_session():
    """Give the session, which the first to ask starts."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
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
