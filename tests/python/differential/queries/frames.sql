-- Frames. points(id, part, k, u, v): k has ties and nulls, u has none, v may be NULL.

-- one of each shape
SELECT id, sum(v) OVER (PARTITION BY part) AS entire, sum(v) OVER (PARTITION BY part ORDER BY u) AS growing, sum(v) OVER (PARTITION BY part ORDER BY u ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS shrinking, sum(v) OVER (PARTITION BY part ORDER BY u ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS moving FROM points;

-- ties count with the row
SELECT id, count(*) OVER (PARTITION BY part ORDER BY k) AS ties_too, count(*) OVER (PARTITION BY part ORDER BY k, u ROWS UNBOUNDED PRECEDING) AS ties_not FROM points;

-- frames that lie before the row
SELECT id, sum(v) OVER (PARTITION BY part ORDER BY u ROWS BETWEEN 4 PRECEDING AND 2 PRECEDING) AS rows, count(v) OVER (PARTITION BY part ORDER BY u RANGE BETWEEN 9 PRECEDING AND 3 PRECEDING) AS range FROM points;

-- frames that lie after the row
SELECT id, sum(v) OVER (PARTITION BY part ORDER BY u ROWS BETWEEN 2 FOLLOWING AND 4 FOLLOWING) AS rows, count(v) OVER (PARTITION BY part ORDER BY u RANGE BETWEEN 3 FOLLOWING AND 9 FOLLOWING) AS range FROM points;

-- frames that are empty
SELECT id, sum(v) OVER w AS sum, count(v) OVER w AS n, max(v) OVER w AS high, first_value(v) OVER w AS first FROM points WINDOW w AS (PARTITION BY part ORDER BY u ROWS BETWEEN 900 FOLLOWING AND 901 FOLLOWING);

-- lists of empty frames
SELECT id, collect_list(v) OVER w AS list, array_agg(v) OVER w AS array FROM points WINDOW w AS (PARTITION BY part ORDER BY u ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING);

-- a range over ties and nulls
SELECT id, count(*) OVER (PARTITION BY part ORDER BY k RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS up, count(*) OVER (PARTITION BY part ORDER BY k DESC RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS down FROM points;

-- nulls at the other end
SELECT id, count(*) OVER (PARTITION BY part ORDER BY k NULLS LAST RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS n, count(*) OVER (PARTITION BY part ORDER BY k DESC NULLS FIRST RANGE BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS m FROM points;

-- a range without offsets, by two keys
SELECT id, sum(v) OVER (PARTITION BY part ORDER BY k, v RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS upto, count(*) OVER (PARTITION BY part ORDER BY k, v RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS peers FROM points;

-- everything is one partition
SELECT id, sum(v) OVER () AS total, count(*) OVER (ORDER BY u ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS near FROM points;

-- one frame, all moments
SELECT id, avg(v) OVER w AS a, var_pop(v) OVER w AS b, var_samp(v) OVER w AS c, stddev_pop(v) OVER w AS d, stddev_samp(v) OVER w AS e, skewness(v) OVER w AS f, kurtosis(v) OVER w AS g FROM points WINDOW w AS (PARTITION BY part ORDER BY u ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING);

-- one frame, all pairs
SELECT id, corr(v, u) OVER w AS a, covar_pop(v, u) OVER w AS b, covar_samp(v, u) OVER w AS c, regr_slope(v, u) OVER w AS d, regr_intercept(v, u) OVER w AS e, regr_r2(v, u) OVER w AS f FROM points WINDOW w AS (PARTITION BY part ORDER BY u ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING);

-- lag and lead in both directions
SELECT id, lag(v, 2) OVER w AS a, lead(v, 2) OVER w AS b, lag(v, -1) OVER w AS c, lead(v, -1, v) OVER w AS d, lag(v, 0) OVER w AS e FROM points WINDOW w AS (PARTITION BY part ORDER BY u);

-- nulls passed over, in frames
SELECT id, first_value(v) IGNORE NULLS OVER w AS a, last_value(v) IGNORE NULLS OVER w AS b, nth_value(v, 2) IGNORE NULLS OVER w AS c FROM points WINDOW w AS (PARTITION BY part ORDER BY u ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING);

-- a window over windows
SELECT id, sum(row_number() OVER (PARTITION BY part ORDER BY u)) OVER (PARTITION BY part ORDER BY u) AS triangular, rank() OVER (ORDER BY sum(v) OVER (PARTITION BY part)) AS parts FROM points;

-- constants are keys too
SELECT id, count(*) OVER (PARTITION BY 1) AS everything, count(*) OVER (ORDER BY u, 1) AS growing FROM points;

-- filters hold in every frame
SELECT id, sum(v) FILTER (WHERE v > 0) OVER w AS plus, count(*) FILTER (WHERE v IS NULL) OVER w AS unknown, first_value(v) FILTER (WHERE v > 2) OVER w AS first FROM points WINDOW w AS (PARTITION BY part ORDER BY u ROWS BETWEEN 3 PRECEDING AND CURRENT ROW);

-- a row and its neighbours, this way and that
SELECT id, (lag(v) OVER w + v + lead(v) OVER w) / 3 AS smooth FROM points WINDOW w AS (PARTITION BY part ORDER BY u);

-- groups (DuckDB)
SELECT id, count(*) OVER (PARTITION BY part ORDER BY k NULLS FIRST GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a, sum(v) OVER (PARTITION BY part ORDER BY k NULLS FIRST GROUPS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS b, sum(v) OVER (PARTITION BY part ORDER BY k NULLS FIRST GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS c FROM points;

-- all that is left out (DuckDB)
SELECT id, count(*) OVER (PARTITION BY part ORDER BY k NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS a, count(*) OVER (PARTITION BY part ORDER BY k NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP) AS b, count(*) OVER (PARTITION BY part ORDER BY k NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES) AS c FROM points;

-- extremes with holes (DuckDB)
SELECT id, min(v) OVER (PARTITION BY part ORDER BY u ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING EXCLUDE CURRENT ROW) AS low, max(v) OVER (PARTITION BY part ORDER BY u ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING EXCLUDE CURRENT ROW) AS high FROM points;

-- bounds of each row's own (DuckDB)
SELECT id, sum(v) OVER (PARTITION BY part ORDER BY u ROWS BETWEEN reach PRECEDING AND reach FOLLOWING) AS rows, sum(v) OVER (PARTITION BY part ORDER BY u RANGE BETWEEN reach PRECEDING AND CURRENT ROW) AS range FROM points;

-- quantiles over any frame (DuckDB)
SELECT id, median(v) OVER w AS a, quantile_cont(v, 0.9) OVER w AS b, quantile_disc(v, 0.25) OVER w AS c FROM points WINDOW w AS (PARTITION BY part ORDER BY u ROWS BETWEEN 4 PRECEDING AND 4 FOLLOWING);

-- distinct over any frame (DuckDB)
SELECT id, count(DISTINCT k) OVER w AS a, sum(DISTINCT v) OVER w AS b, avg(DISTINCT k) OVER w AS c, count(DISTINCT v) OVER x AS d FROM points WINDOW w AS (PARTITION BY part ORDER BY u ROWS BETWEEN 4 PRECEDING AND 4 FOLLOWING), x AS (PARTITION BY part ORDER BY u ROWS BETWEEN 4 PRECEDING AND 4 FOLLOWING EXCLUDE CURRENT ROW);

-- orders within orders (DuckDB)
SELECT id, first_value(u ORDER BY v NULLS FIRST, u) OVER w AS a, last_value(u ORDER BY v NULLS FIRST, u) OVER w AS b, nth_value(u, 2 ORDER BY v NULLS FIRST, u) OVER w AS c FROM points WINDOW w AS (PARTITION BY part ORDER BY u ROWS BETWEEN 4 PRECEDING AND 4 FOLLOWING);
