//! The 33 tables: nine of fixed size, sixteen that grow with the customers, eight that grow with
//! every trade.

use super::{BrokerageRules, PRICE_DAYS, customers, fixed, securities, trades};
use crate::sink::RowSink;

/// The tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "their names say what they hold")]
pub enum BrokerageTable {
    DailyMarket,
    TradeHistory,
    Trade,
    HoldingHistory,
    Settlement,
    CashTransaction,
    WatchItem,
    NewsItem,
    Holding,
    HoldingSummary,
    CustomerAccount,
    Broker,
    Financial,
    ZipCode,
    Customer,
    AccountPermission,
    CustomerTaxRate,
    Address,
    CompanyCompetitor,
    Company,
    Security,
    LastTrade,
    NewsLink,
    WatchList,
    TaxRate,
    CommissionRate,
    Industry,
    Charge,
    Sector,
    StatusType,
    TradeType,
    Exchange,
    TradeRequest,
}

impl BrokerageTable {
    /// All, the longest to make first, so that who loads them at once ends at once.
    pub const ALL: [Self; 33] = [
        Self::DailyMarket,
        Self::TradeHistory,
        Self::Trade,
        Self::HoldingHistory,
        Self::Settlement,
        Self::CashTransaction,
        Self::WatchItem,
        Self::NewsItem,
        Self::Holding,
        Self::HoldingSummary,
        Self::CustomerAccount,
        Self::Broker,
        Self::Financial,
        Self::ZipCode,
        Self::Customer,
        Self::AccountPermission,
        Self::CustomerTaxRate,
        Self::Address,
        Self::CompanyCompetitor,
        Self::Company,
        Self::Security,
        Self::LastTrade,
        Self::NewsLink,
        Self::WatchList,
        Self::TaxRate,
        Self::CommissionRate,
        Self::Industry,
        Self::Charge,
        Self::Sector,
        Self::StatusType,
        Self::TradeType,
        Self::Exchange,
        Self::TradeRequest,
    ];

    /// Its name on the server.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DailyMarket => "daily_market",
            Self::TradeHistory => "trade_history",
            Self::Trade => "trade",
            Self::HoldingHistory => "holding_history",
            Self::Settlement => "settlement",
            Self::CashTransaction => "cash_transaction",
            Self::WatchItem => "watch_item",
            Self::NewsItem => "news_item",
            Self::Holding => "holding",
            Self::HoldingSummary => "holding_summary",
            Self::CustomerAccount => "customer_account",
            Self::Broker => "broker",
            Self::Financial => "financial",
            Self::ZipCode => "zip_code",
            Self::Customer => "customer",
            Self::AccountPermission => "account_permission",
            Self::CustomerTaxRate => "customer_tax_rate",
            Self::Address => "address",
            Self::CompanyCompetitor => "company_competitor",
            Self::Company => "company",
            Self::Security => "security",
            Self::LastTrade => "last_trade",
            Self::NewsLink => "news_link",
            Self::WatchList => "watch_list",
            Self::TaxRate => "tax_rate",
            Self::CommissionRate => "commission_rate",
            Self::Industry => "industry",
            Self::Charge => "charge",
            Self::Sector => "sector",
            Self::StatusType => "status_type",
            Self::TradeType => "trade_type",
            Self::Exchange => "exchange",
            Self::TradeRequest => "trade_request",
        }
    }
}

/// Rows of a table after loading; about, where trades and customers decide by chance how many there
/// are.
pub fn rows_of(table: BrokerageTable, rules: &BrokerageRules) -> u64 {
    let (customers, companies) = (u64::from(rules.customers), u64::from(rules.companies()));
    let (securities, trades) = (u64::from(rules.securities()), rules.trades());
    match table {
        BrokerageTable::DailyMarket => securities * u64::from(PRICE_DAYS),
        BrokerageTable::TradeHistory => trades * 24 / 10,
        BrokerageTable::HoldingHistory => trades * 13 / 10,
        BrokerageTable::Trade | BrokerageTable::Settlement => trades,
        BrokerageTable::CashTransaction => trades * 9 / 10,
        BrokerageTable::WatchItem => customers * 100.min(securities / 2),
        BrokerageTable::NewsItem | BrokerageTable::NewsLink => 2 * companies,
        // Most trades of the first days open a lot; later ones close as many as they open.
        BrokerageTable::Holding => (trades * 8 / 10).min(200 * customers),
        BrokerageTable::HoldingSummary => (trades * 7 / 10).min(80 * customers),
        BrokerageTable::CustomerAccount => 5 * customers,
        BrokerageTable::Broker => u64::from(rules.units()),
        BrokerageTable::Financial => 20 * companies,
        BrokerageTable::ZipCode => u64::from(fixed::ZIP_CODES),
        BrokerageTable::Customer | BrokerageTable::WatchList => customers,
        BrokerageTable::AccountPermission => 5 * customers * 142 / 100,
        BrokerageTable::CustomerTaxRate => 2 * customers,
        BrokerageTable::Address => u64::from(fixed::EXCHANGES) + companies + customers,
        BrokerageTable::CompanyCompetitor => 3 * companies,
        BrokerageTable::Company => companies,
        BrokerageTable::Security | BrokerageTable::LastTrade => securities,
        BrokerageTable::TaxRate => u64::from(fixed::TAX_RATES),
        BrokerageTable::CommissionRate => 240,
        BrokerageTable::Industry => u64::from(fixed::INDUSTRIES),
        BrokerageTable::Charge => 15,
        BrokerageTable::Sector => u64::from(fixed::SECTORS),
        BrokerageTable::StatusType | BrokerageTable::TradeType => 5,
        BrokerageTable::Exchange => u64::from(fixed::EXCHANGES),
        BrokerageTable::TradeRequest => 0,
    }
}

