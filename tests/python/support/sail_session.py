"""Windows on Sail's server of Spark Connect, in a process of its own: prints the rows of each query as JSON."""

import json
import random
import sys

import windrow as wr

#: Queries over a frame ``f`` with the columns k, t and v; Spark alone takes the settings.
QUERIES = {
    "moving": lambda f, **_: wr.with_columns(f, r=wr.sum("v").over("k", order_by="t", rows=3)),
    "range": lambda f, **_: wr.with_columns(f, r=wr.max("v").over("k", order_by="t", range=(-5, 5))),
    "median": lambda f, **_: wr.with_columns(f, r="median(v) OVER (PARTITION BY k ORDER BY t ROWS 4 PRECEDING)"),
    "rank": lambda f, **spark: wr.with_columns(f, r=wr.rank().over("k", order_by="v"), **spark),
    "difference": lambda f, **_: wr.with_columns(f, r=wr.col("v") - wr.lag("v").over("k", order_by="t")),
    "all rows": lambda f, **spark: wr.with_columns(f, r=wr.sum("v").over(order_by="t"), **spark),
    "query": lambda f, **_: wr.sql(
        "SELECT k, t, v, max(v) OVER (PARTITION BY k ORDER BY t ROWS 2 PRECEDING) AS r FROM f WHERE v > 2", f=f
    ),
}
#: All calls are windrow's, split across tasks where that can be.
SETTINGS = {"engine": "windrow", "spread": "always"}


def rows():
    """Give the rows, of which no two have one ``t``."""
    rng = random.Random(47)
    return [{"k": rng.randrange(4), "t": t, "v": rng.choice([None, *range(9)])} for t in rng.sample(range(500), 200)]


def main():
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer()
    server.start(background=True)
    _, port = server.listening_address
    spark = SparkSession.builder.remote(f"sc://localhost:{port}").getOrCreate()
    frame = spark.createDataFrame([tuple(r.values()) for r in rows()], "k int, t int, v long")
    found = {name: [r.asDict() for r in query(frame, **SETTINGS).collect()] for name, query in QUERIES.items()}
    sys.stdout.write(json.dumps(found))
    spark.stop()
    server.stop()


if __name__ == "__main__":
    main()
