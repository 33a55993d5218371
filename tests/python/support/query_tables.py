"""The tables that the queries in ``queries/`` ask: small, made up, the same on every run."""

import datetime as dt
import math
import random
from decimal import Decimal

import pyarrow as pa

ZONED = pa.timestamp("us", "UTC")
START = dt.datetime(2024, 3, 1, 8, tzinfo=dt.timezone.utc)
YEAR = dt.date(2024, 1, 1)


def table(rows, **types):
    """Make a table of rows as dicts; types that Python's values do not tell are given."""
    made = pa.Table.from_pylist(rows)
    for name, data_type in types.items():
        made = made.set_column(made.column_names.index(name), name, made[name].cast(data_type))
    return made


def shuffled(rng, rows):
    """Number the rows, and give them in no order."""
    rows = [{"id": i, **row} for i, row in enumerate(rows)]
    rng.shuffle(rows)
    return rows


def events(rng):
    rows, second = [], 0
    for _ in range(90):
        second += rng.choice([0, 5, 40, 300, 1700, 1800, 4000, 30_000])
        kind = rng.choice(["view", "view", "view", "click", "cart", "buy"])
        rows.append(
            {
                "user_id": rng.randrange(6),
                "at": START + dt.timedelta(seconds=second),
                "second": second,
                "kind": kind,
                "page": rng.choice(["home", "list", "item", "help", "pay"]),
                "device": rng.choice(["phone", "desk", None, None]),
                "spent": rng.choice([9.5, 20.25, 100.0]) if kind == "buy" else None,
            }
        )
    return table(shuffled(rng, rows), user_id=pa.int32(), at=ZONED)


def orders(rng):
    rows = []
    for _ in range(120):
        dayno = rng.randrange(150)
        day = YEAR + dt.timedelta(dayno)
        rows.append(
            {
                "customer": rng.choice(["ann", "bob", "cleo", "dan", "eve"]),
                "day": day,
                "dayno": dayno,
                "month": day.month,
                "product": rng.choice(["pen", "ink", "pad", "bag"]),
                "region": rng.choice(["north", "south", "west"]),
                "quantity": rng.randint(1, 9),
                "price": Decimal(rng.choice([100, 250, 999, 1250, 5000, rng.randint(1, 9999)])).scaleb(-2),
                "discount": rng.choice([None, 0.05, 0.1, 0.25]),
                "returned": rng.random() < 0.2,
            }
        )
    return table(shuffled(rng, rows), price=pa.decimal128(10, 2), quantity=pa.int32())


