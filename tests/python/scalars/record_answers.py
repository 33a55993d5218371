"""Asks Spark for its answers to ``scalar_cases``, and writes them down: run it by hand."""

import json
import re
import sys
from pathlib import Path

from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).parent.parent))
from support.scalar_cases import COLUMNS, EXPRESSIONS, shown, table

ANSWERS = Path(__file__).parent / "spark_answers.json"


def answer(session, frame, expressions):
    try:
        made = frame.selectExpr(*[f"{e} AS e{i}" for i, e in enumerate(expressions)])
        rows = made.toArrow()
        types = [f.dataType.simpleString() for f in made.schema]
        return [{"type": t, "values": [shown(v) for v in rows[f"e{i}"].to_pylist()]} for i, t in enumerate(types)]
    except Exception as error:
        found = re.search(r"\[([A-Z_]+)", str(error))
        return found[1] if found else type(error).__name__


def main():
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    schema = ", ".join(f"{n} {t}" for n, (t, _) in COLUMNS.items())
    found = {"spark": session.version, "answers": {}}
    frames = {kind: session.createDataFrame(table(kind), schema).coalesce(1).cache() for kind in ("mild", "wild")}
    for kind, frame in frames.items():
        for ansi in (False, True):
            session.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
            answers = found["answers"].setdefault(f"{kind}, ansi {ansi}".lower(), {})
            for begin in range(0, len(EXPRESSIONS), 25):
                part = EXPRESSIONS[begin : begin + 25]
                many = answer(session, frame, part)
                for number, expression in enumerate(part):
                    one = many if isinstance(many, list) else answer(session, frame, [expression])
                    answers[expression] = one if isinstance(one, str) else one[number if one is many else 0]
    lines = ",\n".join(
        f" {json.dumps(name)}: {{\n"
        + ",\n".join(f"  {json.dumps(e)}: {json.dumps(a)}" for e, a in part.items())
        + "\n }"
        for name, part in found["answers"].items()
    )
    ANSWERS.write_text(f'{{"spark": "{found["spark"]}", "answers": {{\n{lines}\n}}}}\n', encoding="utf-8")
    session.stop()


if __name__ == "__main__":
    main()
