-- Orders of a shop. orders(id, customer, day, dayno, month, product, region, quantity, price, discount, returned).

-- running revenue of a region
SELECT id, sum(quantity * price) OVER (PARTITION BY region ORDER BY day, id ROWS UNBOUNDED PRECEDING) AS revenue FROM orders;

-- running revenue, days as one
SELECT id, sum(price) OVER (PARTITION BY region ORDER BY day) AS revenue FROM orders;

-- share of the region's revenue
SELECT id, CAST(price AS DOUBLE) / CAST(sum(price) OVER (PARTITION BY region) AS DOUBLE) AS share FROM orders;

-- dearest three orders of each region
SELECT id, region, price FROM orders QUALIFY rank() OVER (PARTITION BY region ORDER BY price DESC, id) <= 3;

-- cheapest order of each product, ties and all
SELECT id, product, price FROM orders QUALIFY rank() OVER (PARTITION BY product ORDER BY price) = 1;

-- prices in quarters
SELECT id, ntile(4) OVER (ORDER BY price, id) AS quarter FROM orders;

-- orders above their product's mean
SELECT id FROM orders QUALIFY price > avg(price) OVER (PARTITION BY product);

-- distance from the product's mean in standard deviations
SELECT id, (CAST(price AS DOUBLE) - avg(CAST(price AS DOUBLE)) OVER p) / stddev_samp(price) OVER p AS z FROM orders WINDOW p AS (PARTITION BY product);

-- days since the customer's order before
SELECT id, dayno - lag(dayno) OVER (PARTITION BY customer ORDER BY day, id) AS days FROM orders;

-- the customer's first order
SELECT id, min(day) OVER (PARTITION BY customer) AS since, day = min(day) OVER (PARTITION BY customer) AS new FROM orders;

-- orders of the last seven days, by the calendar
SELECT id, count(*) OVER (PARTITION BY region ORDER BY day RANGE BETWEEN 6 PRECEDING AND CURRENT ROW) AS orders, sum(quantity) OVER (PARTITION BY region ORDER BY day RANGE BETWEEN 6 PRECEDING AND CURRENT ROW) AS units FROM orders;

-- revenue of the last month, by the calendar
SELECT id, sum(price) OVER (PARTITION BY region ORDER BY day RANGE BETWEEN INTERVAL '1' MONTH PRECEDING AND CURRENT ROW) AS revenue FROM orders;

-- mean price of the last five orders
SELECT id, avg(price) OVER (PARTITION BY product ORDER BY day, id ROWS 4 PRECEDING) AS price FROM orders;

-- mean price of the last five orders that came to stay
SELECT id, avg(price) FILTER (WHERE NOT returned) OVER (PARTITION BY product ORDER BY day, id ROWS 4 PRECEDING) AS price FROM orders;

-- dearest order so far
SELECT id, max(price) OVER (PARTITION BY customer ORDER BY day, id) AS dearest, price = max(price) OVER (PARTITION BY customer ORDER BY day, id) AS record FROM orders;

-- what was dearest, and what was cheapest
SELECT id, max_by(product, price) OVER (PARTITION BY customer ORDER BY day, id) AS dear, min_by(product, price) OVER (PARTITION BY customer ORDER BY day, id) AS cheap FROM orders;

-- price of the product's order before, and what changed
SELECT id, lag(price) OVER w AS before, price - lag(price) OVER w AS change FROM orders WINDOW w AS (PARTITION BY product ORDER BY day, id);

-- revenue to come
SELECT id, sum(price) OVER (PARTITION BY region ORDER BY day, id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS ahead FROM orders;

-- place of the order in its region, from both ends
SELECT id, row_number() OVER (PARTITION BY region ORDER BY day, id) AS up, row_number() OVER (PARTITION BY region ORDER BY day DESC, id DESC) AS down, count(*) OVER (PARTITION BY region) AS of_all FROM orders;

-- rank of the customer's quantity
SELECT id, rank() OVER w AS place, dense_rank() OVER w AS step, percent_rank() OVER w AS share, cume_dist() OVER w AS upto FROM orders WINDOW w AS (PARTITION BY region ORDER BY quantity DESC);

-- median price of a product
SELECT id, median(price) OVER (PARTITION BY product) AS median FROM orders;

-- three quartiles of a product's price
SELECT id, percentile(price, array(0.25, 0.5, 0.75)) OVER (PARTITION BY product) AS quartiles FROM orders;

-- median of the last nine orders
SELECT id, percentile(price, 0.5) OVER (PARTITION BY region ORDER BY day, id ROWS 8 PRECEDING) AS median FROM orders;

-- ninth tenth of what was paid so far
SELECT id, percentile_approx(price, 0.9) OVER (PARTITION BY region ORDER BY day, id) AS high FROM orders;

-- month over month, without gaps in months
SELECT month, region, revenue, revenue - lag(revenue) OVER w AS change, round(100.0D * (revenue - lag(revenue) OVER w) / lag(revenue) OVER w, 3) AS percent FROM months WINDOW w AS (PARTITION BY region ORDER BY month);

-- year to date
SELECT month, region, sum(revenue) OVER (PARTITION BY region, year ORDER BY month) AS to_date FROM months;

-- the same month a year before
SELECT month, region, lag(revenue, 12) OVER (PARTITION BY region ORDER BY month) AS before FROM months;

-- moving mean of three months, centred
SELECT month, region, avg(revenue) OVER (PARTITION BY region ORDER BY month ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS smooth FROM months;

-- best month so far
SELECT month, region, max(revenue) OVER w AS best, max_by(month, revenue) OVER w AS best_month FROM months WINDOW w AS (PARTITION BY region ORDER BY month);

-- discounts that are known, and how many are not
SELECT id, count(discount) OVER w AS known, count(*) OVER w - count(discount) OVER w AS unknown, avg(discount) OVER w AS mean FROM orders WINDOW w AS (PARTITION BY region ORDER BY day, id ROWS 9 PRECEDING);

-- does the discount go with the quantity
SELECT id, corr(quantity, discount) OVER (PARTITION BY region) AS corr, regr_slope(quantity, discount) OVER (PARTITION BY region) AS slope FROM orders;

-- Pareto: share of the revenue of the orders up to this one
SELECT id, CAST(sum(price) OVER (ORDER BY price DESC, id ROWS UNBOUNDED PRECEDING) AS DOUBLE) / CAST(sum(price) OVER () AS DOUBLE) AS upto FROM orders;

-- orders that make four fifths of the revenue
SELECT id FROM orders QUALIFY CAST(sum(price) OVER (ORDER BY price DESC, id ROWS UNBOUNDED PRECEDING) AS DOUBLE) <= 0.8D * CAST(sum(price) OVER () AS DOUBLE);
