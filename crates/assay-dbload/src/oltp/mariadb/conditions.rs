//! The conditions of the data as statements that MariaDB and MySQL understand.

/// Order lines by order, and what was delivered to each customer and what each has paid, once for all conditions; ordinary
/// tables, because in some versions a statement can read a temporary one only once.
pub(super) const TABLES: [&str; 3] = [
    "DROP TABLE IF EXISTS {s}.assay_lines, {s}.assay_customers",
    "CREATE TABLE {s}.assay_lines (w INT, d INT, o INT, `lines` INT, delivered INT, amount DECIMAL(14,2), \
     PRIMARY KEY (w, d, o)) ENGINE = InnoDB AS \
     SELECT ol_w_id AS w, ol_d_id AS d, ol_o_id AS o, COUNT(*) AS `lines`, COUNT(ol_delivery_d) AS delivered, \
     SUM(CASE WHEN ol_delivery_d IS NOT NULL THEN ol_amount END) AS amount \
     FROM {s}.order_line GROUP BY ol_w_id, ol_d_id, ol_o_id",
    "CREATE TABLE {s}.assay_customers (w INT, d INT, c INT, balance DECIMAL(14,2), paid DECIMAL(14,2), \
     amount DECIMAL(14,2), received DECIMAL(14,2)) ENGINE = InnoDB AS \
     SELECT c_w_id AS w, c_d_id AS d, c_id AS c, c_balance AS balance, c_ytd_payment AS paid, \
     COALESCE(bought.amount, 0) AS amount, COALESCE(paid.received, 0) AS received FROM {s}.customer \
     LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(amount) AS amount FROM {s}.orders JOIN {s}.assay_lines \
         ON o_w_id = w AND o_d_id = d AND o_id = o GROUP BY o_w_id, o_d_id, o_c_id) AS bought \
         ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
     LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS received FROM {s}.history \
         GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS paid \
         ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id",
];

/// What each condition counts that breaks it.
pub(super) const CONDITIONS: [&str; 12] = [
    "SELECT COUNT(*) FROM {s}.warehouse JOIN (SELECT d_w_id, SUM(d_ytd) AS total FROM {s}.district GROUP BY d_w_id) AS d \
     ON d_w_id = w_id WHERE w_ytd <> total",
    "SELECT COUNT(*) FROM {s}.district \
     JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS last FROM {s}.orders GROUP BY o_w_id, o_d_id) AS o \
     ON o_w_id = d_w_id AND o_d_id = d_id \
     LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS last FROM {s}.new_order GROUP BY no_w_id, no_d_id) AS n \
     ON no_w_id = d_w_id AND no_d_id = d_id \
     WHERE d_next_o_id - 1 <> o.last OR d_next_o_id - 1 <> COALESCE(n.last, d_next_o_id - 1)",
    "SELECT COUNT(*) FROM (SELECT no_w_id FROM {s}.new_order GROUP BY no_w_id, no_d_id \
     HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) AS broken",
    // Sums over both sides: a side that lacks a district shows as a difference.
    "SELECT COUNT(*) FROM (SELECT w, d, SUM(said) AS said, SUM(found) AS found FROM ( \
     SELECT o_w_id AS w, o_d_id AS d, SUM(o_ol_cnt) AS said, 0 AS found FROM {s}.orders GROUP BY o_w_id, o_d_id UNION ALL \
     SELECT w, d, 0 AS said, SUM(`lines`) AS found FROM {s}.assay_lines GROUP BY w, d) AS sides GROUP BY w, d) AS both_sides \
     WHERE said <> found",
    "SELECT (SELECT COUNT(*) FROM {s}.orders LEFT JOIN {s}.new_order ON no_w_id = o_w_id AND no_d_id = o_d_id \
     AND no_o_id = o_id WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)) + \
     (SELECT COUNT(*) FROM {s}.new_order LEFT JOIN {s}.orders ON no_w_id = o_w_id AND no_d_id = o_d_id \
     AND no_o_id = o_id WHERE o_id IS NULL)",
    "SELECT (SELECT COUNT(*) FROM {s}.orders LEFT JOIN {s}.assay_lines ON w = o_w_id AND d = o_d_id AND o = o_id \
     WHERE NOT (o_ol_cnt <=> `lines`)) + \
     (SELECT COUNT(*) FROM {s}.assay_lines LEFT JOIN {s}.orders ON w = o_w_id AND d = o_d_id AND o = o_id \
     WHERE o_id IS NULL)",
    "SELECT COUNT(*) FROM {s}.orders JOIN {s}.assay_lines ON w = o_w_id AND d = o_d_id AND o = o_id \
     WHERE delivered <> CASE WHEN o_carrier_id IS NULL THEN 0 ELSE `lines` END",
    "SELECT COUNT(*) FROM {s}.warehouse JOIN (SELECT h_w_id, SUM(h_amount) AS total FROM {s}.history GROUP BY h_w_id) AS h \
     ON h_w_id = w_id WHERE w_ytd <> total",
    "SELECT COUNT(*) FROM {s}.district JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS total FROM {s}.history \
     GROUP BY h_w_id, h_d_id) AS h ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd <> total",
    "SELECT COUNT(*) FROM {s}.assay_customers WHERE balance <> amount - received",
    "SELECT COUNT(*) FROM (SELECT o_w_id, o_d_id, COUNT(*) AS orders FROM {s}.orders GROUP BY o_w_id, o_d_id) AS o \
     LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS fresh FROM {s}.new_order GROUP BY no_w_id, no_d_id) AS n \
     ON no_w_id = o_w_id AND no_d_id = o_d_id \
     JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS delivered FROM {s}.customer GROUP BY c_w_id, c_d_id) AS c \
     ON c_w_id = o_w_id AND c_d_id = o_d_id \
     WHERE orders - COALESCE(fresh, 0) <> 2100 + delivered",
    "SELECT COUNT(*) FROM {s}.assay_customers WHERE balance + paid <> amount",
];
