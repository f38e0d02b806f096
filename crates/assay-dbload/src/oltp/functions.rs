//! The five transactions as functions of the server: one call, one turn of the wire, one transaction.
//!
//! Source: TPC-C, clauses 2.4.2 to 2.8.2; the order of changes inside a transaction is free, so the rows that most
//! sessions want come last.

/// The code with which a new order is rolled back that names an unused item.
pub(super) const UNUSED_ITEM: &str = "AS001";

/// The part of a stock's text that belongs to a district.
pub(super) const DISTRICT_TEXT: &str = "CASE {d} WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 \
    WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 \
    WHEN 9 THEN s_dist_09 ELSE s_dist_10 END";

const NEW_ORDER: &str = "
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
END $$;";

const PAYMENT: &str = "
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
END $$;";

const ORDER_STATUS: &str = "
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
END $$;";

/// All districts in one statement; an order that another delivery holds is left to it.
pub(super) const DELIVER: &str = "
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
    SELECT count(*) FROM paid";

/// Items of the last 20 orders of a district whose stock is below a threshold.
pub(super) const STOCK_LEVEL: &str = "
    SELECT count(DISTINCT s_i_id) FROM {s}.district, {s}.order_line, {s}.stock
    WHERE d_w_id = $1 AND d_id = $2 AND ol_w_id = $1 AND ol_d_id = $2
        AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id
        AND s_w_id = $1 AND s_i_id = ol_i_id AND s_quantity < $3";

/// A function of one statement.
fn wrapped(name: &str, parameters: &str, statement: &str) -> String {
    format!(
        "CREATE FUNCTION {{s}}.{name}({parameters}) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN ({}); END $$;",
        statement.trim_start()
    )
}

/// A statement whose changes are part of a query cannot stand inside of an expression.
fn delivery() -> String {
    format!(
        "CREATE FUNCTION {{s}}.deliver(w int, carrier int, OUT delivered bigint) LANGUAGE plpgsql AS $$ BEGIN {} INTO delivered FROM paid; END $$;",
        DELIVER.replace("SELECT count(*) FROM paid", "SELECT count(*)")
    )
}

/// Creates all functions.
pub(super) fn create(schema: &str) -> String {
    let stock_level = wrapped("low_stock", "w int, d int, threshold int", STOCK_LEVEL);
    let all = [NEW_ORDER, PAYMENT, ORDER_STATUS, &delivery(), &stock_level].concat();
    with_schema(&all, schema).replace("{text}", &DISTRICT_TEXT.replace("{d}", "d"))
}

/// A statement on the tables of a schema.
pub(super) fn with_schema(sql: &str, schema: &str) -> String {
    sql.replace("{s}", schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_know_their_schema_and_their_code() {
        let all = create("shop");
        assert_eq!(all.matches("CREATE FUNCTION shop.").count(), 5);
        assert!(!all.contains("{s}") && !all.contains("{text}") && !all.contains("{d}"));
        assert!(all.contains(UNUSED_ITEM));
    }
}
