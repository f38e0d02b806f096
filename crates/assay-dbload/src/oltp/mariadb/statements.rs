//! The statements of the order-entry load as MariaDB and MySQL understand them, written once for both ways to call: a value
//! stands as `:name`, which is a parameter of a prepared statement and a variable of a procedure.

use super::super::functions::{DISTRICT_TEXT, with_schema};

pub(super) const BUYER: &str = "SELECT c_discount, c_last, c_credit, w_tax, d_tax FROM {s}.warehouse \
    JOIN {s}.district ON d_w_id = w_id JOIN {s}.customer ON c_w_id = w_id AND c_d_id = d_id \
    WHERE w_id = :w AND d_id = :d AND c_id = :c";
/// The number of the order is remembered by the session, so that nobody reads the row a second time.
pub(super) const NEXT: &str = "UPDATE {s}.district SET d_next_o_id = LAST_INSERT_ID(d_next_o_id) + 1 \
    WHERE d_w_id = :w AND d_id = :d";
pub(super) const ORDER: &str =
    "INSERT INTO {s}.orders VALUES (:number, :d, :w, :c, NOW(6), NULL, :line_count, :is_local)";
pub(super) const NEW: &str = "INSERT INTO {s}.new_order VALUES (:number, :d, :w)";
/// Lines of an order as rows: a row of the text is a line's item, the warehouse that supplies it, and how many.
const ORDERED: &str = "JSON_TABLE(:wanted, '$[*]' COLUMNS (place FOR ORDINALITY, item int PATH '$[0]', \
    supply int PATH '$[1]', quantity int PATH '$[2]')) AS ordered";
/// All stocks of an order. Assignments take effect one after the other, so the quantity is the last that is looked at and the
/// first that is set.
pub(super) const SELL: &str = "UPDATE {ordered} STRAIGHT_JOIN {s}.stock ON s_w_id = supply AND s_i_id = item \
    SET s_quantity = CASE WHEN s_quantity >= quantity + 10 THEN s_quantity - quantity ELSE s_quantity - quantity + 91 END, \
    s_ytd = s_ytd + quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + (supply <> :w)";
/// All lines of an order; an item that nobody has makes none.
pub(super) const WRITE: &str = "INSERT INTO {s}.order_line \
    SELECT :number, :d, :w, place, item, supply, NULL, quantity, i_price * quantity, {text} \
    FROM {ordered} STRAIGHT_JOIN {s}.stock ON s_w_id = supply AND s_i_id = item STRAIGHT_JOIN {s}.item ON i_id = item";
/// What an order shows of its lines.
pub(super) const WRITTEN: &str = "SELECT ol_number, i_name, s_quantity, i_price, ol_amount, \
    i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' FROM {s}.order_line \
    STRAIGHT_JOIN {s}.stock ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id STRAIGHT_JOIN {s}.item ON i_id = ol_i_id \
    WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = :number";
pub(super) const NAMED: &str = "SELECT c_id FROM {s}.customer WHERE c_w_id = :cw AND c_d_id = :cd AND c_last = :name \
    ORDER BY c_first";
/// The text is put together before the balance changes; it does not look at it. Numbers of variables become text in the
/// letters of the session, which are not those of our database.
pub(super) const CHARGE: &str = "UPDATE {s}.customer SET c_data = CASE WHEN c_credit = 'BC' THEN \
    LEFT(CONCAT(CAST(CONCAT_WS(' ', c_id, c_d_id, c_w_id, :w, :d, :cents / 100) AS CHAR CHARACTER SET latin1), '|', c_data), 500) ELSE c_data END, \
    c_balance = c_balance - :cents / 100, c_ytd_payment = c_ytd_payment + :cents / 100, c_payment_cnt = c_payment_cnt + 1 \
    WHERE c_w_id = :cw AND c_d_id = :cd AND c_id = :customer";
pub(super) const DISTRICT: &str =
    "UPDATE {s}.district SET d_ytd = d_ytd + :cents / 100 WHERE d_w_id = :w AND d_id = :d";
pub(super) const WAREHOUSE: &str =
    "UPDATE {s}.warehouse SET w_ytd = w_ytd + :cents / 100 WHERE w_id = :w";
/// Comes behind the changes of both rows that it reads: who reads them first waits at some levels for others that do so, too.
pub(super) const HISTORY: &str = "INSERT INTO {s}.history \
    SELECT :customer, :cd, :cw, :d, :w, NOW(6), :cents / 100, CONCAT(w_name, '    ', d_name) \
    FROM {s}.warehouse JOIN {s}.district ON d_w_id = w_id WHERE w_id = :w AND d_id = :d";
/// What a payment shows.
pub(super) const PAID: &str = "SELECT w_name, d_name, c_first, c_middle, c_last, c_credit, c_balance, LEFT(c_data, 200) \
    FROM {s}.warehouse JOIN {s}.district ON d_w_id = w_id JOIN {s}.customer \
    WHERE w_id = :w AND d_id = :d AND c_w_id = :cw AND c_d_id = :cd AND c_id = :customer";
pub(super) const LAST: &str = "SELECT c_first, c_middle, c_last, c_balance, o_id, o_carrier_id, o_entry_d FROM {s}.customer \
    JOIN {s}.orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
    WHERE c_w_id = :cw AND c_d_id = :cd AND c_id = :customer ORDER BY o_id DESC LIMIT 1";