/// Makes the rows of a table, until nobody wants more; `loaded_us` is the moment of loading,
/// microseconds since 1970.
pub fn fill(table: BrokerageTable, rules: &BrokerageRules, loaded_us: i64, to: &mut dyn RowSink) {
    match table {
        BrokerageTable::DailyMarket => securities::daily_market(rules, loaded_us, to),
        BrokerageTable::Security => securities::securities(rules, loaded_us, to),
        BrokerageTable::LastTrade => securities::last_trades(rules, loaded_us, to),
        BrokerageTable::NewsItem => securities::news(rules, loaded_us, to),
        BrokerageTable::NewsLink => securities::news_links(rules, to),
        BrokerageTable::Financial => securities::financials(rules, loaded_us, to),
        BrokerageTable::Address => securities::addresses(rules, to),
        BrokerageTable::CompanyCompetitor => securities::competitors(rules, to),
        BrokerageTable::Company => securities::companies(rules, loaded_us, to),
        _ => fill_of_customers(table, rules, loaded_us, to),
    }
}

fn fill_of_customers(
    table: BrokerageTable,
    rules: &BrokerageRules,
    loaded_us: i64,
    to: &mut dyn RowSink,
) {
    match table {
        BrokerageTable::TradeHistory => trades::histories(rules, loaded_us, to),
        BrokerageTable::Trade => trades::trades(rules, loaded_us, to),
        BrokerageTable::HoldingHistory => trades::holding_histories(rules, loaded_us, to),
        BrokerageTable::Settlement => trades::settlements(rules, loaded_us, to),
        BrokerageTable::CashTransaction => trades::cash_transactions(rules, loaded_us, to),
        BrokerageTable::Holding => trades::holdings(rules, loaded_us, to),
        BrokerageTable::HoldingSummary => trades::holding_summaries(rules, loaded_us, to),
        BrokerageTable::CustomerAccount => customers::accounts(rules, loaded_us, to),
        BrokerageTable::Broker => customers::brokers(rules, loaded_us, to),
        BrokerageTable::WatchItem => customers::watch_items(rules, to),
        BrokerageTable::WatchList => customers::watch_lists(rules, to),
        BrokerageTable::Customer => customers::customers(rules, loaded_us, to),
        BrokerageTable::AccountPermission => customers::permissions(rules, to),
        BrokerageTable::CustomerTaxRate => customers::customer_tax_rates(rules, to),
        _ => fill_fixed(table, rules, to),
    }
}

