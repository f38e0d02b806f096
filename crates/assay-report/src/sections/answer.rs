//! The answer in plain sentences, for the page and for the terminal.

use super::database_check;
use super::document_headline::headline;
use super::numbers::BEYOND_MIN;
use super::rates::{paced, rounded};
use super::{cluster, durability, integrity, levels, study};
use crate::format::{Formatter, three_digits_down};
use crate::input::{GivenReport, RunReport};
use crate::phrases::{
    capital, capital_words, ended, is_hardly_known, is_lower_bound, size, within_limit,
};
use assay_model::calibration::{Calibration, Capacity, MixCalibration};
use assay_model::cause::{Cause, CauseKind};
use assay_model::number::{real, seconds};
use assay_model::units::show_count;
use assay_model::verdict::{
    Bias, Doubt, Judgement, Limit, Outcome, Reason, Unit, Verdict, times_as_long,
};
use assay_model::watch::Summary;

/// What a reader should know who reads nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SectionAnswer {
    /// What the criteria came to, where there are any.
    pub(super) outcome: Option<Outcome>,
    /// One sentence.
    pub(super) headline: String,
    /// Capacity, a sentence each.
    pub(super) details: Vec<String>,
}

/// The answer of a report. What shaped the numbers besides the storage comes before them.
pub(super) fn answer(report: &GivenReport, format: &Formatter) -> SectionAnswer {
    behind(&report.causes(), of_documents(report, format), report, format)
}

/// An answer behind the gravest cause, and behind a neighbour on the device, whose share is
/// counted.
fn behind(
    causes: &[Cause],
    found: SectionAnswer,
    report: &GivenReport,
    format: &Formatter,
) -> SectionAnswer {
    let neighbour = causes.iter().skip(1).find(|cause| cause.kind == CauseKind::Neighbour);
    let named = neighbour.into_iter().chain(causes.first());
    named.fold(found, |found, cause| after(cause, found, report, format))
}

/// An answer that begins with a known cause.
fn after(
    cause: &Cause,
    found: SectionAnswer,
    report: &GivenReport,
    format: &Formatter,
) -> SectionAnswer {
    let what = format.prose(&cause.what);
    let sentence = ended(&capital_words(&what));
    let is_said = match cause.kind {
        CauseKind::BusyHost => found.headline.contains(TOO_BUSY),
        _ => found.headline.contains(&what),
    };
    let is_void = cause.kind == CauseKind::Memory && report.durability().is_some();
    if is_void && found.outcome != Some(Outcome::Fail) {
        return SectionAnswer { outcome: Some(Outcome::Inconclusive), headline: sentence, ..found };
    }
    let headline = if is_said { found.headline } else { format!("{sentence} {}", found.headline) };
    let mut details = found.details;
    let is_shaped = details.first().is_some_and(|first| first == SHAPED);
    if cause.bias.is_some() && !details.is_empty() && !is_shaped {
        details.insert(0, SHAPED.to_owned());
    }
    SectionAnswer { headline, details, ..found }
}

/// How a verdict says that the host or the load generator was too busy.
const TOO_BUSY: &str = "too busy to judge";

/// Stands before numbers that are not the storage's alone.
const SHAPED: &str = "The numbers below were measured under this condition.";

