-- Profit on parts with a colour in their name, by nation of the supplier and year.
SELECT nation, o_year, sum(amount) AS sum_profit
FROM (
    SELECT n_name AS nation,
           extract(year FROM o_orderdate) AS o_year,
           l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
    FROM part, lineitem, partsupp, supplier, orders, nation
    WHERE p_name LIKE '%{colour}%'
      AND l_partkey = p_partkey
      AND ps_partkey = l_partkey
      AND ps_suppkey = l_suppkey
      AND s_suppkey = l_suppkey
      AND o_orderkey = l_orderkey
      AND n_nationkey = s_nationkey) profit
GROUP BY nation, o_year
ORDER BY nation, o_year DESC
