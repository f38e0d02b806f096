-- The statements of PostgreSQL: an order is written line by line, and a delivery is one statement.

--: buyer(w, d, c)
SELECT cast(c_discount * 10000 AS bigint), c_last, c_credit, cast(w_tax * 10000 AS bigint)
FROM {s}.customer, {s}.warehouse
WHERE w_id = :w AND c_w_id = :w AND c_d_id = :d AND c_id = :c;

--: next(w, d)
UPDATE {s}.district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = :w AND d_id = :d
RETURNING d_next_o_id - 1, cast(d_tax * 10000 AS bigint);

--: item(item)
SELECT cast(i_price * 100 AS bigint), i_name, i_data FROM {s}.item WHERE i_id = :item;

--: stock(supply, item, quantity, is_remote, d)
UPDATE {s}.stock SET
    s_quantity = CASE WHEN s_quantity >= :quantity + 10 THEN s_quantity - :quantity ELSE s_quantity - :quantity + 91 END,
    s_ytd = s_ytd + :quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + :is_remote
WHERE s_w_id = :supply AND s_i_id = :item
RETURNING s_quantity, {text}, s_data;

--: line(number, d, w, place, item, supply, quantity, cents, info text)
INSERT INTO {s}.order_line
VALUES (:number, :d, :w, :place, :item, :supply, NULL, :quantity, :cents / 100.0, :info);

--: names(w, d)
SELECT w_name, d_name FROM {s}.warehouse, {s}.district WHERE w_id = :w AND d_w_id = :w AND d_id = :d;

--: history(customer, cd, cw, d, w, cents, names text)
INSERT INTO {s}.history VALUES (:customer, :cd, :cw, :d, :w, localtimestamp(6), :cents / 100.0, :names);

--: last(w, d, customer)
SELECT c_first, c_middle, c_last, cast(c_balance AS text), o_id, o_carrier_id, cast(o_entry_d AS text)
FROM {s}.customer, {s}.orders
WHERE c_w_id = :w AND c_d_id = :d AND c_id = :customer AND o_w_id = :w AND o_d_id = :d AND o_c_id = :customer
ORDER BY o_id DESC LIMIT 1;

--: lines(w, d, customer)
SELECT ol_i_id, ol_supply_w_id, ol_quantity, cast(ol_amount AS text), cast(ol_delivery_d AS text) FROM {s}.order_line
WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id =
    (SELECT o_id FROM {s}.orders WHERE o_w_id = :w AND o_d_id = :d AND o_c_id = :customer ORDER BY o_id DESC LIMIT 1);

-- All districts in one statement; an order that another delivery holds is left to it.
--: deliver(w, carrier)
WITH oldest AS (
    SELECT o.no_d_id, o.no_o_id
    FROM unnest(ARRAY[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) AS of_district(d),
        LATERAL (SELECT no_d_id, no_o_id FROM {s}.new_order WHERE no_w_id = :w AND no_d_id = of_district.d
            ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED) AS o
), gone AS (
    DELETE FROM {s}.new_order AS n USING oldest
    WHERE n.no_w_id = :w AND n.no_d_id = oldest.no_d_id AND n.no_o_id = oldest.no_o_id
    RETURNING n.no_d_id, n.no_o_id
), ordered AS (
    UPDATE {s}.orders SET o_carrier_id = :carrier FROM gone
    WHERE o_w_id = :w AND o_d_id = no_d_id AND o_id = no_o_id
    RETURNING o_d_id, o_id, o_c_id
), lines AS (
    UPDATE {s}.order_line SET ol_delivery_d = localtimestamp FROM gone
    WHERE ol_w_id = :w AND ol_d_id = no_d_id AND ol_o_id = no_o_id
    RETURNING ol_d_id, ol_amount
), sums AS (
    SELECT ol_d_id, sum(ol_amount) AS amount FROM lines GROUP BY ol_d_id
), paid AS (
    UPDATE {s}.customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1
    FROM ordered, sums
    WHERE c_w_id = :w AND c_d_id = o_d_id AND c_id = o_c_id AND ol_d_id = o_d_id
    RETURNING 1
)
SELECT count(*) {into} FROM paid;
