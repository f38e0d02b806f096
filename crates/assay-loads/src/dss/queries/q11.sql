-- Parts that are an important share of what the suppliers of a nation have in stock.
SELECT ps_partkey, sum(ps_supplycost * ps_availqty) AS value
FROM partsupp, supplier, nation
WHERE s_suppkey = ps_suppkey
  AND n_nationkey = s_nationkey
  AND n_name = '{nation}'
GROUP BY ps_partkey
HAVING sum(ps_supplycost * ps_availqty) > (
    SELECT sum(ps_supplycost * ps_availqty) * {fraction}
    FROM partsupp, supplier, nation
    WHERE s_suppkey = ps_suppkey
      AND n_nationkey = s_nationkey
      AND n_name = '{nation}')
ORDER BY value DESC
