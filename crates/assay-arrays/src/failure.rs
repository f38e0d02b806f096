//! What fails in an array, and when: its write cache, one of its controllers, or a member that
//! comes back without what it missed.

use assay_model::array::{ArrayModel, Part, Raid, RaidLevel};
use assay_model::units::Nanos;
use assay_model::{Error, Result};

/// The failures of an array; times since it was new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// When the write cache loses what it holds; from then on writes go through.
    pub cache_lost: Option<Nanos>,
    /// When one controller fails; the mirror of its cache keeps all data, and as it has none
    /// itself, writes go through.
    pub controller_lost: Option<Nanos>,
    /// When the first member leaves, and when it comes back as if it had missed nothing.
    pub stale_member: Option<(Nanos, Nanos)>,
}

/// What becomes of a write cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheFailure {
    /// When, ns.
    pub at_ns: u64,
    /// Whether what it holds is lost.
    pub loses_data: bool,
}

/// A member that is away for a while, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Absence {
    /// When it leaves.
    pub from_ns: u64,
    /// When it comes back.
    pub until_ns: u64,
}

impl Failures {
    /// Reads one of them by its key; `None` is another key.
    ///
    /// # Errors
    /// A usage error when the time cannot be read.
    pub fn with(mut self, key: &str, value: &str) -> Result<Option<Self>> {
        match key {
            "cache_lost" => self.cache_lost = moment(value)?,
            "controller_lost" => self.controller_lost = moment(value)?,
            "stale_member" => self.stale_member = absence(value)?,
            _ => return Ok(None),
        }
        Ok(Some(self))
    }

    /// Refuses failures of what a model does not have.
    ///
    /// # Errors
    /// A usage error that says what is missing.
    pub fn check(&self, model: &ArrayModel) -> Result<()> {
        let refuse = |what: &str, why: &str| {
            Err(Error::usage(format!("{} has {why}", model.name), format!("leave {what} out")))
        };
        if self.cache_lost.is_some() && !has_write_cache(model) {
            return refuse("cache_lost", "no write cache in front of its members");
        }
        if self.controller_lost.is_some() && controllers(model) < 2 && !has_write_cache(model) {
            return refuse("controller_lost", "one controller and no write cache");
        }
        match (self.stale_member, redundant(model)) {
            (Some(_), None) => refuse("stale_member", "no members with redundancy"),
            (Some(_), Some(_)) if keeps_reads(model) => {
                refuse("stale_member", "a cache in front of its members")
            }
            _ => Ok(()),
        }
    }

    /// The same on a clock that stood at `now_ns` when the array was new, and that runs `hasten`
    /// times as slow.
    pub const fn since(self, now_ns: u64, hasten: u64) -> Self {
        const fn moved(at: Nanos, now_ns: u64, hasten: u64) -> Nanos {
            Nanos(now_ns + at.0 / hasten)
        }
        const fn later(at: Option<Nanos>, now_ns: u64, hasten: u64) -> Option<Nanos> {
            match at {
                Some(at) => Some(moved(at, now_ns, hasten)),
                None => None,
            }
        }
        Self {
            cache_lost: later(self.cache_lost, now_ns, hasten),
            controller_lost: later(self.controller_lost, now_ns, hasten),
            stale_member: match self.stale_member {
                Some((from, until)) => {
                    Some((moved(from, now_ns, hasten), moved(until, now_ns, hasten)))
                }
                None => None,
            },
        }
    }

    /// What becomes of the write cache: of two failures the first, and data are lost where either
    /// loses them.
    pub fn of_cache(&self) -> Option<CacheFailure> {
        let lost = self.cache_lost.map(|at| CacheFailure { at_ns: at.0, loses_data: true });
        let alone = self.controller_lost.map(|at| CacheFailure { at_ns: at.0, loses_data: false });
        lost.into_iter().chain(alone).min_by_key(|failure| failure.at_ns)
    }

    /// The absence of a member.
    pub(crate) fn of_member(&self) -> Option<Absence> {
        let (from, until) = self.stale_member?;
        Some(Absence { from_ns: from.0, until_ns: until.0 })
    }
}

/// Parts that an I/O meets before the first whose places are not those of the host.
fn upper(model: &ArrayModel) -> impl Iterator<Item = &Part> {
    let lower = model.parts.iter().position(|part| matches!(part, Part::Raid(_) | Part::Tier(_)));
    model.parts.iter().take(lower.unwrap_or(model.parts.len()))
}

fn has_write_cache(model: &ArrayModel) -> bool {
    upper(model).any(|part| matches!(part, Part::Cache(cache) if cache.dirty.0 > 0.0))
}

fn keeps_reads(model: &ArrayModel) -> bool {
    upper(model).any(|part| matches!(part, Part::Cache(cache) if cache.reads))
}

fn controllers(model: &ArrayModel) -> u32 {
    let nodes = upper(model).filter_map(|part| match part {
        Part::Controller(controller) => Some(controller.nodes),
        _ => None,
    });
    nodes.max().unwrap_or(1)
}

/// The members with redundancy that an I/O meets first.
fn redundant(model: &ArrayModel) -> Option<&Raid> {
    let raid = model.parts.iter().find_map(|part| match part {
        Part::Raid(raid) => Some(raid),
        _ => None,
    });
    raid.filter(|raid| raid.level != RaidLevel::Raid0)
}

fn moment(text: &str) -> Result<Option<Nanos>> {
    if text == "no" { Ok(None) } else { text.parse().map(Some) }
}

fn absence(text: &str) -> Result<Option<(Nanos, Nanos)>> {
    if text == "no" {
        return Ok(None);
    }
    let Some((from, until)) = text.split_once('-') else {
        return Err(Error::usage(
            format!("'{text}' is not a period with start and end"),
            "write for example stale_member=20s-40s",
        ));
    };
    let (from, until) = (from.parse::<Nanos>()?, until.parse::<Nanos>()?);
    if from < until {
        return Ok(Some((from, until)));
    }
    Err(Error::usage(
        format!("a member cannot return before it left: '{text}'"),
        "write for example stale_member=20s-40s",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;

    fn read(key: &str, value: &str) -> Result<Option<Failures>> {
        Failures::default().with(key, value)
    }

    #[test]
    fn failures_are_read_and_refused() {
        let lost = read("cache_lost", "30s").unwrap().unwrap();
        assert_eq!(lost.cache_lost, Some(Nanos(30_000_000_000)));
        assert_eq!(read("cache_lost", "no").unwrap(), Some(Failures::default()));
        assert_eq!(read("seed", "1").unwrap(), None);
        for wrong in ["20s", "40s-20s", "a-b"] {
            assert!(read("stale_member", wrong).is_err(), "{wrong}");
        }
        lost.check(&find("ps6010xv").unwrap()).unwrap();
        assert!(lost.check(&find("ramsan-300").unwrap()).is_err());
        let stale = read("stale_member", "1s-2s").unwrap().unwrap();
        stale.check(&find("ps6010xv").unwrap()).unwrap();
        assert!(stale.check(&find("raid0-8").unwrap()).is_err());
    }

    #[test]
    fn times_follow_the_clock_of_the_array() {
        let failures = Failures {
            cache_lost: Some(Nanos(60)),
            controller_lost: Some(Nanos(30)),
            stale_member: Some((Nanos(10), Nanos(20))),
        };
        let moved = failures.since(100, 10);
        assert_eq!(moved.of_cache(), Some(CacheFailure { at_ns: 103, loses_data: false }));
        assert_eq!(moved.of_member(), Some(Absence { from_ns: 101, until_ns: 102 }));
    }
}
