-- Suppliers of a nation who have more than half a year's sales of a part with a colour in its name.
SELECT s_name, s_address
FROM supplier, nation
WHERE n_nationkey = s_nationkey
  AND n_name = '{nation}'
  AND s_suppkey IN (
      SELECT ps_suppkey
      FROM partsupp
      WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE '{colour}%')
        AND ps_availqty > (
            SELECT 0.5 * sum(l_quantity)
            FROM lineitem
            WHERE l_partkey = ps_partkey
              AND l_suppkey = ps_suppkey
              AND l_shipdate >= date '{from}'
              AND l_shipdate < date '{to}'))
ORDER BY s_name
