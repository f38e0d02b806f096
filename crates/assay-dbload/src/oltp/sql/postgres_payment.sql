CREATE FUNCTION {s}.pay(w int, d int, cw int, cd int, c int, name text, cents int,
    OUT customer_id int, OUT balance numeric)
LANGUAGE plpgsql AS $$
DECLARE
    amount numeric(6,2) := cents / 100.0; ids int[]; d_text varchar; w_text varchar;
BEGIN
    customer_id := c;
    IF name <> '' THEN
        ids := ARRAY(SELECT c_id FROM {s}.customer WHERE c_w_id = cw AND c_d_id = cd AND c_last = name ORDER BY c_first);
        customer_id := ids[(cardinality(ids) + 1) / 2];
    END IF;
    UPDATE {s}.customer SET
        c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount, c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC'
            THEN left(concat_ws(' ', customer_id, cd, cw, d, w, amount) || '|' || c_data, 500) ELSE c_data END
    WHERE c_w_id = cw AND c_d_id = cd AND c_id = customer_id
    RETURNING c_balance INTO balance;
    UPDATE {s}.district SET d_ytd = d_ytd + amount WHERE d_w_id = w AND d_id = d RETURNING d_name INTO d_text;
    UPDATE {s}.warehouse SET w_ytd = w_ytd + amount WHERE w_id = w RETURNING w_name INTO w_text;
    INSERT INTO {s}.history VALUES (customer_id, cd, cw, d, w, localtimestamp, amount, w_text || '    ' || d_text);
END $$;
