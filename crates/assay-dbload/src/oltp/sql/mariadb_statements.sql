-- The statements of MariaDB and MySQL: all lines of an order are one value, and so are all orders of a delivery.

--: buyer(w, d, c)
SELECT c_discount, c_last, c_credit, w_tax, d_tax FROM {s}.warehouse
JOIN {s}.district ON d_w_id = w_id JOIN {s}.customer ON c_w_id = w_id AND c_d_id = d_id
WHERE w_id = :w AND d_id = :d AND c_id = :c;

-- The number of the order is remembered by the session, so that nobody reads the row a second time.
--: next(w, d)
UPDATE {s}.district SET d_next_o_id = LAST_INSERT_ID(d_next_o_id) + 1 WHERE d_w_id = :w AND d_id = :d;

-- All stocks of an order. Assignments take effect one after the other, so the quantity is the last that is looked at and the
-- first that is set.
--: sell(w, wanted text)
UPDATE {ordered} STRAIGHT_JOIN {s}.stock ON s_w_id = supply AND s_i_id = item
SET s_quantity = CASE WHEN s_quantity >= quantity + 10 THEN s_quantity - quantity ELSE s_quantity - quantity + 91 END,
    s_ytd = s_ytd + quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + (supply <> :w);

-- All lines of an order; an item that nobody has makes none.
--: write(w, d, wanted text)
INSERT INTO {s}.order_line
SELECT {number}, :d, :w, place, item, supply, NULL, quantity, i_price * quantity, {text}
FROM {ordered} STRAIGHT_JOIN {s}.stock ON s_w_id = supply AND s_i_id = item STRAIGHT_JOIN {s}.item ON i_id = item;

-- What an order shows of its lines.
--: written(w, d)
SELECT ol_number, i_name, s_quantity, i_price, ol_amount, i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%'
FROM {s}.order_line
STRAIGHT_JOIN {s}.stock ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id STRAIGHT_JOIN {s}.item ON i_id = ol_i_id
WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = {number};

-- Comes behind the changes of both rows that it reads: who reads them first waits at some levels for others that do so, too.
--: history(customer, cd, cw, d, w, cents)
INSERT INTO {s}.history
SELECT :customer, :cd, :cw, :d, :w, localtimestamp(6), :cents / 100.0, CONCAT(w_name, '    ', d_name)
FROM {s}.warehouse JOIN {s}.district ON d_w_id = w_id WHERE w_id = :w AND d_id = :d;

-- What a payment shows.
--: paid(w, d, cw, cd, customer)
SELECT w_name, d_name, c_first, c_middle, c_last, c_credit, c_balance, LEFT(c_data, 200)
FROM {s}.warehouse JOIN {s}.district ON d_w_id = w_id JOIN {s}.customer
WHERE w_id = :w AND d_id = :d AND c_w_id = :cw AND c_d_id = :cd AND c_id = :customer;

-- The last order with its lines: one look at all of them, so that no later order comes in between.
--: last(cw, cd, customer)
SELECT c_first, c_middle, c_last, c_balance, o_id, o_carrier_id, o_entry_d, ol_i_id, ol_supply_w_id, ol_quantity,
    ol_amount, ol_delivery_d FROM {s}.customer
JOIN {s}.orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
JOIN {s}.order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE c_w_id = :cw AND c_d_id = :cd AND c_id = :customer AND o_id =
    (SELECT MAX(o_id) FROM {s}.orders WHERE o_w_id = :cw AND o_d_id = :cd AND o_c_id = :customer);

-- The oldest order of each district, with the district; one that another delivery holds is left to it.
--: oldest(w)
(SELECT no_d_id, no_o_id FROM {s}.new_order WHERE no_w_id = :w AND no_d_id = 1
    ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED) UNION ALL
(SELECT no_d_id, no_o_id FROM {s}.new_order WHERE no_w_id = :w AND no_d_id = 2
    ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED) UNION ALL
(SELECT no_d_id, no_o_id FROM {s}.new_order WHERE no_w_id = :w AND no_d_id = 3
    ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED) UNION ALL
(SELECT no_d_id, no_o_id FROM {s}.new_order WHERE no_w_id = :w AND no_d_id = 4
    ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED) UNION ALL
(SELECT no_d_id, no_o_id FROM {s}.new_order WHERE no_w_id = :w AND no_d_id = 5
    ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED) UNION ALL
(SELECT no_d_id, no_o_id FROM {s}.new_order WHERE no_w_id = :w AND no_d_id = 6
    ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED) UNION ALL
(SELECT no_d_id, no_o_id FROM {s}.new_order WHERE no_w_id = :w AND no_d_id = 7
    ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED) UNION ALL
(SELECT no_d_id, no_o_id FROM {s}.new_order WHERE no_w_id = :w AND no_d_id = 8
    ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED) UNION ALL
(SELECT no_d_id, no_o_id FROM {s}.new_order WHERE no_w_id = :w AND no_d_id = 9
    ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED) UNION ALL
(SELECT no_d_id, no_o_id FROM {s}.new_order WHERE no_w_id = :w AND no_d_id = 10
    ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED);

--: gone(w, due text)
DELETE {s}.new_order FROM {due} STRAIGHT_JOIN {s}.new_order
WHERE no_w_id = :w AND no_d_id = of_d AND no_o_id = of_o;

--: carry(w, due text, carrier)
UPDATE {due} STRAIGHT_JOIN {s}.orders ON o_w_id = :w AND o_d_id = of_d AND o_id = of_o
SET o_carrier_id = :carrier;

--: delivered(w, due text)
UPDATE {due} STRAIGHT_JOIN {s}.order_line ON ol_w_id = :w AND ol_d_id = of_d AND ol_o_id = of_o
SET ol_delivery_d = localtimestamp(6);

--: credit(w, due text)
UPDATE (SELECT of_d, o_c_id AS of_c, SUM(ol_amount) AS amount
    FROM {due} STRAIGHT_JOIN {s}.orders ON o_w_id = :w AND o_d_id = of_d AND o_id = of_o
    STRAIGHT_JOIN {s}.order_line ON ol_w_id = :w AND ol_d_id = of_d AND ol_o_id = of_o
    GROUP BY of_d, o_c_id) AS sums
STRAIGHT_JOIN {s}.customer ON c_w_id = :w AND c_d_id = of_d AND c_id = of_c
SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1;
