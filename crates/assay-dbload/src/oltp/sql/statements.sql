-- The statements that products share.

--: order(number, d, w, c, line_count, is_local)
INSERT INTO {s}.orders VALUES ({number}, :d, :w, :c, localtimestamp(6), NULL, :line_count, :is_local);

--: new_order(number, d, w)
INSERT INTO {s}.new_order VALUES ({number}, :d, :w);

--: named(cw, cd, name text)
SELECT c_id FROM {s}.customer WHERE c_w_id = :cw AND c_d_id = :cd AND c_last = :name ORDER BY c_first;

-- The text is put together before the balance changes; it does not look at it.
--: charge(cw, cd, customer, cents, w, d)
UPDATE {s}.customer SET c_data = CASE WHEN c_credit = 'BC' THEN LEFT({history_note}, 500) ELSE c_data END,
    c_balance = c_balance - :cents / 100.0, c_ytd_payment = c_ytd_payment + :cents / 100.0,
    c_payment_cnt = c_payment_cnt + 1
WHERE c_w_id = :cw AND c_d_id = :cd AND c_id = :customer {shown};

--: district(cents, w, d)
UPDATE {s}.district SET d_ytd = d_ytd + :cents / 100.0 WHERE d_w_id = :w AND d_id = :d;

--: warehouse(cents, w)
UPDATE {s}.warehouse SET w_ytd = w_ytd + :cents / 100.0 WHERE w_id = :w;

-- Items of the last 20 orders of a district whose stock is below a threshold.
--: low(w, d, threshold)
SELECT COUNT(DISTINCT s_i_id) FROM {s}.district
JOIN {s}.order_line ON ol_w_id = d_w_id AND ol_d_id = d_id AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id
JOIN {s}.stock ON s_w_id = d_w_id AND s_i_id = ol_i_id
WHERE d_w_id = :w AND d_id = :d AND s_quantity < :threshold;
