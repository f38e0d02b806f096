//! The options of `assay bench oltp`.

use super::calls::CallsOption;
use super::transactions::TransactionOptions;
use assay_app::load::bounds::PARTITIONS;
use assay_app::load::oltp::OltpPlan;
use assay_loads::oltp::Homes;
use assay_model::units::Share;
use clap::{Args, ValueEnum};

/// Run order entry in the manner of TPC-C: new orders/min
///
/// Derived from the TPC-C standard; results are not TPC results and cannot be compared with published ones.
#[derive(Args)]
#[command(after_help = "Examples:
  assay bench oltp /mnt/data --warehouses 10 --sessions 1,8,32
  assay bench oltp postgresql://user@host/database --warehouses 10 --find-knee
  assay bench oltp postgresql://user@hA/database postgresql://user@hB/database --hosts ssh:c1,c2")]
pub struct Options {
    /// Warehouses: the scale of the data, about 100 MB each
    #[arg(long, alias = "scale", value_name = "N", default_value_t = 1)]
    warehouses: u32,
    #[command(flatten)]
    pub shared: TransactionOptions,
    /// How transactions reach the server; by default `proc`
    #[arg(long, value_enum)]
    calls: Option<CallsOption>,
    /// Which warehouse a session works for
    #[arg(long, value_enum, default_value_t = HomesOption::All)]
    homes: HomesOption,
    /// Keying and think times, as a share of the specified ones
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    think: Share,
    /// Partitions of the order lines, by a hash of their warehouse; 0 for one table
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(PARTITIONS))]
    partitions: u32,
}

/// Which warehouse a session works for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HomesOption {
    /// One, always the same
    Home,
    /// Any, drawn for each transaction, so that all data are touched
    All,
}

impl Options {
    /// The plan that these options mean.
    pub fn plan(&self) -> OltpPlan {
        OltpPlan {
            warehouses: self.warehouses,
            calls: self.calls.map(CallsOption::into),
            homes: match self.homes {
                HomesOption::Home => Homes::Home,
                HomesOption::All => Homes::All,
            },
            think: self.think,
            partitions: self.partitions,
            shared: self.shared.plan(),
        }
    }
}
