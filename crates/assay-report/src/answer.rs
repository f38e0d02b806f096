//! The answer in plain sentences, for the page and for the terminal.

use crate::input::{Report, RunReport};
use crate::panel::headline;
use crate::show::Show;
use crate::words::{capital, is_lower_bound, nines, size};
use assay_model::Estimate;
use assay_model::calibration::{Calibration, Capacity, MixCalibration};
use assay_model::number::real;
use assay_model::verdict::{Judgement, Limit, Outcome, Reason, Unit, Verdict};

/// What a reader should know who reads nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// What the criteria came to, where there are any.
    pub(crate) outcome: Option<Outcome>,
    /// One sentence.
    pub(crate) headline: String,
    /// What the storage gives, a sentence each.
    pub(crate) details: Vec<String>,
}

/// The answer of a report.
pub(crate) fn answer(report: &Report, show: &Show) -> Answer {
    let mut details = Vec::new();
    if let Some(calibration) = &report.calibration {
        details.extend(calibration.mixes.iter().map(|mix| mix_sentence(mix, calibration, show)));
    }
    let load = report.load.as_ref().filter(|_| !show.is_relative());
    details.extend(load.map(crate::ladder::sentences).unwrap_or_default());
    details.extend(report.runs.iter().filter_map(|run| run_sentence(run, show)));
    let details = details.iter().map(|sentence| capital(sentence)).collect();
    let verdict = report.verdict.as_ref();
    if let Some(own) = headline(report, show) {
        return Answer { outcome: own.outcome, headline: own.words, details };
    }
    let is_damaged = report.load.as_ref().is_some_and(assay_model::load::Load::is_damaged);
    let flaw = report.load.as_ref().and_then(crate::ladder::flaw);
    let headline = verdict.map_or_else(
        || {
            flaw.clone().map_or_else(
                || format!("What the storage under {} gives.", report.target),
                |flaw| show.sentence(&flaw),
            )
        },
        |verdict| verdict_sentence(verdict, &report.target, show),
    );
    Answer {
        outcome: verdict.map(|verdict| verdict.outcome).or_else(|| {
            flaw.map(|_| if is_damaged { Outcome::Fail } else { Outcome::Inconclusive })
        }),
        headline,
        details,
    }
}

/// The verdict in one sentence, with the first criterion that decided it.
fn verdict_sentence(verdict: &Verdict, target: &str, show: &Show) -> String {
    let (name, all) = (&verdict.criteria, verdict.judgements.len());
    let of =
        |outcome: Outcome| verdict.judgements.iter().filter(move |found| found.outcome == outcome);
    let first =
        |outcome: Outcome| of(outcome).next().map_or_else(String::new, |found| stated(found, show));
    match verdict.outcome {
        Outcome::Pass if all == 1 => {
            format!("The storage under {target} meets the criterion of “{name}”.")
        }
        Outcome::Pass => {
            format!("The storage under {target} meets all {all} criteria of “{name}”.")
        }
        Outcome::Fail => format!(
            "The storage under {target} fails {} of {all} criteria of “{name}”: {}.",
            of(Outcome::Fail).count(),
            first(Outcome::Fail)
        ),
        Outcome::Inconclusive if all == 0 => {
            format!("Nothing was measured that “{name}” could be judged by.")
        }
        Outcome::Inconclusive => format!(
            "Whether the storage under {target} meets “{name}” cannot be told yet; open are {} of {all} criteria, the first: {}.",
            of(Outcome::Inconclusive).count(),
            first(Outcome::Inconclusive)
        ),
    }
}

/// A judged number and its limit in words.
fn stated(judgement: &Judgement, show: &Show) -> String {
    let of =
        judgement.subject.as_ref().map_or_else(String::new, |subject| format!(" on {subject}"));
    let label = &judgement.label;
    let Some(estimate) = judgement.evidence.estimate.filter(|_| !show.is_relative()) else {
        return format!("{label}{of}");
    };
    let value = show.value(judgement.unit, estimate.value);
    let limit = limit(judgement, show);
    format!("{label}{of}: {value} where {limit} is asked")
}

/// `at most 20.0 ms`.
pub(crate) fn limit(judgement: &Judgement, show: &Show) -> String {
    if show.is_relative() {
        return "hidden".to_owned();
    }
    let value = show.chosen(judgement.unit, judgement.limit.value());
    match judgement.limit {
        Limit::AtMost(_) => format!("at most {value}"),
        Limit::AtLeast(_) => format!("at least {value}"),
    }
}

