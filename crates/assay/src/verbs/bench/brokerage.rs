//! The options of `assay bench brokerage`.

use super::calls::CallsOption;
use super::transactions::TransactionOptions;
use assay_app::load::brokerage::BrokeragePlan;
use assay_model::units::Nanos;
use clap::Args;

/// Run brokerage in the manner of TPC-E: trade results/s
///
/// Derived from published descriptions of TPC-E; results are not TPC results and cannot be compared with published ones.
#[derive(Args)]
#[command(after_help = "Examples:
  assay bench brokerage /mnt/data
  assay bench brokerage mysql://user@host/database --customers 5000 --mix write-heavy")]
pub struct Options {
    /// Customers: the scale of the data, in whole hundreds; about 150 MB per thousand, and 40 MB for each of their days of trades
    #[arg(long, value_name = "N", default_value_t = 1000)]
    customers: u32,
    #[command(flatten)]
    pub shared: TransactionOptions,
    /// Days of trades before loading, 57,600 trades a day for a thousand customers
    #[arg(long, value_name = "DAYS", default_value_t = 5)]
    trade_days: u32,
    /// How transactions reach the server; by default `proc` on PostgreSQL, `stmt` elsewhere
    #[arg(long, value_enum)]
    calls: Option<CallsOption>,
    /// Mix of transactions: default, write-heavy, or a file *.mix.toml
    #[arg(long, value_name = "default|write-heavy|FILE", default_value = "default")]
    mix: String,
    /// Skew of the customers: the weight of the k-th is k to the power of minus this; 0 for none
    #[arg(long, value_name = "THETA", default_value_t = 0.4)]
    customer_skew: f64,
    /// Skew of the securities that are traded
    #[arg(long, value_name = "THETA", default_value_t = 0.6)]
    security_skew: f64,
    /// Mean think time before each transaction, exponentially distributed
    #[arg(long, value_name = "TIME", default_value = "0s")]
    think: Nanos,
}

impl Options {
    /// The plan that these options mean.
    pub fn plan(&self) -> BrokeragePlan {
        BrokeragePlan {
            customers: self.customers,
            trade_days: self.trade_days,
            calls: self.calls.map(CallsOption::into),
            mix: self.mix.clone(),
            customer_skew: self.customer_skew,
            security_skew: self.security_skew,
            think: self.think,
            shared: self.shared.plan(),
        }
    }
}
