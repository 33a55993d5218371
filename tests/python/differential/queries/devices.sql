-- What a phone said it was. devices(id, mobile_no, day, idfa, imei, oaid, kind): ids are NULL where a day told none.

-- the newest id of each kind
SELECT mobile_no,
       first_value(idfa) IGNORE NULLS OVER w AS idfa,
       first_value(oaid) IGNORE NULLS OVER w AS oaid
FROM devices
WINDOW w AS (PARTITION BY mobile_no ORDER BY day DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
QUALIFY row_number() OVER (PARTITION BY mobile_no ORDER BY day DESC, id DESC) = 1;

-- the two newest IMEIs
SELECT mobile_no,
       nth_value(imei, 1) IGNORE NULLS OVER w AS newest,
       nth_value(imei, 2) IGNORE NULLS OVER w AS second
FROM devices
WINDOW w AS (PARTITION BY mobile_no ORDER BY day DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
QUALIFY row_number() OVER (PARTITION BY mobile_no ORDER BY day DESC, id DESC) = 1;

-- Android's ids only where the newest id is not Apple's
SELECT id, mobile_no,
       CASE WHEN max(day) FILTER (WHERE idfa IS NOT NULL) OVER w >= max(day) FILTER (WHERE imei IS NOT NULL OR oaid IS NOT NULL) OVER w
            THEN NULL ELSE first_value(imei) IGNORE NULLS OVER (PARTITION BY mobile_no ORDER BY day DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) END AS imei
FROM devices WINDOW w AS (PARTITION BY mobile_no);

-- ids as known on each day
SELECT id, last_value(idfa, true) OVER w AS idfa, last_value(imei, true) OVER w AS imei, last(oaid, true) OVER w AS oaid FROM devices WINDOW w AS (PARTITION BY mobile_no ORDER BY day, id);

-- a new phone: the id differs from the one known before
SELECT id, mobile_no FROM devices QUALIFY imei <> lag(imei) IGNORE NULLS OVER (PARTITION BY mobile_no ORDER BY day, id);

-- first told, last told
SELECT id, min(day) FILTER (WHERE imei IS NOT NULL) OVER w AS first_told, max(day) FILTER (WHERE imei IS NOT NULL) OVER w AS last_told FROM devices WINDOW w AS (PARTITION BY mobile_no);

-- ids told so far, in order
SELECT id, collect_list(imei) OVER (PARTITION BY mobile_no ORDER BY day, id) AS imeis FROM devices;

-- rows without an id since one was told
SELECT id, row_number() OVER (PARTITION BY mobile_no, count(idfa) OVER (PARTITION BY mobile_no ORDER BY day, id) ORDER BY day, id) - 1 AS silent FROM devices;

-- how full the columns are
SELECT id, count(idfa, imei) OVER w AS both, count(idfa) OVER w AS idfa, count(*) OVER w AS all_rows FROM devices WINDOW w AS (PARTITION BY mobile_no);

-- mobile numbers of more than one device
SELECT id FROM devices QUALIFY min(imei) OVER (PARTITION BY mobile_no) <> max(imei) OVER (PARTITION BY mobile_no);

-- one id, several numbers
SELECT id, min(mobile_no) OVER (PARTITION BY imei) AS owner, count(*) OVER (PARTITION BY imei) AS rows FROM devices WHERE imei IS NOT NULL;

-- any value is the first
SELECT id, any_value(imei) OVER w AS one, any_value(imei) IGNORE NULLS OVER w AS told FROM devices WINDOW w AS (PARTITION BY mobile_no ORDER BY day, id);

-- last but one
SELECT id, lag(imei, 1) OVER w AS before, lag(imei, 2, 'none') OVER w AS earlier, lead(imei, 0) OVER w AS here FROM devices WINDOW w AS (PARTITION BY mobile_no ORDER BY day, id);

-- different ids so far (DuckDB)
SELECT id, count(DISTINCT imei) OVER (PARTITION BY mobile_no ORDER BY day, id) AS imeis FROM devices;

-- different ids of the last five rows (DuckDB)
SELECT id, count(DISTINCT idfa) OVER w AS idfas, count(DISTINCT oaid) OVER w AS oaids FROM devices WINDOW w AS (PARTITION BY mobile_no ORDER BY day, id ROWS 4 PRECEDING);

-- newest ids first, once each (DuckDB)
SELECT id, array_agg(DISTINCT imei ORDER BY imei) FILTER (WHERE imei IS NOT NULL) OVER (PARTITION BY mobile_no) AS imeis FROM devices;
