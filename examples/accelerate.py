"""A PySpark pipeline whose windows are written for Spark, unchanged, and computed by windrow."""

import os
import sys

import pyspark.sql.functions as F  # noqa: N812 - its usual name
from pyspark.sql import SparkSession, Window

import windrow as wr

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark's workers run this very Python
spark = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 2).getOrCreate()
spark.createDataFrame(
    [("a", 1, 4.0), ("a", 2, None), ("a", 3, 6.0), ("a", 9, 2.0), ("b", 1, 1.0), ("b", 5, 8.0)],
    "sensor string, second int, level double",
).createOrReplaceTempView("readings")

# Two windows, with a filter and an aggregate around them: nothing here knows of windrow.
latest = spark.sql("SELECT *, max(second) OVER (PARTITION BY sensor) - second AS age FROM readings")
steps = latest.withColumn("step", F.col("level") - F.lag("level").over(Window.partitionBy("sensor").orderBy("second")))
largest = steps.filter("age < 8").groupBy("sensor").agg(F.max("step").alias("largest_step"))

result = wr.spark.accelerate(largest)

result.orderBy("sensor").show()
print("Window nodes left to Spark:", result._jdf.queryExecution().optimizedPlan().toString().count("Window ["))
spark.stop()
