//! The work of a database on the checked storage, from the times of its replayed I/O.

use crate::loaded_run::LoadedRun;
use assay_judge::StreamShare;
use assay_methods::ClassDemand;
use assay_model::profile::{Figure, Profile};
use assay_model::projection::{DemandReplay, ReplayedClass};
use assay_model::units::show_time_ns;
use assay_model::verdict::{Bound, Criterion};
use assay_model::{Criteria, Estimate, Workload};
use assay_report::RunReport;

/// A class of fewer I/Os and less DB time than this is shown and not judged.
const JUDGED_SHARE: f64 = 0.01;
/// Reads of which a larger share comes from the page cache say nothing of a storage.
const CACHED_SHARE: f64 = 0.99;
/// More of DB time than this in a class without a time leaves the response unknown.
const UNTIMED_SHARE: f64 = 0.05;
/// Criteria of a plan that are about the database as a whole.
const OF_WHOLE: [&str; 2] = ["iops", "errors"];

/// The database that storage is checked for.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedDemand {
    /// Its profile.
    pub profile: Profile,
    /// What each stream of the workload stands for, in their order.
    pub classes: Vec<ClassDemand>,
    /// How much slower its work may be and still be as fast as now, as a share.
    pub parity: f64,
    /// Whether the user set limits for single classes.
    pub has_limits: bool,
}

impl ReplayedDemand {
    /// That it gets its I/O, and does its work no slower than now. Limits of single classes hold
    /// only where somebody asks.
    pub(super) fn criteria(&self, workload: &Workload) -> Criteria {
        let is_asked = |criterion: &&Criterion| {
            self.has_limits || OF_WHOLE.contains(&criterion.quantity.as_str())
        };
        let mut criteria: Vec<Criterion> =
            workload.criteria.iter().filter(is_asked).cloned().collect();
        criteria.splice(0..0, self.response_criterion());
        Criteria {
            format: 1,
            name: workload.name.clone(),
            description: workload.description.clone(),
            criteria,
        }
    }

    fn response_criterion(&self) -> Option<Criterion> {
        let now_s = self.weights().base_s?;
        let most_ns = (now_s * (1.0 + self.parity) * 1e9).round();
        Some(Criterion {
            quantity: "database.response_time".to_owned(),
            at_most: Some(Bound(format!("{most_ns}ns"))),
            why: format!(
                "It takes {} now; up to {}% more counts as equal.",
                show_time_ns(now_s * 1e9),
                (self.parity * 1e4).round() / 1e2
            ),
            source: "times in the profile, weighted by DB time".to_owned(),
            ..Criterion::default()
        })
    }

    /// DB time of one unit of work now, by the profile alone.
    fn response_now_s(&self) -> Option<f64> {
        let value = |figure: &Option<Figure>| {
            figure.as_ref().map(|figure| figure.value).filter(|value| *value > 0.0)
        };
        let time = &self.profile.time;
        let active = value(&time.average_active_sessions)
            .or_else(|| Some(value(&time.db_time_s)? / value(&self.profile.elapsed_s)?))?;
        let unit = assay_predict::demand_of(&self.profile, None).demand.throughput_per_s;
        (unit > 0.0).then(|| active / unit)
    }

    /// The weight of each class, and what they are shares of.
    fn weights(&self) -> ClassWeights {
        let of_db_time: Vec<Option<f64>> =
            self.classes.iter().map(|class| class.db_time_share).collect();
        let is_known = of_db_time.iter().flatten().any(|share| *share > 0.0);
        if let Some(now_s) = self.response_now_s().filter(|_| is_known) {
            let shares = of_db_time.into_iter().map(|share| share.unwrap_or(0.0)).collect();
            return ClassWeights { shares, base_s: Some(now_s), is_of_db_time: true };
        }
        let waited = |class: &ClassDemand| class.now_s.map_or(0.0, |now_s| class.rate_iops * now_s);
        let sum: f64 = self.classes.iter().map(waited).sum();
        let timed = self.classes.iter().filter(|class| class.now_s.is_some());
        let ios: f64 = timed.map(|class| class.rate_iops).sum();
        let shares = self.classes.iter().map(|class| waited(class) / sum.max(f64::MIN_POSITIVE));
        ClassWeights {
            shares: shares.collect(),
            base_s: (ios > 0.0 && sum > 0.0).then(|| sum / ios),
            is_of_db_time: false,
        }
    }

