-- What was shipped between two nations in 1995 and 1996, by direction and year.
SELECT supp_nation, cust_nation, l_year, sum(volume) AS revenue
FROM (
    SELECT seller.n_name AS supp_nation,
           buyer.n_name AS cust_nation,
           extract(year FROM l_shipdate) AS l_year,
           l_extendedprice * (1 - l_discount) AS volume
    FROM supplier, lineitem, orders, customer, nation seller, nation buyer
    WHERE l_suppkey = s_suppkey
      AND o_orderkey = l_orderkey
      AND c_custkey = o_custkey
      AND seller.n_nationkey = s_nationkey
      AND buyer.n_nationkey = c_nationkey
      AND ((seller.n_name = '{nation1}' AND buyer.n_name = '{nation2}')
        OR (seller.n_name = '{nation2}' AND buyer.n_name = '{nation1}'))
      AND l_shipdate BETWEEN date '1995-01-01' AND date '1996-12-31') shipping
GROUP BY supp_nation, cust_nation, l_year
ORDER BY supp_nation, cust_nation, l_year
