-- People and what they earn. staff(id, name, dept, title, salary, hired, hired_year, boss, score).

-- rank by salary within the department
SELECT id, rank() OVER w AS r, dense_rank() OVER w AS d, row_number() OVER (PARTITION BY dept ORDER BY salary DESC, id) AS n FROM staff WINDOW w AS (PARTITION BY dept ORDER BY salary DESC);

-- second highest salary of each department
SELECT id, dept, salary FROM staff QUALIFY dense_rank() OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST) = 2;

-- the best paid two, and no tie more
SELECT id, dept FROM staff QUALIFY row_number() OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST, id) <= 2;

-- above the department's mean
SELECT id, salary - avg(salary) OVER (PARTITION BY dept) AS above FROM staff;

-- share of the payroll
SELECT id, CAST(salary AS DOUBLE) / sum(salary) OVER () AS of_all, CAST(salary AS DOUBLE) / sum(salary) OVER (PARTITION BY dept) AS of_dept FROM staff;

-- distance to the one paid next better
SELECT id, lead(salary) OVER (PARTITION BY dept ORDER BY salary, id) - salary AS gap FROM staff;

-- distance to the best paid
SELECT id, first_value(salary) OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST, id) - salary AS gap, first_value(name) OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST, id) AS best FROM staff;

-- the third best paid
SELECT id, nth_value(name, 3) OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS third FROM staff;

-- nulls at either end
SELECT id, row_number() OVER (ORDER BY salary NULLS LAST, id) AS last, row_number() OVER (ORDER BY salary DESC NULLS FIRST, id) AS first FROM staff;

-- deciles of the score
SELECT id, ntile(10) OVER (ORDER BY score, id) AS tenth FROM staff;

-- those who earn within 500 of one
SELECT id, count(*) OVER (PARTITION BY dept ORDER BY salary RANGE BETWEEN 500 PRECEDING AND 500 FOLLOWING) - 1 AS near FROM staff WHERE salary IS NOT NULL;

-- head count as people are hired
SELECT id, count(*) OVER (PARTITION BY dept ORDER BY hired, id ROWS UNBOUNDED PRECEDING) AS heads FROM staff;

-- who was hired in the year before the last
SELECT id, count(*) OVER (ORDER BY hired RANGE BETWEEN INTERVAL '2' YEAR PRECEDING AND INTERVAL '1' YEAR PRECEDING) AS recent FROM staff;

-- the one hired before
SELECT id, lag(name) OVER (PARTITION BY dept ORDER BY hired, id) AS senior FROM staff;

-- salaries when one was hired, oldest first
SELECT id, collect_list(salary) OVER (PARTITION BY dept ORDER BY hired, id ROWS 3 PRECEDING) AS salaries FROM staff;

-- spread of salaries
SELECT id, max(salary) OVER d - min(salary) OVER d AS span, stddev_pop(salary) OVER d AS spread, var_samp(salary) OVER d AS variance FROM staff WINDOW d AS (PARTITION BY dept);

-- by two keys
SELECT id, count(*) OVER (PARTITION BY dept, title) AS colleagues, min(salary) OVER (PARTITION BY dept, title) AS least FROM staff;

-- keys that are expressions
SELECT id, count(*) OVER (PARTITION BY salary >= 4000 ORDER BY hired, id) AS n FROM staff;

-- one boss, many people
SELECT id, boss, count(*) OVER (PARTITION BY boss) AS team, sum(salary) OVER (PARTITION BY boss) AS pay FROM staff;

-- names of the team, in their order
SELECT id, listagg(name, ', ') OVER (PARTITION BY boss ORDER BY name, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS team FROM staff;

-- names of the team, in their order, over the whole partition
SELECT id, listagg(name, ', ') WITHIN GROUP (ORDER BY name) OVER (PARTITION BY boss) AS team FROM staff;

-- salary at the ninth tenth, from above and from below
SELECT id, percentile_cont(0.9) WITHIN GROUP (ORDER BY salary) OVER (PARTITION BY dept) AS up, percentile_cont(0.9) WITHIN GROUP (ORDER BY salary DESC) OVER (PARTITION BY dept) AS down FROM staff;

-- a salary that is there
SELECT id, percentile_disc(0.5) WITHIN GROUP (ORDER BY salary) OVER (PARTITION BY dept) AS half FROM staff;

-- median so far, as people are hired (DuckDB)
SELECT id, median(salary) OVER (PARTITION BY dept ORDER BY hired, id ROWS UNBOUNDED PRECEDING) AS median FROM staff;

-- different titles so far (DuckDB)
SELECT id, count(DISTINCT title) OVER (PARTITION BY dept ORDER BY hired, id ROWS UNBOUNDED PRECEDING) AS titles FROM staff;

-- different salaries added up (DuckDB)
SELECT id, sum(DISTINCT salary) OVER (PARTITION BY dept) AS steps FROM staff;

-- titles without repetition (DuckDB)
SELECT id, string_agg(DISTINCT title, ', ' ORDER BY title) OVER (PARTITION BY dept) AS titles FROM staff;

-- mean of the others (DuckDB)
SELECT id, avg(salary) OVER (PARTITION BY dept ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS others FROM staff;

-- those of other salaries (DuckDB)
SELECT id, count(*) OVER (PARTITION BY dept ORDER BY salary GROUPS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP) AS others FROM staff;

-- best score among those hired so far, and whose (DuckDB)
SELECT id, first_value(name ORDER BY score DESC, id) OVER (PARTITION BY dept ORDER BY hired, id ROWS UNBOUNDED PRECEDING) AS best FROM staff;

-- place by score among those hired so far (DuckDB)
SELECT id, rank(ORDER BY score DESC) OVER (PARTITION BY dept ORDER BY hired, id ROWS UNBOUNDED PRECEDING) AS place, cume_dist(ORDER BY score) OVER (PARTITION BY dept ORDER BY hired, id ROWS UNBOUNDED PRECEDING) AS share FROM staff;

-- names by score (DuckDB)
SELECT id, array_agg(name ORDER BY score DESC, id) OVER (PARTITION BY dept) AS names FROM staff;

-- scores of the last three hired, from best to worst (DuckDB)
SELECT id, array_agg(score ORDER BY score DESC) OVER (PARTITION BY dept ORDER BY hired, id ROWS 2 PRECEDING) AS scores FROM staff;

-- the best two scores so far (DuckDB)
SELECT id, max_by(name, score, 2) OVER (PARTITION BY dept ORDER BY hired, id ROWS UNBOUNDED PRECEDING) AS best FROM staff;
