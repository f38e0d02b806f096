-- What nations of a region earned in a year by selling to customers of their own nation.
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM region, nation, supplier, lineitem, orders, customer
WHERE r_name = '{region}'
  AND n_regionkey = r_regionkey
  AND s_nationkey = n_nationkey
  AND c_nationkey = n_nationkey
  AND l_suppkey = s_suppkey
  AND o_orderkey = l_orderkey
  AND c_custkey = o_custkey
  AND o_orderdate >= date '{from}'
  AND o_orderdate < date '{to}'
GROUP BY n_name
ORDER BY revenue DESC