def months(rng):
    rows = [
        {"region": region, "month": month, "year": 2023 + month // 12, "revenue": round(rng.uniform(50, 900), 2)}
        for region in ("north", "south")
        for month in range(20)
    ]
    return table(shuffled(rng, rows))


def prices(rng):
    rows = []
    for symbol, close in (("ABC", 100.0), ("XYZ", 20.0), ("LOW", 1.5)):
        for dayno in range(60):
            if rng.random() < 0.15:
                continue
            day = YEAR + dt.timedelta(dayno)
            close = round(close * rng.uniform(0.95, 1.06), 2)
            rows.append(
                {
                    "symbol": symbol,
                    "day": day,
                    "dayno": dayno,
                    "month": day.month,
                    "close": close if rng.random() < 0.85 else None,
                    "volume": rng.randint(1, 5000),
                }
            )
    return table(shuffled(rng, rows))


def means(rng):
    rows = [
        {"symbol": s, "day": YEAR + dt.timedelta(d), "fast": rng.uniform(9, 11), "slow": rng.uniform(9.5, 10.5)}
        for s in ("ABC", "XYZ")
        for d in range(30)
    ]
    return table(shuffled(rng, rows))


def staff(rng):
    rows = []
    for i in range(60):
        hired = dt.date(2015, 1, 1) + dt.timedelta(rng.randrange(3000))
        rows.append(
            {
                "name": f"{rng.choice(['Kim', 'Lee', 'Max', 'Zoë', 'ann'])} {i % 17}",
                "dept": rng.choice(["sales", "tech", "law", None]),
                "title": rng.choice(["chief", "senior", "junior"]),
                "salary": rng.choice([None, 3000, 3500, 4000, 4200, rng.randint(2500, 9000)]),
                "hired": hired,
                "hired_year": hired.year,
                "boss": rng.choice([None, 1, 2, 3]),
                "score": rng.randint(0, 10_000) / 8,
            }
        )
    return table(shuffled(rng, rows), salary=pa.int32())


def sensors(rng):
    rows, counter = [], {}
    for sensor in ("hall", "roof", "yard"):
        second, counter = 0, 100
        for _ in range(35):
            second += rng.choice([10, 60, 60, 120, 400, 900])
            counter = rng.randrange(20) if rng.random() < 0.1 else counter + rng.randrange(30)
            ok = rng.random() < 0.75
            rows.append(
                {
                    "sensor": sensor,
                    "at": START + dt.timedelta(seconds=second),
                    "second": second,
                    "temperature": round(rng.gauss(15, 5), 1) if ok else None,
                    "humidity": rng.randint(20, 60),
                    "ok": ok,
                    "odd": rng.choice([1.5, 2.0, -1.0, 0.0, -0.0, math.nan, math.inf, -math.inf, None]),
                    "counter": None if rng.random() < 0.1 else counter,
                    "stay": float(rng.randint(1, 500)),
                    "reach": rng.randint(0, 5),
                    "span": rng.randint(0, 900),
                }
            )
    return table(shuffled(rng, rows), at=ZONED, humidity=pa.int32())


def logins(rng):
    days = sorted({(rng.randrange(7), rng.choice([rng.randrange(15), rng.randrange(60)])) for _ in range(130)})
    rows = [
        {"user_id": user, "day": YEAR + dt.timedelta(dayno), "dayno": dayno, "week": dayno // 7} for user, dayno in days
    ]
    return table(shuffled(rng, rows), dayno=pa.int32(), user_id=pa.int32())


def cohorts(logins):
    first = {}
    for row in logins.to_pylist():
        first[row["user_id"]] = min(row["dayno"], first.get(row["user_id"], 999))
    return table([{**row, "first_day": first[row["user_id"]]} for row in logins.to_pylist()])


def retention(rng):
    rows = [
        {"cohort": c, "age": a, "users": max(1, 90 - 9 * a - rng.randrange(20))} for c in range(5) for a in range(8)
    ]
    return table(shuffled(rng, rows))


def moves(rng):
    rows = []
    for sku in ("bolt", "nut", "gear"):
        for dayno in sorted(rng.randrange(60) for _ in range(32)):
            kind, quantity = rng.choice([("in", rng.randint(10, 50)), ("out", rng.randint(1, 20))])
            rows.append(
                {
                    "sku": sku,
                    "day": YEAR + dt.timedelta(dayno),
                    "dayno": dayno,
                    "kind": kind,
                    "quantity": quantity,
                    "signed": quantity if kind == "in" else -quantity,
                    "cost": Decimal(rng.choice([100, 110, 125, 150])).scaleb(-2),
                }
            )
    return table(shuffled(rng, rows), cost=pa.decimal128(8, 2), quantity=pa.int32())


def sold(rng):
    return table([{"sku": f"part {i:02}", "sold": rng.choice([500, 90, 20, rng.randint(1, 60)])} for i in range(25)])


def matches(rng):
    rows = []
    for season in (2023, 2024):
        for number in range(1, 13):
            for team in ("reds", "blues", "greens", "greys"):
                goals, against = rng.randint(0, 4), rng.randint(0, 4)
                rows.append(
                    {
                        "team": team,
                        "season": season,
                        "round": number,
                        "goals": goals,
                        "against": against,
                        "points": 3 if goals > against else int(goals == against),
                        "home": rng.random() < 0.5,
                        "place": rng.randint(1, 4),
                    }
                )
    return table(shuffled(rng, rows), goals=pa.int32(), points=pa.int32())


def bookings(rng):
    rows = []
    for _ in range(110):
        day = YEAR + dt.timedelta(rng.randrange(200))
        rows.append(
            {
                "account": rng.choice(["A-1", "A-2", "B-1"]),
                "day": day,
                "month": day.month,
                "kind": rng.choice(["card", "cash", "wire"]),
                "amount": Decimal(rng.choice([-5000, -1999, 2500, 100_000, rng.randint(-9999, 9999)])).scaleb(-2),
                "note": rng.choice([None, None, "rent", "food", "tax", ""]),
            }
        )
    rows += [dict(row) for row in rows[:9]]  # booked twice
    return table(shuffled(rng, rows), amount=pa.decimal128(12, 2))


def devices(rng):
    rows = []
    for _ in range(80):
        apple = rng.random() < 0.4
        rows.append(
            {
                "mobile_no": f"1380000{rng.randrange(7):04}",
                "day": YEAR + dt.timedelta(rng.randrange(40)),
                "idfa": rng.choice(["idfa-1", "idfa-2", "idfa-3"]) if apple else None,
                "imei": None if apple else rng.choice(["imei-1", "imei-2", "imei-3", None]),
                "oaid": None if apple else rng.choice(["oaid-1", "oaid-2", None]),
                "kind": "apple" if apple else "android",
            }
        )
    return table(shuffled(rng, rows))


def points(rng):
    units = rng.sample(range(200), 80)
    rows = [
        {
            "part": rng.choice(["a", "b", "c", None]),
            "k": rng.choice([None, *range(6)]),
            "u": u,
            "v": rng.choice([None, rng.randint(-9, 9), rng.randint(-9, 9)]),
            "reach": rng.randint(0, 6),
        }
        for u in units
    ]
    return table(shuffled(rng, rows), v=pa.int32(), k=pa.int32())


def make_tables():
    """Give all tables by name."""
    rng = random.Random(2024)
    makers = [events, orders, months, prices, means, staff, logins, retention, moves, sold, matches, bookings]
    tables = {maker.__name__: maker(rng) for maker in [*makers, devices, points]}
    readings = sensors(rng)
    known = ["id", "sensor", "at", "second"]
    tables["readings"] = readings.select([*known, "temperature", "humidity", "ok"])
    tables["oddities"] = readings.select([*known, "odd"])
    tables["counters"] = readings.select([*known, "counter"])
    tables["stays"] = readings.select([*known, "temperature", "stay"])
    tables["reaches"] = readings.select([*known, "temperature", "reach", "span"])
    tables["cohorts"] = cohorts(tables["logins"])
    tables["places"] = tables["matches"].select(["id", "team", "season", "round", "place"])
    tables["matches"] = tables["matches"].drop_columns(["place"])
    tables["huge"] = table([{"id": i, "huge": 2**63 - 1 - i % 2} for i in range(6)])
    return tables
