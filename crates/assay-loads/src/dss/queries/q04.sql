-- Orders of a quarter with a line that came late, counted by priority.
SELECT o_orderpriority, count(*) AS order_count
FROM orders
WHERE o_orderdate >= date '{from}'
  AND o_orderdate < date '{to}'
  AND EXISTS (
      SELECT 1 FROM lineitem
      WHERE l_orderkey = o_orderkey AND l_receiptdate > l_commitdate)
GROUP BY o_orderpriority
ORDER BY o_orderpriority
