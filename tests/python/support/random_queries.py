"""Random queries of several SELECTs, over the tables ``t`` and ``u``, in a dialect that Spark and DuckDB share."""

import random

import pyarrow as pa

AGGREGATES = ["sum({})", "min({})", "max({})", "count({})", "count(*)", "count(DISTINCT {})", "avg({})"]
WINDOWS = [
    "sum({}) OVER (PARTITION BY {})",
    "max({}) OVER (PARTITION BY {})",
    "count({}) OVER (ORDER BY {})",
    "rank() OVER (ORDER BY {}, {})",
    "dense_rank() OVER (PARTITION BY {} ORDER BY {} DESC)",
    "min({}) OVER ()",
]


def make_tables(seed):
    """Make the tables of a seed; numbers repeat, and some are NULL."""
    rng = random.Random(f"tables {seed}")
    made = {}
    for name, rows in (("t", rng.choice([0, 1, 30, 30, 60])), ("u", rng.choice([0, 20]))):
        made[name] = pa.table(
            {
                "id": pa.array(range(rows), pa.int64()),
                "k": pa.array([rng.choice(["a", "b", "c", None]) for _ in range(rows)], pa.string()),
                "g": pa.array([rng.choice([1, 2, 3, 4, None]) for _ in range(rows)], pa.int32()),
                "v": pa.array([rng.choice([None, rng.randint(-9, 9)]) for _ in range(rows)], pa.int64()),
            }
        )
    return made


