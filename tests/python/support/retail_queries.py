"""A small retail warehouse and queries with windows over it, in the manner of TPC-DS's fifteen that have windows.

The tables, the data and the texts are our own; what is kept of each query is its shape: what is joined and grouped
below the windows, and what is asked of their results.
"""

__all__ = ["QUERIES", "create_views"]

_TABLES = {
    "date_dim": (
        1095,
        "int(id) AS d_date_sk, date_add(date'1999-01-01', int(id)) AS d_date, "
        "year(date_add(date'1999-01-01', int(id))) AS d_year, month(date_add(date'1999-01-01', int(id))) AS d_moy, "
        "quarter(date_add(date'1999-01-01', int(id))) AS d_qoy, int(id div 30) AS d_month_seq",
    ),
    "item": (
        80,
        "int(id) AS i_item_sk, concat('item', id % 70) AS i_item_id, concat('about ', id) AS i_item_desc, "
        "element_at(array('Books', 'Home', 'Sports', NULL), int(id % 4) + 1) AS i_category, "
        "concat('class', id % 9) AS i_class, concat('brand', id % 7) AS i_brand, "
        "decimal(id * 37 % 900) / 10 AS i_current_price, int(id % 11) AS i_manufact_id, int(id % 13) AS i_manager_id, "
        "concat('product ', id % 75) AS i_product_name",
    ),
    "store": (
        7,
        "int(id) AS s_store_sk, concat('store', id % 6) AS s_store_name, concat('company', id % 2) AS s_company_name, "
        "element_at(array('TN', 'OH', 'GA'), int(id % 3) + 1) AS s_state, concat('county', id % 4) AS s_county",
    ),
    "call_center": (4, "int(id) AS cc_call_center_sk, concat('center', id) AS cc_name"),
}
_SALES = (
    "int(id * 7919 % 1095) AS {p}_sold_date_sk, int(id * 104729 % 80) AS {p}_item_sk, "
    "if(id % 29 = 0, NULL, int(id * 31 % 7)) AS {p}_store_sk, int(id * 13 % 4) AS {p}_call_center_sk, "
    "id % {orders} AS {p}_order_number, int(id * 17 % 20) AS {p}_quantity, "
    "cast(if(id % 23 = 0, NULL, id * 59 % 9999) / 100 AS decimal(7, 2)) AS {p}_sales_price, "
    "cast(id * 83 % 99999 / 100 AS decimal(7, 2)) AS {p}_ext_sales_price, "
    "cast(id * 43 % 9999 / 100 - 40 AS decimal(7, 2)) AS {p}_net_profit, "
    "cast(id * 47 % 9999 / 100 AS decimal(7, 2)) AS {p}_net_paid"
)
_RETURNS = (
    "int(id * 3 * 104729 % 80) AS {p}_item_sk, id * 3 % {orders} AS {p}_order_number, "
    "int(id % 6) AS {p}_return_quantity, cast(id * 61 % 9999 / 100 AS decimal(7, 2)) AS {p}_return_amount"
)


