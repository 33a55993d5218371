-- Readings of sensors. readings(id, sensor, at, second, temperature, humidity, ok): temperature is NULL where it failed.

-- reading before, failed or not
SELECT id, lag(temperature) OVER w AS before, lag(temperature) IGNORE NULLS OVER w AS known FROM readings WINDOW w AS (PARTITION BY sensor ORDER BY second);

-- second reading before that did not fail
SELECT id, lag(temperature, 2) IGNORE NULLS OVER (PARTITION BY sensor ORDER BY second) AS known FROM readings;

-- readings on either side of a failure
SELECT id, last_value(temperature) IGNORE NULLS OVER (PARTITION BY sensor ORDER BY second ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before, first_value(temperature) IGNORE NULLS OVER (PARTITION BY sensor ORDER BY second ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS after FROM readings;

-- failures in a row
SELECT id, CASE WHEN ok THEN 0 ELSE row_number() OVER (PARTITION BY sensor, ok, count_if(ok) OVER (PARTITION BY sensor ORDER BY second) ORDER BY second) END AS failures FROM readings;

-- mean of the ten minutes before
SELECT id, avg(temperature) OVER (PARTITION BY sensor ORDER BY second RANGE BETWEEN 600 PRECEDING AND CURRENT ROW) AS mean FROM readings;

-- mean of the ten minutes before, by the clock
SELECT id, avg(temperature) OVER (PARTITION BY sensor ORDER BY at RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW) AS mean FROM readings;

-- mean of the minutes after
SELECT id, avg(temperature) OVER (PARTITION BY sensor ORDER BY at RANGE BETWEEN INTERVAL '1' MINUTE FOLLOWING AND INTERVAL '20' MINUTE FOLLOWING) AS ahead FROM readings;

-- highest humidity of the hour around
SELECT id, max(humidity) OVER (PARTITION BY sensor ORDER BY at RANGE BETWEEN INTERVAL '30' MINUTE PRECEDING AND INTERVAL '30' MINUTE FOLLOWING) AS high FROM readings;

-- rate of change by the minute
SELECT id, 60 * (temperature - lag(temperature) OVER w) / (second - lag(second) OVER w) AS rate FROM readings WINDOW w AS (PARTITION BY sensor ORDER BY second);

-- mean weighted by time
SELECT id, sum(temperature * stay) OVER (PARTITION BY sensor ORDER BY second) / sum(CASE WHEN temperature IS NOT NULL THEN stay END) OVER (PARTITION BY sensor ORDER BY second) AS mean FROM stays;

-- outliers: three deviations from the mean of the sensor
SELECT id, abs(temperature - avg(temperature) OVER s) > 2 * stddev_samp(temperature) OVER s AS outlier FROM readings WINDOW s AS (PARTITION BY sensor);

-- outliers by quartiles
SELECT id, temperature > percentile(temperature, 0.75) OVER s + 1.5D * (percentile(temperature, 0.75) OVER s - percentile(temperature, 0.25) OVER s) AS outlier FROM readings WINDOW s AS (PARTITION BY sensor);

-- share of failures, of the last ten
SELECT id, avg(CASE WHEN ok THEN 0.0D ELSE 1.0D END) OVER (PARTITION BY sensor ORDER BY second ROWS 9 PRECEDING) AS failing FROM readings;

-- all of the last three failed
SELECT id, NOT bool_or(ok) OVER w AS dead, bool_and(ok) OVER w AS fine FROM readings WINDOW w AS (PARTITION BY sensor ORDER BY second ROWS 2 PRECEDING);

-- every and some
SELECT id, every(ok) OVER (PARTITION BY sensor) AS every_one, some(ok) OVER (PARTITION BY sensor) AS some_one, any(ok) OVER (PARTITION BY sensor ORDER BY second) AS so_far FROM readings;

-- bits of the states so far
SELECT id, bit_or(humidity) OVER w AS any_bit, bit_and(humidity) OVER w AS all_bits, bit_xor(humidity) OVER w AS odd_bits FROM readings WINDOW w AS (PARTITION BY sensor ORDER BY second ROWS 3 PRECEDING);

-- geometric growth of the humidity
SELECT id, avg(ln(humidity)) OVER (PARTITION BY sensor ORDER BY second ROWS 5 PRECEDING) AS growth FROM readings;

-- least squares through the last half hour
SELECT id, regr_slope(temperature, second) OVER w AS slope, regr_count(temperature, second) OVER w AS pairs, regr_avgx(temperature, humidity) OVER w AS x, regr_avgy(temperature, humidity) OVER w AS y FROM readings WINDOW w AS (PARTITION BY sensor ORDER BY second RANGE BETWEEN 1800 PRECEDING AND CURRENT ROW);

-- sums of squares
SELECT id, regr_sxx(temperature, humidity) OVER w AS sxx, regr_syy(temperature, humidity) OVER w AS syy, regr_sxy(temperature, humidity) OVER w AS sxy FROM readings WINDOW w AS (PARTITION BY sensor ORDER BY second ROWS 7 PRECEDING);

-- hottest moment so far
SELECT id, max_by(at, temperature) OVER (PARTITION BY sensor ORDER BY second) AS hottest, min_by(second, temperature) OVER (PARTITION BY sensor ORDER BY second) AS coldest FROM readings;

-- NaN is the greatest
SELECT id, max(odd) OVER w AS high, min(odd) OVER w AS low, sum(odd) OVER w AS sum, count(odd) OVER w AS n FROM oddities WINDOW w AS (PARTITION BY sensor ORDER BY second ROWS 2 PRECEDING);

-- NaN as a key
SELECT id, rank() OVER (ORDER BY odd) AS r, count(*) OVER (PARTITION BY odd) AS same FROM oddities;

-- infinities leave the frame again
SELECT id, avg(odd) OVER (PARTITION BY sensor ORDER BY second ROWS 1 PRECEDING) AS mean, stddev_pop(odd) OVER (PARTITION BY sensor ORDER BY second ROWS 1 PRECEDING) AS spread FROM oddities;

-- half of the sensors' readings and of the others'
SELECT id, count(*) OVER (PARTITION BY sensor) AS own, count(*) OVER () AS every_one, count(*) OVER () - count(*) OVER (PARTITION BY sensor) AS others FROM readings;

-- histogram of the humidity
SELECT id, histogram_numeric(humidity, 50) OVER (PARTITION BY sensor) AS bins FROM readings WHERE second < 4000;

-- a counter that is set back
SELECT id, counter_diff(counter) OVER (PARTITION BY sensor ORDER BY second) AS counted FROM counters;

-- what the counter counted in all
SELECT id, sum(counter_diff(counter) OVER (PARTITION BY sensor ORDER BY second)) OVER (PARTITION BY sensor ORDER BY second) AS counted FROM counters;

-- the counter by hand
SELECT id, CASE WHEN counter >= lag(counter) OVER w THEN counter - lag(counter) OVER w END AS counted FROM counters WINDOW w AS (PARTITION BY sensor ORDER BY second);

-- gaps filled on a line (DuckDB)
SELECT id, fill(temperature) OVER (PARTITION BY sensor ORDER BY second) AS filled FROM readings;

-- readings of the ten minutes before, without the current one (DuckDB)
SELECT id, avg(temperature) OVER (PARTITION BY sensor ORDER BY second RANGE BETWEEN 600 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS mean FROM readings;

-- a reach of each row's own (DuckDB)
SELECT id, avg(temperature) OVER (PARTITION BY sensor ORDER BY second ROWS BETWEEN reach PRECEDING AND CURRENT ROW) AS mean, count(*) OVER (PARTITION BY sensor ORDER BY second RANGE BETWEEN span PRECEDING AND CURRENT ROW) AS n FROM reaches;

-- an offset of each row's own (DuckDB)
SELECT id, lag(temperature, reach) OVER (PARTITION BY sensor ORDER BY second) AS before, nth_value(second, reach) OVER (PARTITION BY sensor ORDER BY second) AS nth FROM reaches WHERE reach > 0;

-- humidity in bits of surprise (DuckDB)
SELECT id, entropy(humidity) OVER (PARTITION BY sensor ORDER BY second ROWS 9 PRECEDING) AS entropy FROM readings;
