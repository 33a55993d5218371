-- Visits to a site. events(id, user_id, at, second, kind, page, device, spent): second is at as a whole number.

-- seconds since the event before
SELECT id, second - lag(second) OVER (PARTITION BY user_id ORDER BY second, id) AS gap FROM events;

-- seconds to the event after
SELECT id, lead(second) OVER (PARTITION BY user_id ORDER BY second, id) - second AS stay FROM events;

-- a session begins after half an hour of silence
SELECT id,
       CASE WHEN second - lag(second, 1, second - 9999) OVER w > 1800 THEN 1 ELSE 0 END AS begins
FROM events
WINDOW w AS (PARTITION BY user_id ORDER BY second, id);

-- number of the session, by a window over a window
SELECT id,
       sum(CASE WHEN second - lag(second, 1, second - 9999) OVER (PARTITION BY user_id ORDER BY second, id) > 1800
                THEN 1 ELSE 0 END)
         OVER (PARTITION BY user_id ORDER BY second, id) AS session
FROM events;

-- events of the half hour before
SELECT id, count(*) OVER (PARTITION BY user_id ORDER BY second RANGE BETWEEN 1800 PRECEDING AND CURRENT ROW) AS n FROM events;

-- events of the hour around
SELECT id, count(*) OVER (PARTITION BY user_id ORDER BY second RANGE BETWEEN 1800 PRECEDING AND 1800 FOLLOWING) AS n FROM events;

-- the hour before, by the clock
SELECT id, count(*) OVER (PARTITION BY user_id ORDER BY at RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS n FROM events;

-- first and last page of a user
SELECT id,
       first_value(page) OVER (PARTITION BY user_id ORDER BY second, id) AS landing,
       last_value(page) OVER (PARTITION BY user_id ORDER BY second, id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS leaving
FROM events;

-- the page before and the page after
SELECT id, lag(page, 1, 'none') OVER w AS before, lead(page, 1, 'none') OVER w AS after
FROM events WINDOW w AS (PARTITION BY user_id ORDER BY second, id);

-- pages seen so far, one after another
SELECT id, collect_list(page) OVER (PARTITION BY user_id ORDER BY second, id) AS path FROM events;

-- the last three pages as text
SELECT id, listagg(page, ' > ') OVER (PARTITION BY user_id ORDER BY second, id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS path FROM events;

-- the device last known
SELECT id, last_value(device) IGNORE NULLS OVER (PARTITION BY user_id ORDER BY second, id) AS device FROM events;

-- the device next known, where none is known yet
SELECT id, coalesce(last_value(device) IGNORE NULLS OVER w,
                    first_value(device) IGNORE NULLS OVER (PARTITION BY user_id ORDER BY second, id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)) AS device
FROM events WINDOW w AS (PARTITION BY user_id ORDER BY second, id);

-- the click before this purchase
SELECT id, max(second) FILTER (WHERE kind = 'click') OVER (PARTITION BY user_id ORDER BY second, id) AS clicked FROM events WHERE kind <> 'view';

-- clicks and purchases so far
SELECT id,
       count(*) FILTER (WHERE kind = 'click') OVER w AS clicks,
       count(*) FILTER (WHERE kind = 'buy') OVER w AS buys
FROM events WINDOW w AS (PARTITION BY user_id ORDER BY second, id);

-- has the user bought before
SELECT id, coalesce(bool_or(kind = 'buy') OVER (PARTITION BY user_id ORDER BY second, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), false) AS bought FROM events;

-- views since the last purchase
SELECT id, count_if(kind = 'view') OVER (PARTITION BY user_id, count_if(kind = 'buy') OVER (PARTITION BY user_id ORDER BY second, id) ORDER BY second, id) AS views FROM events;

-- the first event of each user
SELECT id, user_id, page FROM events QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY second, id) = 1;

-- the last event of each user and kind
SELECT id, user_id, kind FROM events QUALIFY row_number() OVER (PARTITION BY user_id, kind ORDER BY second DESC, id DESC) = 1;

-- money spent, running and in all
SELECT id, sum(spent) OVER (PARTITION BY user_id ORDER BY second, id ROWS UNBOUNDED PRECEDING) AS running, sum(spent) OVER (PARTITION BY user_id) AS total FROM events;

-- users seen so far (DuckDB)
SELECT id, count(DISTINCT user_id) OVER (ORDER BY second, id ROWS UNBOUNDED PRECEDING) AS users FROM events;

-- users of the last day (DuckDB)
SELECT id, count(DISTINCT user_id) OVER (ORDER BY second RANGE BETWEEN 86400 PRECEDING AND CURRENT ROW) AS users FROM events;

-- share of the user's events that are views, over the last five
SELECT id, avg(CASE WHEN kind = 'view' THEN 1.0D ELSE 0.0D END) OVER (PARTITION BY user_id ORDER BY second, id ROWS 4 PRECEDING) AS views FROM events;

-- the kind most usual of the last seven, the least of several
SELECT id, mode(kind, true) OVER (PARTITION BY user_id ORDER BY second, id ROWS 6 PRECEDING) AS usual FROM events;

-- different pages of the last five, without the current one (DuckDB)
SELECT id, count(DISTINCT page) OVER (PARTITION BY user_id ORDER BY second, id ROWS BETWEEN 5 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS pages FROM events;
