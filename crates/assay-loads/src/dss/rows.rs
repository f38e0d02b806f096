//! The rows of every table, one after the other, whole or in parts: nothing is held but the row at
//! hand.

use super::{DssScale, DssTable};
use crate::sink::{RowSink, TablePart};
use std::fmt::{Display, Write};
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order,
    OrderGenerator, Part as PartRow, PartGenerator, PartSupp, PartSuppGenerator, Region,
    RegionGenerator, Supplier, SupplierGenerator,
};
use tpchgen::text::TextPool;

/// Makes the 300 MiB of text that all comments are cut out of, once for the whole program; it takes
/// a second or two and else happens with the first row.
pub fn prepare_texts() {
    TextPool::get_or_init_default();
}

/// Makes the rows of a part of a table, in the order of their keys; `rekey` changes keys of orders.
pub fn put_rows<S: RowSink + ?Sized>(
    table: DssTable,
    scale: DssScale,
    part: TablePart,
    rekey: impl Fn(i64) -> i64,
    to: &mut S,
) {
    let (factor, TablePart { number, of }) = (scale.factor(), part);
    let mut word = String::new();
    match table {
        DssTable::Region => each(table, RegionGenerator::new(factor, number, of), to, |row, to| {
            put_region(&row, to);
        }),
        DssTable::Nation => each(table, NationGenerator::new(factor, number, of), to, |row, to| {
            put_nation(&row, to);
        }),
        DssTable::Supplier => {
            each(table, SupplierGenerator::new(factor, number, of), to, |row, to| {
                put_supplier(&row, &mut word, to);
            });
        }
        DssTable::Part => each(table, PartGenerator::new(factor, number, of), to, |row, to| {
            put_part(&row, &mut word, to);
        }),
        DssTable::PartSupp => {
            each(table, PartSuppGenerator::new(factor, number, of), to, |row, to| {
                put_part_supp(&row, to);
            });
        }
        DssTable::Customer => {
            each(table, CustomerGenerator::new(factor, number, of), to, |row, to| {
                put_customer(&row, &mut word, to);
            });
        }
        DssTable::Orders => each(table, OrderGenerator::new(factor, number, of), to, |row, to| {
            put_order(&row, rekey(row.o_orderkey), &mut word, to);
        }),
        DssTable::LineItem => {
            each(table, LineItemGenerator::new(factor, number, of), to, |row, to| {
                put_line(&row, rekey(row.l_orderkey), to);
            });
        }
    }
}

/// Gives row after row until no more are there or wanted.
fn each<R, S: RowSink + ?Sized>(
    table: DssTable,
    rows: impl IntoIterator<Item = R>,
    to: &mut S,
    mut put: impl FnMut(R, &mut S),
) {
    let columns = u16::try_from(table.columns().len()).unwrap_or(0);
    for row in rows {
        to.row(columns);
        put(row, to);
        if to.is_full() {
            return;
        }
    }
}

/// A text that the generator has not in one piece.
fn worded<S: RowSink + ?Sized>(value: &impl Display, word: &mut String, to: &mut S) {
    word.clear();
    // Writing into a text cannot fail.
    let _ = write!(word, "{value}");
    to.text(word.as_bytes());
}

