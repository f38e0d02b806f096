//! The 33 tables, their keys, and which row must have which other.
//!
//! Rows that are changed often have room in their block, so that a new version lies next to the old
//! one.

use super::functions;
use crate::load::{LoadTables, RowOrigin, TableLayout};
use assay_loads::brokerage::{BrokerageRules, BrokerageTable, fill, rows_of};
use assay_loads::sink::{RowSink, TablePart};
use assay_model::load::LoadKind;
use std::fmt::Write as _;

/// The tables of a brokerage.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokerageSchema<'a> {
    /// The scale.
    pub rules: &'a BrokerageRules,
}

/// Columns of a table, in the order in which rows are made.
const fn columns(table: BrokerageTable) -> &'static str {
    match table {
        BrokerageTable::Trade => {
            "id bigint, at timestamp, status int, kind int, is_cash boolean, symbol varchar(15), \
             quantity int, bid_price numeric(8,2), account_id int, executor varchar(64), price \
             numeric(8,2), charge numeric(10,2), commission numeric(10,2), tax numeric(10,2), \
             is_lifo boolean"
        }
        BrokerageTable::TradeHistory => "trade_id bigint, at timestamp, status int",
        BrokerageTable::TradeRequest => {
            "trade_id bigint, kind int, symbol varchar(15), quantity int, bid_price numeric(8,2), \
             broker_id int"
        }
        BrokerageTable::Settlement => {
            "trade_id bigint, cash_type varchar(40), due date, amount numeric(12,2)"
        }
        BrokerageTable::CashTransaction => {
            "trade_id bigint, at timestamp, amount numeric(12,2), name varchar(100)"
        }
        BrokerageTable::Holding => {
            "trade_id bigint, account_id int, symbol varchar(15), at timestamp, price \
             numeric(8,2), quantity int"
        }
        BrokerageTable::HoldingHistory => {
            "holding_trade_id bigint, trade_id bigint, quantity_before int, quantity_after int"
        }
        BrokerageTable::HoldingSummary => "account_id int, symbol varchar(15), quantity int",
        BrokerageTable::CustomerAccount => {
            "id int, broker_id int, customer_id int, name varchar(50), tax_status int, balance \
             numeric(14,2)"
        }
        BrokerageTable::Broker => {
            "id int, status int, name varchar(50), trades int, commissions numeric(14,2)"
        }
        BrokerageTable::Customer => {
            "id int, tax_code varchar(20), status int, last_name varchar(30), first_name \
             varchar(30), middle varchar(1), gender varchar(1), tier int, born date, address_id \
             int, phone_1 varchar(24), phone_2 varchar(24), phone_3 varchar(24), extension \
             varchar(5), email_1 varchar(60), email_2 varchar(60), since timestamp"
        }
        BrokerageTable::CustomerTaxRate => "customer_id int, tax_rate_id int",
        BrokerageTable::AccountPermission => {
            "account_id int, may varchar(4), tax_code varchar(20), last_name varchar(30), \
             first_name varchar(30)"
        }
        BrokerageTable::WatchList => "id int, customer_id int",
        BrokerageTable::WatchItem => "list_id int, symbol varchar(15)",
        _ => columns_of_market(table),
    }
}

