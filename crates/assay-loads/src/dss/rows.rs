//! The rows of every table, one after the other, whole or in parts: nothing is held but the row at hand.

use super::{Scale, Table};
use std::fmt::{Display, Write};
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order,
    OrderGenerator, Part as PartRow, PartGenerator, PartSupp, PartSuppGenerator, Region,
    RegionGenerator, Supplier, SupplierGenerator,
};
use tpchgen::text::TextPool;

/// Who takes rows: the form of a server's bulk load.
pub trait Taker {
    /// A row begins.
    fn begin(&mut self);
    /// An integer of eight bytes.
    fn key(&mut self, value: i64);
    /// An integer of four bytes.
    fn integer(&mut self, value: i32);
    /// Hundredths.
    fn money(&mut self, hundredths: i64);
    /// A text, without the blanks that a column of fixed length may want behind it.
    fn text(&mut self, text: &str);
    /// Days since 1 January 1970.
    fn date(&mut self, days: i32);
    /// A row is whole; false when no more are wanted.
    fn end(&mut self) -> bool;
}

/// A part of a table: all parts of the same count together are the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// From 1.
    pub number: i32,
    /// How many there are.
    pub of: i32,
}

impl Part {
    /// The whole table.
    pub const WHOLE: Self = Self { number: 1, of: 1 };
}

/// Makes the 300 MiB of text that all comments are cut out of, once for the whole program; it takes a second or two and
/// else happens with the first row.
pub fn prepare_texts() {
    TextPool::get_or_init_default();
}

/// Makes the rows of a part of a table, in the order of their keys; `rekey` changes keys of orders.
pub fn put_rows<T: Taker>(
    table: Table,
    scale: Scale,
    part: Part,
    rekey: impl Fn(i64) -> i64,
    to: &mut T,
) {
    let (factor, Part { number, of }) = (scale.factor(), part);
    let mut word = String::new();
    match table {
        Table::Region => each(RegionGenerator::new(factor, number, of), to, |row, to| {
            put_region(&row, to);
        }),
        Table::Nation => each(NationGenerator::new(factor, number, of), to, |row, to| {
            put_nation(&row, to);
        }),
        Table::Supplier => each(SupplierGenerator::new(factor, number, of), to, |row, to| {
            put_supplier(&row, &mut word, to);
        }),
        Table::Part => each(PartGenerator::new(factor, number, of), to, |row, to| {
            put_part(&row, &mut word, to);
        }),
        Table::PartSupp => each(PartSuppGenerator::new(factor, number, of), to, |row, to| {
            put_part_supp(&row, to);
        }),
        Table::Customer => each(CustomerGenerator::new(factor, number, of), to, |row, to| {
            put_customer(&row, &mut word, to);
        }),
        Table::Orders => each(OrderGenerator::new(factor, number, of), to, |row, to| {
            put_order(&row, rekey(row.o_orderkey), &mut word, to);
        }),
        Table::LineItem => each(LineItemGenerator::new(factor, number, of), to, |row, to| {
            put_line(&row, rekey(row.l_orderkey), to);
        }),
    }
}

/// Gives row after row until no more are there or wanted.
fn each<R, T: Taker>(
    rows: impl IntoIterator<Item = R>,
    to: &mut T,
    mut put: impl FnMut(R, &mut T),
) {
    for row in rows {
        to.begin();
        put(row, to);
        if !to.end() {
            return;
        }
    }
}

/// A text that the generator has not in one piece.
fn worded<T: Taker>(value: &impl Display, word: &mut String, to: &mut T) {
    word.clear();
    // Writing into a text cannot fail.
    let _ = write!(word, "{value}");
    to.text(word);
}