/// Keys of nations and regions, and sizes, are below a thousand.
fn small(value: i64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn put_region<S: RowSink + ?Sized>(row: &Region<'_>, to: &mut S) {
    to.integer(small(row.r_regionkey));
    to.text(row.r_name.as_bytes());
    to.text(row.r_comment.as_bytes());
}

fn put_nation<S: RowSink + ?Sized>(row: &Nation<'_>, to: &mut S) {
    to.integer(small(row.n_nationkey));
    to.text(row.n_name.as_bytes());
    to.integer(small(row.n_regionkey));
    to.text(row.n_comment.as_bytes());
}

fn put_supplier<S: RowSink + ?Sized>(row: &Supplier, word: &mut String, to: &mut S) {
    to.long(row.s_suppkey);
    worded(&row.s_name, word, to);
    worded(&row.s_address, word, to);
    to.integer(small(row.s_nationkey));
    worded(&row.s_phone, word, to);
    to.decimal(row.s_acctbal.into_inner(), 2);
    to.text(row.s_comment.as_bytes());
}

fn put_part<S: RowSink + ?Sized>(row: &PartRow<'_>, word: &mut String, to: &mut S) {
    to.long(row.p_partkey);
    worded(&row.p_name, word, to);
    worded(&row.p_mfgr, word, to);
    worded(&row.p_brand, word, to);
    to.text(row.p_type.as_bytes());
    to.integer(row.p_size.cast_unsigned());
    to.text(row.p_container.as_bytes());
    to.decimal(row.p_retailprice.into_inner(), 2);
    to.text(row.p_comment.as_bytes());
}

fn put_part_supp<S: RowSink + ?Sized>(row: &PartSupp<'_>, to: &mut S) {
    to.long(row.ps_partkey);
    to.long(row.ps_suppkey);
    to.integer(row.ps_availqty.cast_unsigned());
    to.decimal(row.ps_supplycost.into_inner(), 2);
    to.text(row.ps_comment.as_bytes());
}

fn put_customer<S: RowSink + ?Sized>(row: &Customer<'_>, word: &mut String, to: &mut S) {
    to.long(row.c_custkey);
    worded(&row.c_name, word, to);
    worded(&row.c_address, word, to);
    to.integer(small(row.c_nationkey));
    worded(&row.c_phone, word, to);
    to.decimal(row.c_acctbal.into_inner(), 2);
    to.text(row.c_mktsegment.as_bytes());
    to.text(row.c_comment.as_bytes());
}

fn put_order<S: RowSink + ?Sized>(row: &Order<'_>, key: i64, word: &mut String, to: &mut S) {
    to.long(key);
    to.long(row.o_custkey);
    to.text(row.o_orderstatus.as_str().as_bytes());
    to.decimal(row.o_totalprice.into_inner(), 2);
    to.date(row.o_orderdate.to_unix_epoch());
    to.text(row.o_orderpriority.as_bytes());
    worded(&row.o_clerk, word, to);
    to.integer(row.o_shippriority.cast_unsigned());
    to.text(row.o_comment.as_bytes());
}

fn put_line<S: RowSink + ?Sized>(row: &LineItem<'_>, key: i64, to: &mut S) {
    to.long(key);
    to.long(row.l_partkey);
    to.long(row.l_suppkey);
    to.integer(row.l_linenumber.cast_unsigned());
    to.decimal(row.l_quantity * 100, 2);
    to.decimal(row.l_extendedprice.into_inner(), 2);
    to.decimal(row.l_discount.into_inner(), 2);
    to.decimal(row.l_tax.into_inner(), 2);
    to.text(row.l_returnflag.as_bytes());
    to.text(row.l_linestatus.as_bytes());
    to.date(row.l_shipdate.to_unix_epoch());
    to.date(row.l_commitdate.to_unix_epoch());
    to.date(row.l_receiptdate.to_unix_epoch());
    to.text(row.l_shipinstruct.as_bytes());
    to.text(row.l_shipmode.as_bytes());
    to.text(row.l_comment.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dss::{ColumnKind, TABLES};

    /// Keeps the first column of rows, and checks each against its column.
    struct Checked {
        table: DssTable,
        column: usize,
        keys: Vec<i64>,
    }

    impl Checked {
        fn is(&mut self, fits: impl Fn(ColumnKind) -> bool) {
            let column = self.table.columns()[self.column];
            assert!(fits(column.kind), "{column:?}");
            self.column += 1;
        }
    }

    impl RowSink for Checked {
        fn row(&mut self, columns: u16) {
            self.finish();
            assert_eq!(usize::from(columns), self.table.columns().len());
            self.column = 0;
        }
        fn long(&mut self, value: i64) {
            if self.column == 0 {
                self.keys.push(value);
            }
            self.is(|kind| kind == ColumnKind::Key);
        }
        fn integer(&mut self, value: u32) {
            if self.column == 0 {
                self.keys.push(i64::from(value));
            }
            self.is(|kind| kind == ColumnKind::Integer);
        }
        fn decimal(&mut self, _: i64, digits: u16) {
            assert_eq!(digits, 2);
            self.is(|kind| kind == ColumnKind::Money);
        }
        fn text(&mut self, value: &[u8]) {
            let length = std::str::from_utf8(value).unwrap().chars().count();
            self.is(|kind| match kind {
                ColumnKind::Fixed(most) | ColumnKind::Text(most) => length <= usize::from(most),
                _ => false,
            });
        }
        fn date(&mut self, unix_days: i32) {
            // 1992 to 1998.
            self.is(|kind| kind == ColumnKind::Date && (8035..10_592).contains(&unix_days));
        }
        fn flag(&mut self, _: bool) {
            panic!("no column is a flag");
        }
        fn time(&mut self, _: i64) {
            panic!("no column is a moment");
        }
        fn null(&mut self) {
            panic!("no column is null");
        }
        fn is_full(&self) -> bool {
            false
        }
        fn finish(&mut self) {
            assert!(self.keys.is_empty() || self.column == self.table.columns().len());
        }
    }

    fn keys(table: DssTable, part: TablePart) -> Vec<i64> {
        let mut checked = Checked { table, column: 0, keys: Vec::new() };
        put_rows(table, DssScale::new(0.01).unwrap(), part, |key| key, &mut checked);
        checked.finish();
        checked.keys
    }

    #[test]
    fn rows_fit_their_columns_and_parts_make_the_whole() {
        for table in TABLES {
            let whole = keys(table, TablePart::WHOLE);
            let expected = table.rows(DssScale::new(0.01).unwrap());
            let rows = u64::try_from(whole.len()).unwrap();
            match table {
                DssTable::LineItem => assert!(rows.abs_diff(expected) < expected / 100),
                _ => assert_eq!(rows, expected),
            }
            if matches!(table, DssTable::Region | DssTable::Nation) {
                continue;
            }
            let parts = (1..=7).flat_map(|number| keys(table, TablePart { number, of: 7 }));
            assert_eq!(parts.collect::<Vec<_>>(), whole, "{table:?}");
        }
    }
}