    /// Whether sessions wait much for a class whose time nobody knows: nothing follows from its
    /// time on other storage.
    fn is_untimed(&self, weights: &ClassWeights) -> bool {
        let mut all = self.classes.iter().zip(&weights.shares);
        all.any(|(class, share)| class.now_s.is_none() && *share >= UNTIMED_SHARE)
    }

    /// DB time there over that now; one where sessions wait for no I/O, and none where a class they
    /// wait for has no time.
    fn time_ratio(
        &self,
        classes: &[ReplayedClass],
        weights: &ClassWeights,
        now: Now,
        measured: &LoadedRun,
    ) -> Option<Estimate> {
        if self.is_untimed(weights) {
            return None;
        }
        let judged = judged(&self.classes, classes, &weights.shares, now);
        let streams: Vec<StreamShare<'_>> = judged.iter().map(|one| one.stream).collect();
        if streams.is_empty() {
            return weights.base_s.map(|_| Estimate::exact(1.0, 1));
        }
        let kept = 1.0 - judged.iter().map(|one| one.share).sum::<f64>();
        measured.weighted_response(&streams).map(|waited| shifted(&waited, kept))
    }

    /// What its work would take with the times that were measured; nothing where no workload was.
    pub(super) fn replayed(&self, measured: &LoadedRun) -> Option<DemandReplay> {
        let run = measured.report.runs.last()?;
        let weights = self.weights();
        let all: f64 = self.classes.iter().map(|class| class.rate_iops).sum();
        let of_one = |(class, share): (&ClassDemand, &f64)| {
            let io_share = class.rate_iops / all.max(f64::MIN_POSITIVE);
            let counts = io_share >= JUDGED_SHARE || *share >= JUDGED_SHARE;
            ReplayedClass {
                name: class.name.clone(),
                rate_iops: class.rate_iops,
                io_share,
                db_time_share: class.db_time_share.filter(|_| weights.is_of_db_time),
                now_s: class.now_s,
                now_least_s: class.now_least_s,
                there_s: time_there(class, self.classes.len(), run),
                is_judged: counts
                    && class.now_s.is_some()
                    && *share > 0.0
                    && class.cached_share < CACHED_SHARE,
            }
        };
        let classes: Vec<ReplayedClass> =
            self.classes.iter().zip(&weights.shares).map(of_one).collect();
        let ratio = |now: Now| self.time_ratio(&classes, &weights, now, measured);
        let time_ratio = ratio(Now::Most).zip(ratio(Now::Least)).map(|both| either(&both));
        let response_now_s = weights.base_s.filter(|_| weights.is_of_db_time);
        let response_s = response_now_s.zip(time_ratio).map(|(now_s, ratio)| ratio.scaled(now_s));
        Some(DemandReplay { classes, response_now_s, response_s, time_ratio })
    }
}

/// Which of the bounds on the time of a class is taken.
#[derive(Clone, Copy, PartialEq)]
enum Now {
    Most,
    Least,
}

impl Now {
    fn of(self, class: &ClassDemand) -> Option<f64> {
        class.now_least_s.filter(|_| self == Self::Least).or(class.now_s)
    }
}

/// One interval for two answers of which either may be right.
fn either((one, other): &(Estimate, Estimate)) -> Estimate {
    Estimate {
        value: (one.value * other.value).sqrt(),
        low: one.low.min(other.low),
        high: one.high.max(other.high),
        ..*one
    }
}

/// A class that counts.
struct JudgedClass<'a> {
    /// Share of DB time that sessions wait for it now.
    share: f64,
    /// What a nanosecond of its mean time there adds to DB time, as a share of that now.
    stream: StreamShare<'a>,
}

