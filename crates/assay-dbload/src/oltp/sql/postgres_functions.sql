CREATE FUNCTION {s}.place_order(w int, d int, c int, supplies int[], items int[], quantities int[],
    OUT order_id int, OUT total numeric, OUT last_name varchar, OUT credit char(2))
LANGUAGE plpgsql AS $$
DECLARE
    discount numeric; tax numeric; district_tax numeric; lines_written int;
BEGIN
    SELECT c_discount, c_last, c_credit, w_tax INTO discount, last_name, credit, tax
    FROM {s}.customer, {s}.warehouse
    WHERE w_id = w AND c_w_id = w AND c_d_id = d AND c_id = c;
    UPDATE {s}.district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d
    RETURNING d_next_o_id - 1, d_tax INTO order_id, district_tax;
    INSERT INTO {s}.orders VALUES (order_id, d, w, c, localtimestamp, NULL, cardinality(items),
        CASE WHEN w = ALL (supplies) THEN 1 ELSE 0 END);
    INSERT INTO {s}.new_order VALUES (order_id, d, w);
    WITH changed AS (
        UPDATE {s}.stock SET
            s_quantity = CASE WHEN s_quantity >= l.quantity + 10 THEN s_quantity - l.quantity
                ELSE s_quantity - l.quantity + 91 END,
            s_ytd = s_ytd + l.quantity,
            s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + CASE WHEN l.supply = w THEN 0 ELSE 1 END
        FROM unnest(supplies, items, quantities) WITH ORDINALITY AS l(supply, item, quantity, place), {s}.item
        WHERE s_w_id = l.supply AND s_i_id = l.item AND i_id = l.item
        RETURNING l.place, l.item, l.supply, l.quantity, i_price * l.quantity AS amount, {text} AS info
    ), written AS (
        INSERT INTO {s}.order_line
        SELECT order_id, d, w, place, item, supply, NULL, quantity, amount, info FROM changed
        RETURNING ol_amount
    )
    SELECT count(*), sum(ol_amount) INTO lines_written, total FROM written;
    IF lines_written < cardinality(items) THEN
        RAISE EXCEPTION 'an unused item was ordered' USING ERRCODE = 'AS001';
    END IF;
    total := total * (1 - discount) * (1 + tax + district_tax);
END $$;
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
CREATE FUNCTION {s}.deliver(w int, carrier int, OUT delivered bigint) LANGUAGE plpgsql AS $$
BEGIN
    {deliver};
END $$;
CREATE FUNCTION {s}.low_stock(w int, d int, threshold int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN ({low});
END $$;
