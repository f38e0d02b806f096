//! The eight tables: their columns, keys, indexes and sizes (clauses 1.4 and 4.2.5).

use super::DssScale;
use std::fmt::Write;

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DssTable {
    /// Lines of orders.
    LineItem,
    /// Orders.
    Orders,
    /// Which supplier has which part.
    PartSupp,
    /// Parts.
    Part,
    /// Customers.
    Customer,
    /// Suppliers.
    Supplier,
    /// Nations.
    Nation,
    /// Regions.
    Region,
}

/// All of them, the largest first.
pub const TABLES: [DssTable; 8] = [
    DssTable::LineItem,
    DssTable::Orders,
    DssTable::PartSupp,
    DssTable::Customer,
    DssTable::Part,
    DssTable::Supplier,
    DssTable::Nation,
    DssTable::Region,
];

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// An integer of eight bytes.
    Key,
    /// An integer of four bytes.
    Integer,
    /// A decimal of fifteen digits, two of them behind the point.
    Money,
    /// A text of exactly this number of characters.
    Fixed(u16),
    /// A text of at most this number of characters.
    Text(u16),
    /// A day.
    Date,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DssColumn {
    /// Its name.
    pub name: &'static str,
    /// What it holds; never nothing.
    pub kind: ColumnKind,
}

/// An index in addition to the primary key: on the columns that lead to another table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// Its name.
    pub name: &'static str,
    /// Its table.
    pub table: DssTable,
    /// Its columns.
    pub columns: &'static str,
}

/// Indexes on foreign keys, the largest first.
const INDEXES: [Index; 6] = [
    index("lineitem_part_supplier", DssTable::LineItem, "l_partkey, l_suppkey"),
    index("orders_customer", DssTable::Orders, "o_custkey"),
    index("partsupp_supplier", DssTable::PartSupp, "ps_suppkey"),
    index("customer_nation", DssTable::Customer, "c_nationkey"),
    index("supplier_nation", DssTable::Supplier, "s_nationkey"),
    index("nation_region", DssTable::Nation, "n_regionkey"),
];

const fn index(name: &'static str, table: DssTable, columns: &'static str) -> Index {
    Index { name, table, columns }
}

const fn column(name: &'static str, kind: ColumnKind) -> DssColumn {
    DssColumn { name, kind }
}

use ColumnKind::{Date, Fixed, Integer, Key, Money, Text};

const REGION: [DssColumn; 3] =
    [column("r_regionkey", Integer), column("r_name", Fixed(25)), column("r_comment", Text(152))];
const NATION: [DssColumn; 4] = [
    column("n_nationkey", Integer),
    column("n_name", Fixed(25)),
    column("n_regionkey", Integer),
    column("n_comment", Text(152)),
];
const SUPPLIER: [DssColumn; 7] = [
    column("s_suppkey", Key),
    column("s_name", Fixed(25)),
    column("s_address", Text(40)),
    column("s_nationkey", Integer),
    column("s_phone", Fixed(15)),
    column("s_acctbal", Money),
    column("s_comment", Text(101)),
];
const PART: [DssColumn; 9] = [
    column("p_partkey", Key),
    column("p_name", Text(55)),
    column("p_mfgr", Fixed(25)),
    column("p_brand", Fixed(10)),
    column("p_type", Text(25)),
    column("p_size", Integer),
    column("p_container", Fixed(10)),
    column("p_retailprice", Money),
    column("p_comment", Text(23)),
];
const PART_SUPP: [DssColumn; 5] = [
    column("ps_partkey", Key),
    column("ps_suppkey", Key),
    column("ps_availqty", Integer),
    column("ps_supplycost", Money),
    column("ps_comment", Text(199)),
];
const CUSTOMER: [DssColumn; 8] = [
    column("c_custkey", Key),
    column("c_name", Text(25)),
    column("c_address", Text(40)),
    column("c_nationkey", Integer),
    column("c_phone", Fixed(15)),
    column("c_acctbal", Money),
    column("c_mktsegment", Fixed(10)),
    column("c_comment", Text(117)),
];
const ORDERS: [DssColumn; 9] = [
    column("o_orderkey", Key),
    column("o_custkey", Key),
    column("o_orderstatus", Fixed(1)),
    column("o_totalprice", Money),
    column("o_orderdate", Date),
    column("o_orderpriority", Fixed(15)),
    column("o_clerk", Fixed(15)),
    column("o_shippriority", Integer),
    column("o_comment", Text(79)),
];
const LINE_ITEM: [DssColumn; 16] = [
    column("l_orderkey", Key),
    column("l_partkey", Key),
    column("l_suppkey", Key),
    column("l_linenumber", Integer),
    column("l_quantity", Money),
    column("l_extendedprice", Money),
    column("l_discount", Money),
    column("l_tax", Money),
    column("l_returnflag", Fixed(1)),
    column("l_linestatus", Fixed(1)),
    column("l_shipdate", Date),
    column("l_commitdate", Date),
    column("l_receiptdate", Date),
    column("l_shipinstruct", Fixed(25)),
    column("l_shipmode", Fixed(10)),
    column("l_comment", Text(44)),
];