/// The waits for each class that counts grow or shrink with its time, and all else stays. Reads
/// that the page cache answers stay there and take next to nothing.
fn judged<'a>(
    planned: &'a [ClassDemand],
    classes: &[ReplayedClass],
    shares: &[f64],
    now: Now,
) -> Vec<JudgedClass<'a>> {
    let all = planned.iter().zip(classes).zip(shares);
    let counting = all.filter(|((_, class), _)| class.is_judged);
    let of_one = |((planned, _), share): ((&'a ClassDemand, _), &f64)| {
        let weight = share * (1.0 - planned.cached_share) / (1e9 * now.of(planned)?);
        let stream = StreamShare { stream: &planned.name, weight };
        Some(JudgedClass { share: *share, stream })
    };
    counting.filter_map(of_one).collect()
}

fn shifted(estimate: &Estimate, by: f64) -> Estimate {
    Estimate {
        value: (estimate.value + by).max(0.0),
        low: (estimate.low + by).max(0.0),
        high: (estimate.high + by).max(0.0),
        ..*estimate
    }
}

/// What the times of classes are weighted by.
struct ClassWeights {
    shares: Vec<f64>,
    /// What is judged, now, seconds.
    base_s: Option<f64>,
    is_of_db_time: bool,
}

/// Mean response time of a class on the storage, seconds.
fn time_there(class: &ClassDemand, classes: usize, run: &RunReport) -> Option<Estimate> {
    let scope = if classes > 1 { "stream." } else { "" };
    let found = ["read", "write"].into_iter().find_map(|operation| {
        let quantity = format!("{scope}{operation}.response_time.mean");
        run.estimates.iter().find(|known| {
            let is_meant = classes == 1 || known.subject.as_deref() == Some(&class.name);
            known.quantity == quantity && is_meant
        })
    })?;
    Some(found.estimate.scaled(1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40% of DB time in reads of 2 ms, half of them cached, 30% in commits of 1 ms; a class of a
    /// thousandth does not count. Reads that take 1 ms and commits that take 2 ms there make
    /// 0.3 + 0.4 / 4 + 0.6.
    #[test]
    fn classes_are_weighted_by_their_share_of_db_time() {
        let class = |name: &str, now_s: f64, cached_share: f64| ClassDemand {
            name: name.to_owned(),
            rate_iops: 100.0,
            now_s: Some(now_s),
            now_least_s: None,
            db_time_share: None,
            cached_share,
        };
        let planned =
            [class("reads", 0.002, 0.5), class("redo log", 0.001, 0.0), class("rare", 0.001, 0.0)];
        let replayed = |class: &ClassDemand, is_judged| ReplayedClass {
            name: class.name.clone(),
            rate_iops: 100.0,
            io_share: 0.3,
            db_time_share: None,
            now_s: class.now_s,
            now_least_s: None,
            there_s: None,
            is_judged,
        };
        let classes: Vec<ReplayedClass> =
            planned.iter().zip([true, true, false]).map(|(one, is)| replayed(one, is)).collect();
        let judged = judged(&planned, &classes, &[0.4, 0.3, 0.001], Now::Most);
        let there_ns = [1e6, 2e6];
        let grown = judged.iter().zip(there_ns).map(|(one, there)| one.stream.weight * there);
        let kept = 1.0 - judged.iter().map(|one| one.share).sum::<f64>();
        let ratio = kept + grown.sum::<f64>();
        assert!((ratio - (0.3 + 0.1 + 0.6)).abs() < 1e-12, "{ratio}");
    }

    /// Where a log write takes 0.5 to 1 ms now and 2 ms there, it takes two to four times as long.
    #[test]
    fn a_log_that_nobody_timed_takes_what_commits_wait_at_most() {
        let log = ClassDemand {
            name: "redo log".to_owned(),
            rate_iops: 100.0,
            now_s: Some(0.001),
            now_least_s: Some(0.0005),
            db_time_share: Some(0.3),
            cached_share: 0.0,
        };
        assert_eq!((Now::Most.of(&log), Now::Least.of(&log)), (Some(0.001), Some(0.0005)));
        let there = |ratio: f64| Estimate {
            low: 0.9 * ratio,
            high: 1.1 * ratio,
            ..Estimate::exact(ratio, 8)
        };
        let both = either(&(there(2.0), there(4.0)));
        assert!((both.low - 1.8).abs() < 1e-12 && (both.high - 4.4).abs() < 1e-12, "{both:?}");
        assert!(both.value > 2.8 && both.value < 2.9, "{both:?}");
    }
}
