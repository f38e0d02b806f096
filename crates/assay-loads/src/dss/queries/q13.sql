-- How many customers have how many orders, without those of a kind of comment.
SELECT c_count, count(*) AS custdist
FROM (
    SELECT c_custkey, count(o_orderkey) AS c_count
    FROM customer
    LEFT JOIN orders ON o_custkey = c_custkey AND o_comment NOT LIKE '%{word1}%{word2}%'
    GROUP BY c_custkey) orders_of
GROUP BY c_count
ORDER BY custdist DESC, c_count DESC
