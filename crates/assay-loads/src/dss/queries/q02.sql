-- For parts of a size and metal: who of a region supplies them at the lowest cost.
SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
FROM part, partsupp, supplier, nation, region
WHERE p_size = {size}
  AND p_type LIKE '%{metal}'
  AND ps_partkey = p_partkey
  AND s_suppkey = ps_suppkey
  AND n_nationkey = s_nationkey
  AND r_regionkey = n_regionkey
  AND r_name = '{region}'
  AND ps_supplycost = (
      SELECT min(other.ps_supplycost)
      FROM partsupp other, supplier s, nation n, region r
      WHERE other.ps_partkey = p_partkey
        AND s.s_suppkey = other.ps_suppkey
        AND n.n_nationkey = s.s_nationkey
        AND r.r_regionkey = n.n_regionkey
        AND r.r_name = '{region}')
ORDER BY s_acctbal DESC, n_name, s_name, p_partkey
LIMIT 100
