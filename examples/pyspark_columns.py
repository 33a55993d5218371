"""Window functions on a PySpark DataFrame: windrow plans the exchange, the sort happens in the Python worker."""

import os
import sys

import pyspark.sql.functions as F  # noqa: N812 - its usual name
from pyspark.sql import SparkSession, Window

import windrow as wr

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark's workers run this very Python
spark = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 2).getOrCreate()
readings = spark.createDataFrame(
    [("a", 1, 4.0), ("a", 2, None), ("a", 3, 6.0), ("a", 9, 2.0), ("b", 1, 1.0), ("b", 5, 8.0)],
    "sensor string, second int, level double",
)

near = wr.window("sensor", "second", range=(-2, 0))
others = wr.window("sensor", exclude="current_row")

result = wr.with_columns(
    readings,
    wr.avg("level").over(near).alias("recent"),  # the builder
    wr.max("level").over(others).alias("best_of_others"),  # with a frame that Spark itself does not have
    "last_value(level) IGNORE NULLS OVER (PARTITION BY sensor ORDER BY second) AS known",  # SQL
    {"place": F.rank().over(Window.partitionBy("sensor").orderBy(F.desc("level")))},  # PySpark's own Column
)
result.orderBy("sensor", "second").show()
spark.stop()