/// Where criteria were asked the headline is the verdict, else it is the first thing that was
/// found.
fn of_documents(report: &GivenReport, format: &Formatter) -> SectionAnswer {
    let details: Vec<String> =
        found(report, format).iter().map(|sentence| capital_words(sentence)).collect();
    let durability = report.durability();
    if let Some(lost) = durability.filter(|found| found.broken() > 0) {
        let headline = durability::sentence(lost);
        return SectionAnswer { outcome: durability::outcome(lost), headline, details };
    }
    // Data that is not what was written is worse than whatever else was asked.
    if let Some(fault) = report.integrity.as_ref().and_then(integrity::headline) {
        return SectionAnswer { outcome: fault.outcome, headline: fault.words, details };
    }
    // The cell in which hosts did not measure together says more than that they did not.
    let is_whole = report.cluster.as_ref().is_none_or(|found| found.lost().next().is_none());
    let in_doubt = report.study.as_ref().filter(|study| is_whole && study::is_in_doubt(study));
    if let Some(doubt) = in_doubt.map(|found| study::headline(found, format)) {
        return SectionAnswer { outcome: doubt.outcome, headline: doubt.words, details };
    }
    // A sum that lacks a host is none.
    if let Some(doubt) = report.cluster.as_ref().and_then(|found| cluster::headline(found, format))
    {
        return SectionAnswer { outcome: doubt.outcome, headline: doubt.words, details };
    }
    if let Some(found) = database_check::headline(report).filter(|_| !format.is_relative()) {
        return SectionAnswer {
            outcome: found.outcome,
            headline: found.words,
            details: Vec::new(),
        };
    }
    if let Some(verdict) = &report.verdict {
        let headline = verdict_sentence(verdict, format);
        return SectionAnswer { outcome: Some(verdict.outcome), headline, details };
    }
    if let Some(found) = durability {
        let (outcome, headline) = (durability::outcome(found), durability::sentence(found));
        return SectionAnswer { outcome, headline, details };
    }
    if let Some(own) = headline(report, format) {
        return SectionAnswer { outcome: own.outcome, headline: own.words, details };
    }
    if let Some(flaw) = report.load.as_ref().and_then(crate::ladder::flaw) {
        let is_damaged = report.load.as_ref().is_some_and(assay_model::load::Load::is_damaged);
        let headline = format.prose(&flaw);
        return SectionAnswer { outcome: is_damaged.then_some(Outcome::Fail), headline, details };
    }
    let mut details = details.into_iter();
    let headline = details.next().unwrap_or_else(|| format!("{} was not measured.", report.target));
    SectionAnswer { outcome: None, headline, details: details.collect() }
}

/// What was found, a sentence each, the most important first.
fn found(report: &GivenReport, format: &Formatter) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(calibration) = &report.calibration {
        found.extend(calibration.mixes.iter().map(|mix| mix_sentence(mix, calibration, format)));
    }
    let load = report.load.as_ref().filter(|_| !format.is_relative());
    found.extend(load.map(crate::ladder::sentences).unwrap_or_default());
    let is_disturbed = !report.runs.is_empty() && report.is_disturbed();
    found.extend(report.runs.iter().flat_map(|run| {
        let change = run.level_change.as_ref().map(|change| levels::sentence(change, format));
        run_sentence(run, is_disturbed, format).into_iter().chain(change)
    }));
    let verified = report.integrity.as_ref().filter(|found| found.found_blocks() == 0);
    found.extend(verified.map(integrity::sentence));
    if found.is_empty() {
        found.extend(report.watch.as_ref().map(|watch| watch_sentence(&watch.summary)));
    }
    found
}

/// The machine that was watched, in a sentence.
fn watch_sentence(summary: &Summary) -> String {
    let total = &summary.total;
    let cpu = total.counters.cpu.map(|cpu| format!("CPU {}", Unit::Share.show(cpu.busy_share())));
    let devices = total.counters.devices.iter().map(|device| {
        let rates = device.rates(total.counters.time_ns);
        (device, rates.iops())
    });
    let busiest = devices.max_by(|one, other| one.1.total_cmp(&other.1));
    let words = |name: &str, iops| format!("device {name} {} IOPS", show_count(iops));
    let device = busiest.map(|(device, iops)| words(&device.name, iops));
    let said: Vec<String> = cpu.into_iter().chain(device).collect();
    format!(
        "{} on average over {}.",
        said.join(", "),
        crate::clock::show_length(seconds(total.counters.time_ns))
    )
}

