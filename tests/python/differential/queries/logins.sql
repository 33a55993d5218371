-- Days on which users came. logins(id, user_id, day, dayno, week): one row per user and day, dayno counts days.

-- gaps and islands: the first day of the run of days
SELECT id, min(day) OVER (PARTITION BY user_id, dayno - row_number() OVER (PARTITION BY user_id ORDER BY day)) AS since FROM logins;

-- length of the run of days so far
SELECT id, row_number() OVER (PARTITION BY user_id, dayno - row_number() OVER (PARTITION BY user_id ORDER BY day) ORDER BY day) AS streak FROM logins;

-- length of the whole run
SELECT id, count(*) OVER (PARTITION BY user_id, dayno - row_number() OVER (PARTITION BY user_id ORDER BY day)) AS streak FROM logins;

-- longest run of days of each user
SELECT id, max(count(*) OVER (PARTITION BY user_id, dayno - row_number() OVER (PARTITION BY user_id ORDER BY day))) OVER (PARTITION BY user_id) AS longest FROM logins;

-- the runs, one row each
SELECT id, user_id, day FROM logins QUALIFY dayno - lag(dayno, 1, -1) OVER (PARTITION BY user_id ORDER BY day) > 1;

-- number of the run
SELECT id, sum(CASE WHEN dayno - lag(dayno, 1, -1) OVER (PARTITION BY user_id ORDER BY day) > 1 THEN 1 ELSE 0 END) OVER (PARTITION BY user_id ORDER BY day) AS run FROM logins;

-- days without a login before this one
SELECT id, dayno - lag(dayno) OVER (PARTITION BY user_id ORDER BY day) - 1 AS missed FROM logins;

-- does the user come again within seven days
SELECT id, lead(dayno) OVER (PARTITION BY user_id ORDER BY day) - dayno <= 7 AS again FROM logins;

-- came within the week before
SELECT id, count(*) OVER (PARTITION BY user_id ORDER BY day RANGE BETWEEN 7 PRECEDING AND 1 PRECEDING) > 0 AS came FROM logins;

-- days active of the last thirty
SELECT id, count(*) OVER (PARTITION BY user_id ORDER BY day RANGE BETWEEN INTERVAL '29' DAY PRECEDING AND CURRENT ROW) AS active FROM logins;

-- cohort: weeks since the first login
SELECT id, min(week) OVER (PARTITION BY user_id) AS cohort, week - min(week) OVER (PARTITION BY user_id) AS age FROM logins;

-- new users of a day, and users of the day
SELECT id, count(*) OVER (PARTITION BY day) AS users, count_if(dayno = first_day) OVER (PARTITION BY day) AS new FROM cohorts;

-- retention: share of the cohort that is here in this week
SELECT cohort, age, users, CAST(users AS DOUBLE) / first_value(users) OVER (PARTITION BY cohort ORDER BY age) AS kept FROM retention;

-- retention lost since the week before
SELECT cohort, age, users - lag(users) OVER (PARTITION BY cohort ORDER BY age) AS lost, min(users) OVER (PARTITION BY cohort ORDER BY age) AS low FROM retention;

-- the same age of the cohort before
SELECT cohort, age, users - lag(users) OVER (PARTITION BY age ORDER BY cohort) AS better FROM retention;

-- users who came on three days of the last five
SELECT id, user_id FROM logins QUALIFY count(*) OVER (PARTITION BY user_id ORDER BY dayno RANGE BETWEEN 4 PRECEDING AND CURRENT ROW) >= 3;

-- users who came back after two weeks
SELECT id, user_id FROM logins QUALIFY dayno - lag(dayno) OVER (PARTITION BY user_id ORDER BY day) > 14;

-- different users so far (DuckDB)
SELECT id, count(DISTINCT user_id) OVER (ORDER BY day) AS users FROM logins;

-- different users of the last seven days (DuckDB)
SELECT id, count(DISTINCT user_id) OVER (ORDER BY day RANGE BETWEEN INTERVAL '6' DAY PRECEDING AND CURRENT ROW) AS users FROM logins;

-- different users of the three days on which anyone came (DuckDB)
SELECT id, count(DISTINCT user_id) OVER (ORDER BY day GROUPS BETWEEN 2 PRECEDING AND CURRENT ROW) AS users FROM logins;

-- users of the days around, without this day (DuckDB)
SELECT id, count(*) OVER (ORDER BY day GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE GROUP) AS around FROM logins;

-- other users of the same day (DuckDB)
SELECT id, count(DISTINCT user_id) OVER (ORDER BY day GROUPS BETWEEN CURRENT ROW AND CURRENT ROW EXCLUDE CURRENT ROW) AS others FROM logins;
