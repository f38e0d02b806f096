//! Evidence in a load of decision support: of each kind of run, over its repeats.

use crate::compare::mean_of_repeats;
use crate::doubts;
use crate::facts::Facts;
use crate::found::{FoundNumber, KnownNumber, Missing};
use crate::quantity::{LoadAmount, QueryAmount};
use assay_model::Estimate;
use assay_model::dss::{Dss, DssKind, DssRun};
use assay_model::load::PhysicalVerdict;
use assay_model::number::{real, real_len};
use assay_model::verdict::Doubt;

/// What is known of an amount, for each kind of run that has it.
pub(crate) fn find(what: QueryAmount, facts: &Facts<'_>) -> Vec<FoundNumber> {
    let Some(dss) = facts.dss.filter(|dss| !dss.runs.is_empty()) else {
        return vec![FoundNumber::absent("no decision-support load was run")];
    };
    let kinds = kinds(dss).into_iter().filter(|(_, runs)| what.is_of(runs[0].kind));
    let found: Vec<FoundNumber> =
        kinds.map(|(name, runs)| of_kind(name, &runs, |run| value(what, run, dss.scale))).collect();
    if found.is_empty() {
        return vec![FoundNumber::absent("no run of the kind with this quantity")];
    }
    found
}

/// What loads of every kind have: reads of the storage, and queries that failed or were cancelled
/// at their limit.
pub(crate) fn find_of_every_load(what: LoadAmount, dss: &Dss) -> Vec<FoundNumber> {
    match what {
        LoadAmount::Errors => {
            let failed: usize = dss.runs.iter().map(|run| run.failed() + run.over_limit()).sum();
            let elapsed_s = dss.runs.iter().map(DssRun::elapsed_s).sum();
            let known =
                KnownNumber::new(Estimate::exact(real_len(failed), 1), elapsed_s, Vec::new());
            vec![FoundNumber { subject: None, known: Ok(known) }]
        }
        LoadAmount::PhysicalReads => {
            let kinds = kinds(dss).into_iter();
            kinds.map(|(name, runs)| of_kind(name, &runs, physical_reads)).collect()
        }
        _ => vec![FoundNumber::absent("a decision-support load does not have this quantity")],
    }
}

/// The runs of each kind, in the order in which they were measured first.
fn kinds(dss: &Dss) -> Vec<(String, Vec<&DssRun>)> {
    let mut kinds: Vec<(String, Vec<&DssRun>)> = Vec::new();
    for run in &dss.runs {
        let name = run.group();
        match kinds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, runs)) => runs.push(run),
            None => kinds.push((name, vec![run])),
        }
    }
    kinds
}

fn of_kind(
    name: String,
    runs: &[&DssRun],
    value: impl Fn(&DssRun) -> Result<f64, Missing>,
) -> FoundNumber {
    let values: Result<Vec<f64>, Missing> = runs.iter().map(|run| value(run)).collect();
    let known = values.and_then(|values| known(&values, runs));
    FoundNumber { subject: Some(name), known }
}

/// The mean of the repeats; a number that was measured once has no interval, and so nothing that
/// could be judged.
fn known(values: &[f64], runs: &[&DssRun]) -> Result<KnownNumber, Missing> {
    if values.len() < 2 {
        return Err(Missing::once(
            "it was measured once, so its uncertainty is unknown: use --repeats 3 or more",
        ));
    }
    let each: Vec<Estimate> = values.iter().map(|value| Estimate::exact(*value, 1)).collect();
    let mean = mean_of_repeats(&each);
    let estimate = Estimate { low: mean.low.max(0.0), ..mean };
    let mut doubts: Vec<Doubt> = runs
        .iter()
        .filter_map(|run| doubts::of_busy_host(run.host_busy_share.unwrap_or(0.0)))
        .collect();
    doubts.dedup();
    Ok(KnownNumber::new(estimate, runs.iter().map(|run| run.elapsed_s()).sum(), doubts))
}

fn value(what: QueryAmount, run: &DssRun, scale: f64) -> Result<f64, Missing> {
    let value = match what {
        QueryAmount::GeometricMean => run.geometric_mean_s().map(|mean_s| mean_s * 1e9),
        QueryAmount::Power => run.power_per_h(scale),
        QueryAmount::Throughput => run.throughput_per_h(scale),
        QueryAmount::Query(number) => run.mean_time_ns(&format!("Q{number}")),
    };
    value.ok_or_else(|| Missing::Untold("some queries of the run did not complete".to_owned()))
}

/// Reads that the page cache answered are none of the storage.
fn physical_reads(run: &DssRun) -> Result<f64, Missing> {
    if run.physical.verdict == PhysicalVerdict::Cached {
        let share = 100.0 * run.physical.cached_share.unwrap_or(1.0);
        return Err(Missing::Absent(format!(
            "{share:.1}% of the database's reads came from the page cache, so they are not reads \
             of the storage"
        )));
    }
    Ok(real(run.database.reads) / run.elapsed_s().max(f64::MIN_POSITIVE))
}

