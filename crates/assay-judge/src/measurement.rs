//! Evidence in a measurement: of the whole, of each stream and of each target, with intervals from
//! the series.

use crate::doubts;
use crate::facts::{Facts, JudgedRun};
use crate::found::{FoundNumber, KnownNumber, Missing, ShortRun};
use crate::last_change::LastChange;
use crate::levels::last_change;
use crate::quantity::{Amount, CriterionQuantity, CriterionTimeKind, Scope, TimeStatistic};
use crate::series::SeriesBatch;
use crate::statistics::{self, ShortSeries};
use crate::tail_bound::{self, sum_of_times, sums};
use assay_model::measurement::{
    Measurement, NamedResult, Operation, OperationResult, PerOperation,
};
use assay_model::number::{count_of, index, rate, real, real_len, seconds};
use assay_model::units::show_count;
use assay_model::verdict::Unit;
use assay_model::{Estimate, Histogram};
use assay_stats::batches::{HALF_WIDTH_GOAL, ROWS_MIN};
use std::borrow::Cow;

/// By how many standard deviations of a count more may arrive in another run.
const DUE_DEVIATIONS: f64 = 4.0;
/// A load with a larger share of its I/Os waiting on average may not keep up with its arrivals.
const BACKLOG_SHARE_MAX: f64 = 0.001;
/// The advised time where a run is too short for any quantile, s.
const QUANTILE_LEAST_S: f64 = 20.0;

/// One part of a measurement: its totals, and how it went over time.
struct JudgedPart<'a> {
    subject: Option<String>,
    total: PerOperation,
    batches: Cow<'a, [SeriesBatch]>,
    elapsed_s: f64,
}

/// What is known of an amount, for every part of the scope.
pub(crate) fn find(scope: Scope, amount: Amount, facts: &Facts<'_>) -> Vec<FoundNumber> {
    let Some(run) = facts.run else {
        let missing = if facts.given.is_empty() {
            "no workload was run"
        } else {
            "the result does not include it"
        };
        return vec![FoundNumber::absent(missing)];
    };
    let quantity = CriterionQuantity::Measured { scope, amount };
    let mut doubts = doubts::of_measurement(&quantity, run.measurement);
    if !matches!(amount, Amount::Errors(_)) {
        let reads = amount.operation().is_none_or(|operation| operation == Operation::Read);
        doubts.extend(facts.content_doubts(reads));
    }
    let left = last_change(run).filter(|_| !matches!(amount, Amount::Errors(_)));
    doubts.extend(left.and_then(|left| left.doubt()));
    doubts.extend(doubts::of_unnamed_targets(scope, run.measurement));
    let settled = left.filter(|left| left.change.settled);
    let is_rate_of_all = scope == Scope::Whole && amount == Amount::Iops(None);
    let most = if is_rate_of_all { most_iops(run) } else { f64::INFINITY };
    let least = if is_rate_of_all && settled.is_none() { least_iops(run) } else { 0.0 };
    let found = parts(scope, run).into_iter().map(|part| {
        let part = if let Some(left) = settled { part.since(&left) } else { part };
        let known = estimate(amount, &part).map(|known| {
            let mut doubts = doubts.clone();
            let estimate = known.estimate;
            let high = estimate.high.min(most.max(estimate.value));
            let low = estimate.low.max(least.min(estimate.value));
            let known = ClusteredEstimate { estimate: Estimate { low, high, ..estimate }, ..known };
            doubts.extend(doubts::few_bursts(&known.estimate, known.clusters));
            let tail = doubts::few_clusters(&known.estimate, known.clusters);
            let highest_ns = tail.as_ref().and_then(|_| quantile_at_most(amount, &part));
            let known = KnownNumber::new(known.estimate, part.elapsed_s, doubts)
                .with(known.clusters, left.map(|left| left.change))
                .with_tail(tail, highest_ns);
            KnownNumber { at: load(amount, &part), ..known }
        });
        let known = known.map_err(|missing| missing.with_doubts(&doubts));
        FoundNumber { subject: part.subject, known }
    });
    found.collect()
}

