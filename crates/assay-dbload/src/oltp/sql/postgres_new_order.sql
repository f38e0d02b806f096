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
