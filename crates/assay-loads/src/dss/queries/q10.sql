-- The twenty customers who cost most by sending back what they ordered in a quarter.
SELECT c_custkey, c_name,
       sum(l_extendedprice * (1 - l_discount)) AS revenue,
       c_acctbal, n_name, c_address, c_phone, c_comment
FROM customer, orders, lineitem, nation
WHERE o_custkey = c_custkey
  AND l_orderkey = o_orderkey
  AND o_orderdate >= date '{from}'
  AND o_orderdate < date '{to}'
  AND l_returnflag = 'R'
  AND n_nationkey = c_nationkey
GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
ORDER BY revenue DESC
LIMIT 20
