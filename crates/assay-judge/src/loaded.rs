//! Evidence in a load on a database: of the number of sessions that did the most work, or of each;
//! repeats are pooled.

use crate::doubts;
use crate::facts::{Facts, JudgedLoadFacts, JudgedRun};
use crate::found::{FoundNumber, KnownNumber, Missing};
use crate::measurement::of_stream;
use crate::quantity::{Amount, CriterionTimeKind, LoadAmount};
use crate::{queries, statistics};
use assay_model::Estimate;
use assay_model::load::{CountedTransaction, PhysicalVerdict, Rung};
use assay_model::measurement::Operation;
use assay_model::number::{count_of, real};
use assay_model::verdict::Doubt;

/// The steps of one number of sessions, by their places in the load.
struct StepGroup {
    sessions: u32,
    places: Vec<usize>,
}

/// What is known of an amount: of each number of sessions, or of the one that did the most work.
pub(crate) fn find(each_rung: bool, what: LoadAmount, facts: &Facts<'_>) -> Vec<FoundNumber> {
    if let Some(dss) = facts.dss {
        return queries::find_of_every_load(what, dss);
    }
    let Some(load) = facts.load.filter(|load| !load.load.rungs.is_empty()) else {
        return vec![FoundNumber::absent("no load was run on a database")];
    };
    let search = StepSearch { load };
    let mut found: Vec<(u32, Result<KnownNumber, Missing>)> =
        groups(load).iter().map(|group| (group.sessions, search.pooled(group, what))).collect();
    if each_rung {
        let one = |(sessions, known): (u32, _)| FoundNumber {
            subject: Some(sessions.to_string()),
            known,
        };
        return found.into_iter().map(one).collect();
    }
    if what == LoadAmount::Errors {
        let all = load.load.rungs.iter().map(errors).sum::<u64>();
        let known = KnownNumber::new(Estimate::exact(real(all), 1), elapsed_s(load), Vec::new());
        return vec![FoundNumber { subject: None, known: Ok(known) }];
    }
    let busiest = search.busiest(what);
    found.retain(|(sessions, _)| Some(*sessions) == busiest);
    found.into_iter().map(|(_, known)| FoundNumber { subject: None, known }).collect()
}

fn groups(load: JudgedLoadFacts<'_>) -> Vec<StepGroup> {
    let mut groups: Vec<StepGroup> = Vec::new();
    for (place, rung) in load.load.rungs.iter().enumerate() {
        match groups.iter_mut().find(|group| group.sessions == rung.sessions) {
            Some(group) => group.places.push(place),
            None => groups.push(StepGroup { sessions: rung.sessions, places: vec![place] }),
        }
    }
    groups
}

fn elapsed_s(load: JudgedLoadFacts<'_>) -> f64 {
    load.load.rungs.iter().map(Rung::elapsed_s).sum()
}

/// Statements and transactions that failed.
fn errors(rung: &Rung) -> u64 {
    rung.measurement.errors.iter().map(|error| error.ios).sum()
}

/// A load that is asked for what its steps did.
struct StepSearch<'a> {
    load: JudgedLoadFacts<'a>,
}