/// Orders that wait are there once customers have placed them.
fn fill_fixed(table: BrokerageTable, rules: &BrokerageRules, to: &mut dyn RowSink) {
    match table {
        BrokerageTable::ZipCode => fixed::zip_codes(to),
        BrokerageTable::TaxRate => fixed::tax_rates(to),
        BrokerageTable::CommissionRate => fixed::commission_rates(to),
        BrokerageTable::Industry => fixed::industries(to),
        BrokerageTable::Charge => fixed::charges(to),
        BrokerageTable::Sector => fixed::sectors(to),
        BrokerageTable::StatusType => fixed::statuses(to),
        BrokerageTable::TradeType => fixed::trade_types(to),
        BrokerageTable::Exchange => fixed::exchanges(rules.securities(), to),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Counts rows, checks that each has the columns that it says, and keeps a sum of all bytes.
    #[derive(Default)]
    struct SeenTable {
        rows: u64,
        due: u16,
        widths: HashSet<u16>,
        sum: u64,
    }

    impl SeenTable {
        fn value(&mut self, bytes: &[u8]) {
            self.due = self.due.checked_sub(1).unwrap();
            for byte in bytes {
                self.sum = self.sum.wrapping_mul(31).wrapping_add(u64::from(*byte));
            }
        }
    }

    impl RowSink for SeenTable {
        fn row(&mut self, columns: u16) {
            assert_eq!(self.due, 0);
            self.rows += 1;
            self.due = columns;
            self.widths.insert(columns);
        }
        fn integer(&mut self, value: u32) {
            self.value(&value.to_le_bytes());
        }
        fn long(&mut self, value: i64) {
            self.value(&value.to_le_bytes());
        }
        fn decimal(&mut self, value: i64, digits: u16) {
            assert!(digits == 2 || digits == 4);
            self.value(&value.to_le_bytes());
        }
        fn text(&mut self, value: &[u8]) {
            assert!(!value.is_empty());
            self.value(value);
        }
        fn flag(&mut self, value: bool) {
            self.value(&[u8::from(value)]);
        }
        fn time(&mut self, unix_us: i64) {
            self.value(&unix_us.to_le_bytes());
        }
        fn date(&mut self, unix_days: i32) {
            self.value(&unix_days.to_le_bytes());
        }
        fn null(&mut self) {
            self.value(&[]);
        }
        fn is_full(&self) -> bool {
            false
        }
    }

    fn seen(table: BrokerageTable, seed: u64) -> SeenTable {
        let rules =
            BrokerageRules { customers: 200, trade_days: 1, seed, ..BrokerageRules::default() };
        let mut seen = SeenTable::default();
        fill(table, &rules, 1_790_000_000_000_000, &mut seen);
        assert_eq!(seen.due, 0, "{table:?}");
        seen
    }

    #[test]
    fn tables_have_the_cardinalities_that_are_told_and_rows_of_one_width() {
        let rules = BrokerageRules { customers: 200, trade_days: 1, ..BrokerageRules::default() };
        for table in BrokerageTable::ALL {
            let (found, wanted) = (seen(table, 1), rows_of(table, &rules));
            let by_chance = [
                BrokerageTable::TradeHistory,
                BrokerageTable::HoldingHistory,
                BrokerageTable::CashTransaction,
                BrokerageTable::Holding,
                BrokerageTable::HoldingSummary,
                BrokerageTable::AccountPermission,
            ];
            if by_chance.contains(&table) {
                let (low, high) = (wanted / 2, wanted * 2);
                assert!((low..=high).contains(&found.rows), "{table:?}: {} {wanted}", found.rows);
            } else {
                assert_eq!(found.rows, wanted, "{table:?}");
            }
            assert!(found.widths.len() <= 1, "{table:?}");
        }
    }

    #[test]
    fn there_are_33_tables_of_three_sorts() {
        let names: HashSet<&str> = BrokerageTable::ALL.iter().map(|table| table.name()).collect();
        assert_eq!(names.len(), 33);
        let rows = |customers, trade_days| {
            let rules = BrokerageRules { customers, trade_days, ..BrokerageRules::default() };
            BrokerageTable::ALL.map(|table| rows_of(table, &rules))
        };
        let (small, large, later) = (rows(1000, 1), rows(2000, 1), rows(1000, 2));
        let differ = |one: &[u64; 33], other: &[u64; 33]| {
            one.iter().zip(other).filter(|(one, other)| one != other).count()
        };
        // Requests are empty after loading; the other growing tables are seven.
        assert_eq!((differ(&small, &later), differ(&small, &large)), (7, 7 + 16));
        // Of a thousand customers and one day, as published descriptions have it.
        assert_eq!(
            rows_of(
                BrokerageTable::Trade,
                &BrokerageRules { trade_days: 1, ..BrokerageRules::default() }
            ),
            57_600
        );
        assert_eq!(rows_of(BrokerageTable::DailyMarket, &BrokerageRules::default()), 893_925);
    }

    #[test]
    fn equal_seeds_give_equal_rows_and_others_do_not() {
        for table in [
            BrokerageTable::Trade,
            BrokerageTable::Customer,
            BrokerageTable::WatchItem,
            BrokerageTable::Financial,
        ] {
            assert_eq!(seen(table, 1).sum, seen(table, 1).sum, "{table:?}");
        }
        for table in [
            BrokerageTable::Trade,
            BrokerageTable::WatchItem,
            BrokerageTable::Financial,
            BrokerageTable::Holding,
        ] {
            assert_ne!(seen(table, 1).sum, seen(table, 2).sum, "{table:?}");
        }
    }
}