impl DssTable {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LineItem => "lineitem",
            Self::Orders => "orders",
            Self::PartSupp => "partsupp",
            Self::Part => "part",
            Self::Customer => "customer",
            Self::Supplier => "supplier",
            Self::Nation => "nation",
            Self::Region => "region",
        }
    }

    /// Its columns in their order.
    pub const fn columns(self) -> &'static [DssColumn] {
        match self {
            Self::LineItem => &LINE_ITEM,
            Self::Orders => &ORDERS,
            Self::PartSupp => &PART_SUPP,
            Self::Part => &PART,
            Self::Customer => &CUSTOMER,
            Self::Supplier => &SUPPLIER,
            Self::Nation => &NATION,
            Self::Region => &REGION,
        }
    }

    /// The columns of its primary key.
    pub const fn key(self) -> &'static str {
        match self {
            Self::LineItem => "l_orderkey, l_linenumber",
            Self::Orders => "o_orderkey",
            Self::PartSupp => "ps_partkey, ps_suppkey",
            Self::Part => "p_partkey",
            Self::Customer => "c_custkey",
            Self::Supplier => "s_suppkey",
            Self::Nation => "n_nationkey",
            Self::Region => "r_regionkey",
        }
    }

    /// Indexes on its foreign keys.
    pub fn indexes(self) -> impl Iterator<Item = &'static Index> {
        INDEXES.iter().filter(move |index| index.table == self)
    }

    /// Its rows; of lines their expected number, four an order.
    pub fn rows(self, scale: DssScale) -> u64 {
        match self {
            Self::LineItem => 4 * Self::Orders.rows(scale),
            Self::Orders => scale.rows(1_500_000),
            Self::PartSupp => 4 * Self::Part.rows(scale),
            Self::Part => scale.rows(200_000),
            Self::Customer => scale.rows(150_000),
            Self::Supplier => scale.rows(10_000),
            Self::Nation => 25,
            Self::Region => 5,
        }
    }

    /// Bytes of a row of text on average: what there is to make and to send (clause 4.2.5.1).
    pub const fn row_bytes(self) -> u64 {
        match self {
            Self::LineItem => 126,
            Self::Orders => 114,
            Self::PartSupp => 148,
            Self::Part => 121,
            Self::Customer => 162,
            Self::Supplier => 140,
            Self::Nation => 88,
            Self::Region => 78,
        }
    }

    /// Bytes of all its rows as text.
    pub fn text_bytes(self, scale: DssScale) -> u64 {
        self.rows(scale).saturating_mul(self.row_bytes())
    }
}

/// The columns of a table with their types; every server that speaks SQL:1992 takes them.
pub fn column_list(table: DssTable) -> String {
    let mut columns = String::new();
    for column in table.columns() {
        let kind = match column.kind {
            Key => "bigint".to_owned(),
            Integer => "integer".to_owned(),
            Money => "decimal(15,2)".to_owned(),
            Fixed(length) => format!("char({length})"),
            Text(length) => format!("varchar({length})"),
            Date => "date".to_owned(),
        };
        let separator = if columns.is_empty() { "" } else { ", " };
        // Writing into a text cannot fail.
        let _ = write!(columns, "{separator}{} {kind} NOT NULL", column.name);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_begin_with_those_of_their_tables() {
        for table in TABLES {
            let letter = match table {
                DssTable::PartSupp => "ps_".to_owned(),
                table => format!("{}_", &table.name()[..1]),
            };
            assert!(table.columns().iter().all(|column| column.name.starts_with(&letter)));
            for key in table.key().split(", ") {
                assert!(table.columns().iter().any(|column| column.name == key), "{key}");
            }
            for index in table.indexes() {
                assert!(index.name.starts_with(table.name()), "{index:?}");
            }
        }
    }

    #[test]
    fn the_largest_come_first() {
        let scale = DssScale::new(1.0).unwrap();
        let bytes: Vec<u64> = TABLES.iter().map(|table| table.text_bytes(scale)).collect();
        assert!(bytes.is_sorted_by(|one, other| one >= other), "{bytes:?}");
        assert!((1_000_000_000..1_200_000_000).contains(&bytes.iter().sum::<u64>()));
    }

    #[test]
    fn a_table_is_made_of_its_columns() {
        assert_eq!(
            column_list(DssTable::Region),
            "r_regionkey integer NOT NULL, r_name char(25) NOT NULL, r_comment varchar(152) NOT \
             NULL"
        );
    }
}