/// The verdict in one sentence: the numbers that decided it with their limits, and how many
/// criteria there are.
fn verdict_sentence(verdict: &Verdict, format: &Formatter) -> String {
    let (name, all) = (&verdict.criteria, verdict.judgements.len());
    if all == 0 {
        return format!("“{name}” has no criterion for this measurement.");
    }
    let of = |outcome: Outcome| {
        let found = verdict.judgements.iter();
        found.filter(move |found| found.outcome == outcome).collect::<Vec<&Judgement>>()
    };
    let deciding = of(verdict.outcome);
    let count = match verdict.outcome {
        Outcome::Pass if all == 1 => format!("Criterion “{name}” met."),
        Outcome::Pass => format!("All {all} criteria of “{name}” met."),
        Outcome::Fail => format!("{} of {all} criteria of “{name}” not met.", deciding.len()),
        Outcome::Inconclusive => {
            format!("{} of {all} criteria of “{name}” undecided.", deciding.len())
        }
    };
    // A count of errors says little of a storage that does nothing else wrong.
    let (counts, numbers): (Vec<&Judgement>, Vec<&Judgement>) =
        deciding.iter().copied().partition(|found| found.unit == Unit::Count);
    let sentences = if verdict.outcome == Outcome::Inconclusive { 1 } else { 2 };
    let said = numbers.into_iter().chain(counts).take(sentences);
    let said: Vec<String> = said.map(|found| stated(found, format)).collect();
    format!("{}. {count}", capital_words(&said.join("; ")))
}

/// A judged number and its limit in words: `p99 of reads at 40,000 IOPS: 0.8 ms (limit 1 ms)`.
fn stated(judgement: &Judgement, format: &Formatter) -> String {
    let of =
        judgement.subject.as_ref().map_or_else(String::new, |subject| format!(" on {subject}"));
    let label = &judgement.label;
    let estimate = judgement.evidence.estimate.filter(|_| !format.is_relative());
    let (estimate, at) = match (estimate, &judgement.reason) {
        (Some(estimate), _) => (estimate, at(judgement)),
        (None, Reason::NoEvidence { missing }) => {
            return format!("{label}{of}: {}", format.prose(missing));
        }
        (None, _) => return format!("{label}{of}"),
    };
    let value = format.value(judgement.unit, estimate.value);
    let limit = format.chosen(judgement.unit, judgement.limit.value());
    let (_, name) = signs(judgement.limit);
    if estimate.value == 0.0
        && judgement.unit == Unit::IosPerS
        && matches!(judgement.limit, Limit::AtLeast(_))
    {
        return format!("{label}{of}{at}: none ({name} {limit})");
    }
    let measured = format!("{label}{of}{at}: {value} ({name} {limit})");
    match (judgement.outcome, &judgement.reason) {
        (Outcome::Pass | Outcome::Fail, _) => measured,
        // Other readings are no longer the question where something spoiled the number.
        (Outcome::Inconclusive, _) if deciding(judgement).next().is_some() => {
            let doubt = deciding(judgement).next();
            let doubt = doubt.map_or_else(String::new, |doubt| format.prose(&doubt.what));
            // Only the host is judged by shares, and its doubt says the number already.
            if judgement.unit == Unit::Share {
                return doubt;
            }
            format!("undecided, because {doubt}. {measured}")
        }
        (Outcome::Inconclusive, _) => {
            let interval = format.interval(judgement.unit, &estimate);
            format!("{label}{of}{at}: {value} ({interval}), too close to the {name} {limit}")
        }
    }
}

/// The doubts that undo the outcome which the number alone would have had.
fn deciding(judgement: &Judgement) -> impl Iterator<Item = &Doubt> {
    let value = judgement.evidence.estimate.map_or(0.0, |estimate| estimate.value);
    let is_good = match judgement.limit {
        Limit::AtMost(most) => value <= most,
        Limit::AtLeast(least) => value >= least,
    };
    let against = if is_good { Bias::Flattering } else { Bias::Unflattering };
    let doubts = judgement.evidence.doubts.iter();
    doubts.filter(move |doubt| doubt.bias == against || doubt.bias == Bias::Unknown)
}

/// The load at which a number was measured.
fn at(judgement: &Judgement) -> String {
    if judgement.at.is_empty() { String::new() } else { format!(" {}", judgement.at) }
}

/// The sign of a limit that is met, and its name.
const fn signs(limit: Limit) -> (&'static str, &'static str) {
    match limit {
        Limit::AtMost(_) => ("≤", "limit"),
        Limit::AtLeast(_) => ("≥", "required"),
    }
}

/// `≤ 20 ms`; nothing in relative reports.
pub(super) fn limit(judgement: &Judgement, format: &Formatter) -> Option<String> {
    let value = format.chosen(judgement.unit, judgement.limit.value());
    (!format.is_relative()).then(|| format!("{} {value}", signs(judgement.limit).0))
}

