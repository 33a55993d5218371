-- Prices day by day. prices(id, symbol, day, dayno, close, volume): close is NULL on days without a trade.

-- return of the day
SELECT id, close / lag(close) OVER w - 1 AS return FROM prices WINDOW w AS (PARTITION BY symbol ORDER BY day);

-- return of the day, over days without a trade
SELECT id, close / lag(close) IGNORE NULLS OVER w - 1 AS return FROM prices WINDOW w AS (PARTITION BY symbol ORDER BY day);

-- last price known
SELECT id, last_value(close) IGNORE NULLS OVER (PARTITION BY symbol ORDER BY day) AS close FROM prices;

-- moving means of five and twenty rows
SELECT id, avg(close) OVER (w5) AS fast, avg(close) OVER (w20) AS slow FROM prices
WINDOW w5 AS (PARTITION BY symbol ORDER BY day ROWS 4 PRECEDING), w20 AS (PARTITION BY symbol ORDER BY day ROWS 19 PRECEDING);

-- the fast mean is above the slow one, and was not before
SELECT id, fast > slow AND NOT (lag(fast) OVER (PARTITION BY symbol ORDER BY day) > lag(slow) OVER (PARTITION BY symbol ORDER BY day)) AS crossing FROM means;

-- mean only once ten prices are there
SELECT id, CASE WHEN count(close) OVER w = 10 THEN avg(close) OVER w END AS mean FROM prices WINDOW w AS (PARTITION BY symbol ORDER BY day ROWS 9 PRECEDING);

-- Bollinger bands
SELECT id, avg(close) OVER w - 2 * stddev_samp(close) OVER w AS low, avg(close) OVER w + 2 * stddev_samp(close) OVER w AS high FROM prices
WINDOW w AS (PARTITION BY symbol ORDER BY day ROWS 19 PRECEDING);

-- highest and lowest price of the last thirty days
SELECT id, max(close) OVER w AS high, min(close) OVER w AS low FROM prices WINDOW w AS (PARTITION BY symbol ORDER BY day RANGE BETWEEN INTERVAL '29' DAY PRECEDING AND CURRENT ROW);

-- highest price so far, and how far below it we are
SELECT id, max(close) OVER w AS peak, close / max(close) OVER w - 1 AS drawdown FROM prices WINDOW w AS (PARTITION BY symbol ORDER BY day);

-- day of the highest price so far
SELECT id, max_by(day, close) OVER (PARTITION BY symbol ORDER BY day) AS peak FROM prices;

-- worst drawdown so far, a window over a window
SELECT id, min(close / max(close) OVER (PARTITION BY symbol ORDER BY day) - 1) OVER (PARTITION BY symbol ORDER BY day) AS worst FROM prices;

-- mean price weighted by volume
SELECT id, sum(close * volume) OVER w / sum(CASE WHEN close IS NOT NULL THEN volume END) OVER w AS vwap FROM prices WINDOW w AS (PARTITION BY symbol ORDER BY day ROWS 9 PRECEDING);

-- on-balance volume
SELECT id, sum(CASE WHEN close > lag(close) OVER w THEN volume WHEN close < lag(close) OVER w THEN -volume ELSE 0 END) OVER (PARTITION BY symbol ORDER BY day) AS obv FROM prices
WINDOW w AS (PARTITION BY symbol ORDER BY day);

-- gains and losses of the last fourteen
SELECT id, avg(CASE WHEN close > lag(close) OVER w THEN close - lag(close) OVER w ELSE 0.0D END) OVER (PARTITION BY symbol ORDER BY day ROWS 13 PRECEDING) AS gains FROM prices
WINDOW w AS (PARTITION BY symbol ORDER BY day);

-- volume above the mean of the ten before
SELECT id, volume > avg(volume) OVER (PARTITION BY symbol ORDER BY day ROWS BETWEEN 10 PRECEDING AND 1 PRECEDING) AS busy FROM prices;

-- volume in its place among the last ten
SELECT id, percentile(volume, 0.5) OVER (PARTITION BY symbol ORDER BY day ROWS 9 PRECEDING) AS median, percentile(volume, 0.9) OVER (PARTITION BY symbol ORDER BY day ROWS 9 PRECEDING) AS high FROM prices;

-- slope of the price over the last ten days
SELECT id, regr_slope(close, dayno) OVER w AS slope, regr_intercept(close, dayno) OVER w AS start, regr_r2(close, dayno) OVER w AS fit FROM prices WINDOW w AS (PARTITION BY symbol ORDER BY day ROWS 9 PRECEDING);

-- how price and volume go together
SELECT id, corr(close, volume) OVER w AS corr, covar_samp(close, volume) OVER w AS covar FROM prices WINDOW w AS (PARTITION BY symbol ORDER BY day ROWS 19 PRECEDING);

-- skewness and kurtosis of the volume
SELECT id, skewness(volume) OVER w AS skew, kurtosis(volume) OVER w AS kurt FROM prices WINDOW w AS (PARTITION BY symbol ORDER BY day ROWS 29 PRECEDING);

-- rank of the symbols by the day's volume
SELECT id, rank() OVER (PARTITION BY day ORDER BY volume DESC) AS place FROM prices;

-- the symbol traded most, each day
SELECT id, symbol, day FROM prices QUALIFY row_number() OVER (PARTITION BY day ORDER BY volume DESC, symbol) = 1;

-- price ten rows before and after
SELECT id, lag(close, 10) OVER w AS before, lead(close, 10) OVER w AS after FROM prices WINDOW w AS (PARTITION BY symbol ORDER BY day);

-- price seven days before by the calendar
SELECT id, first_value(close) OVER (PARTITION BY symbol ORDER BY day RANGE BETWEEN INTERVAL '7' DAY PRECEDING AND INTERVAL '7' DAY PRECEDING) AS before FROM prices;

-- opening price of the month, and its price now
SELECT id, first_value(close) IGNORE NULLS OVER (PARTITION BY symbol, month ORDER BY day) AS open, last_value(close) IGNORE NULLS OVER (PARTITION BY symbol, month ORDER BY day) AS now FROM prices;

-- days in a row without a trade
SELECT id, CASE WHEN close IS NULL THEN count(*) OVER (PARTITION BY symbol, count(close) OVER (PARTITION BY symbol ORDER BY day) ORDER BY day) - CASE WHEN count(close) OVER (PARTITION BY symbol ORDER BY day) = 0 THEN 0 ELSE 1 END ELSE 0 END AS days FROM prices;

-- local peaks
SELECT id, close > max(close) OVER (PARTITION BY symbol ORDER BY day ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AND close > max(close) OVER (PARTITION BY symbol ORDER BY day ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING) AS peak FROM prices;

-- moving median against a spike (DuckDB)
SELECT id, median(close) OVER (PARTITION BY symbol ORDER BY day ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW) AS around FROM prices;

-- typical distance from the median (DuckDB)
SELECT id, mad(close) OVER (PARTITION BY symbol ORDER BY day ROWS 9 PRECEDING) AS mad FROM prices;

-- place of the close among the last ten (DuckDB)
SELECT id, rank(ORDER BY close DESC) OVER (PARTITION BY symbol ORDER BY day ROWS 9 PRECEDING) AS place FROM prices WHERE close IS NOT NULL;
