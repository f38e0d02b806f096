//! From the times of a database's I/O on the storage that was checked to what its work would take there.

use assay_methods::PlannedClass;
use assay_model::profile::{Figure, Profile};
use assay_model::projection::{DemandReplay, ReplayedClass};
use assay_model::units::show_time_ns;
use assay_model::verdict::{Bound, Criterion};
use assay_model::{Criteria, Estimate, Workload};
use assay_report::RunReport;

/// A class of fewer I/Os and less DB time than this is shown and not judged.
const JUDGED_SHARE: f64 = 0.01;
/// Criteria of a plan that are about the database as a whole.
const OF_WHOLE: [&str; 2] = ["iops", "errors"];

/// The database that storage is checked for.
#[derive(Clone, Debug)]
pub struct DatabaseDemand {
    /// Its profile.
    pub profile: Profile,
    /// What each stream of the workload stands for, in their order.
    pub classes: Vec<PlannedClass>,
    /// How much slower its work may be and still be as fast as now, as a share.
    pub parity: f64,
    /// Whether limits of single classes were asked for.
    pub has_limits: bool,
}

impl DatabaseDemand {
    /// That it gets its I/O, and does its work no slower than now. Limits of single classes hold only where somebody asks.
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
                "It takes {} now; {} % more still counts as equal.",
                show_time_ns(now_s * 1e9),
                (self.parity * 1e4).round() / 1e2
            ),
            source: "times of the profile, each weighted by its share of DB time".to_owned(),
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
    fn weights(&self) -> Weights {
        let of_db_time: Vec<Option<f64>> =
            self.classes.iter().map(|class| class.db_time_share).collect();
        let is_known = of_db_time.iter().flatten().any(|share| *share > 0.0);
        if let Some(now_s) = self.response_now_s().filter(|_| is_known) {
            let shares = of_db_time.into_iter().map(|share| share.unwrap_or(0.0)).collect();
            return Weights { shares, base_s: Some(now_s), is_of_db_time: true };
        }
        let waited =
            |class: &PlannedClass| class.now_s.map_or(0.0, |now_s| class.rate_iops * now_s);
        let sum: f64 = self.classes.iter().map(waited).sum();
        let timed = self.classes.iter().filter(|class| class.now_s.is_some());
        let ios: f64 = timed.map(|class| class.rate_iops).sum();
        let shares = self.classes.iter().map(|class| waited(class) / sum.max(f64::MIN_POSITIVE));
        Weights {
            shares: shares.collect(),
            base_s: (ios > 0.0 && sum > 0.0).then(|| sum / ios),
            is_of_db_time: false,
        }
    }

    /// What its work would take with the times that were measured.
    pub(super) fn replayed(&self, run: &RunReport) -> DemandReplay {
        let weights = self.weights();
        let all: f64 = self.classes.iter().map(|class| class.rate_iops).sum();
        let of_one = |(class, share): (&PlannedClass, &f64)| {
            let there_s = time_there(class, self.classes.len(), run);
            let io_share = class.rate_iops / all.max(f64::MIN_POSITIVE);
            let counts = io_share >= JUDGED_SHARE || *share >= JUDGED_SHARE;
            let is_timed = class.now_s.is_some() && there_s.is_some();
            ReplayedClass {
                name: class.name.clone(),
                rate_iops: class.rate_iops,
                io_share,
                db_time_share: class.db_time_share.filter(|_| weights.is_of_db_time),
                now_s: class.now_s,
                there_s,
                is_judged: counts && is_timed && *share > 0.0,
            }
        };
        let classes: Vec<ReplayedClass> =
            self.classes.iter().zip(&weights.shares).map(of_one).collect();
        let time_ratio = ratio(&classes, &weights.shares);
        let response_now_s = weights.base_s.filter(|_| weights.is_of_db_time);
        let response_s = response_now_s.zip(time_ratio).map(|(now_s, ratio)| scaled(&ratio, now_s));
        DemandReplay { classes, response_now_s, response_s, time_ratio }
    }
}

/// What the times of classes are weighted by.
struct Weights {
    shares: Vec<f64>,
    /// What is judged, now, seconds.
    base_s: Option<f64>,
    is_of_db_time: bool,
}

