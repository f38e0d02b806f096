//! What a database got of its storage under a load: the ladder of sessions, with what the server,
//! the host and the device counted meanwhile.

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

/// The result of a load on a database server: the document `load.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Version of the document's form: [`Load::FORMAT`]; of the form 1 `kind` was called `method`,
    /// and refusals had no class.
    pub format: u32,
    /// The kind of load.
    #[serde(alias = "method")]
    pub kind: LoadKind,
    /// The server.
    pub server: ServerFacts,
    /// What was asked of it, by names and values in the order of the command line.
    pub plan: Vec<Setting>,
    /// How the data came to be there; none when it was there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled: Option<Filled>,
    /// How rows are read, in the words of the server's plan.
    pub access: String,
    /// One a number of sessions and repeat, in the order in which they were measured.
    #[serde(rename = "steps", alias = "rungs")]
    pub rungs: Vec<Rung>,
    /// Processors of the machine that measured.
    pub processors: u32,
    /// Why the ladder ended where it did, in a sentence.
    pub end: String,
    /// Sessions at the knee, where the ladder shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee_sessions: Option<u32>,
    /// The answer of the search for the most sessions within a limit, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// Conditions that the data must keep, each time that they were checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Checks>,
    /// What became of transactions that the server acknowledged, one a step and kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Commits>,
    /// Whether storage keeps what the server acknowledged, where a ledger says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// What a reader must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

/// The server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ServerFacts {
    /// The product.
    pub product: DatabaseProduct,
    /// Its version, for example `18.6`.
    pub version: String,
    /// Whether it was made for this run alone.
    pub is_own: bool,
    /// Whether it bypasses the page cache; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_io: Option<bool>,
    /// Time until a server that Assay creates takes sessions, s; none of a server that was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_s: Option<f64>,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Settings that matter for storage.
    pub settings: Vec<Setting>,
    /// How the sessions are encrypted; `None` where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption: Option<Encryption>,
}

/// How sessions with a server are encrypted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Encryption {
    /// The protocol and its version: `TLSv1.3`.
    pub protocol: String,
    /// Name of the cipher suite.
    pub cipher: String,
    /// What was checked of the server's certificate.
    pub checked: CertificateCheck,
    /// Time that this program spent on encrypting and decrypting for each answer that it waited
    /// for, mean over all sessions from the first measured step or run on, ns; `None` before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_per_answer_ns: Option<f64>,
}

/// What was checked of a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CertificateCheck {
    /// Nothing: an attacker in between may read and change everything.
    Nothing,
    /// That an authority signed it which is trusted.
    Authority,
    /// That, and that it is the certificate of the host that was named.
    AuthorityAndHost,
}

/// How the data came to be there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Filled {
    /// Rows.
    pub rows: u64,
    /// Bytes of the tables on storage, without indexes.
    pub table_bytes: u64,
    /// Bytes of the indexes.
    pub index_bytes: u64,
    /// From the first row to the last index, s.
    pub elapsed_s: f64,
}

/// The most sessions within a limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The quantile that the limit is on, 0..=1; none for the mean.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub quantile: LimitStatistic,
    /// The limit on the time of a reading statement, ns.
    pub limit_ns: f64,
    /// The most sessions that keep it; none when not even one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u32>,
    /// Whether more sessions were shown to break it; else the ladder ended before.
    pub is_bounded: bool,
}

impl Load {
    /// The newest form of the document.
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
