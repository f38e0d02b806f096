//! A database's I/O issued on other storage at its own rate, and the time that its work would take
//! there.

use crate::estimate::Estimate;
use serde::{Deserialize, Serialize};

/// One class of a database's I/O, now and on the other storage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReplayedClass {
    /// The class, as its stream is named.
    pub name: String,
    /// I/Os per second that the database demands.
    pub rate_iops: f64,
    /// Share of all I/Os that it demands.
    pub io_share: f64,
    /// Share of DB time that sessions wait for it; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub db_time_share: Option<f64>,
    /// Mean time of one now, seconds; absent where the database does not time it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now_s: Option<f64>,
    /// The least that it may be, where only the waits of commits are known and `now_s` is the
    /// most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now_least_s: Option<f64>,
    /// Mean response time of one on the other storage, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub there_s: Option<Estimate>,
    /// Whether its time counts: it is at least a hundredth of the I/Os or of DB time, and has a
    /// time now and there.
    pub is_judged: bool,
}

/// What a database's work takes now, and what it would take with the times of I/O that were
/// measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DemandReplay {
    /// Its classes of I/O, in the order of the streams.
    pub classes: Vec<ReplayedClass>,
    /// DB time of one unit of work now, seconds; absent where the profile has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_now_s: Option<f64>,
    /// The same on the other storage: the waits of each judged class grow or shrink with its time,
    /// and all else stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_s: Option<Estimate>,
    /// DB time there over DB time now; where DB time is not known, time waited for I/O there over
    /// that now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ratio: Option<Estimate>,
}

impl ReplayedClass {
    /// Its time there over its time now.
    pub fn growth(&self) -> Option<f64> {
        Some(self.there_s.as_ref()?.value / self.now_s.filter(|now_s| *now_s > 0.0)?)
    }
}

impl DemandReplay {
    /// Mean time of an I/O now over the classes that are timed, seconds.
    pub fn wait_now_s(&self) -> Option<f64> {
        let timed =
            || self.classes.iter().filter_map(|class| Some((class.rate_iops, class.now_s?)));
        let ios: f64 = timed().map(|(rate, _)| rate).sum();
        let waited: f64 = timed().map(|(rate, now_s)| rate * now_s).sum();
        (ios > 0.0).then_some(waited / ios)
    }

    /// What is judged: DB time of one unit of work, else the mean time of an I/O; now, seconds.
    pub fn base_s(&self) -> Option<f64> {
        self.response_now_s.or_else(|| self.wait_now_s())
    }
}
