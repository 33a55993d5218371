-- A store's moves. moves(id, sku, day, dayno, kind, quantity, signed, cost): signed is quantity, negative for 'out'.

-- stock after each move
SELECT id, sum(signed) OVER (PARTITION BY sku ORDER BY day, id ROWS UNBOUNDED PRECEDING) AS stock FROM moves;

-- stock before each move
SELECT id, coalesce(sum(signed) OVER (PARTITION BY sku ORDER BY day, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS stock FROM moves;

-- stock at the end of the day
SELECT id, sum(signed) OVER (PARTITION BY sku ORDER BY day) AS stock FROM moves;

-- did the store ever run out
SELECT id, min(sum(signed) OVER (PARTITION BY sku ORDER BY day, id ROWS UNBOUNDED PRECEDING)) OVER (PARTITION BY sku ORDER BY day, id) AS lowest FROM moves;

-- first in, first out: which units a delivery holds
SELECT id, sum(quantity) OVER (w) - quantity AS from_unit, sum(quantity) OVER w AS to_unit FROM moves WHERE kind = 'in' WINDOW w AS (PARTITION BY sku ORDER BY day, id ROWS UNBOUNDED PRECEDING);

-- first in, first out: which units a sale takes
SELECT id, coalesce(sum(quantity) OVER (PARTITION BY sku ORDER BY day, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS from_unit FROM moves WHERE kind = 'out';

-- cost of the delivery last made
SELECT id, last_value(CASE WHEN kind = 'in' THEN cost END) IGNORE NULLS OVER (PARTITION BY sku ORDER BY day, id) AS cost FROM moves;

-- mean cost of what was delivered so far
SELECT id, CAST(sum(cost * quantity) FILTER (WHERE kind = 'in') OVER w AS DOUBLE) / sum(quantity) FILTER (WHERE kind = 'in') OVER w AS mean FROM moves WINDOW w AS (PARTITION BY sku ORDER BY day, id);

-- cheapest delivery of the last three
SELECT id, min(cost) OVER (PARTITION BY sku ORDER BY day, id ROWS 2 PRECEDING) AS cheapest FROM moves WHERE kind = 'in';

-- days since the last delivery
SELECT id, dayno - max(dayno) FILTER (WHERE kind = 'in') OVER (PARTITION BY sku ORDER BY day, id) AS days FROM moves;

-- sales until the next delivery
SELECT id, sum(quantity) OVER (PARTITION BY sku, count_if(kind = 'in') OVER (PARTITION BY sku ORDER BY day, id)) AS moved FROM moves;

-- sold on the seven days before, by the calendar
SELECT id, coalesce(sum(quantity) FILTER (WHERE kind = 'out') OVER (PARTITION BY sku ORDER BY day RANGE BETWEEN 7 PRECEDING AND 1 PRECEDING), 0) AS sold FROM moves;

-- how long the stock lasts at this pace
SELECT id, sum(signed) OVER (PARTITION BY sku ORDER BY dayno, id ROWS UNBOUNDED PRECEDING) / (avg(quantity) FILTER (WHERE kind = 'out') OVER (PARTITION BY sku ORDER BY dayno, id ROWS 9 PRECEDING)) AS lasts FROM moves;

-- goods by what they sell: A, B or C
SELECT sku, sold, CASE WHEN CAST(sum(sold) OVER w AS DOUBLE) / sum(sold) OVER () <= 0.8D THEN 'A' WHEN CAST(sum(sold) OVER w AS DOUBLE) / sum(sold) OVER () <= 0.95D THEN 'B' ELSE 'C' END AS class FROM sold WINDOW w AS (ORDER BY sold DESC, sku ROWS UNBOUNDED PRECEDING);

-- biggest move of each kind
SELECT id, sku, kind FROM moves QUALIFY row_number() OVER (PARTITION BY sku, kind ORDER BY quantity DESC, id) = 1;

-- moves that turned the direction
SELECT id FROM moves QUALIFY kind <> lag(kind) OVER (PARTITION BY sku ORDER BY day, id);

-- run of moves of one kind
SELECT id, row_number() OVER (PARTITION BY sku ORDER BY day, id) - row_number() OVER (PARTITION BY sku, kind ORDER BY day, id) AS run FROM moves;

-- stock taken only to zero (DuckDB)
SELECT id, greatest(0, sum(signed) OVER (PARTITION BY sku ORDER BY dayno, id ROWS UNBOUNDED PRECEDING)) AS stock FROM moves;

-- usual quantity, without this one (DuckDB)
SELECT id, median(quantity) OVER (PARTITION BY sku, kind ORDER BY day, id ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING EXCLUDE CURRENT ROW) AS usual FROM moves;

-- different costs so far (DuckDB)
SELECT id, count(DISTINCT cost) OVER (PARTITION BY sku ORDER BY day, id) AS costs, sum(DISTINCT cost) OVER (PARTITION BY sku ORDER BY day, id) AS total FROM moves;
