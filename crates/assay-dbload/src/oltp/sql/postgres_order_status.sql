CREATE FUNCTION {s}.last_order(w int, d int, c int, name text,
    OUT customer_id int, OUT balance numeric, OUT order_id int, OUT carrier int, OUT order_lines int, OUT amount numeric)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    ids int[];
BEGIN
    customer_id := c;
    IF name <> '' THEN
        ids := ARRAY(SELECT c_id FROM {s}.customer WHERE c_w_id = w AND c_d_id = d AND c_last = name ORDER BY c_first);
        customer_id := ids[(cardinality(ids) + 1) / 2];
    END IF;
    SELECT c_balance INTO balance FROM {s}.customer WHERE c_w_id = w AND c_d_id = d AND c_id = customer_id;
    SELECT o_id, o_carrier_id INTO order_id, carrier FROM {s}.orders
    WHERE o_w_id = w AND o_d_id = d AND o_c_id = customer_id ORDER BY o_id DESC LIMIT 1;
    SELECT count(*), sum(ol_amount) INTO order_lines, amount FROM {s}.order_line
    WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = order_id;
END $$;