const fn columns_of_market(table: BrokerageTable) -> &'static str {
    match table {
        BrokerageTable::DailyMarket => {
            "day date, symbol varchar(15), close numeric(8,2), high numeric(8,2), low \
             numeric(8,2), volume bigint"
        }
        BrokerageTable::LastTrade => {
            "symbol varchar(15), at timestamp, price numeric(8,2), open_price numeric(8,2), volume \
             bigint"
        }
        BrokerageTable::Security => {
            "symbol varchar(15), issue varchar(6), status int, name varchar(80), exchange_id int, \
             company_id int, shares bigint, begun date, listed date, pe numeric(10,2), high \
             numeric(8,2), high_day date, low numeric(8,2), low_day date, dividend numeric(10,2), \
             yield numeric(5,2)"
        }
        BrokerageTable::Company => {
            "id int, status int, name varchar(60), industry_id int, rating varchar(4), chief \
             varchar(46), address_id int, description varchar(150), founded date"
        }
        BrokerageTable::CompanyCompetitor => "company_id int, competitor_id int, industry_id int",
        BrokerageTable::Financial => {
            "company_id int, year int, quarter int, begun date, revenue numeric(15,2), earned \
             numeric(15,2), eps numeric(10,2), diluted_eps numeric(10,2), margin numeric(10,2), \
             inventory numeric(15,2), assets numeric(15,2), liabilities numeric(15,2), shares \
             bigint, diluted_shares bigint"
        }
        BrokerageTable::NewsItem => {
            "id int, headline varchar(80), summary varchar(255), item text, published timestamp, \
             source varchar(30), author varchar(30)"
        }
        BrokerageTable::NewsLink => "news_id int, company_id int",
        BrokerageTable::Address => {
            "id int, line_1 varchar(80), line_2 varchar(80), zip_code int, country varchar(80)"
        }
        _ => columns_of_fixed(table),
    }
}

const fn columns_of_fixed(table: BrokerageTable) -> &'static str {
    match table {
        BrokerageTable::Exchange => {
            "id int, name varchar(100), securities int, opens int, closes int, description \
             varchar(150), address_id int"
        }
        BrokerageTable::Industry => "id int, sector_id int, name varchar(50)",
        BrokerageTable::Charge => "kind int, tier int, amount numeric(10,2)",
        BrokerageTable::CommissionRate => {
            "tier int, kind int, exchange_id int, from_quantity int, to_quantity int, rate \
             numeric(5,2)"
        }
        BrokerageTable::TaxRate => "id int, name varchar(50), rate numeric(5,4)",
        BrokerageTable::TradeType => "id int, name varchar(12), is_sell boolean, is_market boolean",
        BrokerageTable::ZipCode => "code int, town varchar(80), division varchar(80)",
        // Sectors and what a trade passes through.
        _ => "id int, name varchar(30)",
    }
}

/// The key, as columns.
const fn key(table: BrokerageTable) -> &'static str {
    match table {
        BrokerageTable::DailyMarket => "symbol, day",
        BrokerageTable::TradeHistory => "trade_id, status",
        BrokerageTable::HoldingHistory => "holding_trade_id, trade_id",
        BrokerageTable::Settlement
        | BrokerageTable::CashTransaction
        | BrokerageTable::Holding
        | BrokerageTable::TradeRequest => "trade_id",
        BrokerageTable::WatchItem => "list_id, symbol",
        BrokerageTable::HoldingSummary => "account_id, symbol",
        BrokerageTable::Financial => "company_id, year, quarter",
        BrokerageTable::ZipCode => "code",
        BrokerageTable::AccountPermission => "account_id, tax_code",
        BrokerageTable::CustomerTaxRate => "customer_id, tax_rate_id",
        BrokerageTable::CompanyCompetitor => "company_id, competitor_id",
        BrokerageTable::Security | BrokerageTable::LastTrade => "symbol",
        BrokerageTable::NewsLink => "company_id, news_id",
        BrokerageTable::CommissionRate => "tier, kind, exchange_id, from_quantity",
        BrokerageTable::Charge => "kind, tier",
        _ => "id",
    }
}

/// Further indexes, as columns.
const fn indexes(table: BrokerageTable) -> &'static [&'static str] {
    match table {
        BrokerageTable::Trade => &["account_id, at", "symbol, at"],
        BrokerageTable::HoldingHistory => &["trade_id"],
        BrokerageTable::Holding => &["account_id, symbol, trade_id"],
        BrokerageTable::CustomerAccount | BrokerageTable::WatchList => &["customer_id"],
        BrokerageTable::Broker | BrokerageTable::Sector => &["name"],
        BrokerageTable::Customer => &["tax_code"],
        BrokerageTable::Company => &["name", "industry_id"],
        BrokerageTable::Security => &["company_id"],
        BrokerageTable::Industry => &["sector_id", "name"],
        BrokerageTable::TradeRequest => &["symbol, kind, bid_price", "broker_id, symbol"],
        _ => &[],
    }
}

