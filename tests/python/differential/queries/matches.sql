-- A league. matches(id, team, season, round, goals, against, points, home): a row per team and match.

-- table of the season so far
SELECT id, sum(points) OVER w AS points, sum(goals - against) OVER w AS difference, count(*) OVER w AS played FROM matches WINDOW w AS (PARTITION BY season, team ORDER BY round);

-- place in the table after each round
SELECT id, rank() OVER (PARTITION BY season, round ORDER BY sum(points) OVER (PARTITION BY season, team ORDER BY round) DESC, sum(goals - against) OVER (PARTITION BY season, team ORDER BY round) DESC) AS place FROM matches;

-- place and the place before
SELECT id, place - lag(place) OVER (PARTITION BY season, team ORDER BY round) AS moved FROM places;

-- form: points of the last five
SELECT id, sum(points) OVER (PARTITION BY team ORDER BY season, round ROWS 4 PRECEDING) AS form FROM matches;

-- wins in a row
SELECT id, CASE WHEN points = 3 THEN row_number() OVER (PARTITION BY team, season, points = 3, count_if(points <> 3) OVER (PARTITION BY team, season ORDER BY round) ORDER BY round) ELSE 0 END AS wins FROM matches;

-- matches without a defeat
SELECT id, CASE WHEN points > 0 THEN count(*) OVER (PARTITION BY team, count_if(points = 0) OVER (PARTITION BY team ORDER BY season, round), points > 0 ORDER BY season, round) ELSE 0 END AS unbeaten FROM matches;

-- results as a text
SELECT id, listagg(CASE WHEN points = 3 THEN 'W' WHEN points = 1 THEN 'D' ELSE 'L' END) OVER (PARTITION BY season, team ORDER BY round ROWS 4 PRECEDING) AS form FROM matches;

-- goals at home and away
SELECT id, sum(goals) FILTER (WHERE home) OVER w AS home, sum(goals) FILTER (WHERE NOT home) OVER w AS away FROM matches WINDOW w AS (PARTITION BY season, team ORDER BY round);

-- highest scores of a round, ties and all
SELECT id, team, goals FROM matches QUALIFY rank() OVER (PARTITION BY season, round ORDER BY goals DESC) = 1;

-- best match of each team
SELECT id, team FROM matches QUALIFY row_number() OVER (PARTITION BY team ORDER BY goals - against DESC, goals DESC, id) = 1;

-- this season and the last
SELECT id, goals - lag(goals) OVER (PARTITION BY team, round ORDER BY season) AS more FROM matches;

-- goals in percent of the round's
SELECT id, 100.0D * goals / sum(goals) OVER (PARTITION BY season, round) AS percent FROM matches;

-- a round no worse than any before
SELECT id, goals >= max(goals) OVER (PARTITION BY team ORDER BY season, round ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS best FROM matches;

-- percent rank and distribution of goals
SELECT id, percent_rank() OVER (PARTITION BY season ORDER BY goals) AS p, cume_dist() OVER (PARTITION BY season ORDER BY goals) AS c FROM matches;

-- halves of the season
SELECT id, ntile(2) OVER (PARTITION BY season, team ORDER BY round) AS half FROM matches;

-- usual score
SELECT id, mode(goals, true) OVER (PARTITION BY team ORDER BY season, round ROWS 9 PRECEDING) AS usual FROM matches;

-- usual score, within the group
SELECT id, mode() WITHIN GROUP (ORDER BY goals) OVER (PARTITION BY team) AS low, mode() WITHIN GROUP (ORDER BY goals DESC) OVER (PARTITION BY team) AS high FROM matches;

-- spread of the goals
SELECT id, var_pop(goals) OVER w AS var, stddev(goals) OVER w AS std, variance(goals) OVER w AS sample FROM matches WINDOW w AS (PARTITION BY team ORDER BY season, round ROWS 9 PRECEDING);

-- first and second round's goals
SELECT id, nth_value(goals, 1) OVER w AS one, nth_value(goals, 2) OVER w AS two FROM matches WINDOW w AS (PARTITION BY season, team ORDER BY round);

-- matches against the mean of all others
SELECT id, goals - (sum(goals) OVER (PARTITION BY season, round) - goals) / (count(*) OVER (PARTITION BY season, round) - 1.0D) AS above FROM matches;

-- teams with more goals in the round (DuckDB)
SELECT id, count(*) OVER (PARTITION BY season, round ORDER BY goals DESC RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP) AS better FROM matches;

-- scores near by, in steps (DuckDB)
SELECT id, count(*) OVER (PARTITION BY season ORDER BY goals GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS near FROM matches;

-- ties of a row and the row (DuckDB)
SELECT id, count(*) OVER (PARTITION BY season ORDER BY goals GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) AS near FROM matches;

-- place by goals in the last ten (DuckDB)
SELECT id, row_number(ORDER BY goals DESC, id) OVER (PARTITION BY team ORDER BY season, round ROWS 9 PRECEDING) AS place FROM matches;