/// The load at which a time was measured.
fn load(amount: Amount, part: &JudgedPart<'_>) -> String {
    let iops = rate(part.total.ios(), part.elapsed_s);
    match amount {
        Amount::Time { .. } if iops > 0.0 => format!("at {} IOPS", show_count(iops)),
        _ => String::new(),
    }
}

/// The amount of one stream of a run, whatever operation it issues; a stream of a load has one.
pub(crate) fn of_stream(
    run: JudgedRun<'_>,
    stream: &str,
    amount: Amount,
) -> Result<Estimate, Missing> {
    let found = parts(Scope::Stream, run).into_iter();
    let part = found.into_iter().find(|part| part.subject.as_deref() == Some(stream));
    let issued = part.and_then(|part| {
        let operation = part.total.iter().find(|(_, result)| result.ios > 0)?.0;
        Some((part, operation))
    });
    let (part, operation) =
        issued.ok_or_else(|| Missing::Absent(format!("no ‘{stream}’ was measured")))?;
    let amount = match amount {
        Amount::Time { kind, statistic, .. } => Amount::Time { operation, kind, statistic },
        Amount::Iops(_) => Amount::Iops(Some(operation)),
        other => other,
    };
    estimate(amount, &part).map(|known| known.estimate)
}

/// A stream, and what its mean response time counts for.
#[derive(Clone, Copy, Debug)]
pub struct StreamShare<'a> {
    /// The name of the stream.
    pub stream: &'a str,
    /// Per nanosecond of its mean response time.
    pub weight: f64,
}

/// Mean response times of several streams together, each times its weight: one series of batches
/// and one interval, because one storage makes all of them slow or fast. Nothing where a stream did
/// nothing, or for too short a time.
pub fn weighted_response(run: JudgedRun<'_>, weights: &[StreamShare<'_>]) -> Option<Estimate> {
    let parts = parts(Scope::Stream, run);
    let batches = parts.iter().map(|part| part.batches.len()).min()?;
    let mut times = vec![0.0; batches];
    let mut ios = vec![0.0; batches];
    let all: f64 = weights.iter().map(|one| one.weight).sum();
    let mut value = 0.0;
    for one in weights {
        let only = (parts.len() == 1).then(|| &parts[0]);
        let named = || parts.iter().find(|part| part.subject.as_deref() == Some(one.stream));
        let part = only.or_else(named)?;
        let operation = part.total.iter().find(|(_, result)| result.ios > 0)?.0;
        let of = |batch: &SeriesBatch| {
            let result = batch.operations.get(operation);
            let total = result.map(|result| histogram(CriterionTimeKind::Response, result));
            total.map_or((0.0, 0.0), |total| (real(total.ios()), total.mean_ns()))
        };
        let seen: Vec<(f64, f64)> = part.batches[..batches].iter().map(of).collect();
        let mean_ios = seen.iter().map(|(ios, _)| ios).sum::<f64>() / real_len(batches);
        for (place, (count, mean_ns)) in seen.into_iter().enumerate() {
            let share = one.weight * count / mean_ios.max(f64::MIN_POSITIVE);
            times[place] += share * mean_ns;
            ios[place] += share / all;
        }
        value += one.weight
            * part
                .total
                .get(operation)
                .map_or(0.0, |result| histogram(CriterionTimeKind::Response, result).mean_ns());
    }
    let known = statistics::ratio(&times, &ios, parts.first()?.batch_s()).ok()?;
    Some(around(known, value))
}

impl JudgedPart<'_> {
    /// Length of a batch, s.
    fn batch_s(&self) -> f64 {
        self.batches.first().map_or(self.elapsed_s, |batch| batch.elapsed_s)
    }

    /// What is counted in each batch, a second.
    fn rates(&self, count: impl Fn(&PerOperation) -> u64) -> Vec<f64> {
        let one = |batch: &SeriesBatch| rate(count(&batch.operations), batch.elapsed_s);
        self.batches.iter().map(one).collect()
    }

    /// The part since the last level began: what was before belongs to another state of the
    /// storage.
    fn since(self, left: &LastChange) -> Self {
        let from = index((left.from_share * real_len(self.batches.len())).ceil());
        let kept: Vec<SeriesBatch> = self.batches.get(from..).unwrap_or_default().to_vec();
        let mut total = PerOperation::default();
        for batch in &kept {
            total.merge(&batch.operations);
        }
        let elapsed_s = kept.iter().map(|batch| batch.elapsed_s).sum();
        Self { subject: self.subject, total, batches: Cow::Owned(kept), elapsed_s }
    }
}

