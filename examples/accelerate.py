"""A PySpark pipeline whose windows are written for Spark, unchanged: windrow computes what is dear to Spark."""

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

# Two windows, with a filter and an aggregate around them: nothing here knows of windrow. The first costs Spark little
# and stays; wr.config(engine="windrow") would take it too.
latest = spark.sql("SELECT *, max(second) OVER (PARTITION BY sensor) - second AS age FROM readings")
before = Window.partitionBy("sensor").orderBy("second").rowsBetween(-3, -1)
steps = latest.withColumn("step", F.col("level") - F.last("level", ignorenulls=True).over(before))
largest = steps.filter("age < 8").groupBy("sensor").agg(F.max("step").alias("largest_step"))

result = wr.spark.accelerate(largest)

result.orderBy("sensor").show()
print("Window nodes left to Spark:", result._jdf.queryExecution().optimizedPlan().toString().count("Window ["))
spark.stop()
