//! The nine tables on PostgreSQL and their keys.
//!
//! Rows that are changed often have room in their block, so that a new version lies beside the old one.

use assay_loads::oltp::Table;
use std::fmt::Write as _;

/// Where the tables are and how they are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Their schema.
    pub schema: String,
    /// Parts of the order lines by a hash of the warehouse; 0 for one table.
    pub partitions: u32,
}

/// Columns of a table, in the order in which rows are made.
const fn columns(table: Table) -> &'static str {
    match table {
        Table::Warehouse => {
            "w_id int, w_name varchar(10), w_street_1 varchar(20), w_street_2 varchar(20), w_city varchar(20), \
             w_state char(2), w_zip char(9), w_tax numeric(4,4), w_ytd numeric(12,2)"
        }
        Table::District => {
            "d_id int, d_w_id int, d_name varchar(10), d_street_1 varchar(20), d_street_2 varchar(20), \
             d_city varchar(20), d_state char(2), d_zip char(9), d_tax numeric(4,4), d_ytd numeric(12,2), d_next_o_id int"
        }
        Table::Customer => {
            "c_id int, c_d_id int, c_w_id int, c_first varchar(16), c_middle char(2), c_last varchar(16), \
             c_street_1 varchar(20), c_street_2 varchar(20), c_city varchar(20), c_state char(2), c_zip char(9), \
             c_phone char(16), c_since timestamp, c_credit char(2), c_credit_lim numeric(12,2), c_discount numeric(4,4), \
             c_balance numeric(12,2), c_ytd_payment numeric(12,2), c_payment_cnt int, c_delivery_cnt int, c_data varchar(500)"
        }
        Table::History => {
            "h_c_id int, h_c_d_id int, h_c_w_id int, h_d_id int, h_w_id int, h_date timestamp, h_amount numeric(6,2), \
             h_data varchar(24)"
        }
        Table::NewOrder => "no_o_id int, no_d_id int, no_w_id int",
        Table::Orders => {
            "o_id int, o_d_id int, o_w_id int, o_c_id int, o_entry_d timestamp, o_carrier_id int, o_ol_cnt int, \
             o_all_local int"
        }
        Table::OrderLine => {
            "ol_o_id int, ol_d_id int, ol_w_id int, ol_number int, ol_i_id int, ol_supply_w_id int, \
             ol_delivery_d timestamp, ol_quantity int, ol_amount numeric(6,2), ol_dist_info char(24)"
        }
        Table::Item => {
            "i_id int, i_im_id int, i_name varchar(24), i_price numeric(5,2), i_data varchar(50)"
        }
        Table::Stock => {
            "s_i_id int, s_w_id int, s_quantity int, s_dist_01 char(24), s_dist_02 char(24), s_dist_03 char(24), \
             s_dist_04 char(24), s_dist_05 char(24), s_dist_06 char(24), s_dist_07 char(24), s_dist_08 char(24), \
             s_dist_09 char(24), s_dist_10 char(24), s_ytd int, s_order_cnt int, s_remote_cnt int, s_data varchar(50)"
        }
    }
}

/// The key, as columns; history has none.
const fn key(table: Table) -> Option<&'static str> {
    match table {
        Table::Warehouse => Some("w_id"),
        Table::District => Some("d_w_id, d_id"),
        Table::Customer => Some("c_w_id, c_d_id, c_id"),
        Table::History => None,
        Table::NewOrder => Some("no_w_id, no_d_id, no_o_id"),
        Table::Orders => Some("o_w_id, o_d_id, o_id"),
        Table::OrderLine => Some("ol_w_id, ol_d_id, ol_o_id, ol_number"),
        Table::Item => Some("i_id"),
        Table::Stock => Some("s_w_id, s_i_id"),
    }
}

/// A second index: customers by name, orders by customer.
const fn second_index(table: Table) -> Option<&'static str> {
    match table {
        Table::Customer => Some("c_w_id, c_d_id, c_last, c_first"),
        Table::Orders => Some("o_w_id, o_d_id, o_c_id, o_id"),
        _ => None,
    }
}

/// Percent of a block that loading fills.
const fn filled_percent(table: Table) -> u32 {
    match table {
        Table::Warehouse | Table::District => 10,
        Table::Customer | Table::Stock | Table::OrderLine => 90,
        _ => 100,
    }
}

impl Shape {
    /// The name of a table with its schema.
    pub(super) fn name(&self, table: Table) -> String {
        format!("{}.{}", self.schema, table.name())
    }

    /// Creates a table.
    pub(super) fn create(&self, table: Table) -> String {
        let name = self.name(table);
        let columns = columns(table);
        let with = format!("WITH (fillfactor = {})", filled_percent(table));
        if table != Table::OrderLine || self.partitions == 0 {
            return format!("CREATE TABLE {name} ({columns}) {with}");
        }
        let mut sql = format!("CREATE TABLE {name} ({columns}) PARTITION BY HASH (ol_w_id);");
        for part in 0..self.partitions {
            let _ = write!(
                sql,
                "CREATE TABLE {name}_{part} PARTITION OF {name} FOR VALUES WITH (MODULUS {}, REMAINDER {part}) {with};",
                self.partitions
            );
        }
        sql
    }

    /// Takes rows in binary form; those of a table that was made in the same transaction need no second visit, which
    /// a partitioned one does not allow.
    pub(super) fn copy(&self, table: Table) -> String {
        let freeze = if table == Table::OrderLine && self.partitions > 0 { "" } else { ", FREEZE" };
        format!("COPY {} FROM STDIN (FORMAT binary{freeze})", self.name(table))
    }

    /// Creates keys and indexes.
    pub(super) fn indexes(&self, table: Table) -> Vec<String> {
        let name = self.name(table);
        let key = key(table).map(|key| format!("ALTER TABLE {name} ADD PRIMARY KEY ({key})"));
        let second = second_index(table)
            .map(|columns| format!("CREATE INDEX {}_by_other ON {name} ({columns})", table.name()));
        key.into_iter().chain(second).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_lines_are_one_table_or_parts_by_warehouse() {
        let whole = Shape { schema: "s".to_owned(), partitions: 0 };
        assert!(!whole.create(Table::OrderLine).contains("PARTITION"));
        assert!(whole.copy(Table::OrderLine).contains("FREEZE"));
        let parts = Shape { schema: "s".to_owned(), partitions: 4 };
        assert_eq!(parts.create(Table::OrderLine).matches("PARTITION OF").count(), 4);
        assert!(!parts.copy(Table::OrderLine).contains("FREEZE"));
        assert!(!parts.create(Table::Stock).contains("PARTITION"));
        assert_eq!(whole.indexes(Table::Customer).len(), 2);
        assert!(whole.indexes(Table::History).is_empty());
    }
}