/// Why a criterion came out as it did; empty where the numbers say it themselves.
pub(crate) fn reason(judgement: &Judgement, show: &Show) -> String {
    match &judgement.reason {
        Reason::Clear => String::new(),
        Reason::Straddles { enough_s: None } => {
            "The limit lies inside the interval, and so near the value that measuring longer will hardly tell.".to_owned()
        }
        Reason::Straddles { enough_s: Some(enough_s) } => format!(
            "The limit lies inside the interval; measuring for about {} in all should tell.",
            crate::clock::show_length(rounded(*enough_s))
        ),
        Reason::NoEvidence { missing } => format!("No evidence: {}.", show.sentence(missing)),
        Reason::Doubtful => {
            let doubts = judgement.evidence.doubts.iter();
            let each = doubts.map(|doubt| format!("{} – {}.", show.sentence(&doubt.what), show.sentence(&doubt.remedy)));
            format!("Not certain: {}", each.collect::<Vec<_>>().join(" "))
        }
    }
}

/// What one mix gives, within the limit and in large I/Os.
fn mix_sentence(mix: &MixCalibration, calibration: &Calibration, show: &Show) -> String {
    let limit = &calibration.limit;
    let bound = if show.is_relative() {
        "the latency limit".to_owned()
    } else {
        show.chosen(Unit::Ns, limit.service_time_ns)
    };
    let within = format!("{} % of them within {bound}", nines(limit.quantile));
    let (operations, share) = operations(mix);
    let what = format!("random {} {operations}", size(mix.transfer_bytes));
    let large = large_sentence(mix, show);
    let Some(capacity) = &mix.iops_within_limit else {
        let most = paced(&what, &bounded(&mix.iops_max, Unit::IosPerS, show));
        return format!("{most}{share}, but not {within}, not even one at a time; {large}.");
    };
    let most = paced(&what, &bounded(capacity, Unit::IosPerS, show));
    let doubt = doubt(&capacity.rate, Unit::IosPerS, show);
    format!("{most}{share}{doubt}, {within}; {large}.")
}

/// What large I/Os give.
fn large_sentence(mix: &MixCalibration, show: &Show) -> String {
    let of = if show.is_relative() { " of the best throughput" } else { "" };
    mix.throughput_max_bytes_per_s.as_ref().map_or_else(
        || "large I/Os were not measured".to_owned(),
        |most| {
            let doubt = doubt(&most.rate, Unit::BytesPerS, show);
            format!("{}{of} in large I/Os{doubt}", bounded(most, Unit::BytesPerS, show))
        },
    )
}

/// The rate in three digits, with `at least` where something other than the storage ended it, and `about` where it is
/// hardly known.
fn bounded(capacity: &Capacity, unit: Unit, show: &Show) -> String {
    let rate = show.value(unit, rounded(capacity.rate.value));
    let known = match (is_hardly_known(&capacity.rate), is_lower_bound(capacity.bound)) {
        (true, _) => "about ",
        (false, true) => "at least ",
        (false, false) => "",
    };
    format!("{known}{rate}")
}

/// A rate with so wide an interval is no figure to size by.
fn is_hardly_known(rate: &Estimate) -> bool {
    const WIDEST: f64 = 0.25;
    rate.relative_half_width() > WIDEST
}

/// The interval of a rate that is hardly known.
fn doubt(rate: &Estimate, unit: Unit, show: &Show) -> String {
    if !is_hardly_known(rate) {
        return String::new();
    }
    let end = |value: f64| show.value(unit, rounded(value.max(0.0)));
    format!(" (only known to lie between {} and {})", end(rate.low), end(rate.high))
}

/// `94,600 random 8 KiB reads a second`, or for relative rates `78 % of the best rate in random 8 KiB reads`.
fn paced(what: &str, rate: &str) -> String {
    let absolute = rate.strip_suffix("/s").map(|rate| format!("{rate} {what} a second"));
    absolute.unwrap_or_else(|| format!("{rate} of the best rate in {what}"))
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
fn run_sentence(run: &RunReport, show: &Show) -> Option<String> {
    let measurement = &run.measurement;
    let operations = measurement.operations();
    let times = operations.iter().map(|(operation, result)| {
        let time = show.value(Unit::Ns, real(result.response().quantile_ns(0.99)));
        format!("{}s within {time}", operation.name())
    });
    let times: Vec<String> = times.collect();
    let iops = show.value(Unit::IosPerS, rounded(measurement.iops()));
    let iops = paced("I/Os", &iops);
    let name = &measurement.workload;
    (!times.is_empty())
        .then(|| format!("Workload “{name}”: {iops}; 99 % of {}.", times.join(", of ")))
}

/// Three significant digits: as many as a sentence can carry.
pub(crate) fn rounded(value: f64) -> f64 {
    if value <= 0.0 {
        return value;
    }
    let unit = 10f64.powf(value.log10().floor() - 2.0);
    (value / unit).round() * unit
}