/// The same with the lines of that order: one look at all of them, so that no later order comes in between.
pub(super) const STATUS: &str = "SELECT c_first, c_middle, c_last, c_balance, o_id, o_carrier_id, o_entry_d, ol_i_id, \
    ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM {s}.customer \
    JOIN {s}.orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
    JOIN {s}.order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
    WHERE c_w_id = :cw AND c_d_id = :cd AND c_id = :customer AND o_id = \
    (SELECT MAX(o_id) FROM {s}.orders WHERE o_w_id = :cw AND o_d_id = :cd AND o_c_id = :customer)";
/// An order that another delivery holds is left to it.
pub(super) const OLDEST: &str = "SELECT no_o_id FROM {s}.new_order WHERE no_w_id = :w AND no_d_id = :d \
    ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED";
/// The oldest order of each district, with the district, for this number of districts.
pub(super) fn oldest_of_each(districts: u32) -> String {
    let one = format!("({})", OLDEST.replacen("no_o_id", "no_d_id, no_o_id", 1));
    (0..districts).map(|_| one.as_str()).collect::<Vec<_>>().join(" UNION ALL ")
}

/// Orders to be delivered as rows: a row of the text is a district and a number.
const DUE: &str =
    "JSON_TABLE(:due, '$[*]' COLUMNS (of_d int PATH '$[0]', of_o int PATH '$[1]')) AS old";
pub(super) const GONE: &str = "DELETE {s}.new_order FROM {due} STRAIGHT_JOIN {s}.new_order \
    WHERE no_w_id = :w AND no_d_id = of_d AND no_o_id = of_o";
pub(super) const CARRY: &str = "UPDATE {due} STRAIGHT_JOIN {s}.orders ON o_w_id = :w AND o_d_id = of_d AND o_id = of_o \
    SET o_carrier_id = :carrier";
pub(super) const DELIVER: &str = "UPDATE {due} STRAIGHT_JOIN {s}.order_line \
    ON ol_w_id = :w AND ol_d_id = of_d AND ol_o_id = of_o SET ol_delivery_d = NOW(6)";
pub(super) const CREDIT: &str = "UPDATE (SELECT of_d, o_c_id AS of_c, SUM(ol_amount) AS amount \
    FROM {due} STRAIGHT_JOIN {s}.orders ON o_w_id = :w AND o_d_id = of_d AND o_id = of_o \
    STRAIGHT_JOIN {s}.order_line ON ol_w_id = :w AND ol_d_id = of_d AND ol_o_id = of_o \
    GROUP BY of_d, o_c_id) AS sums \
    STRAIGHT_JOIN {s}.customer ON c_w_id = :w AND c_d_id = of_d AND c_id = of_c \
    SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1";
pub(super) const LOW: &str = "SELECT COUNT(DISTINCT s_i_id) FROM {s}.district \
    JOIN {s}.order_line ON ol_w_id = d_w_id AND ol_d_id = d_id AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id \
    JOIN {s}.stock ON s_w_id = d_w_id AND s_i_id = ol_i_id \
    WHERE d_w_id = :w AND d_id = :d AND s_quantity < :threshold";

/// A text with the parts that statements share.
fn whole(text: &str, schema: &str) -> String {
    let text = text.replace("{ordered}", ORDERED).replace("{due}", DUE);
    let text = text.replace("{text}", &DISTRICT_TEXT.replace("{d}", ":d"));
    with_schema(&text, schema)
}

/// Writes the names of values in another way.
fn with_values(text: &str, write: fn(&str) -> &str) -> String {
    let mut pieces = text.split(':');
    let mut sql = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
        let (name, rest) = piece.split_at(end.unwrap_or(piece.len()));
        sql.push_str(write(name));
        sql.push_str(rest);
    }
    sql
}

/// As a statement of the client: each value is a parameter, in the order in which they stand, but the number of an order, which
/// the session remembers.
pub(super) fn asked(text: &str, schema: &str) -> String {
    with_values(&whole(text, schema).replace(":number", "LAST_INSERT_ID()"), |_| "?")
}

/// As part of a procedure: each value is a variable.
pub(super) fn within(text: &str, schema: &str) -> String {
    with_values(&whole(text, schema), |name| name)
}

/// A search of one row that goes into variables.
pub(super) fn into(search: &str, variables: &str) -> String {
    search.replacen(" FROM ", &format!(" INTO {variables} FROM "), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_parameters_of_a_statement_and_variables_of_a_procedure() {
        assert_eq!(
            asked(NEW, "shop"),
            "INSERT INTO shop.new_order VALUES (LAST_INSERT_ID(), ?, ?)"
        );
        assert_eq!(within(NEW, "shop"), "INSERT INTO shop.new_order VALUES (number, d, w)");
        assert_eq!(asked("SELECT :line_count", "s"), "SELECT ?");
        assert!(within(SELL, "s").starts_with("UPDATE JSON_TABLE(wanted, '$[*]'"));
        assert_eq!(asked(SELL, "s").matches('?').count(), 2);
        assert!(asked(WRITE, "s").contains("CASE ? WHEN 1 THEN s_dist_01"));
        assert_eq!(into("SELECT a FROM b", "x"), "SELECT a INTO x FROM b");
    }
}