/// What is judged, at which load; loads are absolute, so relative reports hide them.
pub(super) fn criterion(judgement: &Judgement, format: &Formatter) -> String {
    let at = if format.is_relative() { String::new() } else { at(judgement) };
    capital_words(&format!("{}{at}", judgement.label))
}

/// Why a criterion came out as it did; empty where the numbers say it themselves.
pub(super) fn reason(judgement: &Judgement, format: &Formatter) -> String {
    match &judgement.reason {
        Reason::Clear => String::new(),
        Reason::FarFromLimit { lowest_value, highest_value } => {
            far(judgement.unit, *lowest_value, *highest_value, format)
        }
        Reason::BoundedByMean { highest_value } => bounded(judgement, *highest_value, format),
        // More time on the same host would not help.
        Reason::Straddles { .. } if deciding(judgement).next().is_some() => {
            format!("The limit lies inside the interval. {}", doubts(judgement, format))
        }
        Reason::Straddles { enough_s: None } => "The limit is inside the interval, so close to \
                                                 the value that a longer measurement would not \
                                                 help."
            .to_owned(),
        Reason::Straddles { enough_s: Some(enough_s) } => format!(
            "The limit lies inside the interval; measuring {} should decide.",
            times_as_long(enough_s / judgement.evidence.elapsed_s)
        ),
        Reason::NoEvidence { missing } => format!("{}.", capital(&format.prose(missing))),
        Reason::Doubtful => doubts(judgement, format),
    }
}

/// What decides without an interval.
fn far(unit: Unit, lowest_value: f64, highest_value: f64, format: &Formatter) -> String {
    let range = if format.is_relative() {
        String::new()
    } else {
        format!(" ({} to {})", format.value(unit, lowest_value), format.value(unit, highest_value))
    };
    format!(
        "The run was too short for an interval, but every second{range} was beyond the limit by \
         more than a factor of 2."
    )
}

/// What decides a quantile of which too few I/Os are slower.
fn bounded(judgement: &Judgement, highest_value: f64, format: &Formatter) -> String {
    let most = if format.is_relative() {
        "below the limit".to_owned()
    } else {
        format!("at most {}", format.value(judgement.unit, highest_value))
    };
    format!("Too few I/Os were slower for an interval, but by the mean of all I/Os it is {most}.")
}

/// Every doubt that matters with what to do about it.
fn doubts(judgement: &Judgement, format: &Formatter) -> String {
    let each = deciding(judgement).map(|doubt| {
        let (what, remedy) = (format.prose(&doubt.what), format.prose(&doubt.remedy));
        format!("{}: {remedy}.", capital(&what))
    });
    each.collect::<Vec<_>>().join(" ")
}

/// What one mix gives, within the limit and in large I/Os.
fn mix_sentence(mix: &MixCalibration, calibration: &Calibration, format: &Formatter) -> String {
    let limit = &calibration.limit;
    let limited = limit.quantile;
    let bound = within_limit(limit, format);
    let broken = if format.is_relative() {
        "the limit".to_owned()
    } else {
        format.chosen(Unit::Ns, limit.service_time_ns)
    };
    let (operations, share) = operations(mix);
    let what = format!("random {} {operations}", size(mix.block_size_bytes));
    let large = large_sentence(mix, format);
    let most = |capacity: &Capacity| {
        let rate = format.shown(Unit::IosPerS, to_size_by(capacity));
        let rate = format!("{}{}", at_least(capacity), paced(&what, &rate));
        format!("{rate}{share}{}", doubt(capacity, Unit::IosPerS, format))
    };
    match &mix.iops_within_limit {
        _ if !limit.is_asked() => format!("{} at most; {large}.", most(&mix.iops_max)),
        Some(capacity) => format!("{} with {limited} {bound}; {large}.", most(capacity)),
        None => format!(
            "{limited} of {operations} {} {broken} even at queue depth 1; {} at any latency; \
             {large}.",
            if mix.certainly_exceeds(limit) { "exceeded" } else { "may exceed" },
            most(&mix.iops_max)
        ),
    }
}