/// Keys of nations and regions, and sizes, are below a thousand.
fn small(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

fn put_region<T: Taker>(row: &Region<'_>, to: &mut T) {
    to.integer(small(row.r_regionkey));
    to.text(row.r_name);
    to.text(row.r_comment);
}

fn put_nation<T: Taker>(row: &Nation<'_>, to: &mut T) {
    to.integer(small(row.n_nationkey));
    to.text(row.n_name);
    to.integer(small(row.n_regionkey));
    to.text(row.n_comment);
}

fn put_supplier<T: Taker>(row: &Supplier, word: &mut String, to: &mut T) {
    to.key(row.s_suppkey);
    worded(&row.s_name, word, to);
    worded(&row.s_address, word, to);
    to.integer(small(row.s_nationkey));
    worded(&row.s_phone, word, to);
    to.money(row.s_acctbal.into_inner());
    to.text(&row.s_comment);
}

fn put_part<T: Taker>(row: &PartRow<'_>, word: &mut String, to: &mut T) {
    to.key(row.p_partkey);
    worded(&row.p_name, word, to);
    worded(&row.p_mfgr, word, to);
    worded(&row.p_brand, word, to);
    to.text(row.p_type);
    to.integer(row.p_size);
    to.text(row.p_container);
    to.money(row.p_retailprice.into_inner());
    to.text(row.p_comment);
}

fn put_part_supp<T: Taker>(row: &PartSupp<'_>, to: &mut T) {
    to.key(row.ps_partkey);
    to.key(row.ps_suppkey);
    to.integer(row.ps_availqty);
    to.money(row.ps_supplycost.into_inner());
    to.text(row.ps_comment);
}

fn put_customer<T: Taker>(row: &Customer<'_>, word: &mut String, to: &mut T) {
    to.key(row.c_custkey);
    worded(&row.c_name, word, to);
    worded(&row.c_address, word, to);
    to.integer(small(row.c_nationkey));
    worded(&row.c_phone, word, to);
    to.money(row.c_acctbal.into_inner());
    to.text(row.c_mktsegment);
    to.text(row.c_comment);
}

fn put_order<T: Taker>(row: &Order<'_>, key: i64, word: &mut String, to: &mut T) {
    to.key(key);
    to.key(row.o_custkey);
    to.text(row.o_orderstatus.as_str());
    to.money(row.o_totalprice.into_inner());
    to.date(row.o_orderdate.to_unix_epoch());
    to.text(row.o_orderpriority);
    worded(&row.o_clerk, word, to);
    to.integer(row.o_shippriority);
    to.text(row.o_comment);
}

fn put_line<T: Taker>(row: &LineItem<'_>, key: i64, to: &mut T) {
    to.key(key);
    to.key(row.l_partkey);
    to.key(row.l_suppkey);
    to.integer(row.l_linenumber);
    to.money(row.l_quantity * 100);
    to.money(row.l_extendedprice.into_inner());
    to.money(row.l_discount.into_inner());
    to.money(row.l_tax.into_inner());
    to.text(row.l_returnflag);
    to.text(row.l_linestatus);
    to.date(row.l_shipdate.to_unix_epoch());
    to.date(row.l_commitdate.to_unix_epoch());
    to.date(row.l_receiptdate.to_unix_epoch());
    to.text(row.l_shipinstruct);
    to.text(row.l_shipmode);
    to.text(row.l_comment);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dss::{ColumnKind, TABLES};

    /// Keeps the first column of rows, and checks each against its column.
    struct Checked {
        table: Table,
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

    impl Taker for Checked {
        fn begin(&mut self) {
            self.column = 0;
        }
        fn key(&mut self, value: i64) {
            if self.column == 0 {
                self.keys.push(value);
            }
            self.is(|kind| kind == ColumnKind::Key);
        }
        fn integer(&mut self, value: i32) {
            if self.column == 0 {
                self.keys.push(i64::from(value));
            }
            self.is(|kind| kind == ColumnKind::Integer);
        }
        fn money(&mut self, _: i64) {
            self.is(|kind| kind == ColumnKind::Money);
        }
        fn text(&mut self, text: &str) {
            let length = text.chars().count();
            self.is(|kind| match kind {
                ColumnKind::Fixed(most) | ColumnKind::Text(most) => length <= usize::from(most),
                _ => false,
            });
        }
        fn date(&mut self, days: i32) {
            // 1992 to 1998.
            self.is(|kind| kind == ColumnKind::Date && (8035..10_592).contains(&days));
        }
        fn end(&mut self) -> bool {
            assert_eq!(self.column, self.table.columns().len());
            true
        }
    }

    fn keys(table: Table, part: Part) -> Vec<i64> {
        let mut checked = Checked { table, column: 0, keys: Vec::new() };
        put_rows(table, Scale::new(0.01).unwrap(), part, |key| key, &mut checked);
        checked.keys
    }

    #[test]
    fn rows_fit_their_columns_and_parts_make_the_whole() {
        for table in TABLES {
            let whole = keys(table, Part::WHOLE);
            let expected = table.rows(Scale::new(0.01).unwrap());
            let rows = u64::try_from(whole.len()).unwrap();
            match table {
                Table::LineItem => assert!(rows.abs_diff(expected) < expected / 100),
                _ => assert_eq!(rows, expected),
            }
            if matches!(table, Table::Region | Table::Nation) {
                continue;
            }
            let parts = (1..=7).flat_map(|number| keys(table, Part { number, of: 7 }));
            assert_eq!(parts.collect::<Vec<_>>(), whole, "{table:?}");
        }
    }
}
