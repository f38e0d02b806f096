-- The supplier who earned most in a quarter.
WITH revenue AS (
    SELECT l_suppkey AS supplier_no, sum(l_extendedprice * (1 - l_discount)) AS total_revenue
    FROM lineitem
    WHERE l_shipdate >= date '{from}'
      AND l_shipdate < date '{to}'
    GROUP BY l_suppkey)
SELECT s_suppkey, s_name, s_address, s_phone, total_revenue
FROM supplier, revenue
WHERE supplier_no = s_suppkey
  AND total_revenue = (SELECT max(total_revenue) FROM revenue)
ORDER BY s_suppkey
