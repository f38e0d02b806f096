//! The nine tables and their keys.
//!
//! Rows that are changed often have room in their block, so that a new version lies next to the old
//! one.

use super::functions;
use crate::load::{Calls, LoadTables, Procedure, RowOrigin, TableLayout};
use assay_loads::oltp::{OltpRules, OltpTable, fill_part, parts, rows_of};
use assay_loads::sink::{RowSink, TablePart};
use assay_model::load::LoadKind;

/// How large the tables are and how they are laid out.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaShape<'a> {
    /// The scale.
    pub rules: &'a OltpRules,
    /// Parts of the order lines by a hash of the warehouse; 0 for one table.
    pub partitions: u32,
    /// How transactions reach the server.
    pub calls: Calls,
}

/// Columns of a table, in the order in which rows are made.
const fn columns(table: OltpTable) -> &'static str {
    match table {
        OltpTable::Warehouse => {
            "w_id int, w_name varchar(10), w_street_1 varchar(20), w_street_2 varchar(20), w_city \
             varchar(20), w_state char(2), w_zip char(9), w_tax numeric(4,4), w_ytd numeric(12,2)"
        }
        OltpTable::District => {
            "d_id int, d_w_id int, d_name varchar(10), d_street_1 varchar(20), d_street_2 \
             varchar(20), d_city varchar(20), d_state char(2), d_zip char(9), d_tax numeric(4,4), \
             d_ytd numeric(12,2), d_next_o_id int"
        }
        OltpTable::Customer => {
            "c_id int, c_d_id int, c_w_id int, c_first varchar(16), c_middle char(2), c_last \
             varchar(16), c_street_1 varchar(20), c_street_2 varchar(20), c_city varchar(20), \
             c_state char(2), c_zip char(9), c_phone char(16), c_since timestamp, c_credit \
             char(2), c_credit_lim numeric(12,2), c_discount numeric(4,4), c_balance \
             numeric(12,2), c_ytd_payment numeric(12,2), c_payment_cnt int, c_delivery_cnt int, \
             c_data varchar(500)"
        }
        OltpTable::History => {
            "h_c_id int, h_c_d_id int, h_c_w_id int, h_d_id int, h_w_id int, h_date timestamp, \
             h_amount numeric(6,2), h_data varchar(24)"
        }
        OltpTable::NewOrder => "no_o_id int, no_d_id int, no_w_id int",
        OltpTable::Orders => {
            "o_id int, o_d_id int, o_w_id int, o_c_id int, o_entry_d timestamp, o_carrier_id int, \
             o_ol_cnt int, o_all_local int"
        }
        OltpTable::OrderLine => {
            "ol_o_id int, ol_d_id int, ol_w_id int, ol_number int, ol_i_id int, ol_supply_w_id \
             int, ol_delivery_d timestamp, ol_quantity int, ol_amount numeric(6,2), ol_dist_info \
             char(24)"
        }
        OltpTable::Item => {
            "i_id int, i_im_id int, i_name varchar(24), i_price numeric(5,2), i_data varchar(50)"
        }
        OltpTable::Stock => {
            "s_i_id int, s_w_id int, s_quantity int, s_dist_01 char(24), s_dist_02 char(24), \
             s_dist_03 char(24), s_dist_04 char(24), s_dist_05 char(24), s_dist_06 char(24), \
             s_dist_07 char(24), s_dist_08 char(24), s_dist_09 char(24), s_dist_10 char(24), s_ytd \
             int, s_order_cnt int, s_remote_cnt int, s_data varchar(50)"
        }
    }
}

/// The key, as columns; history has none.
const fn key(table: OltpTable) -> Option<&'static str> {
    match table {
        OltpTable::Warehouse => Some("w_id"),
        OltpTable::District => Some("d_w_id, d_id"),
        OltpTable::Customer => Some("c_w_id, c_d_id, c_id"),
        OltpTable::History => None,
        OltpTable::NewOrder => Some("no_w_id, no_d_id, no_o_id"),
        OltpTable::Orders => Some("o_w_id, o_d_id, o_id"),
        OltpTable::OrderLine => Some("ol_w_id, ol_d_id, ol_o_id, ol_number"),
        OltpTable::Item => Some("i_id"),
        OltpTable::Stock => Some("s_w_id, s_i_id"),
    }
}

/// A second index: customers by name, orders by customer.
const fn second_index(table: OltpTable) -> &'static [&'static str] {
    match table {
        OltpTable::Customer => &["c_w_id, c_d_id, c_last, c_first"],
        OltpTable::Orders => &["o_w_id, o_d_id, o_c_id, o_id"],
        _ => &[],
    }
}

/// Percent of a block that loading fills.
const fn filled_percent(table: OltpTable) -> u32 {
    match table {
        OltpTable::Warehouse | OltpTable::District => 10,
        OltpTable::Customer | OltpTable::Stock | OltpTable::OrderLine => 90,
        _ => 100,
    }
}

impl LoadTables for SchemaShape<'_> {
    type Table = OltpTable;

    fn kind(&self) -> LoadKind {
        LoadKind::Oltp
    }

    fn all(&self) -> Vec<OltpTable> {
        OltpTable::ALL.to_vec()
    }

    fn layout(&self, table: OltpTable) -> TableLayout {
        let is_cut = table == OltpTable::OrderLine && self.partitions > 0;
        let rows = rows_of(table, self.rules.warehouses);
        TableLayout {
            key: key(table),
            filled_percent: filled_percent(table),
            partitions: is_cut.then_some(("ol_w_id", self.partitions)),
            ..TableLayout::new(table.name(), columns(table), rows).with_indexes(second_index(table))
        }
    }

    fn knobs(&self) -> Vec<(&'static str, String)> {
        vec![
            ("warehouses", self.rules.warehouses.to_string()),
            ("partitions", self.partitions.to_string()),
        ]
    }

    fn make(&self, table: OltpTable, _part: TablePart, origin: RowOrigin, to: &mut dyn RowSink) {
        let rules = OltpRules { seed: origin.seed, ..self.rules.clone() };
        for part in parts(table, rules.warehouses) {
            fill_part(&rules, part, origin.loaded_us, to);
            if to.is_full() {
                return;
            }
        }
    }

    fn functions(&self, schema: &str, _loaded_us: i64) -> String {
        functions::create(schema)
    }

    fn procedures(&self, schema: &str) -> Vec<Procedure> {
        match self.calls {
            Calls::Functions => functions::procedures(schema),
            Calls::Statements => Vec::new(),
        }
    }
}