/// A number, and of a quantile how many clusters its far end rests on.
struct ClusteredEstimate {
    estimate: Estimate,
    clusters: Option<u64>,
}

impl From<Estimate> for ClusteredEstimate {
    fn from(estimate: Estimate) -> Self {
        Self { estimate, clusters: None }
    }
}

/// The parts that a scope consists of.
fn parts(scope: Scope, run: JudgedRun<'_>) -> Vec<JudgedPart<'_>> {
    let measurement = run.measurement;
    let results = match scope {
        Scope::Whole => return vec![whole(run)],
        Scope::Stream => &measurement.streams,
        // Programs whose results are imported do not say which target each I/O went to.
        Scope::Target if measurement.targets.is_empty() => return vec![whole(run)],
        Scope::Target => &measurement.targets,
    };
    // The only stream or target is the whole, which is known in finer steps of time.
    let only = results.len() == 1;
    let part = |result: &NamedResult| JudgedPart {
        subject: Some(result.name.clone()),
        total: result.operations.clone(),
        batches: if only {
            Cow::Borrowed(run.series.batches())
        } else {
            Cow::Owned(run.series.of(scope, &result.name, measurement.elapsed_s()))
        },
        elapsed_s: measurement.stream_elapsed_s(&result.name),
    };
    results.iter().map(part).collect()
}

/// All streams on all targets.
fn whole(run: JudgedRun<'_>) -> JudgedPart<'_> {
    JudgedPart {
        subject: None,
        total: run.measurement.operations(),
        batches: Cow::Borrowed(run.series.batches()),
        elapsed_s: run.measurement.elapsed_s(),
    }
}

/// The amount of one part with its interval.
fn estimate(amount: Amount, part: &JudgedPart<'_>) -> Result<ClusteredEstimate, Missing> {
    match amount {
        Amount::Errors(operation) => Ok(errors(operation, &part.total).into()),
        Amount::Iops(operation) => {
            let ios = |operations: &PerOperation| ios(operation, operations);
            rate_of(operation, Unit::IosPerS, part, ios).map(ClusteredEstimate::from)
        }
        Amount::Throughput(operation) => {
            let bytes = |operations: &PerOperation| bytes(operation, operations);
            rate_of(operation, Unit::BytesPerS, part, bytes).map(ClusteredEstimate::from)
        }
        Amount::Time { operation, kind, statistic } => time(operation, kind, statistic, part),
    }
}

/// Completed I/Os of one operation, or of reads and writes together.
pub(crate) fn ios(operation: Option<Operation>, operations: &PerOperation) -> u64 {
    operation
        .map_or_else(|| operations.ios(), |one| operations.get(one).map_or(0, |result| result.ios))
}

/// Bytes moved by one operation, or by reads and writes together.
pub(crate) fn bytes(operation: Option<Operation>, operations: &PerOperation) -> u64 {
    operation.map_or_else(
        || operations.bytes(),
        |one| operations.get(one).map_or(0, |result| result.bytes),
    )
}

/// Failed I/Os: a count, known without doubt, out of all that were tried.
fn errors(operation: Option<Operation>, operations: &PerOperation) -> Estimate {
    let picked = |one: Operation| operation.is_none_or(|wanted| wanted == one);
    let results = operations.iter().filter(|(one, _)| picked(*one));
    let (failed, all) = results.fold((0, 0), |(failed, all), (_, result)| {
        (failed + result.errors, all + result.ios + result.errors)
    });
    Estimate::exact(real(failed), all)
}

/// Nothing of the operation was measured.
fn absent(operation: Option<Operation>) -> Missing {
    Missing::Absent(match operation {
        None => "no reads and no writes were measured".to_owned(),
        Some(one) => format!("no {}s were measured", one.name()),
    })
}

/// They happened, and nothing says how long they took.
fn untold(operation: Operation) -> Missing {
    Missing::Untold(format!("the result has no {} latency", operation.name()))
}

/// Another program measured, and printed other quantiles.
fn not_printed(operation: Operation, quantile: f64) -> Missing {
    Missing::Untold(format!(
        "the result has no {} latency at quantile {quantile}",
        operation.name()
    ))
}

/// There are too few batches for an interval: what was measured is reported all the same.
fn too_short(unit: Unit, value: f64, why: &ShortSeries) -> Missing {
    let words = format!("it was {}, but {}", unit.show(value), no_interval(unit, why));
    let seen = why.bounds().map(|bounds| {
        let estimate = Estimate::without_interval(value, count_of(why.rows));
        Box::new(ShortRun {
            known: KnownNumber::new(estimate, why.elapsed_s, Vec::new()),
            lowest_value: why.lowest_value,
            highest_value: why.highest_value,
            bounds,
        })
    });
    Missing::TooShort { words, seen }
}

/// The same of a quantile: what is rare may only not have been seen, so nothing bounds it from
/// above.
fn tail_too_short(value: f64, why: &ShortSeries) -> Missing {
    let mut missing = too_short(Unit::Ns, value, why);
    if let Missing::TooShort { seen: Some(seen), .. } = &mut missing {
        seen.bounds.1 = f64::INFINITY;
    }
    missing
}

/// Why a series has no interval, and for how long to measure, or how finely where it lasted long
/// enough.
fn no_interval(unit: Unit, why: &ShortSeries) -> String {
    let rows = match why.row_s {
        long if long > 1.5 => format!("stretches of {long:.0} s"),
        _ => "seconds".to_owned(),
    };
    let range = if why.lowest_value < why.highest_value {
        format!("; {rows} ranged from {}", ends(unit, why.lowest_value, why.highest_value))
    } else {
        String::new()
    };
    if why.is_coarse() {
        let (elapsed_s, rows, least) = (why.elapsed_s, why.rows, ROWS_MIN);
        return format!(
            "{rows} value{} for {elapsed_s:.0} s {} too few for an interval{range}; at least \
             {least} are needed",
            if rows == 1 { "" } else { "s" },
            if rows == 1 { "is" } else { "are" },
        );
    }
    let length = match why.elapsed_s.round() {
        1.0 => "1 s is".to_owned(),
        more if more > 1.0 => format!("{more:.0} s are"),
        _ => format!("{:.1} s are", why.elapsed_s),
    };
    let (needed_s, goal) = (why.needed_s, 100.0 * HALF_WIDTH_GOAL);
    format!(
        "{length} too short for an interval{range}; about {needed_s:.0} s are needed for \
         ±{goal:.0}%"
    )
}

/// Two numbers of one unit: `21,606 to 25,693/s`.
fn ends(unit: Unit, low: f64, high: f64) -> String {
    if unit.parts(low).1 == unit.parts(high).1 {
        format!("{} to {}", unit.parts(low).0, unit.show(high))
    } else {
        format!("{} to {}", unit.show(low), unit.show(high))
    }
}

/// Why the rate of a run has no interval; nothing where it has one.
pub(crate) fn rate_without_interval(run: JudgedRun<'_>) -> Option<String> {
    let settled = last_change(run).filter(|left| left.change.settled);
    let part = settled.map_or_else(|| whole(run), |left| whole(run).since(&left));
    let known = statistics::mean(&part.rates(PerOperation::ios), part.batch_s());
    known.err().map(|why| no_interval(Unit::IosPerS, &why))
}

/// No closed load completes more than its outstanding I/Os in the shortest time that one took (J.
/// Little, Operations Research 9, 1961), and no open one more than arrives: what was due in the
/// run, and four standard deviations of such a count.
fn most_iops(run: JudgedRun<'_>) -> f64 {
    let measurement = run.measurement;
    let operations = measurement.operations();
    if timed(&operations).any(|result| result.response.is_some()) {
        let most = |due: f64| (due + DUE_DEVIATIONS * due.sqrt()) / measurement.elapsed_s();
        return arrivals(measurement, &operations).map_or(f64::INFINITY, most);
    }
    let shortest_ns = timed(&operations).map(|result| result.service.min_ns()).min();
    let queue_depth = measurement.conduct.queue_depth_mean.ceil();
    match shortest_ns.filter(|shortest_ns| *shortest_ns > 0 && queue_depth >= 1.0) {
        Some(shortest_ns) => queue_depth / seconds(shortest_ns),
        None => f64::INFINITY,
    }
}

/// An open load that left no arrival behind completes what arrives: its seconds vary as the
/// arrivals do, which is not a sign that the storage may deliver less. 0 of any other load.
fn least_iops(run: JudgedRun<'_>) -> f64 {
    let measurement = run.measurement;
    let (conduct, operations) = (&measurement.conduct, measurement.operations());
    let left = operations.errors() + conduct.missed_arrivals + conduct.abandoned_ios;
    let keeps_up = |due: &f64| left == 0 && conduct.queue_depth_mean <= BACKLOG_SHARE_MAX * due;
    let least = |due: f64| (due - DUE_DEVIATIONS * due.sqrt()).max(0.0) / measurement.elapsed_s();
    arrivals(measurement, &operations).filter(keeps_up).map_or(0.0, least)
}

/// I/Os that were due in a run of open arrivals alone.
fn arrivals(measurement: &Measurement, operations: &PerOperation) -> Option<f64> {
    let mut timed = timed(operations).peekable();
    let is_open = timed.peek().is_some() && timed.all(|result| result.response.is_some());
    let conduct = &measurement.conduct;
    let left = operations.errors() + conduct.missed_arrivals + conduct.abandoned_ios;
    is_open.then(|| real(operations.ios() + left))
}

/// The results of the operations that were timed.
fn timed(operations: &PerOperation) -> impl Iterator<Item = &OperationResult> {
    operations.iter().map(|(_, result)| result).filter(|result| !result.service.is_empty())
}

/// A rate from the batches; `count` picks what is counted, I/Os or bytes.
fn rate_of(
    operation: Option<Operation>,
    unit: Unit,
    part: &JudgedPart<'_>,
    count: impl Fn(&PerOperation) -> u64,
) -> Result<Estimate, Missing> {
    if ios(operation, &part.total) == 0 {
        return Err(absent(operation));
    }
    let value = rate(count(&part.total), part.elapsed_s);
    let estimate = statistics::mean(&part.rates(count), part.batch_s());
    Ok(around(estimate.map_err(|why| too_short(unit, value, &why))?, value))
}

/// A time of one operation from its histograms, total and by batch.
fn time(
    operation: Operation,
    kind: CriterionTimeKind,
    statistic: TimeStatistic,
    part: &JudgedPart<'_>,
) -> Result<ClusteredEstimate, Missing> {
    let result = part.total.get(operation).filter(|result| result.ios > 0);
    let total =
        result.map(|result| histogram(kind, result)).ok_or_else(|| absent(Some(operation)))?;
    if total.is_empty() {
        return Err(untold(operation));
    }
    let batches = histograms(operation, kind, part);
    let batch_s = part.batch_s();
    let (known, value) = match statistic {
        // The longest time is what it was: a fact about this run, not an estimate of any other.
        TimeStatistic::Max => return Ok(Estimate::exact(real(total.max_ns()), total.ios()).into()),
        TimeStatistic::Mean => {
            (mean_time(&batches, batch_s).map(ClusteredEstimate::from), total.mean_ns())
        }
        TimeStatistic::Quantile(quantile) if !total.knows_quantile(quantile) => {
            return Err(not_printed(operation, quantile));
        }
        TimeStatistic::Quantile(quantile) => {
            let present: Vec<&Histogram> = batches.into_iter().flatten().collect();
            let tail = statistics::quantile(&present, batch_s, quantile);
            let known = tail.map(|tail| ClusteredEstimate {
                estimate: tail.estimate,
                clusters: Some(tail.clusters),
            });
            let each = || present.iter().map(|batch| real(batch.quantile_ns(quantile)));
            let known = known.ok_or_else(|| ShortSeries {
                elapsed_s: part.elapsed_s,
                row_s: batch_s,
                lowest_value: each().fold(f64::INFINITY, f64::min),
                highest_value: each().fold(0.0, f64::max),
                rows: present.len(),
                needed_s: QUANTILE_LEAST_S,
            });
            let value = real(total.quantile_ns(quantile));
            let known = known.map_err(|why| tail_too_short(value, &why))?;
            return Ok(ClusteredEstimate { estimate: around(known.estimate, value), ..known });
        }
    };
    let known = known.map_err(|why| too_short(Unit::Ns, value, &why))?;
    Ok(ClusteredEstimate { estimate: around(known.estimate, value), ..known })
}

/// The time that a quantile does not exceed by the mean and the mean square of all times, ns.
fn quantile_at_most(amount: Amount, part: &JudgedPart<'_>) -> Option<f64> {
    let Amount::Time { operation, kind, statistic: TimeStatistic::Quantile(quantile) } = amount
    else {
        return None;
    };
    let batches = histograms(operation, kind, part);
    tail_bound::by_moments(&batches, part.batch_s(), part.elapsed_s, quantile)
}

/// The histogram of each batch; none of one without such I/Os.
fn histograms<'a>(
    operation: Operation,
    kind: CriterionTimeKind,
    part: &'a JudgedPart<'_>,
) -> Vec<Option<&'a Histogram>> {
    let of = |batch: &'a SeriesBatch| batch.operations.get(operation);
    part.batches.iter().map(|batch| of(batch).map(|result| histogram(kind, result))).collect()
}

