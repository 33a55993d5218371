-- Bookings. bookings(id, account, day, month, kind, amount, note): amount is a decimal, note may be NULL.

-- balance
SELECT id, sum(amount) OVER (PARTITION BY account ORDER BY day, id ROWS UNBOUNDED PRECEDING) AS balance FROM bookings;

-- balance, oldest last
SELECT id, sum(amount) OVER (PARTITION BY account ORDER BY day DESC, id DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS balance FROM bookings;

-- lowest balance so far
SELECT id, min(sum(amount) OVER (PARTITION BY account ORDER BY day, id ROWS UNBOUNDED PRECEDING)) OVER (PARTITION BY account ORDER BY day, id) AS lowest FROM bookings;

-- balance at the end of the month
SELECT id, last_value(id) OVER (PARTITION BY account, month ORDER BY day, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) = id AS closing FROM bookings;

-- paid in and paid out of the month
SELECT id, sum(amount) FILTER (WHERE amount > 0) OVER (PARTITION BY account, month) AS paid_in, sum(amount) FILTER (WHERE amount < 0) OVER (PARTITION BY account, month) AS paid_out FROM bookings;

-- duplicates: the same account, day and amount
SELECT id, account FROM bookings QUALIFY count(*) OVER (PARTITION BY account, day, amount) > 1;

-- without duplicates: the first of them
SELECT id, account, day, amount FROM bookings QUALIFY row_number() OVER (PARTITION BY account, day, amount ORDER BY id) = 1;

-- the newest booking of each account
SELECT account, day, amount FROM bookings QUALIFY row_number() OVER (PARTITION BY account ORDER BY day DESC, id DESC) = 1;

-- amounts rounded by the mean of decimals
SELECT id, avg(amount) OVER (PARTITION BY account ORDER BY day, id ROWS 2 PRECEDING) AS mean FROM bookings;

-- amounts in the range of one another
SELECT id, count(*) OVER (PARTITION BY kind ORDER BY amount RANGE BETWEEN 50 PRECEDING AND 50 FOLLOWING) AS near, sum(amount) OVER (PARTITION BY kind ORDER BY amount DESC RANGE BETWEEN 12.5 PRECEDING AND CURRENT ROW) AS below FROM bookings;

-- the note last written
SELECT id, last_value(note) IGNORE NULLS OVER (PARTITION BY account ORDER BY day, id) AS note, count(note) OVER (PARTITION BY account ORDER BY day, id) AS notes FROM bookings;

-- notes, nulls and all
SELECT id, collect_list(note) OVER w AS notes, array_agg(note) OVER w AS others FROM bookings WINDOW w AS (PARTITION BY account ORDER BY day, id ROWS 3 PRECEDING);

-- the booking is unlike the three before
SELECT id, abs(amount) > 3 * avg(abs(amount)) OVER (PARTITION BY account ORDER BY day, id ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS strange FROM bookings;

-- same kind as the booking before
SELECT id, kind = lag(kind) OVER w AS same, kind = lead(kind) OVER w AS goes_on FROM bookings WINDOW w AS (PARTITION BY account ORDER BY day, id);

-- changed since the booking before, one row per change
SELECT id, account, kind FROM bookings QUALIFY kind <> lag(kind, 1, '') OVER (PARTITION BY account ORDER BY day, id);

-- interest runs on the balance of a month's days
SELECT id, avg(CAST(amount AS DOUBLE)) OVER (PARTITION BY account ORDER BY day RANGE BETWEEN INTERVAL '30' DAY PRECEDING AND INTERVAL '1' DAY PRECEDING) AS mean FROM bookings;

-- largest booking of the quarter before
SELECT id, max(amount) OVER (PARTITION BY account ORDER BY day RANGE BETWEEN INTERVAL '3' MONTH PRECEDING AND INTERVAL '1' MONTH PRECEDING) AS high FROM bookings;

-- sums that do not fit are NULL
SELECT id, try_sum(huge) OVER (ORDER BY id ROWS 1 PRECEDING) AS sum, try_avg(huge) OVER (ORDER BY id ROWS 1 PRECEDING) AS mean FROM huge;

-- sums that fit, though the running total would not
SELECT id, sum(huge) OVER (ORDER BY id ROWS CURRENT ROW) AS sum FROM huge;

-- top of the page, then the next page
SELECT id, amount FROM bookings QUALIFY row_number() OVER (ORDER BY amount DESC, id) BETWEEN 11 AND 20 ORDER BY amount DESC, id;

-- the first ten, by the window's own value
SELECT id, sum(amount) OVER (PARTITION BY account ORDER BY day, id ROWS UNBOUNDED PRECEDING) AS balance FROM bookings ORDER BY balance DESC, id LIMIT 10;

-- accounts by their last booking
SELECT account, kind, day FROM bookings QUALIFY row_number() OVER (PARTITION BY account, kind ORDER BY day DESC, id DESC) = 1 ORDER BY account DESC, kind;

-- quartiles so far
SELECT id, percentile(amount, 0.25) OVER w AS low, percentile(amount, 0.75) OVER w AS high FROM bookings WINDOW w AS (PARTITION BY account ORDER BY day, id);

-- approximate quartiles of the month
SELECT id, approx_percentile(amount, array(0.25, 0.5, 0.75), 1000) OVER (PARTITION BY month) AS quartiles FROM bookings;

-- how many kinds, about
SELECT id, approx_count_distinct(kind) OVER (PARTITION BY account ORDER BY day, id) AS kinds FROM bookings;

-- greatest and least amounts, three of each (DuckDB)
SELECT id, max_by(amount, amount, 3) OVER (PARTITION BY account ORDER BY day, id ROWS 9 PRECEDING) AS most, min_by(amount, amount, 3) OVER (PARTITION BY account ORDER BY day, id ROWS 9 PRECEDING) AS least FROM bookings;

-- notes once each (DuckDB)
SELECT id, string_agg(DISTINCT note, '; ' ORDER BY note) OVER (PARTITION BY account ORDER BY day, id) AS notes FROM bookings;

-- mean of the other bookings of the kind (DuckDB)
SELECT id, avg(CAST(amount AS DOUBLE)) OVER (PARTITION BY kind ORDER BY day, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS others FROM bookings;

-- entropy of the kinds (DuckDB)
SELECT id, entropy(kind) OVER (PARTITION BY account ORDER BY day, id) AS entropy FROM bookings;

-- product of the growth (DuckDB)
SELECT id, product(1 + CAST(amount AS DOUBLE) / 10000) OVER (PARTITION BY account ORDER BY day, id ROWS 5 PRECEDING) AS growth, geomean(abs(CAST(amount AS DOUBLE)) + 1) OVER (PARTITION BY account ORDER BY day, id ROWS 5 PRECEDING) AS mean FROM bookings;
