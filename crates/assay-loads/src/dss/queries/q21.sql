-- Suppliers of a nation who alone kept orders of several suppliers waiting.
SELECT s_name, count(*) AS numwait
FROM supplier, lineitem late, orders, nation
WHERE n_name = '{nation}'
  AND s_nationkey = n_nationkey
  AND late.l_suppkey = s_suppkey
  AND late.l_receiptdate > late.l_commitdate
  AND o_orderkey = late.l_orderkey
  AND o_orderstatus = 'F'
  AND EXISTS (
      SELECT 1 FROM lineitem other
      WHERE other.l_orderkey = late.l_orderkey AND other.l_suppkey <> late.l_suppkey)
  AND NOT EXISTS (
      SELECT 1 FROM lineitem other
      WHERE other.l_orderkey = late.l_orderkey
        AND other.l_suppkey <> late.l_suppkey
        AND other.l_receiptdate > other.l_commitdate)
GROUP BY s_name
ORDER BY numwait DESC, s_name
LIMIT 100
