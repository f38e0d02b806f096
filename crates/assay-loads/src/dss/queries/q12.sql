-- Lines that came late in a year by two modes of shipping: whether urgent orders suffered.
SELECT l_shipmode,
       sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high_line_count,
       sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 0 ELSE 1 END) AS low_line_count
FROM lineitem, orders
WHERE o_orderkey = l_orderkey
  AND l_shipmode IN ('{mode1}', '{mode2}')
  AND l_commitdate < l_receiptdate
  AND l_shipdate < l_commitdate
  AND l_receiptdate >= date '{from}'
  AND l_receiptdate < date '{to}'
GROUP BY l_shipmode
ORDER BY l_shipmode
