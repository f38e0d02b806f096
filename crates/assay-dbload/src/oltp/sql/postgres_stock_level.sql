SELECT count(DISTINCT s_i_id) FROM {s}.district, {s}.order_line, {s}.stock
WHERE d_w_id = $1 AND d_id = $2 AND ol_w_id = $1 AND ol_d_id = $2
    AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id
    AND s_w_id = $1 AND s_i_id = ol_i_id AND s_quantity < $3