/// An estimate of a multiple.
pub(crate) fn scaled(estimate: &Estimate, factor: f64) -> Estimate {
    Estimate {
        value: estimate.value * factor,
        low: estimate.low * factor,
        high: estimate.high * factor,
        ..*estimate
    }
}

/// Mean response time of a class, seconds; reads that the page cache answers stay there and take next to nothing.
fn time_there(class: &PlannedClass, classes: usize, run: &RunReport) -> Option<Estimate> {
    let scope = if classes > 1 { "stream." } else { "" };
    let found = ["read", "write"].into_iter().find_map(|operation| {
        let quantity = format!("{scope}{operation}.response_time.mean");
        run.estimates.iter().find(|known| {
            let is_meant = classes == 1 || known.subject.as_deref() == Some(&class.name);
            known.quantity == quantity && is_meant
        })
    })?;
    Some(scaled(&found.estimate, (1.0 - class.cached_share) / 1e9))
}

/// DB time there over DB time now: the waits for each class grow or shrink with its time, and all else stays. Ends of the
/// intervals add up, because one storage makes all of them slow or fast together. Nothing where a class that counts was not
/// timed there.
fn ratio(classes: &[ReplayedClass], shares: &[f64]) -> Option<Estimate> {
    let is_unknown = classes.iter().zip(shares).any(|(class, share)| {
        class.now_s.is_some() && class.there_s.is_none() && *share >= JUDGED_SHARE
    });
    if is_unknown {
        return None;
    }
    let judged: Vec<(f64, f64, Estimate)> = classes
        .iter()
        .zip(shares)
        .filter(|(class, _)| class.is_judged)
        .filter_map(|(class, share)| Some((*share, class.now_s?, class.there_s?)))
        .collect();
    let first = judged.first()?.2;
    let sum = |of: fn(&Estimate) -> f64| {
        let grown = judged.iter().map(|(share, now_s, there)| share * (of(there) / now_s - 1.0));
        (1.0 + grown.sum::<f64>()).max(0.0)
    };
    Some(Estimate {
        value: sum(|one| one.value),
        low: sum(|one| one.low),
        high: sum(|one| one.high),
        confidence: first.confidence,
        n: judged.iter().map(|(_, _, there)| there.n).min().unwrap_or(first.n),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, rate_iops: f64, now_s: f64, there_s: f64, share: f64) -> ReplayedClass {
        ReplayedClass {
            name: name.to_owned(),
            rate_iops,
            io_share: 0.5,
            db_time_share: Some(share),
            now_s: Some(now_s),
            there_s: Some(Estimate {
                value: there_s,
                low: 0.9 * there_s,
                high: 1.2 * there_s,
                confidence: 0.95,
                n: 40,
            }),
            is_judged: share >= JUDGED_SHARE,
        }
    }

    /// 40 % of DB time in reads that take half as long, 30 % in commits that take twice as long: 1 - 0.2 + 0.3; a class of a
    /// thousandth that takes forty times as long does not count.
    #[test]
    fn classes_are_weighted_by_their_share_of_db_time() {
        let classes = [
            class("single-block reads", 900.0, 0.002, 0.001, 0.4),
            class("redo log", 90.0, 0.001, 0.002, 0.3),
            class("direct writes", 2.0, 0.001, 0.04, 0.001),
        ];
        let ratio = ratio(&classes, &[0.4, 0.3, 0.001]).unwrap();
        assert!((ratio.value - 1.1).abs() < 1e-12, "{ratio:?}");
        assert!((ratio.low - (1.0 + 0.4 * -0.55 + 0.3 * 0.8)).abs() < 1e-12);
        assert!((ratio.high - (1.0 + 0.4 * -0.4 + 0.3 * 1.4)).abs() < 1e-12);
    }

    #[test]
    fn without_the_time_of_a_class_that_counts_nothing_is_said() {
        let mut classes = [class("single-block reads", 900.0, 0.002, 0.001, 0.4)];
        classes[0].there_s = None;
        assert_eq!(ratio(&classes, &[0.4]), None);
    }
}
