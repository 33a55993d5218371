"""An aggregate of one's own, in Python: the device ids that count for each phone number, on Polars and on Spark.

Each row says which ids a phone number was seen with on a day. An IDFA is Apple's, IMEI and OAID are Android's, and a
number is on one or the other: its newest id decides. Of Apple's the newest counts, of Android's the two newest IMEI and
the newest OAID, but only those seen since the number left Apple.
"""

import datetime as dt
import os
import random
import sys
from typing import Any, NamedTuple

import polars as pl
from pyspark.sql import SparkSession

import windrow as wr


class Ids(NamedTuple):
    """What some rows in order came to: plain values that nobody can change, so windrow never has to copy them."""

    idfa: str | None = None
    imei: tuple[str, ...] = ()
    oaid: str | None = None
    switched: bool = False  # there was an IDFA among the rows: Android's ids from before do not count


class NewestIds:
    """Nothing is kept on self: one object serves all phone numbers of a Spark task."""

    def initialize(self) -> Ids:
        """Give the state of no rows."""
        return Ids()

    def update(self, ids: Ids, idfa: str | None, imei: str | None, oaid: str | None) -> Ids:
        """Take a row in."""
        if idfa is not None:
            ids = Ids(idfa, switched=True)
        if imei is not None:
            ids = ids._replace(idfa=None, imei=(imei, *(i for i in ids.imei if i != imei))[:2])
        if oaid is not None:
            ids = ids._replace(idfa=None, oaid=oaid)
        return ids

    def merge(self, old: Ids, new: Ids) -> Ids:
        """Join what older and newer rows came to; for frames that move."""
        if new.switched or new == Ids():
            return new if new.switched else old
        imei = new.imei + tuple(i for i in old.imei if i not in new.imei)
        return Ids(None, imei[:2], new.oaid or old.oaid, old.switched)

    def evaluate(self, ids: Ids) -> dict[str, Any]:
        """Give the struct that the rows come to."""
        return {"idfa": ids.idfa, "imei": list(ids.imei), "oaid": ids.oaid}


newest = wr.aggregate(
    NewestIds, "idfa", "imei", "oaid", returns="struct<idfa: string, imei: array<string>, oaid: string>"
)
by_date = wr.window("mobile_no", "date", rows=(None, None))
lately = wr.window("mobile_no", "date", range=(wr.interval(days=-30), 0))
CALLS = {"ids": newest.over(by_date), "ids_of_30_days": newest.over(lately)}

draw = random.Random(4)
SIGHTINGS: list[tuple[Any, ...]] = [
    ("138-0001", dt.date(2024, 1, 1), None, "imei-1", None),
    ("138-0001", dt.date(2024, 1, 5), None, "imei-2", "oaid-1"),
    ("138-0001", dt.date(2024, 1, 9), None, "imei-3", None),
    ("138-0002", dt.date(2024, 1, 2), None, "imei-7", None),
    ("138-0002", dt.date(2024, 2, 2), "idfa-7", None, None),
    ("138-0003", dt.date(2024, 1, 3), "idfa-8", None, None),
    ("138-0003", dt.date(2024, 1, 4), None, "imei-8", None),
]
for number in range(1000):
    for day in draw.sample(range(180), 8):
        kind, name = draw.choice(["idfa", "imei", "imei", "oaid"]), draw.randrange(4)
        ids = [f"{kind}-{number}-{name}" if kind == k else None for k in ("idfa", "imei", "oaid")]
        SIGHTINGS.append((f"139-{number:04}", dt.date(2024, 1, 1) + dt.timedelta(day), *ids))
COLUMNS = ["mobile_no", "date", "idfa", "imei", "oaid"]

on_polars = wr.with_columns(pl.DataFrame(SIGHTINGS, COLUMNS, orient="row"), CALLS)
last = on_polars.group_by("mobile_no", maintain_order=True).last()
for mobile_no, ids in last.select("mobile_no", "ids").head(3).iter_rows():
    print(mobile_no, ids)

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark's workers run this very Python
spark = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 2).getOrCreate()
sightings = spark.createDataFrame(SIGHTINGS, "mobile_no string, date date, idfa string, imei string, oaid string")
on_spark = wr.with_columns(sightings, CALLS).orderBy("mobile_no", "date").collect()

same = [r.asDict(recursive=True) for r in on_spark] == on_polars.sort("mobile_no", "date").to_dicts()
print(f"{len(on_spark)} rows of {last.height} phone numbers on Spark, {'equal' if same else 'NOT equal'} to Polars")
spark.stop()
