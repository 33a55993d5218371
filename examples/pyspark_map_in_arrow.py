"""The operator under Spark's own mapInArrow: you place the exchange, windrow sorts within the task."""

import os
import sys

from pyspark.sql import SparkSession

import windrow as wr

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark's workers run this very Python
spark = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 2).getOrCreate()
numbers = spark.range(13).selectExpr("id", "id % 4 AS grp")

w = wr.window("grp", "id", range=(-4, 0))
op = wr.operator([wr.sum("id").over(w).alias("sum"), wr.count().over(w).alias("n")], numbers)

# All rows of a group must reach the same task: that is what repartition is for.
result = numbers.repartition("grp").mapInArrow(op, op.spark_schema)
result.orderBy("grp", "id").show()

# Rows that are grouped and ordered already can stream through, held only as long as a frame needs them.
streaming = wr.operator(wr.sum("id").over(w).alias("sum"), numbers, sort=False)
ordered = numbers.repartition("grp").sortWithinPartitions("grp", "id")
print(ordered.mapInArrow(streaming, streaming.spark_schema).agg({"sum": "max"}).first())
spark.stop()