impl StepSearch<'_> {
    /// The sessions whose steps did the most: of what is counted where that is asked, else of all
    /// statements.
    fn busiest(&self, what: LoadAmount) -> Option<u32> {
        let by = match what {
            LoadAmount::Counted(_) | LoadAmount::PhysicalReads => what,
            _ => LoadAmount::Statements,
        };
        let work = |group: &StepGroup| {
            let values = group.places.iter().filter_map(|place| self.work(*place, by));
            median(values.collect())
        };
        let groups = groups(self.load).into_iter();
        let most = groups.max_by(|one, other| work(one).total_cmp(&work(other)));
        most.map(|group| group.sessions)
    }

    /// How much a step did, whatever may be said of its doubt.
    fn work(&self, place: usize, what: LoadAmount) -> Option<f64> {
        let rung = &self.load.load.rungs[place];
        match what {
            LoadAmount::Counted(counted) => Some(counted_per_s(rung, counted)?),
            LoadAmount::PhysicalReads => Some(rung.reads_per_s()),
            _ => Some(rung.statements_per_s()),
        }
    }

    /// The middle of all repeats with the interval of their mean; a single one has its own.
    fn pooled(&self, group: &StepGroup, what: LoadAmount) -> Result<KnownNumber, Missing> {
        let each: Result<Vec<Estimate>, Missing> =
            group.places.iter().map(|place| self.of_rung(*place, what)).collect();
        let rungs = group.places.iter().map(|place| &self.load.load.rungs[*place]);
        let elapsed_s = rungs.clone().map(Rung::elapsed_s).sum();
        let doubts: Vec<Doubt> = rungs.filter_map(|rung| doubts::of_rung(rung, what)).collect();
        let mut known = KnownNumber::new(pool(&each?), elapsed_s, doubts);
        known.evidence.doubts.dedup();
        known.at = match group.sessions {
            1 => "with 1 session".to_owned(),
            sessions => format!("with {sessions} sessions"),
        };
        Ok(known)
    }

    fn of_rung(&self, place: usize, what: LoadAmount) -> Result<Estimate, Missing> {
        let rung = &self.load.load.rungs[place];
        let series = self.load.series.get(place);
        let run = series.map(|series| JudgedRun { measurement: &rung.measurement, series });
        match what {
            LoadAmount::Errors => Ok(Estimate::exact(real(errors(rung)), 1)),
            LoadAmount::Statements => rung.statements.ok_or_else(too_short),
            LoadAmount::PhysicalReads => physical_reads(rung),
            LoadAmount::Counted(counted) => {
                let run = run.ok_or_else(too_short)?;
                let found = of_stream(run, counted.stream, Amount::Iops(None));
                let found = found.or_else(|missing| match missing {
                    // What is counted comes and goes with all transactions.
                    Missing::TooShort { .. } => scaled(rung, counted_per_s(rung, counted)),
                    other => Err(other),
                });
                Ok(found?.scaled(60.0))
            }
            LoadAmount::Time { transaction, statistic } => {
                let (kind, operation) = (CriterionTimeKind::Response, Operation::Read);
                let amount = Amount::Time { operation, kind, statistic };
                of_stream(run.ok_or_else(too_short)?, &transaction.replace('_', " "), amount)
            }
        }
    }
}

fn too_short() -> Missing {
    Missing::once("the step was too short for an interval: use a longer --time")
}

/// Transactions of the counted kind a second; none where the load has none.
fn counted_per_s(rung: &Rung, counted: &CountedTransaction) -> Option<f64> {
    let streams = &rung.measurement.streams;
    let stream = streams.iter().find(|stream| stream.name == counted.stream)?;
    let ios: u64 = stream.operations.iter().map(|(_, result)| result.ios).sum();
    Some(assay_model::number::rate(ios, rung.elapsed_s()))
}

/// A rate that follows the statements, with their relative interval.
fn scaled(rung: &Rung, per_s: Option<f64>) -> Result<Estimate, Missing> {
    let statements = rung.statements.filter(|statements| statements.value > 0.0);
    let (per_s, statements) = per_s.zip(statements).ok_or_else(too_short)?;
    let factor = per_s / statements.value;
    Ok(statements.scaled(factor))
}

/// Reads that the page cache answered are none of the storage.
fn physical_reads(rung: &Rung) -> Result<Estimate, Missing> {
    if rung.physical.verdict == PhysicalVerdict::Cached {
        let share = 100.0 * rung.physical.cached_share.unwrap_or(1.0);
        return Err(Missing::Untold(format!(
            "{share:.1}% of the database's reads came from the page cache, so they are not reads \
             of the storage"
        )));
    }
    scaled(rung, Some(rung.reads_per_s()))
}

fn pool(each: &[Estimate]) -> Estimate {
    if let [one] = each {
        return *one;
    }
    let values: Vec<f64> = each.iter().map(|one| one.value).collect();
    let value = median(values.clone());
    let spread = statistics::of_repeats(&values).unwrap_or(Estimate::exact(value, 1));
    Estimate {
        value,
        low: spread.low.min(value).max(0.0),
        high: spread.high.max(value),
        confidence: 0.95,
        n: count_of(values.len()),
    }
}

/// The middle one, or the mean of the two in the middle; 0 of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match (values.get(middle), values.len() % 2) {
        (None, _) => 0.0,
        (Some(value), 1) => *value,
        (Some(value), _) => f64::midpoint(values[middle - 1], *value),
    }
}
