-- The ten orders of a market segment, not yet shipped on a day, that are worth most.
SELECT l_orderkey,
       sum(l_extendedprice * (1 - l_discount)) AS revenue,
       o_orderdate, o_shippriority
FROM customer, orders, lineitem
WHERE c_mktsegment = '{segment}'
  AND o_custkey = c_custkey
  AND l_orderkey = o_orderkey
  AND o_orderdate < date '{day}'
  AND l_shipdate > date '{day}'
GROUP BY l_orderkey, o_orderdate, o_shippriority
ORDER BY revenue DESC, o_orderdate
LIMIT 10