/// Percent of a block that loading fills.
const fn filled_percent(table: BrokerageTable) -> u32 {
    match table {
        BrokerageTable::Broker => 10,
        BrokerageTable::LastTrade => 50,
        BrokerageTable::CustomerAccount
        | BrokerageTable::HoldingSummary
        | BrokerageTable::Holding => 80,
        BrokerageTable::Trade => 90,
        _ => 100,
    }
}

/// What a growing table's rows must have: table, column, and the table of the other row with its
/// key.
const REFERENCES: [(&str, &str, &str); 10] = [
    ("trade", "account_id", "customer_account (id)"),
    ("trade", "symbol", "security (symbol)"),
    ("trade_history", "trade_id", "trade (id)"),
    ("trade_request", "trade_id", "trade (id)"),
    ("settlement", "trade_id", "trade (id)"),
    ("cash_transaction", "trade_id", "trade (id)"),
    ("holding", "trade_id", "trade (id)"),
    ("holding_history", "trade_id", "trade (id)"),
    ("holding_history", "holding_trade_id", "trade (id)"),
    ("holding_summary", "account_id", "customer_account (id)"),
];

/// Declares what rows must have; what was loaded is taken to have it, and the conditions look after
/// it.
fn references(schema: &str) -> String {
    let mut sql = String::new();
    for (table, column, other) in REFERENCES {
        let _ = write!(
            sql,
            "ALTER TABLE {schema}.{table} ADD FOREIGN KEY ({column}) REFERENCES {schema}.{other} \
             NOT VALID;"
        );
    }
    sql
}

impl LoadTables for BrokerageSchema<'_> {
    type Table = BrokerageTable;

    fn kind(&self) -> LoadKind {
        LoadKind::Brokerage
    }

    fn all(&self) -> Vec<BrokerageTable> {
        BrokerageTable::ALL.to_vec()
    }

    /// On PostgreSQL a sequence numbers trades, see the functions.
    fn layout(&self, table: BrokerageTable) -> TableLayout {
        let rows = rows_of(table, self.rules);
        TableLayout {
            key: Some(key(table)),
            filled_percent: filled_percent(table),
            numbered: (table == BrokerageTable::Trade).then_some("id"),
            ..TableLayout::new(table.name(), columns(table), rows).with_indexes(indexes(table))
        }
    }

    fn knobs(&self) -> Vec<(&'static str, String)> {
        vec![
            ("customers", self.rules.customers.to_string()),
            ("trade-days", self.rules.trade_days.to_string()),
            ("security-skew", self.rules.security_skew.to_string()),
            // Sessions ask for what lies there, so their choices must be those of the data.
            ("seed", self.rules.seed.to_string()),
        ]
    }

    fn make(
        &self,
        table: BrokerageTable,
        _part: TablePart,
        origin: RowOrigin,
        to: &mut dyn RowSink,
    ) {
        fill(table, self.rules, origin.loaded_us, to);
    }

    fn functions(&self, schema: &str, loaded_us: i64) -> String {
        references(schema) + &functions::create(schema, self.rules, loaded_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_columns_of_its_own_and_its_key_among_them() {
        let rules = BrokerageRules::default();
        let floor = BrokerageSchema { rules: &rules };
        for table in BrokerageTable::ALL {
            let columns = columns(table);
            let named = |wanted: &str| {
                columns.split(", ").any(|column| column.split(' ').next() == Some(wanted))
            };
            assert!(key(table).split(", ").all(named), "{table:?}");
            assert!(indexes(table).iter().all(|index| index.split(", ").all(named)), "{table:?}");
            assert!((10..=100).contains(&floor.layout(table).filled_percent));
        }
        for (table, column, other) in REFERENCES {
            let named = BrokerageTable::ALL.into_iter().find(|one| one.name() == table).unwrap();
            assert!(columns(named).contains(column), "{table}.{column}");
            let name = other.split(' ').next().unwrap_or_default();
            assert!(BrokerageTable::ALL.iter().any(|table| table.name() == name), "{other}");
        }
        assert_eq!(references("s").matches("NOT VALID").count(), 10);
    }
}
