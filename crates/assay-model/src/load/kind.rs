//! The loads on databases: what each is called, and what it counts. A load that is added says here
//! what every room must know.

use crate::units::{show_count, show_counted};
use serde::{Deserialize, Serialize};

/// Which load a database is put under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LoadKind {
    /// Random blocks, after the SLOB method.
    #[default]
    Slob,
    /// Orders of a wholesaler, in the manner of TPC-C.
    Oltp,
    /// Queries of a warehouse, in the manner of TPC-H.
    Dss,
    /// Trades of a brokerage, in the manner of TPC-E.
    Brokerage,
}

/// The transaction by which a load of transactions is measured, and what its figures are called.
#[derive(Debug, PartialEq, Eq)]
pub struct CountedTransaction {
    /// Its name, as its stream is called.
    pub stream: &'static str,
    /// Several of them.
    pub plural: &'static str,
    /// The unit of their rate as people say it, and how many of it one a second is.
    pub unit: (&'static str, u32),
    /// Their rate, their mean response time and its 99% quantile: as criteria and studies write
    /// them, and in words.
    pub figures: [(&'static str, &'static str); 3],
}

impl CountedTransaction {
    /// Their rate in its unit, of this number a second.
    pub fn rate(&self, per_s: f64) -> f64 {
        f64::from(self.unit.1) * per_s
    }

    /// The same in words.
    pub fn rate_words(&self, per_s: f64) -> String {
        format!("{} {}", show_count(self.rate(per_s)), self.unit.0)
    }
}

/// What is known of a load.
struct Description {
    name: &'static str,
    /// Its transactions and statements, as criteria write them: the names of their streams with
    /// `_` for a space.
    streams: &'static [&'static str],
    counted: Option<&'static CountedTransaction>,
}

const SLOB: Description =
    Description { name: "slob", streams: &["read", "update", "scan"], counted: None };

/// What order entry counts.
pub const NEW_ORDER: CountedTransaction = CountedTransaction {
    stream: "new order",
    plural: "new orders",
    unit: ("new orders/min", 60),
    figures: [
        ("new_orders", "new orders"),
        ("new_order.response_time.mean", "new order mean"),
        ("new_order.response_time.q0.99", "new order p99"),
    ],
};

const OLTP: Description = Description {
    name: "oltp",
    streams: &["new_order", "payment", "order_status", "delivery", "stock_level"],
    counted: Some(&NEW_ORDER),
};

/// Its queries are not streams.
const DSS: Description = Description { name: "dss", streams: &[], counted: None };

/// What a brokerage counts.
pub const TRADE_RESULT: CountedTransaction = CountedTransaction {
    stream: "trade result",
    plural: "trade results",
    unit: ("trade results/s", 1),
    figures: [
        ("trade_results", "trade results"),
        ("trade_result.response_time.mean", "trade result mean"),
        ("trade_result.response_time.q0.99", "trade result p99"),
    ],
};

const BROKERAGE: Description = Description {
    name: "brokerage",
    streams: &[
        "trade_order",
        "trade_result",
        "market_feed",
        "trade_update",
        "data_maintenance",
        "broker_volume",
        "customer_position",
        "market_watch",
        "security_detail",
        "trade_lookup",
        "trade_status",
        "rolled_back_order",
    ],
    counted: Some(&TRADE_RESULT),
};

impl LoadKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Slob, Self::Oltp, Self::Dss, Self::Brokerage];

    const fn description(self) -> &'static Description {
        match self {
            Self::Slob => &SLOB,
            Self::Oltp => &OLTP,
            Self::Dss => &DSS,
            Self::Brokerage => &BROKERAGE,
        }
    }

    /// Its name in documents and on the command line.
    pub const fn name(self) -> &'static str {
        self.description().name
    }

    /// The transaction that it counts, where it is one of transactions.
    pub const fn counted(self) -> Option<&'static CountedTransaction> {
        self.description().counted
    }

    /// The counted transactions of all loads.
    pub fn all_counted() -> impl Iterator<Item = &'static CountedTransaction> {
        Self::ALL.into_iter().filter_map(Self::counted)
    }

    /// The transactions and statements of all loads, as criteria write them.
    pub fn all_streams() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().flat_map(|kind| kind.description().streams).copied()
    }

    /// How its measurements with a number of sessions are called.
    pub fn title(self, sessions: u32) -> String {
        format!("{}, {}", self.name(), show_counted(u64::from(sessions), "session"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_written_in_documents_as_it_is_called_and_its_figures_follow_its_names() {
        for kind in LoadKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            let Some(counted) = kind.counted() else { continue };
            let stream = counted.stream.replace(' ', "_");
            assert!(kind.description().streams.contains(&stream.as_str()));
            let [(rate, plural), (mean, _), (q99, _)] = counted.figures;
            assert_eq!((rate, plural), (&*counted.plural.replace(' ', "_"), counted.plural));
            assert_eq!(mean, format!("{stream}.response_time.mean"));
            assert_eq!(q99, format!("{stream}.response_time.q0.99"));
            assert!(counted.unit.0.starts_with(plural));
        }
    }
}
