-- The share of parts on promotion in what was earned in a month.
SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
       / sum(l_extendedprice * (1 - l_discount)) AS promo_revenue
FROM lineitem, part
WHERE p_partkey = l_partkey
  AND l_shipdate >= date '{from}'
  AND l_shipdate < date '{to}'
