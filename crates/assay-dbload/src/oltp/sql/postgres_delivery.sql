WITH oldest AS (
    SELECT o.no_d_id, o.no_o_id
    FROM unnest(ARRAY[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) AS of_district(d),
        LATERAL (SELECT no_d_id, no_o_id FROM {s}.new_order WHERE no_w_id = $1 AND no_d_id = of_district.d
            ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED) AS o
), gone AS (
    DELETE FROM {s}.new_order AS n USING oldest
    WHERE n.no_w_id = $1 AND n.no_d_id = oldest.no_d_id AND n.no_o_id = oldest.no_o_id
    RETURNING n.no_d_id, n.no_o_id
), ordered AS (
    UPDATE {s}.orders SET o_carrier_id = $2 FROM gone
    WHERE o_w_id = $1 AND o_d_id = no_d_id AND o_id = no_o_id
    RETURNING o_d_id, o_id, o_c_id
), lines AS (
    UPDATE {s}.order_line SET ol_delivery_d = localtimestamp FROM gone
    WHERE ol_w_id = $1 AND ol_d_id = no_d_id AND ol_o_id = no_o_id
    RETURNING ol_d_id, ol_amount
), sums AS (
    SELECT ol_d_id, sum(ol_amount) AS amount FROM lines GROUP BY ol_d_id
), paid AS (
    UPDATE {s}.customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1
    FROM ordered, sums
    WHERE c_w_id = $1 AND c_d_id = o_d_id AND c_id = o_c_id AND ol_d_id = o_d_id
    RETURNING 1
)
SELECT count(*) FROM paid