class RandomQueries:
    """Draws queries; each of their columns is known as its name and whether it is a number."""

    def __init__(self, seed):
        self.rng = random.Random(f"queries {seed}")
        self.count = 0
        self.ctes = []

    def query(self):
        """Draw a query."""
        self.ctes, parts = [], []
        for _ in range(self.rng.choice([0, 0, 1, 2])):
            text, columns = self.relation(2)
            name = self.name("W")
            if self.rng.random() < 0.3:
                columns = [(self.name("r"), number) for _, number in columns]
                parts.append(f"{name}({', '.join(c for c, _ in columns)}) AS ({text})")
            else:
                parts.append(f"{name} AS ({text})")
            self.ctes.append((name, columns))
        text, _ = self.relation(3)
        return (f"WITH {', '.join(parts)} " if parts else "") + text

    def name(self, prefix):
        """Give a name that no other has, regardless of case."""
        self.count += 1
        return f"{prefix}{self.count}"

    def chance(self, share):
        return self.rng.random() < share

    def source(self, depth):
        """Draw what stands in FROM: its text and columns."""
        if depth and self.chance(0.5):
            text, columns = self.relation(depth - 1)
            alias = self.name("q")
            if self.chance(0.3):
                columns = [(self.name("p"), number) for _, number in columns]
                return f"({text}) AS {alias}({', '.join(c for c, _ in columns)})", columns, alias
            return f"({text}) {alias}", columns, alias
        if self.ctes and self.chance(0.6):
            name, columns = self.rng.choice(self.ctes)
            return name, columns, name
        table = self.rng.choice("ttu")
        columns = [("id", True), ("k", False), ("g", True), ("v", True)]
        if self.chance(0.2):
            columns = [(self.name("n"), number) for _, number in columns]
            return f"{table} AS x({', '.join(c for c, _ in columns)})", columns, "x"
        return table, columns, table

    def relation(self, depth):
        """Draw a query: its text and columns."""
        if depth and self.chance(0.25):
            return self.union(depth)
        source, columns, alias = self.source(depth)
        draw = self.rng.choice([self.plain, self.plain, self.grouped, self.grouped, self.total, self.star])
        text, made = draw(source, columns, alias)
        if self.chance(0.2):
            text += self.rng.choice([" ORDER BY ALL LIMIT 7", " ORDER BY ALL DESC LIMIT 3 OFFSET 1", " LIMIT ALL"])
        return text, made

    def union(self, depth):
        texts = []
        for _ in range(self.rng.choice([2, 2, 3])):
            source, columns, _ = self.source(depth - 1)
            items = [self.number(columns), self.number(columns)]
            names = [self.name("m"), self.name("m")]
            named = ", ".join(f"{i} AS {n}" for i, n in zip(items, names, strict=True))
            text = f"SELECT {named} FROM {source}{self.where(columns)}"
            texts.append((text if self.chance(0.8) else f"({text} ORDER BY ALL LIMIT 4)", names))
        between = self.rng.choice([" UNION ALL ", " UNION ALL ", " UNION "])
        text = between.join(t for t, _ in texts)
        return text + (" ORDER BY ALL LIMIT 9" if self.chance(0.3) else ""), [(n, True) for n in texts[0][1]]

    def spelled(self, name):
        return name.upper() if self.chance(0.2) else name

    def number(self, columns):
        """Draw a number over columns."""
        numbers = [c for c, is_number in columns if is_number]
        if not numbers:
            return "7"
        column = self.spelled(self.rng.choice(numbers))
        return column if self.chance(0.6) else f"{column} + {self.rng.randint(0, 3)}"

    def column(self, columns):
        return self.spelled(self.rng.choice(columns)[0])

    def where(self, columns):
        if self.chance(0.6):
            return ""
        number, column = self.number(columns), self.column(columns)
        return self.rng.choice([f" WHERE {number} > 1", f" WHERE {column} IS NOT NULL", f" WHERE {number} > 99"])

    def window(self, columns):
        """Draw a call whose result is the same for any order of ties."""
        text = self.rng.choice(WINDOWS)
        value = self.number(columns)
        return text.format(*([value] if "rank" not in text else []), *(self.column(columns) for _ in range(3)))

    def plain(self, source, columns, alias):
        names = [self.name("c") for _ in range(self.rng.randint(1, 3))]
        items = [self.rng.choice([self.number, self.column, self.window])(columns) for _ in names]
        numbers = [not any(i.lower() == c.lower() and not n for c, n in columns) for i in items]
        distinct = "DISTINCT " if self.chance(0.2) else ""
        text = f"SELECT {distinct}{', '.join(f'{i} AS {n}' for i, n in zip(items, names, strict=True))} FROM {source}"
        return text + self.where(columns), list(zip(names, numbers, strict=True))

    def star(self, source, columns, alias):
        what = f"{alias}.*" if self.chance(0.4) else "*"
        left = [c for c in columns if self.chance(0.6)] or columns[:1]
        if len(left) < len(columns):
            what += f" EXCEPT ({', '.join(c for c, _ in columns if (c, _) not in left)})"
        made, more = list(left), ""
        if self.chance(0.5):
            name = self.name("s")
            more = f", {self.window(columns)} AS {name}"
            made.append((name, True))
        return f"SELECT {what}{more} FROM {source}{self.where(columns)}", made

    def aggregate(self, columns):
        return self.rng.choice(AGGREGATES).format(self.number(columns))

    def grouped(self, source, columns, alias):
        keys = self.rng.sample([c for c, _ in columns], min(len(columns), self.rng.choice([1, 1, 2])))
        if self.chance(0.2):
            keys[0] = f"{self.number(columns)} % 3"
        names = [self.name("k") for _ in keys]
        made = [(n, not any(k == c and not number for c, number in columns)) for n, k in zip(names, keys, strict=True)]
        items = [f"{k} AS {n}" for k, n in zip(keys, names, strict=True)]
        for _ in range(self.rng.randint(0, 3)):
            name = self.name("a")
            over = [
                "{}",
                "{} + 1",
                "sum({}) OVER ()",
                "rank() OVER (ORDER BY {})",
                f"max({{}}) OVER (ORDER BY {keys[0]})",
            ]
            text = self.rng.choice(over).format(f"sum({self.number(columns)})") if self.chance(0.5) else None
            text = text or self.aggregate(columns)
            items.append(f"{text} AS {name}")
            made.append((name, "avg" not in text))
        by = self.rng.choice([", ".join(keys), ", ".join(map(str, range(1, len(keys) + 1)))])
        if not any("OVER" in i for i in items) and self.chance(0.2):
            by = "ALL"
        having = ""
        if self.chance(0.3):
            having = f" HAVING {self.rng.choice(['count(*) > 1', f'max({self.number(columns)}) > 2'])}"
        return f"SELECT {', '.join(items)} FROM {source}{self.where(columns)} GROUP BY {by}{having}", made

    def total(self, source, columns, alias):
        names = [self.name("b") for _ in range(self.rng.randint(1, 3))]
        items = [self.aggregate(columns) for _ in names]
        text = ", ".join(f"{i} AS {n}" for i, n in zip(items, names, strict=True))
        having = " HAVING count(*) > 3" if self.chance(0.2) else ""
        made = [(n, "avg" not in i) for i, n in zip(items, names, strict=True)]  # fractions are added up in some order
        return f"SELECT {text} FROM {source}{self.where(columns)}{having}", made
