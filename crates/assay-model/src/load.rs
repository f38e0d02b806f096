//! Database load: results by number of sessions, with server, host and device counters.

use crate::counters::DeviceCounters;
use crate::durability::Durability;
use crate::estimate::Estimate;
use crate::histogram::{Histogram, Precision};
use crate::measurement::{Measurement, Operation, Remark};
use crate::number::{rate, real, share};
use crate::spelling::LimitStatistic;
use serde::{Deserialize, Serialize};

mod checks;
mod kind;
mod product;
mod retries;
mod rung;
mod setting;
mod step;

pub use checks::{Check, Checks, Commits};
pub use kind::{CountedTransaction, LoadKind, NEW_ORDER, TRADE_RESULT};
pub use product::{DatabaseProduct, Dialect, DialectFacts};
pub use retries::Retries;
pub use rung::{
    CACHED_SHARE_MAX, CommitParity, DatabaseCounts, DatabaseRung, DeviceCounts, Physical,
    PhysicalVerdict, Rung, StreamTimes, TimeSplit,
};
pub use setting::Setting;
pub use step::{Length, LoadStep, OnLoss, Spacing, StepArrival};

/// Results of a load on a database server: the document `load.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Version of the document format: [`Load::FORMAT`]. In format 1, `kind` was named `method` and
    /// refusals had no class.
    pub format: u32,
    /// Type of load.
    #[serde(alias = "method")]
    pub kind: LoadKind,
    /// Server facts.
    pub server: ServerFacts,
    /// Load settings, names and values, in command-line order.
    pub plan: Vec<Setting>,
    /// Loading of the data; absent if the data already existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled: Option<Filled>,
    /// Access path of row reads, from the query plan of the server.
    pub access: String,
    /// One result per number of sessions and repeat, in order of measurement.
    #[serde(rename = "steps", alias = "rungs")]
    pub rungs: Vec<Rung>,
    /// Number of CPUs of the measuring host.
    pub processors: u32,
    /// Reason for the last step, in a sentence.
    pub end: String,
    /// Number of sessions at the knee; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee_sessions: Option<u32>,
    /// Result of the search for the maximum number of sessions within a limit; absent if not
    /// requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// Results of the data consistency checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Checks>,
    /// State of acknowledged transactions, one entry per step and type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Commits>,
    /// Durability of acknowledged transactions; absent without a ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// Remarks on the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

/// Facts about a database server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ServerFacts {
    /// Database product.
    pub product: DatabaseProduct,
    /// Server version, for example `18.6`.
    pub version: String,
    /// Whether Assay created the server for this run.
    pub is_own: bool,
    /// Whether the server bypasses the page cache; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_io: Option<bool>,
    /// Startup time of a server created by Assay, until it accepts sessions, s; absent for other
    /// servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_s: Option<f64>,
    /// Block size, bytes.
    pub block_bytes: u64,
    /// Server settings that affect storage.
    pub settings: Vec<Setting>,
    /// Session encryption; absent if sessions are not encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption: Option<Encryption>,
}

/// Encryption of the sessions with a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Encryption {
    /// Protocol and version, for example `TLSv1.3`.
    pub protocol: String,
    /// Cipher suite.
    pub cipher: String,
    /// Verification of the server certificate.
    pub checked: CertificateCheck,
    /// Client CPU time for encryption and decryption per awaited response, mean over all sessions
    /// since the first measured step or run, ns; absent before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_per_answer_ns: Option<f64>,
}

/// Verification of a server certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CertificateCheck {
    /// No verification: an attacker between client and server can read and change all data.
    Nothing,
    /// Signature of a trusted certificate authority.
    Authority,
    /// Signature of a trusted certificate authority, and host name.
    AuthorityAndHost,
}

/// Loading of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Filled {
    /// Number of rows.
    pub rows: u64,
    /// Size of the tables on storage without indexes, bytes.
    pub table_bytes: u64,
    /// Size of the indexes, bytes.
    pub index_bytes: u64,
    /// Time from the first row to the last index, s.
    pub elapsed_s: f64,
}

/// Maximum number of sessions within a latency limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// Limited quantile, 0..=1; null for the mean.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub quantile: LimitStatistic,
    /// Maximum latency of a read statement, ns.
    pub limit_ns: f64,
    /// Maximum number of sessions within the limit; absent if one session exceeds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u32>,
    /// Whether a higher number of sessions exceeded the limit; false if the steps ended earlier.
    pub is_bounded: bool,
}

impl Load {
    /// Latest version of the document format.
    pub const FORMAT: u32 = 2;

    /// The step with the most reading and changing statements per second; of repeats the middle
    /// one.
    pub fn best(&self) -> Option<&Rung> {
        self.best_by(Rung::statements_per_s)
    }

    /// The step with the most by any rate. Of the repeats of each number of sessions the middle one
    /// counts, the lower of two: the luckiest of several says nothing of the next one.
    pub fn best_by(&self, rate: impl Fn(&Rung) -> f64) -> Option<&Rung> {
        let by_rate = |one: &&Rung, other: &&Rung| rate(one).total_cmp(&rate(other));
        let firsts = self.rungs.iter().filter(|rung| rung.repeat == 1);
        let middles = firsts.map(|first| {
            let mut repeats: Vec<&Rung> = self.repeats_of(first.sessions).collect();
            repeats.sort_by(by_rate);
            repeats[(repeats.len() - 1) / 2]
        });
        middles.max_by(by_rate)
    }

    /// All repeats with the same number of sessions.
    pub fn repeats_of(&self, sessions: u32) -> impl Iterator<Item = &Rung> {
        self.rungs.iter().filter(move |rung| rung.sessions == sessions)
    }

    /// Whether the data broke a condition, or an acknowledged transaction is lost. What a control
    /// breaks is what it was run for.
    pub fn is_damaged(&self) -> bool {
        let last = self.durability.as_ref().and_then(|found| found.cuts.last());
        let is_control = last.is_some_and(|cut| cut.control().is_some());
        (!is_control && self.checks.iter().any(|checks| !checks.hold()))
            || self.commits.iter().any(Commits::is_lost)
            || self.durability.as_ref().is_some_and(|found| found.broken() > 0)
    }

    /// Whether in any step more than the tolerated share of the reads never reached the device.
    pub fn is_cached(&self) -> bool {
        let verdicts = self.rungs.iter().map(|rung| rung.physical.verdict);
        verdicts.into_iter().any(|verdict| verdict == PhysicalVerdict::Cached)
    }
}
