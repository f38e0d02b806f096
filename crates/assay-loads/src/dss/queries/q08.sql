-- The share of a nation in what a region bought of a type of part, in 1995 and in 1996.
SELECT o_year,
       sum(CASE WHEN nation = '{nation}' THEN volume ELSE 0 END) / sum(volume) AS mkt_share
FROM (
    SELECT extract(year FROM o_orderdate) AS o_year,
           l_extendedprice * (1 - l_discount) AS volume,
           seller.n_name AS nation
    FROM part, lineitem, supplier, orders, customer, nation buyer, nation seller, region
    WHERE p_type = '{type}'
      AND l_partkey = p_partkey
      AND s_suppkey = l_suppkey
      AND o_orderkey = l_orderkey
      AND c_custkey = o_custkey
      AND buyer.n_nationkey = c_nationkey
      AND r_regionkey = buyer.n_regionkey
      AND r_name = '{region}'
      AND seller.n_nationkey = s_nationkey
      AND o_orderdate BETWEEN date '1995-01-01' AND date '1996-12-31') sold
GROUP BY o_year
ORDER BY o_year