/// The histogram of the kind; closed arrivals have service times only, which are their response
/// times.
pub(crate) const fn histogram(kind: CriterionTimeKind, result: &OperationResult) -> &Histogram {
    match (kind, &result.response) {
        (CriterionTimeKind::Response, Some(response)) => response,
        _ => &result.service,
    }
}

/// Mean time as a ratio of sums, because batches hold different numbers of I/Os.
fn mean_time(batches: &[Option<&Histogram>], batch_s: f64) -> Result<Estimate, ShortSeries> {
    let (times, ios) = (sums(batches, sum_of_times), sums(batches, |batch| real(batch.ios())));
    statistics::ratio(&times, &ios, batch_s)
}

/// The interval about the number that the totals tell exactly: batches are coarse, and may lack the
/// last moments.
fn around(estimate: Estimate, value: f64) -> Estimate {
    Estimate {
        value,
        low: estimate.low.min(value).max(0.0),
        high: estimate.high.max(value),
        ..estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeriesBuilder;
    use assay_model::measurement::{Conduct, Finish};
    use assay_model::{Histogram, Precision};

    /// Ten seconds with 10,000 reads of 1 ms, one of which is under way on average.
    fn reads(is_open: bool) -> Measurement {
        let mut read = OperationResult::empty(Precision::Fine, is_open);
        read.ios = 10_000;
        let mut times = Histogram::new(Precision::Fine);
        times.record_many(1_000_000, 10_000);
        read.response = is_open.then(|| times.clone());
        read.service = times;
        let operations = PerOperation { read: Some(read), ..PerOperation::default() };
        Measurement {
            format: 1,
            workload: "reads".to_owned(),
            started_unix_ns: 0,
            elapsed_ns: 10_000_000_000,
            finish: Finish::Complete,
            streams: vec![NamedResult { name: "reads".to_owned(), operations }],
            targets: Vec::new(),
            errors: Vec::new(),
            conduct: Conduct { queue_depth_mean: 1.0, ..Conduct::default() },
        }
    }

    fn least(measurement: &Measurement) -> f64 {
        least_iops(JudgedRun { measurement, series: &SeriesBuilder::new().finish() })
    }

    #[test]
    fn a_load_that_leaves_no_arrival_behind_keeps_up_with_all_of_them() {
        assert!((least(&reads(true)) - 960.0).abs() < 1e-9);
        assert!(least(&reads(false)) < f64::MIN_POSITIVE);
    }

    #[test]
    fn a_backlog_or_a_missed_arrival_shows_that_it_may_not_keep_up() {
        let mut waiting = reads(true);
        waiting.conduct.queue_depth_mean = 11.0;
        assert!(least(&waiting) < f64::MIN_POSITIVE);
        let mut missed = reads(true);
        missed.conduct.missed_arrivals = 1;
        assert!(least(&missed) < f64::MIN_POSITIVE);
    }
}