/// What large I/Os give.
fn large_sentence(mix: &MixCalibration, format: &Formatter) -> String {
    let of = if format.is_relative() { " of the best throughput" } else { "" };
    mix.throughput_max_bytes_per_s.as_ref().map_or_else(
        || "large I/Os were not measured".to_owned(),
        |most| {
            let doubt = doubt(most, Unit::BytesPerS, format);
            let rate = format.value(Unit::BytesPerS, to_size_by(most));
            format!("{}{rate}{of} in large I/Os{doubt}", at_least(most))
        },
    )
}

/// The rate in three digits, or the lower end of its interval, rounded down, where only that is
/// known.
fn to_size_by(capacity: &Capacity) -> f64 {
    if is_lower_bound(capacity) {
        three_digits_down(capacity.rate.low)
    } else {
        rounded(capacity.rate.value)
    }
}

/// `at least` where something other than the storage ended the rate, or nothing bounds it from
/// above.
fn at_least(capacity: &Capacity) -> &'static str {
    if is_lower_bound(capacity) { "at least " } else { "" }
}

/// The interval of a rate that is barely known: so wide a one belongs to the number.
fn doubt(capacity: &Capacity, unit: Unit, format: &Formatter) -> String {
    let interval = format.interval(unit, &capacity.rate);
    let is_wide = is_hardly_known(&capacity.rate) && !is_lower_bound(capacity);
    if is_wide && !interval.is_empty() { format!(" (95% CI {interval})") } else { String::new() }
}

/// What is issued, and the share of reads where there are both.
fn operations(mix: &MixCalibration) -> (&'static str, String) {
    match mix.read_share {
        all if all >= 1.0 => ("reads", String::new()),
        none if none <= 0.0 => ("writes", String::new()),
        share => ("I/Os", format!(" ({} reads)", Unit::Share.show(share))),
    }
}

