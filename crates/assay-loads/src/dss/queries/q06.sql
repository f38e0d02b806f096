-- What would have been earned more in a year without discounts of about a size on small lines.
SELECT sum(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= date '{from}'
  AND l_shipdate < date '{to}'
  AND l_discount BETWEEN {discount} - 0.01 AND {discount} + 0.01
  AND l_quantity < {quantity}
