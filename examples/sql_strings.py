"""The same calls as SQL: Spark's dialect, with GROUPS, EXCLUDE and FILTER where Spark has none."""

import pyarrow as pa

import windrow as wr

scores = pa.table(
    {
        "player": ["ann", "bob", "cid", "dot", "eve", "fay"],
        "team": ["red", "red", "red", "blue", "blue", "blue"],
        "score": [7, 7, 3, 9, 4, 4],
    }
)

result = wr.select(
    scores,
    "player",
    "score",
    "rank() OVER (PARTITION BY team ORDER BY score DESC) AS place",
    "sum(score) OVER (ORDER BY score GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) AS with_next_lower",
    "avg(score) OVER (PARTITION BY team ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING "
    "EXCLUDE CURRENT ROW) AS team_mates",
    "count(*) FILTER (WHERE score > 5) OVER (PARTITION BY team) AS good_ones",
    "lead(player) OVER (ORDER BY score DESC, player) AS next",
)
for row in result.to_pylist():
    print(row)