/// What one workload got; `None` where nothing completed.
fn run_sentence(run: &RunReport, is_disturbed: bool, format: &Formatter) -> Option<String> {
    let measurement = &run.measurement;
    let operations = measurement.operations();
    let has_tail = |ios: u64| 0.01 * real(ios) >= BEYOND_MIN;
    let counted = operations
        .iter()
        .filter(|(_, result)| has_tail(result.ios) && result.response().knows_quantile(0.99));
    let times = counted.map(|(operation, result)| {
        let total = real(result.response().quantile_ns(0.99));
        let quantity = format!("{}.response_time.q0.99", operation.name());
        let time = format.value(Unit::Ns, run.reported(&quantity, None, total));
        format!("of {}s {time}", operation.name())
    });
    let times: Vec<String> = times.collect();
    let whole = || paced("I/Os", &format.shown(Unit::IosPerS, rounded(measurement.iops())));
    let levels = |change| levels::sustained(change, is_disturbed, format);
    let iops = run.settled().map_or_else(whole, levels);
    let name = &measurement.workload;
    let tails =
        if times.is_empty() { String::new() } else { format!("; p99 {}", times.join(", ")) };
    (operations.ios() > 0).then(|| format!("Workload “{name}”: {iops}{tails}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Estimate;
    use assay_model::verdict::Evidence;

    fn judgement(outcome: Outcome, reason: Reason, value: f64) -> Judgement {
        let doubt =
            |what: &str, bias| Doubt { what: what.to_owned(), bias, remedy: "fix it".to_owned() };
        Judgement {
            quantity: "read.service_time.q0.99".to_owned(),
            subject: None,
            label: "p99 of reads".to_owned(),
            at: "at 40,000 IOPS".to_owned(),
            unit: Unit::Ns,
            limit: Limit::AtMost(1e6),
            evidence: Evidence {
                estimate: Some(Estimate {
                    value,
                    low: 0.9 * value,
                    high: 1.2 * value,
                    confidence: 0.95,
                    n: 40,
                }),
                elapsed_s: 60.0,
                doubts: vec![
                    doubt("the target is sparse", Bias::Flattering),
                    doubt(
                        "the host was too busy to judge the storage: its CPUs were busy for 97% \
                         of the time",
                        Bias::Unflattering,
                    ),
                ],
                ..Evidence::default()
            },
            outcome,
            reason,
            why: String::new(),
            source: String::new(),
        }
    }

    fn sentence(judgements: Vec<Judgement>) -> String {
        let outcome = Outcome::of_all(judgements.iter().map(|one| one.outcome));
        let criteria = "orders".to_owned();
        let verdict = Verdict { format: 1, criteria, outcome, judgements, left_out: Vec::new() };
        verdict_sentence(&verdict, &Formatter::default())
    }

    #[test]
    fn a_neighbour_is_named_in_front_behind_a_graver_cause() {
        let cause = |kind, what: &str| Cause {
            kind,
            what: what.to_owned(),
            bias: Some(Bias::Unknown),
            remedy: "wait".to_owned(),
        };
        let found = || SectionAnswer {
            headline: "9 IOPS.".to_owned(),
            details: vec!["More.".to_owned()],
            ..SectionAnswer::default()
        };
        let causes = [
            cause(CauseKind::BusyHost, "the host was busy"),
            cause(CauseKind::Neighbour, "other programs used the device: 40%"),
        ];
        let of = |causes: &[Cause]| {
            behind(causes, found(), &GivenReport::default(), &Formatter::default())
        };
        let both = of(&causes);
        assert_eq!(
            both.headline,
            "The host was busy. Other programs used the device: 40%. 9 IOPS."
        );
        assert_eq!(both.details, [SHAPED, "More."]);
        assert_eq!(of(&causes[1..]).headline, "Other programs used the device: 40%. 9 IOPS.");
        assert_eq!(of(&[]), found());
    }

    #[test]
    fn the_headline_carries_number_and_limit() {
        let (pass, fail) = (
            judgement(Outcome::Pass, Reason::Clear, 0.8e6),
            judgement(Outcome::Fail, Reason::Clear, 59e6),
        );
        assert_eq!(
            sentence(vec![pass.clone()]),
            "p99 of reads at 40,000 IOPS: 800 µs (limit 1 ms). Criterion “orders” met."
        );
        assert_eq!(
            sentence(vec![pass, fail]),
            "p99 of reads at 40,000 IOPS: 59.0 ms (limit 1 ms). 1 of 2 criteria of “orders” not \
             met."
        );
    }

    #[test]
    fn what_spoiled_a_number_is_said_instead_of_how_near_it_is() {
        let wide =
            judgement(Outcome::Inconclusive, Reason::Straddles { enough_s: Some(9.0) }, 1.05e6);
        let said = sentence(vec![wide.clone()]);
        assert!(said.contains("because the host was too busy") && !said.contains("too close"));
        let why = reason(&wide, &Formatter::default());
        assert!(why.contains("97%") && !why.contains("measuring"), "{why}");
    }

    #[test]
    fn an_undecided_headline_begins_with_its_cause() {
        let slow = judgement(Outcome::Inconclusive, Reason::Doubtful, 3e6);
        assert_eq!(
            sentence(vec![slow.clone()]),
            "Undecided, because the host was too busy to judge the storage: its CPUs were busy \
             for 97% of the time. p99 of reads at 40,000 IOPS: 3.00 ms (limit 1 ms). 1 of 1 \
             criteria of “orders” undecided."
        );
        assert!(!reason(&slow, &Formatter::default()).contains("sparse"));
        let mut near =
            judgement(Outcome::Inconclusive, Reason::Straddles { enough_s: None }, 0.95e6);
        near.evidence.doubts.clear();
        assert_eq!(
            sentence(vec![near]),
            "p99 of reads at 40,000 IOPS: 950 µs (855 µs – 1.14 ms), too close to the limit 1 ms. \
             1 of 1 criteria of “orders” undecided."
        );
        let missing =
            "it was 448 µs, but 3 intervals are too few to say how sure that is".to_owned();
        let mut short = judgement(Outcome::Inconclusive, Reason::NoEvidence { missing }, 0.0);
        short.evidence.estimate = None;
        assert!(sentence(vec![short]).starts_with("p99 of reads: it was 448 µs, but 3 intervals"));
        assert_eq!(sentence(Vec::new()), "“orders” has no criterion for this measurement.");
    }
}