impl QueryAmount {
    /// Whether runs of a kind have this number.
    fn is_of(self, kind: DssKind) -> bool {
        match self {
            Self::Power => kind == DssKind::Power,
            Self::Throughput => kind == DssKind::Throughput,
            Self::GeometricMean | Self::Query(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{CriteriaRules, Facts};
    use assay_model::dss::{Dss, DssData, DssKind, DssOutcome, DssQuery, DssRun};
    use assay_model::load::ServerFacts;
    use assay_model::verdict::{Criteria, Outcome, Verdict, parse_criteria};

    /// A load at scale 1 whose power runs answer each query in one of these times, s.
    fn load(times_s: &[f64]) -> Dss {
        let query = |number: u32, elapsed_s: f64| DssQuery {
            stream: Some(0),
            name: format!("Q{number}"),
            started_ns: 0,
            elapsed_ns: assay_model::number::nanoseconds(elapsed_s),
            rows: 1,
            outcome: DssOutcome::Complete,
        };
        let run = |(repeat, elapsed_s): (u32, &f64)| DssRun {
            queries: (1..=22).map(|number| query(number, *elapsed_s)).collect(),
            elapsed_ns: assay_model::number::nanoseconds(22.0 * elapsed_s),
            ..DssRun::begun(DssKind::Power, 1, 2, repeat)
        };
        Dss {
            format: 1,
            method: "dss-h".to_owned(),
            notice: String::new(),
            server: ServerFacts::default(),
            scale: 1.0,
            plan: Vec::new(),
            data: DssData::default(),
            runs: (1..).zip(times_s).map(run).collect(),
            processors: 1,
            end: String::new(),
            remarks: Vec::new(),
        }
    }

    fn judged(dss: &Dss, criterion: &str) -> Verdict {
        let text = format!("format = 1\nname = \"test\"\n[[criterion]]\n{criterion}");
        let criteria: Criteria = parse_criteria(&text).unwrap();
        let facts = Facts {
            calibration: None,
            run: None,
            load: None,
            dss: Some(dss),
            integrity: None,
            given: &[],
            environment: None,
            doubts: &[],
        };
        CriteriaRules::check(&criteria).unwrap().judge(&facts)
    }

    fn outcome(times_s: &[f64], criterion: &str) -> Outcome {
        judged(&load(times_s), criterion).outcome
    }

    const MEAN: &str = "quantity = \"load.query_time.geometric_mean\"\nat_most = ";

    #[test]
    fn repeats_are_judged_by_the_interval_of_their_mean() {
        // Student's interval of 2.0, 2.1 and 1.9 s is 2 s ± 4.303 · 0.1 s / √3, which is 0.248 s.
        let times_s = [2.0, 2.1, 1.9];
        for (limit, expected) in [
            ("2260ms", Outcome::Pass),
            ("2240ms", Outcome::Inconclusive),
            ("1760ms", Outcome::Inconclusive),
            ("1740ms", Outcome::Fail),
        ] {
            assert_eq!(outcome(&times_s, &format!("{MEAN}\"{limit}\"")), expected, "{limit}");
        }
        let power = "quantity = \"load.power\"\nat_least = ";
        assert_eq!(outcome(&times_s, &format!("{power}\"1000/h\"")), Outcome::Pass);
        assert_eq!(outcome(&times_s, &format!("{power}\"3000/h\"")), Outcome::Fail);
        let query =
            "quantity = \"load.q9.query_time\"\nat_most = \"3s\"\nonly = \"power.parallel2\"";
        assert_eq!(outcome(&times_s, query), Outcome::Pass);
    }

    #[test]
    fn what_was_measured_once_or_not_at_all_is_not_judged() {
        let verdict = judged(&load(&[2.0]), &format!("{MEAN}\"1h\""));
        assert_eq!(verdict.outcome, Outcome::Inconclusive);
        let throughput = "quantity = \"load.throughput\"\nat_least = \"1/h\"";
        assert_eq!(outcome(&[2.0, 2.1], throughput), Outcome::Inconclusive);
        let orders = "quantity = \"load.new_orders\"\nat_least = \"1/min\"";
        assert_eq!(outcome(&[2.0, 2.1], orders), Outcome::Inconclusive);
    }

    #[test]
    fn failed_queries_are_counted_however_often_they_were_asked() {
        let errors = "quantity = \"load.errors\"\nat_most = 0";
        assert_eq!(outcome(&[2.0], errors), Outcome::Pass);
        let mut dss = load(&[2.0]);
        dss.runs[0].queries[3].outcome = DssOutcome::OverLimit;
        assert_eq!(judged(&dss, errors).outcome, Outcome::Fail);
    }
}