def create_views(spark):
    """Make the tables as temporary views; give their names."""
    tables = dict(_TABLES)
    for prefix, name, rows in (("ss", "store_sales", 6000), ("ws", "web_sales", 3000), ("cs", "catalog_sales", 4000)):
        tables[name] = (rows, _SALES.format(p=prefix, orders=rows // 3))
    for prefix, name, rows in (
        ("sr", "store_returns", 2000),
        ("wr", "web_returns", 1000),
        ("cr", "catalog_returns", 1300),
    ):
        tables[name] = (rows, _RETURNS.format(p=prefix, orders=rows))
    for name, (rows, columns) in tables.items():
        spark.sql(f"SELECT {columns} FROM range(0, {rows}, 1, 2)").createOrReplaceTempView(name)
    return list(tables)


def _share_of_class(p, sales):
    """Items' shares of the revenue of their classes (12, 20, 98)."""
    return f"""
        SELECT i_item_id, i_item_desc, i_category, i_class, i_current_price, sum({p}_ext_sales_price) AS revenue,
            sum({p}_ext_sales_price) * 100 / sum(sum({p}_ext_sales_price)) OVER (PARTITION BY i_class) AS share
        FROM {sales}, item, date_dim
        WHERE {p}_item_sk = i_item_sk AND i_category IN ('Sports', 'Books') AND {p}_sold_date_sk = d_date_sk
            AND d_date BETWEEN date'1999-02-22' AND date'1999-05-24'
        GROUP BY i_item_id, i_item_desc, i_category, i_class, i_current_price"""


def _deviation(period, by, p="ss"):
    """Sales of a period beside the average of all (53, 63, 89)."""
    keys = f"{by}, s_store_name" if by == "i_brand" else by
    return f"""
        SELECT * FROM (
            SELECT {keys}, {period}, sum(ss_sales_price) AS sales,
                avg(sum(ss_sales_price)) OVER (PARTITION BY {keys}) AS usual
            FROM item, store_sales, date_dim, store
            WHERE ss_item_sk = i_item_sk AND ss_sold_date_sk = d_date_sk AND ss_store_sk = s_store_sk
                AND d_year = 2000 AND i_category IN ('Books', 'Home')
            GROUP BY {keys}, {period})
        WHERE CASE WHEN usual > 0 THEN abs(sales - usual) / usual ELSE NULL END > 0.1"""


def _neighbouring_months(p, sales, place, name, joined):
    """Months far from the year's average, with the months before and after (47, 57)."""
    return f"""
        WITH v1 AS (
            SELECT i_category, i_brand, {name}, d_year, d_moy, sum({p}_sales_price) AS sales,
                avg(sum({p}_sales_price)) OVER (PARTITION BY i_category, i_brand, {name}, d_year) AS usual,
                rank() OVER (PARTITION BY i_category, i_brand, {name} ORDER BY d_year, d_moy) AS rn
            FROM item, {sales}, date_dim, {place}
            WHERE {p}_item_sk = i_item_sk AND {p}_sold_date_sk = d_date_sk AND {joined} AND d_year IN (1999, 2000)
            GROUP BY i_category, i_brand, {name}, d_year, d_moy)
        SELECT a.*, b.sales AS before, c.sales AS after
        FROM v1 a JOIN v1 b ON a.i_category = b.i_category AND a.i_brand = b.i_brand AND a.{name} = b.{name}
                AND a.rn = b.rn + 1
            JOIN v1 c ON a.i_category = c.i_category AND a.i_brand = c.i_brand AND a.{name} = c.{name}
                AND a.rn = c.rn - 1
        WHERE a.d_year = 2000 AND a.usual > 0 AND abs(a.sales - a.usual) / a.usual > 0.1"""


def _return_ratio(sales, p, returns, r):
    return f"""
        SELECT '{sales}' AS channel, item, return_ratio, return_rank, currency_rank FROM (
            SELECT item, return_ratio, currency_ratio, rank() OVER (ORDER BY return_ratio) AS return_rank,
                rank() OVER (ORDER BY currency_ratio) AS currency_rank
            FROM (
                SELECT {p}_item_sk AS item,
                    cast(sum(coalesce({r}_return_quantity, 0)) AS decimal(15, 4))
                        / cast(sum({p}_quantity) AS decimal(15, 4)) AS return_ratio,
                    cast(sum(coalesce({r}_return_amount, 0)) AS decimal(15, 4))
                        / cast(sum({p}_net_paid) AS decimal(15, 4)) AS currency_ratio
                FROM {sales} LEFT JOIN {returns} ON {p}_order_number = {r}_order_number AND {p}_item_sk = {r}_item_sk
                WHERE {p}_quantity > 0 AND {p}_net_paid > 1
                GROUP BY {p}_item_sk))
        WHERE return_rank <= 10 OR currency_rank <= 10"""


def _cumulative(p, sales):
    return f"""
        SELECT {p}_item_sk AS item_sk, d_date,
            sum(sum({p}_sales_price)) OVER (PARTITION BY {p}_item_sk ORDER BY d_date
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total
        FROM {sales}, date_dim WHERE {p}_sold_date_sk = d_date_sk AND d_month_seq BETWEEN 12 AND 23
        GROUP BY {p}_item_sk, d_date"""


QUERIES = {
    "12": _share_of_class("ws", "web_sales"),
    "20": _share_of_class("cs", "catalog_sales"),
    "98": _share_of_class("ss", "store_sales"),
    "36": """
        SELECT sum(ss_net_profit) / sum(ss_ext_sales_price) AS margin, i_category, i_class,
            grouping(i_category) + grouping(i_class) AS level,
            rank() OVER (
                PARTITION BY grouping(i_category) + grouping(i_class),
                    CASE WHEN grouping(i_class) = 0 THEN i_category END
                ORDER BY sum(ss_net_profit) / sum(ss_ext_sales_price)) AS place
        FROM store_sales, date_dim, item, store
        WHERE d_year = 2001 AND d_date_sk = ss_sold_date_sk AND i_item_sk = ss_item_sk AND s_store_sk = ss_store_sk
        GROUP BY ROLLUP (i_category, i_class)""",
    "44": """
        SELECT best.rnk, i1.i_product_name AS best_product, i2.i_product_name AS worst_product
        FROM (SELECT * FROM (SELECT item_sk, rank() OVER (ORDER BY rank_col) AS rnk FROM (
                SELECT ss_item_sk AS item_sk, avg(ss_net_profit) AS rank_col FROM store_sales WHERE ss_store_sk = 4
                GROUP BY ss_item_sk
                HAVING avg(ss_net_profit) > 0.9 * (SELECT avg(ss_net_profit) FROM store_sales WHERE ss_store_sk = 4)))
            WHERE rnk < 11) best
        JOIN (SELECT * FROM (SELECT item_sk, rank() OVER (ORDER BY rank_col DESC) AS rnk FROM (
                SELECT ss_item_sk AS item_sk, avg(ss_net_profit) AS rank_col FROM store_sales WHERE ss_store_sk = 4
                GROUP BY ss_item_sk))
            WHERE rnk < 11) worst ON best.rnk = worst.rnk
        JOIN item i1 ON i1.i_item_sk = best.item_sk JOIN item i2 ON i2.i_item_sk = worst.item_sk""",
    "47": _neighbouring_months("ss", "store_sales", "store", "s_store_name", "ss_store_sk = s_store_sk"),
    "57": _neighbouring_months("cs", "catalog_sales", "call_center", "cc_name", "cs_call_center_sk=cc_call_center_sk"),
    "49": " UNION ".join([
        _return_ratio("web_sales", "ws", "web_returns", "wr"),
        _return_ratio("catalog_sales", "cs", "catalog_returns", "cr"),
        _return_ratio("store_sales", "ss", "store_returns", "sr"),
    ]),
    "51": f"""
        SELECT * FROM (
            SELECT item_sk, d_date, web_sales, store_sales,
                max(web_sales) OVER (PARTITION BY item_sk ORDER BY d_date
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS web_cumulative,
                max(store_sales) OVER (PARTITION BY item_sk ORDER BY d_date
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS store_cumulative
            FROM (
                SELECT coalesce(web.item_sk, store.item_sk) AS item_sk, coalesce(web.d_date, store.d_date) AS d_date,
                    web.total AS web_sales, store.total AS store_sales
                FROM ({_cumulative("ws", "web_sales")}) web FULL OUTER JOIN ({_cumulative("ss", "store_sales")}) store
                    ON web.item_sk = store.item_sk AND web.d_date = store.d_date))
        WHERE web_cumulative < store_cumulative""",
    "53": _deviation("d_qoy", "i_manufact_id"),
    "63": _deviation("d_moy", "i_manager_id"),
    "89": _deviation("d_moy", "i_brand"),
    "67": """
        SELECT * FROM (
            SELECT i_category, i_class, i_brand, d_year, d_qoy, s_store_name, sumsales,
                rank() OVER (PARTITION BY i_category ORDER BY sumsales DESC) AS rk
            FROM (
                SELECT i_category, i_class, i_brand, d_year, d_qoy, s_store_name,
                    sum(coalesce(ss_sales_price * ss_quantity, 0)) AS sumsales
                FROM store_sales, date_dim, store, item
                WHERE ss_sold_date_sk = d_date_sk AND ss_item_sk = i_item_sk AND ss_store_sk = s_store_sk
                    AND d_month_seq BETWEEN 12 AND 23
                GROUP BY ROLLUP (i_category, i_class, i_brand, d_year, d_qoy, s_store_name)))
        WHERE rk <= 100""",
    "70": """
        SELECT sum(ss_net_profit) AS total, s_state, s_county, grouping(s_state) + grouping(s_county) AS level,
            rank() OVER (
                PARTITION BY grouping(s_state) + grouping(s_county), CASE WHEN grouping(s_county) = 0 THEN s_state END
                ORDER BY sum(ss_net_profit) DESC) AS place
        FROM store_sales, date_dim, store
        WHERE d_month_seq BETWEEN 12 AND 23 AND d_date_sk = ss_sold_date_sk AND s_store_sk = ss_store_sk
            AND s_state IN (
                SELECT s_state FROM (
                    SELECT s_state, rank() OVER (PARTITION BY s_state ORDER BY sum(ss_net_profit) DESC) AS ranking
                    FROM store_sales, store, date_dim
                    WHERE d_month_seq BETWEEN 12 AND 23 AND d_date_sk = ss_sold_date_sk AND s_store_sk = ss_store_sk
                    GROUP BY s_state)
                WHERE ranking <= 5)
        GROUP BY ROLLUP (s_state, s_county)""",
    "86": """
        SELECT sum(ws_net_paid) AS total, i_category, i_class, grouping(i_category) + grouping(i_class) AS level,
            rank() OVER (
                PARTITION BY grouping(i_category) + grouping(i_class),
                    CASE WHEN grouping(i_class) = 0 THEN i_category END
                ORDER BY sum(ws_net_paid) DESC) AS place
        FROM web_sales, date_dim, item
        WHERE d_month_seq BETWEEN 12 AND 23 AND d_date_sk = ws_sold_date_sk AND i_item_sk = ws_item_sk
        GROUP BY ROLLUP (i_category, i_class)""",
}  # fmt: skip
